import os
import signal
from functools import partial

import pytest

from sharedkv_conformance.marks import Check
from sharedkv_conformance.progress import Silent
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import Executor, Run, run
from sharedkv_conformance.selection import Selection
from sharedkv_conformance.status import Status
from sharedkv_conformance.workers import Factory, WorkerError, Workers
from tests.conformance.small_world import PLANNING, Scripted, small_catalogue

CATALOGUE = small_catalogue()
CLAIMED = PLANNING | {"probe.cost"}


class Dying(Scripted):
    """Ends its process where it is asked for one check."""

    def execute(self, check: Check) -> CheckResult:
        if check.slug == "planning.count":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(check)


def scripted(**statuses: Status) -> Scripted:
    return Scripted(CLAIMED, **statuses)


def dying() -> Dying:
    return Dying(CLAIMED)


def unusable() -> Executor:
    message = "no such engine"
    raise RuntimeError(message)


def ran(factory: Factory, count: int = 2) -> Run:
    with Workers(count, factory, Scripted(CLAIMED).description, CATALOGUE.checks) as workers:
        return run(CATALOGUE, workers, selection=Selection(), progress=Silent(), clock=float)


def test_several_processes_find_what_one_finds() -> None:
    alone = run(CATALOGUE, scripted(), selection=Selection(), progress=Silent(), clock=float)

    assert ran(scripted).results == alone.results


def test_what_depends_on_a_failure_is_blocked() -> None:
    statuses = {slug: r.status for slug, r in ran(partial(scripted, planning_count=Status.FAIL)).results.items()}

    assert (statuses["planning.count"], statuses["planning.owners"]) == (Status.FAIL, Status.BLOCKED)


def test_a_process_that_dies_is_a_crash_and_the_run_goes_on() -> None:
    results = ran(dying).results

    assert (results["planning.count"].status, results["planning.advice"].status) == (Status.CRASH, Status.PASS)
    assert "SIGKILL" in results["planning.count"].message


def test_a_process_that_cannot_begin_is_told() -> None:
    with pytest.raises(WorkerError, match="no such engine"):
        ran(unusable)


def test_no_process_is_left_behind() -> None:
    workers = Workers(2, scripted, Scripted(CLAIMED).description, CATALOGUE.checks)
    with workers:
        processes = [worker.process for worker in workers._workers]

    assert [process.is_alive() for process in processes] == [False, False]
