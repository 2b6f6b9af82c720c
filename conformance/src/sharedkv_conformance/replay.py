"""Issues the calls of a trace on an implementation and judges them again by the law that the trace names.

Needs neither hypothesis nor pytest. Knows nothing of files or command lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sharedkv_conformance.codec import Malformed, decode
from sharedkv_conformance.contract.implementation import Implementation, OpenConfig
from sharedkv_conformance.history import Escaped, Gone, History, State, Violation
from sharedkv_conformance.marks import Law
from sharedkv_conformance.trace import OPEN, Trace, TracedCall, TraceHeader, resolved_call

MOST_RANKS = 1024
LARGEST_PAGE = 1 << 20
LARGEST_POOL = 1 << 20


class Outcome(StrEnum):
    """What became of the calls of a trace."""

    HOLDS = "holds"
    VIOLATED = "violated"
    ESCAPED = "escaped"
    DIVERGED = "diverged"


class ReplayError(ValueError):
    """A trace names what this suite does not have, or a geometry that no trace may hold."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return self.problem


@dataclass(frozen=True, kw_only=True)
class ReplayResult:
    """What became of a trace; `call` is the number of the last call that was tried, `trace` what was answered here."""

    outcome: Outcome
    statement: str = ""
    messages: tuple[str, ...] = ()
    call: int = 0
    law: str = ""
    trace: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One call that was answered otherwise than when the trace was made; answers are in JSON form."""

    call: int
    op: str
    recorded: Mapping[str, Any]
    here: Mapping[str, Any]


class _Diverged(Exception):
    """A call of the trace cannot be issued here."""

    def __init__(self, call: int, reason: str) -> None:
        super().__init__(call, reason)
        self.call = call
        self.reason = reason


def replay(
    trace: Trace, implementation: Implementation, laws: Iterable[Law], states: Mapping[str, type[State]]
) -> ReplayResult:
    """Replay a trace on fresh sessions; raises `ReplayError` when it is about something else."""
    config = _config(trace.header)
    if trace.header.facet not in states:
        raise ReplayError(f"unknown facet {trace.header.facet!r}; known: {', '.join(sorted(states))}")
    history = History(implementation, states[trace.header.facet], laws_named(trace.header, laws))
    number = 0
    try:
        with history:
            for number, traced in _first_rank(trace):  # noqa: B007 - read after the loop
                _issue(history, traced, trace.header, config)
    except Violation as violation:
        return ReplayResult(
            outcome=Outcome.VIOLATED,
            statement=violation.statement,
            messages=violation.messages,
            call=number,
            law=violation.law,
            trace=violation.trace,
        )
    except (Escaped, Gone) as ended:
        return ReplayResult(outcome=Outcome.ESCAPED, messages=(str(ended),), call=number, trace=ended.trace)
    except _Diverged as diverged:
        return ReplayResult(outcome=Outcome.DIVERGED, messages=(diverged.reason,), call=diverged.call)
    return ReplayResult(outcome=Outcome.HOLDS, call=number, trace=tuple(history.lines))


def differences(trace: Trace, result: ReplayResult) -> Iterator[Difference]:
    """Yield each call that was answered otherwise than when the trace was made, in order."""
    here = {line["call"]: line for line in result.trace if "call" in line}
    for traced in trace.calls:
        answer = {key: here[traced.call][key] for key in ("ok", "err") if key in here.get(traced.call, {})}
        if traced.answer and answer and traced.answer != answer:
            yield Difference(call=traced.call, op=traced.op, recorded=traced.answer, here=answer)


def laws_named(header: TraceHeader, laws: Iterable[Law]) -> tuple[Law, ...]:
    """Return the law of a header; all laws of its statement where it names none; none where it names neither."""
    of_statement = [law for law in laws if law.statement == header.statement]
    if header.law:
        of_statement = [law for law in of_statement if law.name == header.law]
    if header.statement and not of_statement:
        raise ReplayError(f"the suite has no law {header.law or 'at all'} of statement {header.statement!r}")
    return tuple(of_statement)


def _config(header: TraceHeader) -> OpenConfig:
    try:
        config = decode(OpenConfig, header.config, "config")
    except Malformed as error:
        raise ReplayError(str(error)) from error
    for name, value, least, most in (
        ("cp_size", config.cp_size, 0 if header.facet == "planning" else 1, MOST_RANKS),
        ("page_size", config.page_size, 1, LARGEST_PAGE),
        ("pages", config.pages, 0, LARGEST_POOL),
    ):
        if not least <= value <= most:
            raise ReplayError(f"config.{name}: wanted {least} to {most}, found {value}")
    if not isinstance(config, OpenConfig):
        raise ReplayError("config: wanted a geometry")
    return config


def _first_rank(trace: Trace) -> list[tuple[int, TracedCall]]:
    """Return the calls to issue: each goes to every rank, so that the first rank's lines say it all."""
    return [(traced.call, traced) for traced in trace.calls if traced.rank == 0]


def _issue(history: History, traced: TracedCall, header: TraceHeader, config: OpenConfig) -> None:
    if traced.op == OPEN:
        if traced.call:
            raise _Diverged(traced.call, "a session is opened once, by call 0")
        history.open(config, facet=header.facet, ranks=header.ranks)
        return
    if len(history.seats) < header.ranks:
        raise _Diverged(traced.call, "opening a session was refused here")
    seat = history.seats[0]
    try:
        call = resolved_call(traced, seat.references)
    except LookupError as error:
        raise _Diverged(traced.call, f"the path {error} leads nowhere: that answer is another one here") from error
    except (Malformed, RecursionError) as error:
        raise _Diverged(traced.call, str(error)) from error
    history.issue(call)
