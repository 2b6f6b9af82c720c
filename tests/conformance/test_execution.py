# ruff: noqa: ANN401 - laws, fakes and JSON values are of any type
# ruff: noqa: ARG002 - a fake takes what the contract gives it

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from sharedkv_conformance import reduction
from sharedkv_conformance.contract import OpenConfig
from sharedkv_conformance.description import Described
from sharedkv_conformance.effort import GATE, KILL, Effort
from sharedkv_conformance.execution import execute
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.marks import Check, check
from sharedkv_conformance.model.implementation import ModelSession
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import InProcess
from sharedkv_conformance.status import Status
from tests.conformance.small_world import (
    COUNT,
    OnePageShort,
    PlanningOnly,
    check_advice,
    check_count,
    check_owners,
    small_catalogue,
    there_is_an_owner_a_page,
)

CATALOGUE = small_catalogue()
CONFIG = OpenConfig(cp_size=2, page_size=4, pages=8)


def mark(function: Callable[..., None]) -> Check:
    found = vars(function)["kvconform_check"]
    assert isinstance(found, Check)
    return found


def executed(function: Callable[..., None], implementation: Any, effort: Effort = KILL) -> CheckResult:
    return execute(mark(function), implementation, effort, CATALOGUE.witnesses)


@check("planning.vacuous", COUNT, witnesses=("pigs_flew",))
def check_what_never_happens(runs: Histories) -> None:
    """Nothing would go wrong."""
    runs.run("planning", laws=[there_is_an_owner_a_page])


@check("planning.idle", COUNT)
def check_nothing(runs: Histories) -> None:
    """Nothing would go wrong."""
    del runs


@check("planning.mistaken", COUNT)
def check_with_a_mistake(runs: Histories) -> None:
    """The suite is at fault."""
    raise ZeroDivisionError(runs.examples)


@check("planning.written", COUNT)
def check_written(runs: Histories) -> None:
    """A written history goes wrong."""
    with runs.written("planning", CONFIG, laws=[there_is_an_owner_a_page]) as call:
        call("planning.split", prefix_tokens=0, extend_tokens=8)


class Leaving(PlanningModel):
    def split(self, prefix_tokens: int, extend_tokens: int) -> Any:
        raise SystemExit(0)


class Fickle(PlanningModel):
    """Answers wrongly once in a while, whatever was asked."""

    asked = count()

    def owners(self, extend_tokens: int) -> tuple[int, ...]:
        return super().owners(extend_tokens)[next(self.asked) % 37 == 36 :]


class Unclosable(PlanningOnly):
    def open(self, config: OpenConfig) -> ModelSession:
        session = super().open(config)

        def close() -> None:
            raise RuntimeError("still busy")

        session.close = close  # type: ignore[method-assign]
        return session


def test_a_law_that_holds_passes() -> None:
    result = executed(check_count, PlanningOnly())

    assert result.status is Status.PASS
    assert result.examples >= KILL.examples
    assert result.witnesses["something_was_split"] > 0


def test_a_broken_law_fails_with_its_statement_and_the_smallest_trace() -> None:
    result = executed(check_count, PlanningOnly(OnePageShort), GATE)

    assert (result.status, result.statement, result.law) == (Status.FAIL, COUNT, "there_is_an_owner_a_page")
    assert [line.get("op") for line in result.trace] == [None, "session.open", "planning.split", None]


def test_a_property_whose_trigger_never_occurred_is_vacuous() -> None:
    result = executed(check_what_never_happens, PlanningOnly())

    assert (result.status, result.message) == (Status.VACUOUS, "never occurred: pigs_flew")


def test_a_check_that_runs_no_history_is_vacuous() -> None:
    assert executed(check_nothing, PlanningOnly()).status is Status.VACUOUS


def test_a_fault_of_the_suite_is_no_verdict_on_the_implementation() -> None:
    assert executed(check_with_a_mistake, PlanningOnly()).status is Status.HARNESS_ERROR


@pytest.mark.parametrize("function", [check_count, check_written])
def test_an_implementation_that_leaves_the_process_is_an_error(function: Callable[..., None]) -> None:
    result = executed(function, PlanningOnly(Leaving))

    assert (result.status, result.message) == (Status.ERROR, "planning.split raised SystemExit: 0")


@pytest.mark.parametrize("function", [check_count, check_written])
def test_a_session_that_cannot_be_closed_is_an_error(function: Callable[..., None]) -> None:
    result = executed(function, Unclosable())

    assert (result.status, result.message) == (Status.ERROR, "session.close raised RuntimeError: still busy")


def test_a_failure_that_is_reduced_for_too_long_is_told_as_small_as_it_got(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "MOST_TRIES", 2)
    result = executed(check_count, PlanningOnly(OnePageShort), GATE)

    assert (result.status, result.statement) == (Status.FAIL, COUNT)
    assert result.trace[-1]["violation"]


def test_answers_that_change_between_equal_runs_never_pass() -> None:
    result = executed(check_count, PlanningOnly(Fickle))

    assert result.status in (Status.FAIL, Status.ERROR)


@pytest.mark.parametrize("model", [PlanningModel, OnePageShort])
def test_histories_that_are_shared_say_what_each_check_would_say_alone(model: type[PlanningModel]) -> None:
    implementation = PlanningOnly(model)
    few = replace(GATE, examples=12)
    executor = InProcess(Described(implementation, implementation.describe()), few, CATALOGUE)
    for function in (check_count, check_owners, check_advice):
        shared = executor.execute(mark(function))
        alone = executed(function, implementation, few)

        assert (shared.status, shared.statement, shared.message) == (alone.status, alone.statement, alone.message)
        assert (shared.trace, shared.laws) == (alone.trace, alone.laws)
        assert shared.witnesses == alone.witnesses or shared.status is Status.FAIL
