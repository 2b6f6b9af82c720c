from sharedkv_conformance.catalogue import load_laws
from sharedkv_conformance.contract import OpenConfig
from sharedkv_conformance.description import Described
from sharedkv_conformance.effort import GATE
from sharedkv_conformance.known.tracing import Repeating, TraceFirst
from sharedkv_conformance.marks import Check
from sharedkv_conformance.model.implementation import ModelSession
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.result import CheckResult, Repeats
from sharedkv_conformance.runner import InProcess
from sharedkv_conformance.status import Status
from sharedkv_conformance.trace import Trace, parse_trace
from tests.conformance.small_world import LAWS, OnePageShort, PlanningOnly, Scripted, small_catalogue

CATALOGUE = small_catalogue()
COUNT = next(check for check in CATALOGUE.checks if check.slug == "planning.count")


def described(implementation: PlanningOnly) -> Described:
    return Described(implementation, implementation.describe())


def failure(check: Check = COUNT) -> CheckResult:
    return InProcess(described(PlanningOnly(OnePageShort)), GATE, CATALOGUE).execute(check)


def trace() -> Trace:
    from sharedkv_conformance.traces import trace_text  # noqa: PLC0415 - the one that a run writes

    return parse_trace(trace_text(failure()))


class GoodInEnd(PlanningOnly):
    """Goes wrong in its first sessions alone."""

    def __init__(self, wrong: int) -> None:
        super().__init__()
        self._left = wrong
        self._wrong = PlanningOnly(OnePageShort)

    def open(self, config: OpenConfig) -> ModelSession:
        self._left -= 1
        return self._wrong.open(config) if self._left >= 0 else super().open(config)


def test_a_known_failure_is_found_in_its_trace_and_its_check_is_not_run() -> None:
    inner = Scripted()
    first = TraceFirst(inner, described(PlanningOnly(OnePageShort)), LAWS, {"planning.count": trace()})
    result = first.execute(COUNT)

    assert (result.status, result.message, inner.executed) == (Status.FAIL, failure().message, [])


def test_where_the_trace_holds_the_check_is_run() -> None:
    inner = Scripted()
    first = TraceFirst(inner, described(PlanningOnly(PlanningModel)), LAWS, {"planning.count": trace()})

    assert (first.execute(COUNT).status, inner.executed) == (Status.PASS, ["planning.count"])


def test_a_trace_of_another_statement_is_no_short_cut() -> None:
    inner = Scripted()
    owners = next(check for check in CATALOGUE.checks if check.slug == "planning.owners")
    first = TraceFirst(inner, described(PlanningOnly(OnePageShort)), LAWS, {"planning.owners": trace()})
    first.execute(owners)

    assert inner.executed == ["planning.owners"]


def test_a_law_that_the_suite_does_not_have_is_no_short_cut() -> None:
    inner = Scripted()
    first = TraceFirst(inner, described(PlanningOnly(OnePageShort)), load_laws(), {"planning.count": trace()})
    first.execute(COUNT)

    assert inner.executed == ["planning.count"]


class Once:
    """An executor with one result."""

    def __init__(self, result: CheckResult) -> None:
        self.description = Scripted().description
        self._result = result

    def execute(self, check: Check) -> CheckResult:
        del check
        return self._result


def test_a_failure_that_comes_back_every_time_is_reproducible() -> None:
    repeated = Repeating(Once(failure()), described(PlanningOnly(OnePageShort)), LAWS, 3).execute(COUNT)

    assert (repeated.status, repeated.repeats) == (Status.FAIL, Repeats(tries=3, failed=3))


def test_a_failure_that_does_not_come_back_is_flaky_and_stays_a_failure() -> None:
    repeated = Repeating(Once(failure()), described(GoodInEnd(wrong=1)), LAWS, 3).execute(COUNT)

    assert (repeated.status, repeated.repeats) == (Status.FAIL, Repeats(tries=3, failed=1))
    assert repeated.repeats is not None
    assert repeated.repeats.is_flaky


def test_a_pass_is_not_repeated() -> None:
    repeated = Repeating(Scripted(), described(PlanningOnly()), LAWS, 3).execute(COUNT)

    assert repeated.repeats is None
