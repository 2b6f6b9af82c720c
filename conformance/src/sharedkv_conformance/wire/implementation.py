"""An implementation behind the wire, as the contract wants one: opened on demand, and again after it was lost.

Knows sessions, and the operations by their table. Does not know what any operation means.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from sharedkv_conformance.codec import Malformed, decode, encode
from sharedkv_conformance.contract.errors import ContractError, Unsupported
from sharedkv_conformance.contract.implementation import Description, OpenConfig
from sharedkv_conformance.contract.operation import Operation
from sharedkv_conformance.contract.operations import OPERATION_BY_NAME
from sharedkv_conformance.loss import Loss
from sharedkv_conformance.status import Status
from sharedkv_conformance.wire.bulk import BulkFile
from sharedkv_conformance.wire.client import Budgets, Connection, Request, Watch, _unwatched
from sharedkv_conformance.wire.messages import CLOSE, OPEN, SHUTDOWN, Remote
from sharedkv_conformance.wire.process import Peer


class WireFacet:
    """The calls of one facet of a session."""

    def __init__(self, session: WireSession, facet: str) -> None:
        self._session = session
        self._facet = facet

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return the call of that name."""
        operation = self._session.operations.get(f"{self._facet}.{method}")
        if operation is None:
            raise AttributeError(f"the contract has no call {self._facet}.{method}")
        call = _Call(self._session, operation)
        setattr(self, method, call)
        return call


class _Call:
    """One operation of one session, called as a method is."""

    def __init__(self, session: WireSession, operation: Operation) -> None:
        self._session = session
        self._operation = operation
        self.__name__ = operation.method

    def __call__(self, *positional: Any, **named: Any) -> Any:
        args = dict(zip(self._operation.parameters, positional, strict=False)) | named
        if len(positional) + len(named) != len(args) or set(args) != set(self._operation.parameters):
            raise TypeError(f"{self._operation.name} takes {', '.join(self._operation.parameters) or 'nothing'}")
        return self._session.call(self._operation, args)


class WireSession:
    """A session of the other end. Calls that were announced to follow the next one travel with it."""

    def __init__(
        self, connection: Connection, number: int, operations: Mapping[str, Operation], claims: frozenset[str]
    ) -> None:
        self.operations = operations
        self._claims = claims
        self._connection = connection
        self.number = number
        self._announced: tuple[str, ...] = ()
        self._ahead: deque[tuple[str, int]] = deque()
        self.planning: Any
        for facet in dict.fromkeys(operation.facet for operation in operations.values()):
            setattr(self, facet, WireFacet(self, facet))

    def announce(self, following: Sequence[str]) -> None:
        """Take note of the calls without arguments that will follow the next call in this order."""
        self._announced = tuple(following)

    def call(self, operation: Operation, args: Mapping[str, Any]) -> Any:
        """Return the answer as a value of the contract; one that has not its shape is returned as it came.

        A program that was built for an earlier minor version has never heard of later calls, and says so.
        """
        try:
            raw = self._connection.result(self._posted(operation, args))
        except Remote as remote:
            if remote.kind == "protocol" and operation.feature not in self._claims:
                raise Unsupported(operation.feature) from remote
            raise
        try:
            return decode(operation.result, raw)
        except Malformed:
            return raw

    def close(self) -> None:
        """Close the session; one that was lost with its program is closed."""
        if self._connection.lost is None:
            self._let_go()
            (number,) = self._connection.post([self._request(CLOSE, None)])
            if (answer := self._connection.result(number)) is not None:
                raise Remote("protocol", f"the answer to close: wanted null, found {answer!r:.160}")

    def _posted(self, operation: Operation, args: Mapping[str, Any]) -> int:
        """Return the id under which the call was sent, perhaps with an earlier one."""
        if self._ahead and not args and self._ahead[0][0] == operation.name:
            return self._ahead.popleft()[1]
        self._let_go()
        following, self._announced = self._announced, ()
        number, *numbers = self._connection.post(
            [self._request(operation.name, self._encoded(args)), *(self._request(op, {}) for op in following)]
        )
        self._ahead.extend(zip(following, numbers, strict=True))
        return number

    def _let_go(self) -> None:
        if self._ahead:
            self._connection.forget([number for _, number in self._ahead])
            self._ahead.clear()

    def _encoded(self, args: Mapping[str, Any]) -> dict[str, Any]:
        bulk = self._connection.bulk
        return {name: encode(value, of_bytes=bulk.write if bulk else bytes.hex) for name, value in args.items()}

    def _request(self, op: str, args: Mapping[str, Any] | None) -> Request:
        return Request(op=op, args=args, session=self.number)


class WireImplementation:
    """An implementation that is reached through a peer; a lost one is reached anew with the next session."""

    def __init__(
        self,
        reach: Callable[[Budgets], Peer],
        *,
        budgets: Budgets | None = None,
        bulk_bytes: int = 0,
        operations: Mapping[str, Operation] = OPERATION_BY_NAME,
    ) -> None:
        self.watch: Watch = _unwatched
        self._reach = reach
        self._budgets = budgets or Budgets()
        self._bulk_bytes = bulk_bytes
        self._operations = operations
        self._connection: Connection | None = None
        self._description: Any = None

    def describe(self) -> Description:
        """Return what the other end says of itself; its shape is for others to judge."""
        self.connection()
        said = self._description if isinstance(self._description, dict) else {}
        features = said.get("features")
        return Description(
            name=cast("str", said.get("name")),
            version=cast("str", said.get("version")),
            features=cast("frozenset[str]", frozenset(features or ()) if _are_words(features) else features),
            limits=said.get("limits", {}),
            environment=said.get("environment", {}),
        )

    def open(self, config: OpenConfig) -> WireSession:
        """Open a session of the other end, which is reached first where it is not."""
        connection = self.connection()
        (number,) = connection.post([Request(op=OPEN, args={"config": encode(config)})])
        opened = connection.result(number)
        if not isinstance(opened, dict) or set(opened) != {"session"} or type(opened["session"]) is not int:
            raise Loss(Status.ERROR, f"the answer to open: wanted {{'session': number}}, found {opened!r}")
        return WireSession(connection, opened["session"], self._operations, self._claimed())

    def _claimed(self) -> frozenset[str]:
        said = self._description.get("features") if isinstance(self._description, dict) else None
        return frozenset(said or ()) if _are_words(said) else frozenset()

    def connection(self) -> Connection:
        """Return the connection, made now where there is none that works; raises `Loss`."""
        if self._connection is None or self._connection.lost is not None:
            self._connection = self._connected()
        return self._connection

    def close(self) -> None:
        """Leave the other end; a program that was started for this is ended."""
        if self._connection is not None:
            self._connection.peer.close()
            self._connection = None

    def shut_down(self) -> str:
        """Ask a program that was started for us to end, and return what is wrong with how it does."""
        connection, self._connection = self._connection, None
        if connection is None or connection.lost is not None or not connection.peer.is_ours:
            return ""
        try:
            (number,) = connection.post([Request(op=SHUTDOWN)])
            answer = connection.result(number)
        except (Loss, Remote, ContractError) as error:
            connection.peer.end()
            return str(error)
        left = connection.peer.left(self._budgets.call_s)
        return f"wanted null, found {answer!r:.160}" if answer is not None else left

    def _connected(self) -> Connection:
        try:
            peer = self._reach(self._budgets)
        except (OSError, ValueError) as error:
            raise Loss(Status.CRASH, f"it cannot be reached: {error}") from error
        bulk = BulkFile.made(self._bulk_bytes) if self._bulk_bytes else None
        connection = Connection(peer, self._budgets, watch=self.watch, bulk=bulk)
        self._description = connection.greet()
        return connection


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)
