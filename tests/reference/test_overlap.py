"""Layers of a chunk go while the forward still runs: the same bytes, in few submissions, and nothing twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sharedkv.errors import Refusal, RefusedError
from sharedkv.rooms import RoomState
from sharedkv.transfer.chunks import Chunk
from sharedkv.transfer.ports import INDEX, KV
from sharedkv.transfer.prefill import SendLateError
from sharedkv.transfer.prefill_rooms import SendState
from tests.reference.sending_world import Shape, World


@pytest.fixture
def world() -> Iterator[World]:
    made = World(Shape(layers=5, group=2))
    yield made
    made.close()


def forward(world: World, layers: list[int] | None = None) -> None:
    for layer in range(5) if layers is None else layers:
        world.sender.layer_end(layer)
        world.run()


def layers_in_flight(world: World, rank: int = 0) -> list[tuple[int, ...]]:
    return [each.layers for each in world.sender.flights() if each.source == rank and each.part == KV]


def test_layers_go_in_groups_and_the_bytes_are_those_of_one_flight(world: World) -> None:
    world.engine.is_holding = True
    (places,) = world.open(1, 4)
    pages = world.allocate(4)

    assert world.sender.register(1, pages, 0, is_last=True)
    forward(world)

    assert layers_in_flight(world) == [(0, 1), (2, 3), (4,)]
    world.chunk(1, pages, 0, is_last=True, whole=pages)

    assert layers_in_flight(world) == [(0, 1), (2, 3), (4,)]
    while flights := world.sender.flights():
        world.engine.land(flights[-1].transfer)
        world.run()

    assert world.receiver.state(1) is RoomState.SUCCESS
    assert world.holds(pages, places)
    assert world.holds(pages, places, INDEX)
    assert world.heard.boundaries == [1, 3, 4]


def test_layers_that_nobody_told_go_when_the_chunk_is_sent(world: World) -> None:
    world.engine.is_holding = True
    (places,) = world.open(1, 2)
    pages = world.allocate(2)
    world.sender.register(1, pages, 0, is_last=True)
    forward(world, [0, 1, 1, 0, 3, 3, 7, -1])

    assert layers_in_flight(world) == [(0, 1), (3,)]
    world.chunk(1, pages, 0, is_last=True, whole=pages)

    assert layers_in_flight(world) == [(0, 1), (3,), (2, 4)]
    for flight in world.sender.flights():
        world.engine.land(flight.transfer)
    world.run()
    world.engine.land(world.sender.flights()[0].transfer)
    world.run()

    assert world.receiver.state(1) is RoomState.SUCCESS
    assert world.holds(pages, places)


def test_one_event_a_boundary_serves_all_contexts_and_none_is_recorded_without_any(world: World) -> None:
    forward(world)

    assert world.num_events == 0
    for room in (1, 2, 3):
        world.open(room, 2)
        pages = world.allocate(2)
        world.sender.register(room, pages, 0, is_last=True)
    forward(world)

    assert world.num_events == 3
    assert {view.told for view in world.sender.contexts()} == {(0, 1, 2, 3, 4)}
    assert {view.completed for view in world.sender.contexts()} == {(0, 1, 2, 3, 4)}
    forward(world)

    assert world.num_events == 3


def test_a_chunk_is_registered_before_the_one_in_front_is_sent(world: World) -> None:
    (places,) = world.open(1, 4)
    pages = world.allocate(4)

    assert world.sender.register(1, pages[:2], 0, is_last=False)
    forward(world)

    assert world.sender.register(1, pages[2:], 2, is_last=True)
    assert world.sender.register(1, pages[2:], 2, is_last=True)
    assert not world.sender.register(1, pages[1:], 2, is_last=True)
    assert not world.sender.register(1, pages[2:], 1, is_last=True)
    forward(world)
    with pytest.raises(RefusedError, match=Refusal.CHUNK_BACKWARDS):
        world.chunk(1, pages[2:], 2, is_last=True, whole=pages)
    with pytest.raises(RefusedError, match=Refusal.CONTEXT_DIFFERS):
        world.chunk(1, pages[1::-1], 0, is_last=False)
    world.chunk(1, pages[:2], 0, is_last=False)
    world.chunk(1, pages[2:], 2, is_last=True, whole=pages)

    assert world.receiver.state(1) is RoomState.SUCCESS
    assert world.holds(pages, places)
    assert not world.sender.contexts()


def test_what_cannot_go_early_is_declined_and_nothing_is_kept(world: World) -> None:
    world.open(1, 2)
    pages = world.allocate(2)

    assert not world.sender.register(9, pages, 0, is_last=True)
    assert not world.sender.register(1, (), 0, is_last=False)
    assert not world.sender.register(1, pages[:1], 0, is_last=True)
    assert not world.sender.register(1, (23,), 0, is_last=False)
    assert not world.sender.register(1, [*pages, *pages], 0, is_last=False)
    assert world.heard.declined == 5
    assert world.sender.state(1) is SendState.WAITING
    world.allocator.release(pages)

    assert not world.in_use()


def test_where_overlap_is_off_nothing_goes_early_and_nobody_is_told() -> None:
    world = World(Shape(group=0))
    world.open(1, 2)
    pages = world.allocate(2)

    assert not world.sender.register(1, pages, 0, is_last=True)
    assert world.heard.declined == 0
    world.sender.layer_end(0)
    world.chunk(1, pages, 0, is_last=True, whole=pages)

    assert world.receiver.state(1) is RoomState.SUCCESS
    assert world.num_events == 1
    world.close()


def test_a_context_pins_its_pages_until_the_room_fails(world: World) -> None:
    world.open(1, 2)
    pages = world.allocate(2)
    world.sender.register(1, pages, 0, is_last=True)
    world.allocator.release(pages)

    assert world.in_use() == set(pages)
    world.sender.abort(1)
    world.run()

    assert not world.in_use()
    assert not world.sender.contexts()
    assert world.sender.state(1) is SendState.FAILED


def test_a_job_that_crashes_fails_its_room_and_the_next_one_goes_on(world: World) -> None:
    world.jobs.crash_next()
    pages, _ = world.send_whole(1, 2)
    world.allocator.release(pages)
    _, places = world.send_whole(2, 2)

    assert world.sender.report(1).reason == "worker"
    assert world.receiver.state(1) is RoomState.FAILED
    assert world.receiver.state(2) is RoomState.SUCCESS
    assert places


def test_waiting_has_an_end_that_says_how_far_it_was(world: World) -> None:
    world.engine.is_holding = True
    world.send_whole(1, 2)

    def doze(_seconds: float) -> None:
        world.now += 1

    with pytest.raises(SendLateError, match="0 of 4 flights"):
        world.sender.wait(1, within=3, doze=doze)
    world.engine.is_holding = False
    for flight in world.sender.flights():
        world.engine.land(flight.transfer)

    assert world.sender.wait(1, within=3, doze=doze) is SendState.SUCCESS


def test_a_chunk_whose_pages_are_an_array_is_registered_by_its_length(world: World) -> None:
    import numpy as np  # noqa: PLC0415 - the only test with one

    world.open(1, 2)
    pages = np.array(world.allocate(2))

    assert world.sender.register(1, pages, 0, is_last=True)  # type: ignore[arg-type]
    world.sender.send(Chunk(room=1, pages=pages, first_position=0, is_last=True, state=tuple(pages)))  # type: ignore[arg-type]
    world.run()

    assert world.receiver.state(1) is RoomState.SUCCESS
