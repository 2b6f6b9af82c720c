"""What decode concludes from messages: completion is a set of things that came, in whatever order and how often."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.errors import Refusal, RefusedError
from sharedkv.rooms import Rooms, RoomState

EVENTS = [
    (source, part, chunk, chunk == last)
    for source in (0, 3)
    for part, last in (("kv", 1), ("aux", 0))
    for chunk in range(last + 1)
]


@given(st.permutations(EVENTS), st.lists(st.sampled_from(EVENTS), max_size=4), st.data())
def test_success_comes_with_the_last_distinct_event(
    order: list[tuple[int, str, int, bool]], again: list[tuple[int, str, int, bool]], data: st.DataObject
) -> None:
    rooms = Rooms()
    epoch = rooms.open(7, [0, 3], ["kv", "aux"])
    told = list(order)
    for event in again:
        told.insert(data.draw(st.integers(0, len(told))), event)
    heard: set[tuple[int, str, int, bool]] = set()
    for event in told:
        assert rooms.state(7) is not RoomState.SUCCESS or heard == set(EVENTS)
        source, part, chunk, is_last = event
        rooms.arrived(7, epoch, source, part, chunk, is_last=is_last)
        heard.add(event)
    assert rooms.state(7) is RoomState.SUCCESS


def test_a_message_of_an_earlier_epoch_or_of_a_stranger_changes_nothing() -> None:
    rooms = Rooms()
    first = rooms.open(7, [0], ["kv"])
    rooms.arrived(7, first, 0, "kv", 0, is_last=True)
    rooms.close(7)
    second = rooms.open(7, [0], ["kv"])
    assert second != first
    rooms.arrived(7, first, 0, "kv", 0, is_last=True)
    rooms.arrived(7, second, 1, "kv", 0, is_last=True)
    rooms.arrived(7, second, 0, "aux", 0, is_last=True)
    rooms.arrived(7, second, 0, "kv", -1, is_last=True)
    rooms.arrived(9, second, 0, "kv", 0, is_last=True)
    rooms.failed(7, first, 0)
    rooms.failed(7, second, 5)
    assert rooms.state(7) is RoomState.WAITING


def test_contradictory_ends_are_not_believed() -> None:
    rooms = Rooms()
    epoch = rooms.open(7, [0], ["kv"])
    rooms.arrived(7, epoch, 0, "kv", 2, is_last=False)
    rooms.arrived(7, epoch, 0, "kv", 0, is_last=True)
    assert rooms.state(7) is RoomState.TRANSFERRING
    rooms.arrived(7, epoch, 0, "kv", 3, is_last=True)
    rooms.arrived(7, epoch, 0, "kv", 4, is_last=True)
    rooms.arrived(7, epoch, 0, "kv", 5, is_last=False)
    rooms.arrived(7, epoch, 0, "kv", 0, is_last=False)
    assert rooms.state(7) is RoomState.TRANSFERRING
    rooms.arrived(7, epoch, 0, "kv", 1, is_last=False)
    assert rooms.state(7) is RoomState.SUCCESS


def test_a_room_that_has_ended_stays_as_it_ended() -> None:
    rooms = Rooms()
    epoch = rooms.open(7, [0], ["kv"])
    rooms.arrived(7, epoch, 0, "kv", 0, is_last=True)
    rooms.failed(7, epoch, 0)
    assert rooms.state(7) is RoomState.SUCCESS
    epoch = rooms.open(8, [0, 1], ["kv"])
    rooms.failed(8, epoch, 1)
    rooms.arrived(8, epoch, 0, "kv", 0, is_last=True)
    rooms.arrived(8, epoch, 1, "kv", 0, is_last=True)
    assert rooms.state(8) is RoomState.FAILED


def test_rooms_are_opened_and_closed_in_turn() -> None:
    rooms = Rooms()
    rooms.open(7, [0], ["kv"])
    for call, reason in (
        (lambda: rooms.open(7, [0], ["kv"]), Refusal.ROOM_IN_USE),
        (lambda: rooms.close(7), Refusal.ROOM_IN_USE),
        (lambda: rooms.state(8), Refusal.ROOM_UNKNOWN),
        (lambda: rooms.close(8), Refusal.ROOM_UNKNOWN),
        (lambda: rooms.open(8, [], ["kv"]), Refusal.ROOM_INVALID),
        (lambda: rooms.open(8, [0], []), Refusal.ROOM_INVALID),
        (lambda: rooms.open(8, [0, 0], ["kv"]), Refusal.ROOM_INVALID),
    ):
        with pytest.raises(RefusedError) as refused:
            call()
        assert refused.value.reason == reason
