from dataclasses import replace

from sharedkv_conformance.marks import Check
from sharedkv_conformance.progress import Silent
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import Executor, Progress, Run, run
from sharedkv_conformance.selection import Selection
from sharedkv_conformance.status import Status
from sharedkv_conformance.verdict import Conformance
from tests.conformance.small_world import COUNT, PLANNING, Scripted, small_catalogue

PROBED = PLANNING | {"probe.cost"}


def ran(executor: Executor, selection: Selection | None = None, progress: Progress | None = None) -> Run:
    ticks = iter(range(1000))
    return run(
        small_catalogue(),
        executor,
        selection=selection or Selection(),
        progress=progress or Silent(),
        clock=lambda: next(ticks),
    )


class Witnessing:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def started(self, check: Check, number: int, total: int) -> None:
        self.seen.append(f"{number}/{total} {check.slug}")

    def finished(self, result: CheckResult) -> None:
        self.seen.append(str(result.status))


def test_every_check_of_the_catalogue_has_a_result() -> None:
    finished = ran(Scripted())

    assert list(finished.results) == [check.slug for check in small_catalogue().checks]


def test_a_check_whose_feature_is_not_claimed_is_inapplicable_and_says_what_is_missing() -> None:
    executor = Scripted()
    result = ran(executor).results["planning.probed"]

    assert (result.status, result.message) == (Status.INAPPLICABLE, "not claimed: probe.cost")
    assert "planning.probed" not in executor.executed


def test_a_check_that_depends_on_one_that_failed_is_blocked() -> None:
    executor = Scripted(planning_count=Status.FAIL)
    result = ran(executor).results["planning.owners"]

    assert (result.status, result.message) == (Status.BLOCKED, "depends on planning.count (fail)")
    assert "planning.owners" not in executor.executed


def test_a_check_that_was_not_selected_blocks_nothing() -> None:
    results = ran(Scripted(planning_count=Status.FAIL), Selection(checks=("planning.owners",))).results

    assert results["planning.count"].status is Status.NOT_RUN
    assert results["planning.owners"].status is Status.PASS


def test_a_filtered_run_is_incomplete_however_well_it_went() -> None:
    finished = ran(Scripted(PROBED), Selection(statements=(COUNT,)))

    assert not finished.is_complete
    assert finished.profile.conformance is Conformance.INCOMPLETE


def test_a_feature_that_is_claimed_without_its_facet_is_unmet() -> None:
    claims = frozenset({"planning.extra"})

    catalogue = small_catalogue()
    check = Check(slug="planning.more", statements=(COUNT,), function=print, needs=("planning.extra",))
    extended = replace(catalogue, checks=(check,))
    finished = run(extended, Scripted(claims), selection=Selection(), progress=Silent(), clock=float)

    assert finished.results["planning.more"].status is Status.UNMET


def test_a_run_in_which_nothing_applies_has_executed_nothing() -> None:
    finished = ran(Scripted(frozenset()))

    assert not finished.has_executed
    assert finished.profile.conformance is Conformance.INCOMPLETE


def test_progress_is_told_of_selected_checks_alone() -> None:
    progress = Witnessing()
    ran(Scripted(), Selection(statements=(COUNT,)), progress)

    assert progress.seen == ["1/1 planning.count", "pass"]


def test_time_is_taken_of_checks_that_were_selected() -> None:
    finished = ran(Scripted(), Selection(statements=(COUNT,)))

    assert finished.seconds == {"planning.count": 1}
