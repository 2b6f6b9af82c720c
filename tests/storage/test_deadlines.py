"""A call that hangs costs one deadline, and nothing more until it is worth another try."""

from __future__ import annotations

from threading import Event

import pytest

from sharedkv.storage.deadlines import CallLateError, TimedCalls


class Clock:
    """Seconds that the test lets go by."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_call_answers_or_raises_what_it_raises() -> None:
    calls = TimedCalls(60, 60)

    assert calls.call("add", lambda: 1 + 1) == 2
    with pytest.raises(ZeroDivisionError):
        calls.call("divide", lambda: 1 // 0)
    with pytest.raises(TimeoutError, match="its own"):
        calls.call("raise", raise_its_own)


def raise_its_own() -> None:
    raise TimeoutError("its own")


def test_after_a_late_call_none_is_tried_until_the_pause_is_over() -> None:
    clock, never, tried = Clock(), Event(), list[int]()
    calls = TimedCalls(0.001, 10, now=clock)
    with pytest.raises(CallLateError, match=r"hang: no answer within 0.001 s"):
        calls.call("hang", never.wait)
    with pytest.raises(CallLateError):
        calls.call("try", lambda: tried.append(1))
    never.set()

    assert tried == []
    clock.seconds = 10
    patient = TimedCalls(60, 10, now=clock)
    patient.call("try", lambda: tried.append(2))
    assert tried == [2]


def test_a_call_that_hangs_does_not_hold_up_another_thread() -> None:
    clock, never = Clock(), Event()
    calls = TimedCalls(0.001, 0, num_threads=2, now=clock)
    with pytest.raises(CallLateError):
        calls.call("hang", never.wait)
    calls._deadline_s = 60

    assert calls.call("answer", lambda: "here") == "here"
    never.set()
