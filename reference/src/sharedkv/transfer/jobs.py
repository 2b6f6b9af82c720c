"""Jobs of a sender, in one order, and the thread that does them.

Knows order. Does not know what a job does. A job that raises fails what it belongs to; the next one goes on.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Condition, Thread

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Job:
    """Something for the worker.

    `begin` says whether it is still wanted, and notes that it has begun; then `run` does it, or `fail` hears of an
    exception that nobody expected.
    """

    begin: Callable[[], bool]
    run: Callable[[], None]
    fail: Callable[[Exception], None]


class JobCrashedError(Exception):
    """A crash that a test asked for."""

    def __str__(self) -> str:
        return "a crash was asked for"


class JobQueue:
    """Jobs, oldest first. They are done by whoever calls `run_next`: a thread of their own, or the caller's."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._changed = Condition()
        self._is_open = True
        self._crashes_next = False

    def __len__(self) -> int:
        return len(self._jobs)

    def put(self, jobs: Iterable[Job]) -> None:
        """Hand in jobs; waking the worker costs more than they do, so it is done once."""
        with self._changed:
            self._jobs.extend(jobs)
            self._changed.notify()

    def crash_next(self) -> None:
        """Let the next job that is still wanted raise instead, once."""
        self._crashes_next = True

    def run_next(self, prepare: Callable[[], None] = lambda: None) -> bool:
        """Do the oldest job, behind `prepare`, whose exceptions are the job's; say whether there was one."""
        with self._changed:
            if not self._jobs:
                return False
            job = self._jobs.popleft()
        if job.begin():
            try:
                prepare()
                if self._crashes_next:
                    self._crashes_next = False
                    raise JobCrashedError  # noqa: TRY301 - it has to come from where a job's own would
                job.run()
            except Exception as error:
                _LOGGER.exception("a job of the sender failed")
                job.fail(error)
        return True

    def run_all(self) -> bool:
        """Do every job that is there, and those that they bring; say whether there was one."""
        has_any = False
        while self.run_next():
            has_any = True
        return has_any

    def wait(self) -> bool:
        """Return when there is a job; false once the queue is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or not self._is_open)
            return bool(self._jobs)

    def close(self) -> None:
        """Let no waiter wait any more."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()


class WorkerThread:
    """A daemon thread that does the jobs of a queue, the only one of that queue. It ends at `close` and not before.

    `bind` is called on that thread before the first job: it chooses the device. While it raises, jobs fail.
    """

    def __init__(self, queue: JobQueue, bind: Callable[[], None] = lambda: None) -> None:
        self._queue = queue
        self._bind = bind
        self._is_bound = False
        self._thread = Thread(target=self._work, name="sharedkv-sender", daemon=True)
        self._thread.start()

    def close(self, within_s: float | None = None) -> bool:
        """Do what was handed in, and end the thread; say whether it has ended."""
        self._queue.close()
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while self._queue.wait():
            try:
                self._queue.run_next(self._bind_once)
            except Exception:
                _LOGGER.exception("the worker goes on")

    def _bind_once(self) -> None:
        if not self._is_bound:
            self._bind()
            self._is_bound = True
