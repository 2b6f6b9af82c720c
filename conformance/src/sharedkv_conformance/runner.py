"""Runs the checks of a catalogue in order and collects how each ended.

Knows selection, features and dependencies. How a check is executed is handed in, so that an implementation behind a
wire is run by the same loop; files, reports and command lines are the business of others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.contract.implementation import Description
from sharedkv_conformance.description import Described
from sharedkv_conformance.effort import Effort
from sharedkv_conformance.execution import execute, inapplicable
from sharedkv_conformance.marks import Check
from sharedkv_conformance.profiles import FULL, Profile
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.selection import Selection
from sharedkv_conformance.status import Status
from sharedkv_conformance.sweep import Sweeps
from sharedkv_conformance.verdict import (
    NOT_EXECUTED,
    Claims,
    ProfileVerdict,
    StatementVerdict,
    claims_not_met,
    statement_verdicts,
    verdict_in,
)
from sharedkv_conformance.wire.interruption import INTERRUPTION

FEW = 5
"""So many checks of a facet run faster one by one than by a sweep of all of its laws."""


class Executor(Protocol):
    """Brings one check to its status, wherever the implementation lives."""

    @property
    def description(self) -> Description:
        """Return what the implementation says of itself."""

    def execute(self, check: Check) -> CheckResult:
        """Run one check that applies."""


class InProcess:
    """Executes checks on an object of this process; histories that several checks would draw alike are drawn once."""

    def __init__(
        self,
        implementation: Described,
        effort: Effort,
        catalogue: Catalogue,
        unreduced: Collection[str] = (),
        selection: Selection | None = None,
    ) -> None:
        """Prepare to execute; failures of the checks named `unreduced` are told as they are found.

        A sweep judges by all laws of a facet, which is worth its time where more than a few of its checks are selected.
        """
        self._implementation = implementation
        self._effort = effort
        self._unreduced = unreduced
        self._witnesses = catalogue.witnesses
        chosen = Counter(check.facet for check in catalogue.checks if selection is None or selection.selects(check))
        is_whole = selection is None or not selection.is_filtered
        grounds = catalogue.grounds.items()
        self._sweeps = Sweeps(grounds={kind: own for kind, own in grounds if is_whole or chosen[own.facet] > FEW})

    @property
    def description(self) -> Description:
        """Return what the implementation says of itself."""
        return self._implementation.description

    def execute(self, check: Check) -> CheckResult:
        """Run one check that applies."""
        effort = replace(self._effort, reduce=False) if check.slug in self._unreduced else self._effort
        return execute(check, self._implementation, effort, self._witnesses, self._sweeps)


class Progress(Protocol):
    """Is told of every check that is about to run and of every result."""

    def started(self, check: Check, number: int, total: int) -> None:
        """Take note that a check begins; `number` counts from 1."""

    def finished(self, result: CheckResult) -> None:
        """Take note of how a check ended."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A finished run: the result of every check of the catalogue, and what follows from them."""

    description: Description
    selection: Selection
    results: Mapping[str, CheckResult]
    statements: tuple[StatementVerdict, ...]
    profile: ProfileVerdict
    claims: Claims = field(default_factory=Claims)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Say whether no check was left out on purpose."""
        return not self.selection.is_filtered

    @property
    def has_executed(self) -> bool:
        """Say whether any check ran; refusing to run is not running."""
        return any(result.status not in NOT_EXECUTED for result in self.results.values())


def run(
    catalogue: Catalogue,
    executor: Executor,
    *,
    selection: Selection,
    progress: Progress,
    clock: Callable[[], float],
    profile: Profile = FULL,
) -> Run:
    """Run the selected checks in catalogue order; `clock` returns seconds.

    Raises `KeyboardInterrupt` where an interruption came, whatever became of it: what a check met then is no result.
    """
    selected = [check for check in catalogue.checks if selection.selects(check)]
    results: dict[str, CheckResult] = {}
    seconds: dict[str, float] = {}
    for check in catalogue.checks:
        if check not in selected:
            results[check.slug] = CheckResult(check=check.slug, status=Status.NOT_RUN, message="not selected")
            continue
        progress.started(check, selected.index(check) + 1, len(selected))
        begin = clock()
        results[check.slug] = _unexecuted(check, executor.description, results) or executor.execute(check)
        INTERRUPTION.check()
        seconds[check.slug] = clock() - begin
        progress.finished(results[check.slug])
    verdicts = statement_verdicts(catalogue, executor.description, results)
    return Run(
        description=executor.description,
        selection=selection,
        results=results,
        statements=verdicts,
        profile=verdict_in(
            profile, verdicts, results, executor.description, catalogue, complete=not selection.is_filtered
        ),
        claims=Claims(
            not_met=() if selection.is_filtered else claims_not_met(catalogue, executor.description, results)
        ),
        seconds=seconds,
    )


def _unexecuted(check: Check, description: Description, results: Mapping[str, CheckResult]) -> CheckResult | None:
    """Return the result of a check that has no reason to run, or None."""
    return _unmet(check, description) or inapplicable(check, description) or _blocked(check, results)


def _unmet(check: Check, description: Description) -> CheckResult | None:
    """Return the result of a check whose optional feature is claimed without the facet that it extends."""
    for feature in sorted(check.required_features & description.features):
        base = feature.partition(".")[0]
        if base in check.required_features and base not in description.features:
            message = f"{feature} is claimed without {base}"
            return CheckResult(check=check.slug, status=Status.UNMET, message=message)
    return None


def _blocked(check: Check, results: Mapping[str, CheckResult]) -> CheckResult | None:
    """Return the result of a check that builds on one that did not pass; one that was not run blocks nothing."""
    harmless = (Status.PASS, Status.NOT_RUN, Status.INAPPLICABLE)
    failed = [f"{name} ({results[name].status})" for name in check.depends_on if results[name].status not in harmless]
    if not failed:
        return None
    return CheckResult(check=check.slug, status=Status.BLOCKED, message=f"depends on {', '.join(failed)}")
