"""Our end of one connection: greets, sends requests, and matches answers to them by id, each within a time.

Turns whatever goes wrong with the other end into a `Loss` that says what was asked and what became of it. Does not
know sessions, or which operations there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sharedkv_conformance.codec import Malformed
from sharedkv_conformance.contract import CONTRACT_VERSION
from sharedkv_conformance.contract.errors import Unsupported
from sharedkv_conformance.contract.implementation import Description
from sharedkv_conformance.loss import Loss
from sharedkv_conformance.result import UNASKED, UNREADABLE
from sharedkv_conformance.status import Status
from sharedkv_conformance.wire.bulk import BulkFile
from sharedkv_conformance.wire.channels import Closed, Late, TooLong
from sharedkv_conformance.wire.messages import (
    HELLO,
    WIRE_VERSION,
    Answer,
    Kind,
    Remote,
    Unreadable,
    answer_of,
    contract_error,
    request_line,
    shortened,
)
from sharedkv_conformance.wire.process import Peer

DESCRIBED = frozenset(field.name for field in fields(Description))
# So many requests leave together.
PART = 32
Watch = Callable[[bytes], None]


def _unwatched(line: bytes) -> None:
    """See nothing."""


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """The seconds that a program has: to start and say hello, and for each call."""

    start_s: float = 30.0
    call_s: float = 10.0

    def scaled(self, factor: float) -> Budgets:
        """Return budgets of a machine that is so many times slower; infinity waits for a person with a debugger."""
        return Budgets(start_s=self.start_s * factor, call_s=self.call_s * factor)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked; arguments in JSON form."""

    op: str
    args: Mapping[str, Any] | None = None
    session: int | None = None


class Connection:
    """Requests and their answers, in whatever order these come."""

    def __init__(
        self, peer: Peer, budgets: Budgets, *, watch: Watch = _unwatched, bulk: BulkFile | None = None
    ) -> None:
        self.peer = peer
        self.bulk = bulk
        self.lost: Loss | None = None
        self._interrupted = False
        self._budgets = budgets
        self._watch = watch
        self._next = 1
        self._pending: dict[int, str] = {}
        self._forgotten: set[int] = set()
        self._come: dict[int, Answer] = {}

    def greet(self) -> Any:
        """Say hello and return the description as it was given; raises `Loss`."""
        args: dict[str, Any] = {"wire": [WIRE_VERSION], "contract": CONTRACT_VERSION}
        if self.bulk is not None:
            args["bulk"] = {"path": str(self.bulk.path), "bytes": self.bulk.num_bytes}
        (number,) = self.post([Request(op=HELLO, args=args)])
        answer = self._awaited(number, self._budgets.start_s)
        said = answer.value if answer.kind is Kind.OK else None
        if not isinstance(said, dict) or set(said) != {"wire", "description"}:
            raise self._lose(Status.ERROR, f"it did not say hello: {answer.kind} {answer.value!r}")
        if type(said["wire"]) is not int or said["wire"] != WIRE_VERSION:
            raise self._lose(Status.ERROR, f"it speaks wire version {said['wire']!r}, the suite {WIRE_VERSION}")
        description = said["description"]
        if isinstance(description, dict) and (odd := description.keys() - DESCRIBED):
            raise self._lose(Status.ERROR, f"its description has a key that there is none of: {min(odd)!r}")
        return description

    def post(self, requests: Sequence[Request]) -> list[int]:
        """Send requests without waiting for an answer and return their ids; raises `Loss` when nobody is there.

        Of many requests the first are on their way while the last are written.
        """
        self._expect_peer()
        if self.bulk is not None and not self._pending:
            self.bulk.reset()
        numbers = list(range(self._next, self._next + len(requests)))
        self._next += len(requests)
        lines: list[bytes] = []
        for number, request in zip(numbers, requests, strict=True):
            self._pending[number] = request.op
            line = request_line(number, request.op, request.args, request.session)
            self._watch(line)
            lines.append(line)
            if len(lines) == PART:
                self.peer.channel.send(b"".join(lines))
                lines.clear()
        self.peer.channel.send(b"".join(lines))
        return numbers

    def result(self, number: int) -> Any:
        """Return the JSON value that answers a request.

        Raises:
            ContractError: the answer is an error of the contract.
            Remote: the other end failed outside the contract, and goes on.
            Loss: there is no answer, and will be none.

        """
        answer = self._awaited(number, self._budgets.call_s)
        if answer.kind is Kind.OK:
            return answer.value
        if answer.kind is Kind.ERR:
            raise contract_error(answer.value)
        if answer.kind is Kind.UNSUPPORTED:
            raise Unsupported(answer.value)
        raise Remote(str(answer.value.get("kind", "error")), str(answer.value.get("message", "")))

    def forget(self, numbers: Sequence[int]) -> None:
        """Let go of answers that nobody wants any more, come or still to come."""
        for number in numbers:
            if self._come.pop(number, None) is None and number in self._pending:
                self._forgotten.add(number)

    def _awaited(self, number: int, within_s: float) -> Answer:
        if number not in self._come:
            self._expect_peer()
        while number not in self._come:
            self._take(self._line(number, within_s), self._pending[number])
        return self._come.pop(number)

    def _expect_peer(self) -> None:
        """Raise why nobody is there; that we were interrupted is no fault of the other end, and no `Loss`."""
        if self._interrupted:
            raise KeyboardInterrupt
        if self.lost is not None:
            raise self.lost

    def _line(self, number: int, within_s: float) -> bytes:
        op = self._pending[number]
        try:
            line = self.peer.channel.line(within_s)
        except Late:
            how = self.peer.end()
            problem = f"no answer to {op} within {within_s:g} s; {how}"
            raise self._lose(Status.TIMEOUT, problem) from None
        except Closed:
            raise self._lose(Status.CRASH, f"no answer to {op}: {self.peer.autopsy()}") from None
        except TooLong as error:
            raise self._lose(Status.ERROR, f"the answer to {op} does not end: {shortened(error.begin)}") from None
        except BaseException:  # interrupted: nobody must wait for the program again, not even to close a session
            self._interrupted = True
            self._lose(Status.ERROR, f"interrupted while {op} ran")
            raise
        self._watch(line)
        return line

    def _take(self, line: bytes, op: str) -> None:
        try:
            answer = answer_of(line)
            if self.bulk is not None and b'"bulk"' in line:
                answer = Answer(answer.id, answer.kind, self.bulk.resolve(answer.value))
        except (Unreadable, Malformed) as error:
            raise self._lose(Status.ERROR, f"{UNREADABLE}, but an answer to {op} is due: {error}") from None
        if self._pending.pop(answer.id, None) is None:
            problem = f"{UNASKED}, but one to {op} is due: {shortened(line)}"
            raise self._lose(Status.ERROR, problem)
        if answer.id in self._forgotten:
            self._forgotten.remove(answer.id)
        else:
            self._come[answer.id] = answer

    def _lose(self, status: Status, problem: str) -> Loss:
        """Make an end of the other side and remember why."""
        self.peer.end()
        self.lost = Loss(status, problem, self.peer.tail())
        return self.lost
