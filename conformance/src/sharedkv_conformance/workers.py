"""Executes checks in several processes, ahead of the runner that asks for their results one by one.

Each process opens an implementation of its own. Knows dependencies, so that nothing runs that will be blocked. A
process that dies ends its check as a crash and is replaced. Knows nothing of names of implementations.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any, Self

from sharedkv_conformance.contract.implementation import Description
from sharedkv_conformance.marks import Check
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import Executor
from sharedkv_conformance.status import Status
from sharedkv_conformance.wire.interruption import INTERRUPTION, uninterrupted

PATIENCE_SECONDS = 5.0
BLOCKED = frozenset({signal.SIGINT})
Factory = Callable[[], Executor]


class WorkerError(Exception):
    """A process could not open its implementation."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return f"a worker cannot begin: {self.problem}"


@dataclass(frozen=True, kw_only=True)
class _Unusable:
    """What a worker answers when it cannot begin."""

    problem: str


@dataclass(frozen=True, kw_only=True)
class _Interrupted:
    """What a worker answers when it was asked to end: what its check met then is no result."""


@dataclass
class _Worker:
    """One process, our end of its pipe, what it runs now, and the facets that it has drawn histories of."""

    process: BaseProcess
    pipe: Connection
    check: Check | None = None
    facets: frozenset[str] = frozenset()


class Workers:
    """An executor whose checks run in other processes; use it as a context, which leaves no process behind.

    `factory` makes the executor of a process and has to survive pickling; `checks` are those that will be asked for.
    """

    def __init__(self, count: int, factory: Factory, description: Description, checks: Sequence[Check]) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._count = count
        self._factory = factory
        self._description = description
        self._waiting = [check for check in checks if check.required_features <= description.features]
        self._claimed = {check.slug for check in self._waiting}
        self._results: dict[str, CheckResult] = {}
        self._workers: list[_Worker] = []

    @property
    def description(self) -> Description:
        """Return what the implementation says of itself."""
        return self._description

    def __enter__(self) -> Self:
        self._workers = [self._started() for _ in range(self._count)]
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        for worker in self._workers:
            _stop(worker, at_once=kind is not None)
        self._workers = []

    def execute(self, check: Check) -> CheckResult:
        """Return the result of a check as soon as a process has it."""
        while check.slug not in self._results:
            if check in self._waiting:  # whoever asks wants it now, whatever became of the others
                self._waiting.remove(check)
                self._waiting.insert(0, check)
            self._hand_out(check)
            for ready in wait([worker.pipe for worker in self._workers if worker.check is not None]):
                self._collect(next(worker for worker in self._workers if worker.pipe is ready))
        return self._results[check.slug]

    def _hand_out(self, wanted: Check) -> None:
        for worker in self._workers:
            if worker.check is None and (check := self._next(worker, wanted)) is not None:
                self._waiting.remove(check)
                worker.check = check
                worker.facets |= {check.facet}
                _send(worker, check)

    def _next(self, worker: _Worker, wanted: Check) -> Check | None:
        """Prefer what the worker has drawn histories for, then what nobody has, then the end of the list."""
        ready = [*self._ready(wanted)]
        known = [check for check in ready if check.facet in worker.facets]
        begun = frozenset[str]().union(*(other.facets for other in self._workers))
        fresh = [check for check in ready if check.facet not in begun]
        return next(iter((*known, *fresh, *reversed(ready))), None)

    def _ready(self, wanted: Check) -> Iterator[Check]:
        for check in self._waiting:
            if check is wanted or all(self._is_settled(name) for name in check.depends_on):
                yield check

    def _is_settled(self, slug: str) -> bool:
        if slug not in self._claimed:
            return True
        return slug in self._results and self._results[slug].status is Status.PASS

    def _collect(self, worker: _Worker) -> None:
        check = worker.check
        try:
            answer: Any = worker.pipe.recv()
        except (EOFError, ConnectionError):
            self._replace(worker)
            return
        if isinstance(answer, _Unusable):
            raise WorkerError(answer.problem)
        if isinstance(answer, _Interrupted):
            raise KeyboardInterrupt
        if check is not None and isinstance(answer, CheckResult):
            self._results[check.slug] = answer
        worker.check = None

    def _replace(self, worker: _Worker) -> None:
        worker.process.join(PATIENCE_SECONDS)
        if worker.check is not None:
            message = f"the process of the implementation ended in mid-check: {_end(worker.process.exitcode)}"
            self._results[worker.check.slug] = CheckResult(
                check=worker.check.slug, status=Status.CRASH, message=message
            )
        worker.pipe.close()
        self._workers[self._workers.index(worker)] = self._started()

    def _started(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._factory), daemon=True)
        with uninterrupted(), _blocked_interruption():
            process.start()
        theirs.close()
        return _Worker(process=process, pipe=ours)


def _work(pipe: Connection, factory: Factory) -> None:
    """Execute what comes through the pipe until it is closed."""
    Thread(target=_end_with_parent, daemon=True, name="kvconform-parent").start()
    try:
        with INTERRUPTION.awaited():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, BLOCKED)
            _execute_all(pipe, factory)
    except (EOFError, BrokenPipeError, KeyboardInterrupt) as end:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # from here on there is nothing to interrupt but the end
        if isinstance(end, KeyboardInterrupt):
            with suppress(OSError):
                pipe.send(_Interrupted())


def _execute_all(pipe: Connection, factory: Factory) -> None:
    try:
        executor = factory()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - told to whoever waits for this process
        INTERRUPTION.check()
        pipe.send(_Unusable(problem=str(error) or type(error).__name__))
        return
    while True:
        result = executor.execute(pipe.recv())
        INTERRUPTION.check()
        pipe.send(result)


@contextmanager
def _blocked_interruption() -> Iterator[None]:
    """Start a process that an interruption waits for: until it knows how to take one, it would end with a traceback."""
    resource_tracker.ensure_running()  # it is started with the first process otherwise, and takes the block away
    before = signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """End this process when who started it was killed: nobody will read what it finds, and it may hang in a call."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _send(worker: _Worker, check: Check) -> None:
    try:
        worker.pipe.send(check)
    except (BrokenPipeError, ConnectionError):
        return  # what became of it is read from the same pipe


def _stop(worker: _Worker, *, at_once: bool) -> None:
    """Let a process end by itself, so that it can end what it started; insist when it does not."""
    worker.pipe.close()
    if at_once and worker.check is not None and worker.process.pid is not None and worker.process.is_alive():
        os.kill(worker.process.pid, signal.SIGINT)
    worker.process.join(PATIENCE_SECONDS)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()


def _end(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"
