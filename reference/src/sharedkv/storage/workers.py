"""Threads that wait for stores, so that the scheduler does not.

Knows jobs. Does not know what they do. The queue has a bound: whoever hands in more than that waits until a job began.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from queue import Queue
from threading import Thread
from typing import Protocol

_LOGGER = logging.getLogger(__name__)

Job = Callable[[], None]


class JobQueue(Protocol):
    """Who runs jobs, some time, in this order or several at once."""

    def submit(self, job: Job) -> None:
        """Hand in a job."""


class Workers:
    """Daemon threads over one queue of jobs. A job deals with its own failures; one that does not is logged."""

    def __init__(self, num_threads: int = 2, most_waiting: int = 64) -> None:
        self._queue: Queue[Job | None] = Queue(most_waiting)
        self._threads = [
            Thread(target=self._work, name=f"sharedkv-storage-{number}", daemon=True) for number in range(num_threads)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> None:
        """Hand in a job; jobs begin in this order."""
        self._queue.put(job)

    def drain(self) -> None:
        """Return when every job that was handed in has ended."""
        self._queue.join()

    def close(self) -> None:
        """Finish what was handed in, and end the threads."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            try:
                job()
            except Exception:
                _LOGGER.exception("a job of storage failed")
            finally:
                self._queue.task_done()
        self._queue.task_done()
