"""The other end, in Python: puts an implementation on the wire, one request after the other, in order.

Knows messages and the contract. Does not know descriptors: lines come from an iterable and go to a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from sharedkv_conformance.codec import Malformed, decode, encode, encode_error, one_level, recognise_error
from sharedkv_conformance.contract.errors import Unsupported
from sharedkv_conformance.contract.implementation import Description, Implementation, OpenConfig, Session
from sharedkv_conformance.contract.operation import Operation
from sharedkv_conformance.contract.operations import OPERATION_BY_NAME
from sharedkv_conformance.wire.bulk import BULK, BulkFile, opened
from sharedkv_conformance.wire.messages import (
    CLOSE,
    HELLO,
    OPEN,
    SHUTDOWN,
    WIRE_VERSION,
    Unreadable,
    encoder,
    line_of,
    parsed,
)

KEYS = frozenset({"id", "session", "op", "args"})


class Misused(Exception):
    """A request is none that can be answered: a fault of whoever sent it, and no answer of the implementation."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return self.problem


class Server:
    """The sessions of one connection, and how each request is answered."""

    def __init__(
        self, implementation: Implementation, *, operations: Mapping[str, Operation] = OPERATION_BY_NAME
    ) -> None:
        self.is_done = False
        self._implementation = implementation
        self._operations = operations
        self._sessions: dict[int, Session] = {}
        self._calls: dict[tuple[int, str], tuple[Operation, Callable[..., Any]]] = {}
        self._opened = 0
        self._bulk: BulkFile | None = None
        self._encode = encoder(one_level)
        self._greeted = False

    def serve(self, lines: Iterable[bytes], send: Callable[[bytes], object]) -> None:
        """Answer each line until there is none, or the end is asked for; each answer is sent before the next call."""
        for line in lines:
            if line.strip():
                send(self.answer(line))
            if self.is_done:
                break
        self._close_all()

    def answer(self, line: bytes) -> bytes:
        """Return the line that answers a line; whatever happens is an answer."""
        number = None
        try:
            request = parsed(line)
            if not isinstance(request, dict) or type(request.get("id")) is not int:
                return _misused(None, "wanted an object with an integer 'id'")
            number = request["id"]
            return self._answered(number, self._result(request))
        except (Misused, Unreadable) as error:
            return _misused(number, str(error))
        except _Raised as raised:
            return line_of({"id": number} | _form(raised.error))

    def _answered(self, number: int, value: Any) -> bytes:
        try:
            return line_of({"id": number, "ok": value}, self._encode)
        except (TypeError, ValueError, RecursionError):  # a key that is no text, a value that holds itself
            return line_of({"id": number, "ok": repr(value)})

    def _result(self, request: Mapping[str, Any]) -> Any:
        op, args = request.get("op"), request.get("args", {})
        if not request.keys() <= KEYS:
            raise Misused(f"unknown key {min(request.keys() - KEYS)!r}")
        if not isinstance(op, str) or not isinstance(args, dict):
            raise Misused("wanted a string 'op' and an object 'args'")
        if op in self._operations:
            return self._called(op, args, request.get("session"))
        steps = {HELLO: self._hello, OPEN: self._open, CLOSE: self._close, SHUTDOWN: self._shutdown}
        if op not in steps:
            raise Misused(f"unknown operation {op!r}")
        return steps[op](args, request.get("session"))

    def _hello(self, args: Mapping[str, Any], _session: object) -> Any:
        versions = args.get("wire")
        if not isinstance(versions, list) or WIRE_VERSION not in versions:
            raise Misused(f"this end speaks wire version {WIRE_VERSION}, asked for were {versions!r}")
        try:
            self._bulk = opened(args[BULK]) if BULK in args else None
        except Malformed as error:
            raise Misused(str(error)) from error
        self._encode = encoder(partial(one_level, of_bytes=self._bulk.write) if self._bulk else one_level)
        self._greeted = True
        return {"wire": WIRE_VERSION, "description": _description_form(_raising(self._implementation.describe))}

    def _open(self, args: Mapping[str, Any], _session: object) -> Any:
        if not self._greeted:
            raise Misused("wanted hello before open")
        config = self._decoded(OpenConfig, args.get("config"), "config")
        session = _raising(self._implementation.open, config)
        self._opened += 1
        self._sessions[self._opened] = session
        return {"session": self._opened}

    def _close(self, _args: object, number: object) -> None:
        session = self._sessions.pop(number, None) if isinstance(number, int) else None
        if session is None:
            raise Misused(f"unknown session {number!r}")
        self._calls = {key: call for key, call in self._calls.items() if key[0] != number}
        _raising(session.close)

    def _shutdown(self, _args: object, _session: object) -> None:
        self._close_all()
        self.is_done = True

    def _close_all(self) -> None:
        while self._sessions:
            _, session = self._sessions.popitem()
            try:
                session.close()
            except (Exception, SystemExit):  # noqa: BLE001, S112 - nobody is left to be told
                continue

    def _called(self, op: str, args: Mapping[str, Any], number: Any) -> Any:
        if type(number) is not int:
            raise Misused(f"unknown session {number!r}")
        operation, method = self._calls.get((number, op)) or self._bound(op, number)
        if args.keys() != operation.parameters.keys():
            raise Misused(f"{op} takes {', '.join(operation.parameters) or 'nothing'}; found {', '.join(args)}")
        values = [self._decoded(kind, args[name], name) for name, kind in operation.parameters.items()]
        if self._bulk is not None:
            self._bulk.reset()
        return self._shaped(operation, _raising(method, *values))

    def _bound(self, op: str, number: int) -> tuple[Operation, Callable[..., Any]]:
        session = self._sessions.get(number)
        if session is None:
            raise Misused(f"unknown session {number}")
        operation = self._operations[op]
        bound = (operation, _raising(_method, session, operation))
        self._calls[number, op] = bound
        return bound

    def _decoded(self, wanted: Any, data: Any, where: str) -> Any:
        try:
            return decode(wanted, self._bulk.resolve(data) if self._bulk else data, where)
        except Malformed as error:
            raise Misused(str(error)) from error

    def _shaped(self, operation: Operation, raw: Any) -> Any:
        """Return an answer of the contract's shape; one that has it not crosses as far as JSON can show it."""
        if raw is None or type(raw) is operation.result:
            return raw
        try:
            return decode(operation.result, raw)
        except Malformed:
            return raw


class _Raised(Exception):
    """Something left the implementation."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def _raising(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call into the implementation; whatever leaves it is an answer."""
    try:
        return function(*arguments)
    except (Exception, SystemExit) as error:
        raise _Raised(error) from error


def _method(session: Session, operation: Operation) -> Callable[..., Any]:
    return operation.of(session)


def _description_form(description: Description) -> dict[str, Any]:
    """Return a description as it was given: whether it is right is for who asked to say."""
    features = getattr(description, "features", None)
    return {
        "name": getattr(description, "name", None),
        "version": getattr(description, "version", None),
        "features": sorted(map(str, features)) if isinstance(features, frozenset | set | tuple | list) else features,
        "limits": encode(getattr(description, "limits", {})),
        "environment": encode(getattr(description, "environment", {})),
    }


def _form(error: BaseException) -> dict[str, Any]:
    try:
        known = recognise_error(error, "the error")
    except Malformed:
        return {"err": _as_it_is(error)}
    if known is None:
        return {"error": {"kind": "exception", "message": f"{type(error).__name__}: {error}"}}
    if isinstance(known, Unsupported):
        return {"unsupported": known.feature}
    return {"err": encode_error(known)}


def _as_it_is(error: BaseException) -> dict[str, Any]:
    """Return a contract error with fields that are not the contract's, for the suite to judge."""
    names = {cls.__name__ for cls in type(error).__mro__}
    if "Rejected" in names:
        detail = str(getattr(error, "detail", ""))
        return {"error": "Rejected", "reason": getattr(error, "reason", None), "detail": detail}
    counts = ("required", "available", "deficit")
    return {"error": "CapacityWait"} | {name: getattr(error, name, None) for name in counts}


def _misused(number: int | None, problem: str) -> bytes:
    return line_of({"id": number, "error": {"kind": "protocol", "message": problem}})
