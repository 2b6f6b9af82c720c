"""Calls are counted where they arrive, and answered as without the counter."""

import pytest

from benchmarks.counting import CountedImplementation
from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.implementation import model

CONFIG = OpenConfig(cp_size=2, page_size=4, pages=16)
BATCH = [ExtendRequest(request="a", prefix_tokens=0, extend_tokens=13)]


def test_every_call_is_counted_once() -> None:
    counted = CountedImplementation(model())
    session = counted.open(CONFIG)
    session.allocation.extend(BATCH)
    session.allocation.lanes()

    assert counted.calls == 3


def test_a_refused_call_is_a_call() -> None:
    counted = CountedImplementation(model())
    session = counted.open(CONFIG)
    with pytest.raises(Rejected):
        session.allocation.release([1])

    assert counted.calls == 2


def test_answers_are_those_of_the_wrapped_implementation() -> None:
    answers = [made.open(CONFIG).allocation.extend(BATCH) for made in (model(), CountedImplementation(model()))]

    assert answers[0] == answers[1]
