"""Traces around a check: a known failure is looked for in its own trace first, a new one is issued again.

Both wrap whatever executes checks. A trace that is violated is a failure like any other; one that holds proves
nothing, and the check is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sharedkv_conformance.contract.implementation import Description, Implementation
from sharedkv_conformance.marks import Check, Law
from sharedkv_conformance.replay import Outcome, ReplayError, ReplayResult, replay
from sharedkv_conformance.result import CheckResult, Repeats
from sharedkv_conformance.runner import Executor
from sharedkv_conformance.states import STATES
from sharedkv_conformance.status import Status
from sharedkv_conformance.trace import Trace, TraceError, parse_trace, render

ENDS: Mapping[Outcome, Status] = {Outcome.VIOLATED: Status.FAIL, Outcome.ESCAPED: Status.ERROR}


class TraceFirst:
    """Replays the trace of a known failure and runs its check only where the trace holds."""

    def __init__(
        self, inner: Executor, implementation: Implementation, laws: Sequence[Law], traces: Mapping[str, Trace]
    ) -> None:
        self._inner = inner
        self._implementation = implementation
        self._laws = laws
        self._traces = traces

    @property
    def description(self) -> Description:
        """Return what the implementation says of itself."""
        return self._inner.description

    def execute(self, check: Check) -> CheckResult:
        """Bring a check to its status."""
        trace = self._traces.get(check.slug)
        if trace is not None and trace.header.statement in ("", *check.statements):
            result = _replayed(trace, self._implementation, self._laws)
            if result is not None and result.outcome in ENDS and result.statement in ("", *check.statements):
                return _told(check, result)
        return self._inner.execute(check)


class Repeating:
    """Issues the trace of each failure some times more, and says how often it failed again."""

    def __init__(self, inner: Executor, implementation: Implementation, laws: Sequence[Law], tries: int) -> None:
        self._inner = inner
        self._implementation = implementation
        self._laws = laws
        self._tries = tries

    @property
    def description(self) -> Description:
        """Return what the implementation says of itself."""
        return self._inner.description

    def execute(self, check: Check) -> CheckResult:
        """Bring a check to its status, and look at its failure again."""
        result = self._inner.execute(check)
        trace = _parsed(result.trace)
        if trace is None:
            return result
        outcomes = [_replayed(trace, self._implementation, self._laws) for _ in range(self._tries)]
        failed = sum(outcome is not None and ENDS.get(outcome.outcome) is result.status for outcome in outcomes)
        return replace(result, repeats=Repeats(tries=self._tries, failed=failed))


def _parsed(lines: Sequence[Mapping[str, Any]]) -> Trace | None:
    """Return the trace of a failure, None where there is none that can be replayed."""
    if not lines:
        return None
    try:
        return parse_trace(render([dict(line) for line in lines]))
    except TraceError:
        return None


def _replayed(trace: Trace, implementation: Implementation, laws: Sequence[Law]) -> ReplayResult | None:
    try:
        return replay(trace, implementation, laws, STATES)
    except ReplayError:
        return None


def _told(check: Check, result: ReplayResult) -> CheckResult:
    message = "; ".join(result.messages)
    violated = result.outcome is Outcome.VIOLATED
    return CheckResult(
        check=check.slug,
        status=ENDS[result.outcome],
        message=f"{result.statement}: {message}" if violated else message,
        statement=result.statement if violated else "",
        law=result.law,
        examples=1,
        witnesses=dict.fromkeys(check.witnesses, 0),
        laws=frozenset({(result.statement, result.law)}) if violated else frozenset(),
        trace=result.trace,
    )
