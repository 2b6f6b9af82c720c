"""Calls into a library that may hang, each with a deadline of our own.

Knows threads and time. Does not know what is called. A call that is late is not undone: its thread goes on with it, and
what it did becomes known to nobody. While a call was late a short time ago, further ones are not even tried, so that a
store that is gone costs one deadline and not one each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

Answer = TypeVar("Answer")


class CallLateError(Exception):
    """A call did not answer in time, or was not tried because another one did not."""

    def __init__(self, what: str, deadline_s: float) -> None:
        super().__init__(what, deadline_s)
        self.what = what
        self.deadline_s = deadline_s

    def __str__(self) -> str:
        return f"{self.what}: no answer within {self.deadline_s} s"


class TimedCalls:
    """Daemon threads that make calls. `now` are seconds since some moment."""

    def __init__(
        self, deadline_s: float, pause_s: float, *, num_threads: int = 4, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._deadline_s = deadline_s
        self._pause_s = pause_s
        self._now = now
        self._resumes_at = now()
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        for number in range(num_threads):
            Thread(target=self._work, name=f"sharedkv-calls-{number}", daemon=True).start()

    def call(self, what: str, function: Callable[[], Answer]) -> Answer:
        """Return what a function answers, or raise what it raises.

        Raises:
            CallLateError: it did not answer in time, or is not tried at present.

        """
        if self._now() < self._resumes_at:
            raise CallLateError(what, self._deadline_s)
        future: Future[Answer] = Future()
        self._jobs.put(lambda: _answer(future, function))
        try:
            return future.result(self._deadline_s)
        except TimeoutError as error:
            if future.done():
                raise
            self._resumes_at = self._now() + self._pause_s
            raise CallLateError(what, self._deadline_s) from error

    def _work(self) -> None:
        while True:
            self._jobs.get()()


def _answer(future: Future[Answer], function: Callable[[], Answer]) -> None:
    try:
        answer = function()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is for the caller
        future.set_exception(error)
    else:
        future.set_result(answer)
