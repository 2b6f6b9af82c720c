"""How the checks of a run are executed: in this process or in several, with or without known failures.

A job says everything that a process needs to open the implementation anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from sharedkv_conformance.catalogue import Catalogue, load_catalogue
from sharedkv_conformance.commands.terminal import opened, this_terminal
from sharedkv_conformance.contract.implementation import Description
from sharedkv_conformance.description import Described
from sharedkv_conformance.effort import Effort
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.known.tracing import Repeating, TraceFirst
from sharedkv_conformance.marks import Check
from sharedkv_conformance.redaction import Redaction, redaction_for
from sharedkv_conformance.report import LONGEST_EXAMINED
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import Executor, InProcess
from sharedkv_conformance.selection import Selection
from sharedkv_conformance.trace import Trace
from sharedkv_conformance.workers import WorkerError, Workers


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is executed and how: the name of the implementation, the effort, and what is known to fail.

    Failures of the checks named `known` are not reduced; those of `traces` are looked for in their trace first.
    """

    implementation: str
    folder: Path
    effort: Effort
    time_scale: float = 1.0
    selection: Selection = field(default_factory=Selection)
    known: frozenset[str] = frozenset()
    traces: Mapping[str, Trace] = field(default_factory=dict)


class Redacting:
    """Takes paths and secrets out of every message before anybody sees it."""

    def __init__(self, inner: Executor, redaction: Redaction) -> None:
        self._inner = inner
        self._redaction = redaction

    @property
    def description(self) -> Description:
        """Return what the implementation says of itself."""
        return self._inner.description

    def execute(self, check: Check) -> CheckResult:
        """Run one check."""
        result = self._inner.execute(check)
        return replace(result, message=self._redaction(result.message[:LONGEST_EXAMINED]))


@contextmanager
def executor_for(
    job: Job, jobs: int, implementation: Described, catalogue: Catalogue, selection: Selection
) -> Iterator[Executor]:
    """Open what executes the selected checks in so many processes, and close it again."""
    job = replace(job, selection=selection)
    if jobs == 1:
        yield executor_of(job, implementation, catalogue)
        return
    selected = [check for check in catalogue.checks if selection.selects(check)]
    try:
        with Workers(jobs, partial(executor_in_worker, job), implementation.description, selected) as workers:
            yield workers
    except WorkerError as error:
        raise CommandError(Exit.HARNESS, str(error)) from error


def executor_of(job: Job, implementation: Described, catalogue: Catalogue) -> Executor:
    """Return what executes checks in this process."""
    executor: Executor = InProcess(implementation, job.effort, catalogue, job.known, job.selection)
    if job.traces:
        executor = TraceFirst(executor, implementation, catalogue.laws, job.traces)
    if job.effort.repeats:
        executor = Repeating(executor, implementation, catalogue.laws, job.effort.repeats)
    return Redacting(executor, redaction_for(os.environ))


def executor_in_worker(job: Job) -> Executor:
    """Open the implementation in the process of a worker."""
    terminal = replace(this_terminal(), folder=job.folder)
    return executor_of(job, opened(job.implementation, terminal, job.time_scale), load_catalogue())
