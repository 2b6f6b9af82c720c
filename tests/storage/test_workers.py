"""Jobs begin in order, a queue that is full holds up whoever hands in more, and a job that fails stops nobody."""

from __future__ import annotations

import logging
from threading import Event, Thread

import pytest

from sharedkv.storage.workers import Workers

PATIENCE_S = 60


def test_jobs_of_one_thread_run_in_order() -> None:
    done: list[int] = []
    workers = Workers(num_threads=1)
    for number in range(100):
        workers.submit(lambda number=number: done.append(number))  # type: ignore[misc]  # a default binds the number
    workers.drain()
    workers.close()

    assert done == list(range(100))


def test_a_full_queue_holds_up_whoever_hands_in_more() -> None:
    go_on, handed_in = Event(), Event()
    workers = Workers(num_threads=1, most_waiting=1)

    def wait() -> None:
        go_on.wait(PATIENCE_S)

    def hand_in() -> None:
        for _ in range(3):
            workers.submit(wait)
        handed_in.set()

    Thread(target=hand_in, daemon=True).start()

    assert not handed_in.wait(0.05)
    go_on.set()
    assert handed_in.wait(PATIENCE_S)
    workers.close()


def test_a_job_that_fails_is_logged_and_the_next_one_runs(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []
    workers = Workers(num_threads=1)
    with caplog.at_level(logging.ERROR, "sharedkv.storage"):
        workers.submit(lambda: done[1:].remove("missing"))
        workers.submit(lambda: done.append("next"))
        workers.drain()
    workers.close()

    assert done == ["next"]
    assert "a job of storage failed" in caplog.text
