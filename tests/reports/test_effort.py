import sys
from dataclasses import replace
from types import ModuleType

import pytest

from sharedkv_conformance.contract import OpenConfig
from sharedkv_conformance.description import Described
from sharedkv_conformance.effort import DEEP, EFFORTS, KILL, QUICK, STANDARD, Effort
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.marks import Check
from sharedkv_conformance.model.implementation import ModelSession
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.progress import Hints, Line
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import InProcess
from sharedkv_conformance.status import Status
from tests.conformance.small_world import LAWS, OnePageShort, PlanningOnly, small_catalogue

CATALOGUE = small_catalogue()
COUNT = next(check for check in CATALOGUE.checks if check.slug == "planning.count")
FEW = replace(KILL, examples=8)
FEW_REDUCED = replace(STANDARD, examples=8)


def drawn(effort: Effort) -> list[object]:
    calls: list[object] = []

    class Noting(PlanningModel):
        def owners(self, extend_tokens: int) -> tuple[int, ...]:
            calls.append(extend_tokens)
            return super().owners(extend_tokens)

    Histories(PlanningOnly(Noting), effort).run("planning", laws=[LAWS[0]])
    return calls


def test_efforts_grow() -> None:
    assert QUICK.examples < STANDARD.examples < DEEP.examples
    assert list(EFFORTS) == ["quick", "standard", "deep"]


def test_equal_runs_draw_equal_histories() -> None:
    assert drawn(FEW) == drawn(FEW)


def test_an_equal_seed_draws_equal_histories_and_another_one_others() -> None:
    assert drawn(FEW.seeded(1)) == drawn(FEW.seeded(1))
    assert drawn(FEW.seeded(1)) != drawn(FEW.seeded(2))


def test_code_that_happens_to_be_loaded_changes_no_history(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn(STANDARD)
    source = tmp_path_factory.mktemp("engine") / "loaded.py"
    source.write_text(f"NUMBERS = {list(range(2, 64))}\n", encoding="utf-8")
    loaded = ModuleType("loaded")
    loaded.__file__ = str(source)
    monkeypatch.setitem(sys.modules, "loaded", loaded)

    assert drawn(STANDARD) == before


def test_a_known_failure_is_not_reduced() -> None:
    assert sessions(unreduced=("planning.count",)) < sessions(unreduced=())


def sessions(unreduced: tuple[str, ...]) -> int:
    """How many sessions a failing check opens."""
    implementation = Counting()
    executor = InProcess(Described(implementation, implementation.describe()), FEW_REDUCED, CATALOGUE, unreduced)
    executor.execute(COUNT)
    return implementation.opened


class Counting(PlanningOnly):
    """Is wrong, and counts its sessions."""

    def __init__(self) -> None:
        super().__init__(OnePageShort)
        self.opened = 0

    def open(self, config: OpenConfig) -> ModelSession:
        self.opened += 1
        return super().open(config)


class Paper:
    """A terminal that keeps what is written."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Keep it all."""


def test_progress_tells_about_how_long_the_rest_takes() -> None:
    paper = Paper()
    line = Line(paper, clock=iter((0.0, 10.0)).__next__)  # type: ignore[arg-type]
    check = Check(slug="planning.count", statements=(), function=print)
    line.started(check, 1, 4)
    line.started(check, 3, 4)

    assert "about 10 s left" in paper.text


LATE = "no answer to allocation.extend within 10 s; it still ran and was killed"
EARLIER = LATE.replace("extend", "lanes")


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ([(Status.TIMEOUT, LATE), (Status.TIMEOUT, LATE), (Status.TIMEOUT, LATE)], 1),
        ([(Status.TIMEOUT, LATE), (Status.BLOCKED, "it"), (Status.TIMEOUT, LATE)], 1),
        ([(Status.TIMEOUT, LATE), (Status.PASS, ""), (Status.TIMEOUT, LATE)], 0),
        ([(Status.TIMEOUT, LATE), (Status.TIMEOUT, EARLIER)], 0),
        ([(Status.CRASH, LATE), (Status.CRASH, LATE)], 0),
    ],
)
def test_a_hint_is_given_once_where_two_checks_in_a_row_wait_for_the_same(
    ends: list[tuple[Status, str]], told: int
) -> None:
    notes: list[str] = []
    hints = Hints(notes.append)
    for status, message in ends:
        hints.finished(CheckResult(check="it", status=status, message=message))

    assert len(notes) == told
    assert all("allocation.extend within 10 s; is each answer flushed?" in note for note in notes)
