"""Requests are sent in chunks from all ranks, arrive whole, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sharedkv.control_messages import ChunkArrived
from sharedkv.errors import CapacityWaitError, Refusal, RefusedError
from sharedkv.rooms import RoomState
from sharedkv.transfer.chunks import Chunk
from sharedkv.transfer.metadata_slots import Metadata
from sharedkv.transfer.ports import AUX, INDEX, KV
from sharedkv.transfer.prefill_rooms import SendState
from tests.reference.sending_world import Shape, World


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


def arrivals(world: World) -> list[ChunkArrived]:
    return [posted.message for posted in world.sent if isinstance(posted.message, ChunkArrived)]


def test_a_request_arrives_whole_and_leaves_nothing_behind(world: World) -> None:
    pages, places = world.send_whole(7, 5)

    assert (world.receiver.state(7), world.sender.state(7)) == (RoomState.SUCCESS, SendState.SUCCESS)
    assert world.holds(pages, places)
    assert world.holds(pages, places, INDEX)
    assert world.receiver.commit(7) == (b"aux",)
    world.receiver.close_room(7)
    world.sender.forget(7)
    world.allocator.release(pages)
    world.run()

    assert world.is_clean()
    assert not world.in_use()


def test_chunks_of_scattered_pages_go_to_their_positions(world: World) -> None:
    (places,) = world.open(1, 7)
    pages = world.allocate(7)
    scattered = (pages[5], pages[1], pages[6], pages[0], pages[3], pages[2], pages[4])
    world.chunk(1, scattered[:3], 0, is_last=False)
    world.chunk(1, scattered[3:6], 3, is_last=False)

    assert world.sender.state(1) is SendState.TRANSFERRING
    assert world.receiver.state(1) is RoomState.TRANSFERRING
    world.chunk(1, scattered[6:], 6, is_last=True, whole=scattered)

    assert world.receiver.state(1) is RoomState.SUCCESS
    assert world.holds(scattered, places)
    assert world.holds(scattered, places, INDEX)


def test_a_rank_without_pages_and_an_empty_last_chunk_arrive_all_the_same(world: World) -> None:
    (places,) = world.open(1, 1)
    pages = world.allocate(1)
    world.chunk(1, pages, 0, is_last=False)
    world.chunk(1, (), 1, is_last=True, whole=pages, aux=b"x")

    assert world.receiver.state(1) is RoomState.SUCCESS
    assert world.holds(pages, places, INDEX)
    assert world.receiver.commit(1) == (b"x",)
    assert [(each.source, each.part, each.chunk, each.is_last) for each in arrivals(world) if each.source] == [
        (1, KV, 0, False),
        (1, KV, 1, True),
        (1, INDEX, 0, True),
    ]


def test_metadata_goes_last_and_once_to_each_destination() -> None:
    world = World(Shape(decode_ranks=2))
    world.engine.is_holding = True
    world.open(1, 4)
    pages = world.allocate(4)
    world.chunk(1, pages, 0, is_last=True, whole=pages, aux=b"first")

    assert {flight.part for flight in world.sender.flights()} == {KV, INDEX}
    for flight in [each for each in world.sender.flights() if each.destination == 1]:
        world.engine.land(flight.transfer)
        world.run()

    assert [(each.part, each.source, each.destination) for each in world.sender.flights()[-1:]] == [(AUX, 0, 1)]
    while flights := world.sender.flights():
        world.engine.land(flights[0].transfer)
        world.run()

    assert world.receiver.commit(1) == (b"first", b"first")
    assert world.sender.report(1).completed == 2 * (2 + 2 + 1)
    world.close()


def test_what_is_reported_is_what_was_sent(world: World) -> None:
    world.engine.is_holding = True
    world.send_whole(1, 3, aux=b"12345")
    world.advance(2)
    while flights := world.sender.flights():
        world.engine.land(flights[0].transfer)
        world.run()
    report = world.sender.report(1)

    assert report.bytes == 3 * 3 * (8 + 4) + 5
    assert (report.pages, report.submitted, report.completed) == (3, 5, 5)
    assert (report.ticks, report.reason) == (2, "")


def test_pages_are_pinned_until_nothing_of_their_chunk_is_in_flight(world: World) -> None:
    world.engine.is_holding = True
    pages, _ = world.send_whole(1, 4)
    world.allocator.release(pages)
    with pytest.raises(RefusedError, match=Refusal.PAGE_NOT_ALLOCATED):
        world.allocator.release(pages[:1])

    assert world.in_use() == set(pages)
    while flights := world.sender.flights():
        world.engine.land(flights[0].transfer)
        world.run()

    assert not world.in_use()
    assert not world.allocator.invariants()


def test_a_slot_that_names_another_room_is_no_success(world: World) -> None:
    world.are_messages_held = True
    reserved = world.receiver.reserve(1, 2, [0])
    world.are_messages_held = False
    world.run()
    pages = world.allocate(2)
    world.chunk(1, pages, 0, is_last=True, whole=pages)
    world.memories[0].slots.write(reserved.places[0].slot, Metadata(room=1, epoch=reserved.epoch + 1, data=b""))

    assert world.receiver.state(1) is RoomState.FAILED
    with pytest.raises(RefusedError, match=Refusal.ROOM_NOT_READY):
        world.receiver.commit(1)
    world.run()

    assert world.kinds()[-4:] == ["RoomAborted", "RoomAborted", "SourceDrained", "SourceDrained"]


def test_what_does_not_fit_is_refused_and_changes_nothing(world: World) -> None:
    with pytest.raises(RefusedError, match=Refusal.ROOM_UNKNOWN):
        world.chunk(1, (), 0, is_last=True)
    world.open(1, 2)
    pages = world.allocate(3)
    refused = {
        Refusal.CHUNK_BACKWARDS: Chunk(room=1, pages=pages[:1], first_position=1, is_last=False),
        Refusal.PAGE_COUNTS_DIFFER: Chunk(room=1, pages=pages, first_position=0, is_last=False),
        Refusal.PAGE_OUTSIDE_POOL: Chunk(room=1, pages=(0,), first_position=0, is_last=False),
        Refusal.PAGE_NAMED_TWICE: Chunk(room=1, pages=pages[:1] * 2, first_position=0, is_last=False),
        Refusal.PAGE_NOT_ALLOCATED: Chunk(room=1, pages=(24,), first_position=0, is_last=False),
        Refusal.AUX_TOO_LONG: Chunk(room=1, pages=pages[:1], first_position=0, is_last=False, aux=bytes(17)),
    }
    for reason, chunk in refused.items():
        with pytest.raises(RefusedError, match=reason):
            world.sender.send(chunk)

    assert world.sender.state(1) is SendState.WAITING
    with pytest.raises(RefusedError, match=Refusal.ROOM_IN_USE):
        world.receiver.reserve(1, 1, [0])
    with pytest.raises(RefusedError, match=Refusal.ROOM_INVALID):
        world.receiver.reserve(2, 1, [0, 0])
    with pytest.raises(CapacityWaitError) as wait:
        world.receiver.reserve(2, 15, [0])
    assert (wait.value.required, wait.value.available, wait.value.deficit) == ((15,), (14,), (1,))


def test_a_room_is_sent_to_once_every_destination_was_heard_of() -> None:
    world = World(Shape(decode_ranks=2))
    world.are_messages_held = True
    world.receiver.reserve(1, 1, [0, 1])
    world.receiver.pump()
    pages = world.allocate(1)
    for posted in world.on_the_way[:3]:
        world.deliver(posted)
    with pytest.raises(RefusedError, match=Refusal.ROOM_NOT_READY):
        world.chunk(1, pages, 0, is_last=True, whole=pages)

    assert world.sender.state(1) is SendState.BOOTSTRAPPING
    world.are_messages_held = False
    world.run()

    assert world.sender.state(1) is SendState.WAITING
    world.close()
