"""Copies in flight are acknowledged in the order of submission, kind by kind, once every rank has finished them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.copy_engine import DRAFT, TARGET, Done
from sharedkv.copy_ledger import EVERY_RANK, CopyInFlight, CopyKind, CopyLedger, LocalAgreement
from sharedkv.errors import Refusal, RefusedError

RANKS = (0, 1)
BOTH = (TARGET, DRAFT)


class Parts:
    """Work of which the test says what is done."""

    def __init__(self) -> None:
        self.done: set[tuple[str, int]] = set()
        self.settled = 0

    def is_finished(self, source: str, rank: int) -> bool:
        return (source, rank) in self.done

    def settle(self) -> None:
        self.settled += 1


class World:
    """A ledger of two ranks, and the work of each copy by its number."""

    def __init__(self) -> None:
        self.exchanges = 0
        self.ledger: CopyLedger[str] = CopyLedger(RANKS, LocalAgreement(self._count))
        self.parts: dict[int, Parts] = {}
        self.kinds: dict[int, CopyKind] = {}

    def _count(self) -> None:
        self.exchanges += 1

    def submit(self, kind: CopyKind = CopyKind.BACKUP, sources: Sequence[str] = BOTH) -> int:
        parts = Parts()
        copy = self.ledger.submit(kind, sources, parts, ["owner"], 2).copy
        self.parts[copy], self.kinds[copy] = parts, kind
        return copy

    def finish(self, copy: int) -> None:
        self.parts[copy].done = {(source, rank) for source in BOTH for rank in RANKS}

    def poll(self) -> list[int]:
        return [flight.copy for flight in self.ledger.poll()]


def numbers(flights: Sequence[CopyInFlight[str]]) -> list[int]:
    return [flight.copy for flight in flights]


@pytest.mark.parametrize("missing", [(source, rank) for source in BOTH for rank in RANKS])
def test_a_copy_waits_for_every_source_on_every_rank(missing: tuple[str, int]) -> None:
    world = World()
    copy = world.submit()
    world.finish(copy)
    world.parts[copy].done.discard(missing)

    assert world.poll() == []
    assert world.ledger.in_flight()[0].unfinished_sources() == (missing[0],)

    world.parts[copy].done.add(missing)

    assert world.poll() == [copy]


def test_a_copy_waits_for_those_of_its_kind_before_it_and_for_no_others() -> None:
    world = World()
    first, second = world.submit(), world.submit()
    load = world.submit(CopyKind.LOAD)
    world.finish(second)
    world.finish(load)

    assert world.poll() == [load]
    assert numbers(world.ledger.in_flight()) == [first, second]

    world.finish(first)

    assert world.poll() == [first, second]


@given(st.lists(st.sampled_from(CopyKind), min_size=1, max_size=8), st.data())
def test_each_kind_is_acknowledged_in_the_order_of_submission(kinds: list[CopyKind], data: st.DataObject) -> None:
    world = World()
    copies = [world.submit(kind) for kind in kinds]
    acknowledged: list[int] = []
    for copy in data.draw(st.permutations(copies)):
        world.finish(copy)
        acknowledged += world.poll()

    assert sorted(acknowledged) == copies
    for kind in CopyKind:
        of_kind = [copy for copy in acknowledged if world.kinds[copy] is kind]
        assert of_kind == sorted(of_kind)
    assert all(world.ledger.pages_in_flight(kind) == 0 for kind in CopyKind)


def test_every_poll_is_one_exchange_whatever_is_in_flight() -> None:
    world = World()
    world.poll()
    world.submit()
    world.submit(CopyKind.LOAD)
    world.poll()

    assert world.exchanges == 2


def test_an_acknowledged_copy_is_settled_once_and_counts_no_more() -> None:
    world = World()
    copy = world.submit(CopyKind.LOAD)
    world.finish(copy)

    assert world.ledger.pages_in_flight(CopyKind.LOAD) == 2

    world.poll()
    world.poll()

    assert world.parts[copy].settled == 1
    assert world.ledger.pages_in_flight(CopyKind.LOAD) == 0


def test_settling_waits_for_every_copy_and_forgets_it_without_an_exchange() -> None:
    world = World()
    copies = [world.submit(), world.submit(CopyKind.SAVE)]
    world.ledger.settle()

    assert [world.parts[copy].settled for copy in copies] == [1, 1]
    assert (world.ledger.in_flight(), world.exchanges) == ((), 0)


def test_nobody_hears_of_the_end_of_a_held_copy_before_it_is_told() -> None:
    world = World()
    world.ledger.hold()
    copy = world.ledger.submit(CopyKind.BACKUP, BOTH, Done(), ["owner"], 1).copy

    for source, rank, left in ((TARGET, 0, BOTH), (TARGET, 1, (DRAFT,)), (DRAFT, EVERY_RANK, ())):
        assert world.poll() == []
        world.ledger.finish(copy, source, rank)
        assert world.ledger.in_flight()[0].unfinished_sources() == left

    assert world.poll() == [copy]


def test_a_copy_that_was_in_flight_before_is_not_held() -> None:
    world = World()
    copy = world.submit()
    world.ledger.hold()
    world.finish(copy)

    assert world.poll() == [copy]


@pytest.mark.parametrize(("copy", "source", "rank"), [(1, TARGET, 0), (0, "query", 0), (0, TARGET, 2), (0, TARGET, -2)])
def test_finishing_what_is_not_there_is_refused(copy: int, source: str, rank: int) -> None:
    world = World()
    world.ledger.hold()
    world.submit()

    with pytest.raises(RefusedError) as caught:
        world.ledger.finish(copy, source, rank)

    assert caught.value.reason is Refusal.COPY_UNKNOWN


def test_numbers_are_given_once() -> None:
    world = World()

    assert [world.submit(), world.ledger.next_number(), world.submit()] == [0, 1, 2]
