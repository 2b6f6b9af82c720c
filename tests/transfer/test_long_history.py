"""Nobody's pages are written and nothing is lost in a long random history; and a history finds who does otherwise."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.transfer.cluster import Faulty, Shape
from tests.transfer.long_history import run
from tests.transfer.page_ledger import PageBrokenError

STEPS = 20_000
SEED = 1
# What a history has to have met, and how often at least.
WANTED = {
    "opened": 200,
    "success": 90,
    "registered": 100,
    "declined": 100,
    "evicted": 100,
    "decode is full": 50,
    "prefill is full": 50,
    "landed late": 50,
    "forgotten": 50,
    "freed late": 20,
    "because of aborted": 10,
    "because of peer": 10,
    "because of engine": 10,
    "because of worker": 10,
    "because of deadline": 10,
}


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    """Write no log: failures are what a history is made of."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("is_one_by_one", [False, True], ids=["one process", "a process each rank"])
def test_every_byte_of_decode_is_accounted_for_in_a_long_history(is_one_by_one: bool) -> None:  # noqa: FBT001 - a parameter
    seen = run(SEED, STEPS, Shape(is_one_by_one=is_one_by_one))

    assert {word: seen[word] for word, often in WANTED.items() if seen[word] < often} == {}


def test_equal_seeds_give_equal_histories() -> None:
    assert run(SEED, 1_000, Shape()) == run(SEED, 1_000, Shape())


@pytest.mark.parametrize(
    "faulty",
    [Faulty(frees_on_close=True), Faulty(answers_at_once=True), Faulty(pins_nothing=True)],
    ids=["a decode that frees what it closes", "a receipt taken for drained", "pages that are not pinned"],
)
def test_a_history_finds(faulty: Faulty) -> None:
    with pytest.raises(PageBrokenError):
        run(SEED, STEPS, Shape(faulty=faulty))
