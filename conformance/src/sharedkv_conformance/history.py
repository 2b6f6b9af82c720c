"""One history of calls on fresh sessions, judged step by step by a set of laws.

Knows nothing of hypothesis, pytest or files: whoever draws or reads the calls hands them in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

from sharedkv_conformance.codec import Malformed, decode, encode, recognise_error
from sharedkv_conformance.contract.implementation import Implementation, OpenConfig, Session
from sharedkv_conformance.contract.operations import OPERATION_BY_NAME
from sharedkv_conformance.loss import Loss
from sharedkv_conformance.marks import Law, Witness
from sharedkv_conformance.result import MALFORMED
from sharedkv_conformance.step import Answer, Call, Err, Ok, is_unsupported
from sharedkv_conformance.trace import OPEN, References, TraceHeader, answer_line, header_line
from sharedkv_conformance.wire.interruption import INTERRUPTION


class State(Protocol):
    """What the laws of a facet know before a call."""

    config: OpenConfig

    def __init__(self, config: OpenConfig) -> None: ...

    def adopt(self, call: Call, answer: Answer) -> None:
        """Take an answer as it is, right or wrong, and go on from there."""


class Violation(AssertionError):
    """A law was broken, or an answer has a shape that no law can judge."""

    def __init__(self, statement: str, law: str, messages: Sequence[str], trace: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(statement, law, tuple(messages), tuple(trace))
        self.statement = statement
        self.law = law
        self.messages = tuple(messages)
        self.trace = tuple(trace)

    def __str__(self) -> str:
        return f"{self.statement}: {'; '.join(self.messages)}"


class Escaped(Exception):
    """An exception outside the contract left the implementation."""

    def __init__(self, op: str, error: BaseException, trace: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(op, error, tuple(trace))
        self.op = op
        self.error = error
        self.trace = tuple(trace)

    def __str__(self) -> str:
        return f"{self.op} raised {type(self.error).__name__}: {self.error}"


class Gone(BaseException):
    """The implementation was lost in the middle of a history.

    No `Exception`, so that whoever draws further examples, or looks for a shorter history, stops as well: there is
    nobody to put them to.
    """

    def __init__(self, op: str, loss: Loss, trace: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(op, loss, tuple(trace))
        self.op = op
        self.loss = loss
        self.trace = tuple(trace)

    def __str__(self) -> str:
        return str(self.loss)


class Refused(Exception):
    """A written history cannot go on: the call that it builds on was answered with an error."""


@runtime_checkable
class Foresighted(Protocol):
    """A session that gains by knowing what will be asked next: the wire sends it in one go."""

    def announce(self, following: Sequence[str]) -> None:
        """Take note of the calls without arguments that will follow the next call in this order."""


@dataclass
class Seat:
    """One rank's session and what is known of it."""

    rank: int
    session: Session
    state: State
    references: References


class History:
    """Calls in order, each answered by every rank and judged; close it when done, or use it as a context."""

    def __init__(
        self,
        implementation: Implementation,
        state_of: type[State],
        laws: Iterable[Law],
        witnesses: Iterable[Witness] = (),
    ) -> None:
        self.laws = tuple(laws)
        self.witnesses = tuple(witnesses)
        self.raised: Counter[str] = Counter()
        self.seats: list[Seat] = []
        self.lines: list[dict[str, Any]] = []
        self.collected: dict[str, Violation] | None = None
        self._implementation = implementation
        self._state_of = state_of
        self._header: dict[str, Any] = {}
        self._ranks = 1
        self.calls = 0

    @property
    def state(self) -> State:
        """Return what is known of the first rank."""
        return self.seats[0].state

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            return  # nobody waits for an answer, not even to a farewell
        try:
            self.close()
        except Escaped:
            if kind is None:
                raise

    def open(self, config: OpenConfig, *, facet: str, ranks: int = 1) -> Answer:
        """Open one session a rank; the answer is `Ok(None)` or the refusal."""
        self._header = {"facet": facet, "config": encode(config)}
        self._ranks = ranks
        answers: list[Answer] = []
        for rank in range(ranks):
            seated = OpenConfig(**{**vars(config), "rank": rank})
            answers.append(self._open_one(seated, rank))
        return answers[0]

    def _open_one(self, config: OpenConfig, rank: int) -> Answer:
        state = self._state_of(config)
        call = Call(op=OPEN)
        self._begin(call, {}, rank)
        try:
            session = self._implementation.open(config)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever leaves the implementation is its answer
            answer: Answer = Err(self._contract_error(OPEN, error))
        else:
            answer = Ok(None)
            self.seats.append(Seat(rank=rank, session=session, state=state, references=References()))
        self.lines[-1] |= answer_line(answer)
        self._judge(state, call, answer)
        return answer

    def issue(self, call: Call, following: Sequence[str] = ()) -> Answer:
        """Issue one call on every rank, judge the answers, and return the first rank's.

        `following` are the calls without arguments that come next, for sessions that can send them along.
        """
        first: Answer | None = None
        INTERRUPTION.check()
        for seat in self.seats:
            if following and isinstance(seat.session, Foresighted):
                seat.session.announce(following)
            answer = self._answer(seat, call)
            if seat.rank:
                seat.state.peer_answer = first  # type: ignore[attr-defined]
            self._judge(seat.state, call, answer)
            seat.state.adopt(call, answer)
            first = first if first is not None else answer
        if first is None:
            message = "a history needs an open session before its first call"
            raise RuntimeError(message)
        return first

    def value(self, op: str, **args: Any) -> Any:
        """Issue one call of a written history and return its value; an error ends the history."""
        answer = self.issue(Call(op=op, args=args))
        if isinstance(answer, Err):
            raise Refused(op)
        return answer.value

    def close(self) -> None:
        """Close every session; raises `Escaped` for the first that cannot be closed, after the others are."""
        INTERRUPTION.check()
        escaped: Escaped | None = None
        while self.seats:
            try:
                self.seats.pop().session.close()
            except Loss as loss:
                raise Gone("session.close", loss, self.trace("", "")) from loss
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever leaves the implementation is its answer
                escaped = escaped or Escaped("session.close", error, self.trace("", ""))
        if escaped is not None:
            raise escaped

    def trace(self, statement: str, law: str, messages: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Return the history so far as the lines of a trace."""
        header = TraceHeader(statement=statement, law=law, ranks=self._ranks, **self._header)
        return [header_line(header), *self.lines, *({"violation": message} for message in messages)]

    def _answer(self, seat: Seat, call: Call) -> Answer:
        operation = OPERATION_BY_NAME[call.op]
        written = seat.references.write(operation, call.args)
        try:
            raw = operation.of(seat.session)(*call.args.values())
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever leaves the implementation is its answer
            self._begin(call, written, seat.rank)
            answer: Answer = Err(self._contract_error(call.op, error))
        else:
            self._begin(call, written, seat.rank)
            answer = Ok(self._shaped(call, raw))
            seat.references.learn(self.calls - 1, operation, answer.value)
        self.lines[-1] |= answer_line(answer)
        return answer

    def _shaped(self, call: Call, raw: Any) -> Any:
        try:
            return decode(OPERATION_BY_NAME[call.op].result, raw, f"the answer to {call.op}")
        except Malformed as error:
            raise self._malformed(error) from error

    def _contract_error(self, op: str, error: BaseException) -> Any:
        if isinstance(error, Loss):
            raise Gone(op, error, self.trace("", "")) from error
        try:
            known = recognise_error(error, f"the error of {op}")
        except Malformed as malformed:
            raise self._malformed(malformed) from error
        if known is None:
            raise Escaped(op, error, self.trace("", "")) from error
        return known

    def _malformed(self, error: Malformed) -> Violation:
        law = self.laws[0] if self.laws else None
        statement = law.statement if law else ""
        message = f"{MALFORMED}{error}"
        return Violation(statement, law.name if law else "", [message], self.trace(statement, "", [message]))

    def _begin(self, call: Call, written: Mapping[str, Any], rank: int) -> None:
        line: dict[str, Any] = {"call": self.calls, "op": call.op}
        if self._ranks > 1:
            line["rank"] = rank
        if written:
            line["args"] = dict(written)
        self.lines.append(line)
        self.calls += 1

    def _judge(self, state: State, call: Call, answer: Answer) -> None:
        if not is_unsupported(answer):  # nothing occurred to who does not know the call
            for witness in self.witnesses:
                if call.op in witness.on and witness.occurred(state, call, answer):
                    self.raised[witness.name] += 1
        for law in self.laws:
            if call.op in law.on and (messages := list(law(state, call, answer))):
                self._broken(law, messages)

    def _broken(self, law: Law, messages: list[str]) -> None:
        if self.collected is not None and law.statement in self.collected:
            return
        violation = Violation(law.statement, law.name, messages, self.trace(law.statement, law.name, messages))
        if self.collected is None:
            raise violation
        self.collected[law.statement] = violation
