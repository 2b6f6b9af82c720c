"""A decode rank that comes again is another one: nothing that the one before waited for is written into its memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from sharedkv.control_messages import BufferPlace, Registration, RoomOpened, SourceFailed
from sharedkv.engines.engine import Timing
from sharedkv.engines.memory import memory_engine
from sharedkv.engines.regions import Region
from sharedkv.errors import Refusal, RefusedError
from sharedkv.rooms import RoomState
from sharedkv.transfer.decode import DecodeReceiver
from sharedkv.transfer.decode_memory import decode_memory, slot_memory_bytes
from sharedkv.transfer.jobs import WorkerThread
from sharedkv.transfer.ports import DecodeLimits, DecodePorts
from sharedkv.transfer.prefill_rooms import SendState
from tests.reference.sending_world import Shape, World
from tests.reference.test_send_jobs import WITHIN_S, GatedWorld


def come_again(world: World) -> None:
    """Let decode rank 0 end, and start again with memory of its own."""
    shape = world.shape
    world.decode_pools[0] = world._pool(shape.decode_pages, 0)
    slots = np.zeros(slot_memory_bytes(shape.slots, shape.aux_bytes), dtype=np.uint8)
    world._receiving = memory_engine(world.memory, Timing())
    for memory in (world.decode_pools[0], slots):
        world._receiving.register(Region(address=int(memory.ctypes.data), num_bytes=memory.nbytes))
    world.memories = [decode_memory(0, shape.decode_pages, shape.slots, shape.aux_bytes, slots)]
    world.receiver = DecodeReceiver(
        world.memories,
        range(shape.cp_size),
        shape.parts,
        DecodePorts(
            send=lambda _rank, source, message: world._post(message, rank=source, to_prefill=True),
            now=lambda: world.now,
        ),
        DecodeLimits(patience=shape.patience, quarantine=shape.quarantine),
    )
    world.sender.hear(0, registration(world))


def registration(world: World) -> Registration:
    buffers = world._buffers(world.decode_pools[0])
    return Registration(
        fingerprint={},
        engine=world._receiving.describe(),
        buffers=tuple(BufferPlace(address=each.address, page_bytes=each.page_bytes) for each in buffers),
        reply_to="",
        rank=0,
        first_epoch=world.receiver.first_epoch,
    )


def opened_messages(world: World) -> list[tuple[int, RoomOpened]]:
    return [(posted.rank, posted.message) for posted in world.sent if isinstance(posted.message, RoomOpened)]


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


@pytest.mark.parametrize("stage", ["waiting", "queued", "in flight"])
def test_rooms_of_the_one_before_fail_and_write_nothing(world: World, stage: str) -> None:
    world.open(1, 4)
    pages = world.allocate(4)
    world.are_jobs_held = stage == "queued"
    world.engine.is_holding = stage == "in flight"
    if stage != "waiting":
        world.chunk(1, pages, 0, is_last=True, whole=pages)
    come_again(world)
    world.are_jobs_held = world.engine.is_holding = False
    world.run()

    assert world.sender.report(1).reason == "peer"
    assert world.kinds().count("SourceFailed") == 2
    world.chunk(1, pages, 0, is_last=True, whole=pages)

    assert not world.decode_pools[0].any()
    again, places = world.send_whole(2, 4)

    assert world.receiver.state(2) is RoomState.SUCCESS
    assert world.holds(again, places)


def test_a_job_that_is_under_way_writes_nothing_to_the_new_one() -> None:
    world = GatedWorld(Shape(layers=4, group=2))
    world.are_jobs_held = True
    world.open(1, 4)
    pages = world.allocate(4)
    world.chunk(1, pages, 0, is_last=True, whole=pages)
    worker = WorkerThread(world.jobs)
    assert world.gates[0].is_waited_for.wait(WITHIN_S)
    come_again(world)
    world.gates[0].is_open.set()

    assert worker.close(WITHIN_S)
    world.run()

    assert not world.decode_pools[0].any()
    assert world.sender.report(1).submitted == 0
    world.close()


def test_what_the_one_before_said_is_not_heard_after_it(world: World) -> None:
    world.are_messages_held = True
    world.receiver.reserve(1, 2, [0])
    world.receiver.pump()
    late = opened_messages(world)
    come_again(world)
    for rank, message in late:
        world.sender.hear(rank, message)
    with pytest.raises(RefusedError, match=Refusal.ROOM_UNKNOWN):
        world.sender.state(1)
    world.on_the_way.clear()
    world.are_messages_held = False
    pages, places = world.send_whole(1, 2)

    assert world.receiver.state(1) is RoomState.SUCCESS
    assert world.holds(pages, places)


def test_one_that_registers_again_as_it_was_loses_nothing(world: World) -> None:
    come_again(world)
    world.open(1, 2)
    more = np.zeros(64, dtype=np.uint8)
    world._receiving.register(Region(address=int(more.ctypes.data), num_bytes=more.nbytes))
    world.sender.hear(0, registration(world))

    assert world.sender.state(1) is SendState.WAITING
    pages = world.allocate(2)
    world.chunk(1, pages, 0, is_last=True, whole=pages)

    assert world.receiver.state(1) is RoomState.SUCCESS


def test_another_place_under_the_same_engine_is_another_rank(world: World) -> None:
    come_again(world)
    world.open(1, 2)
    moved = world._pool(world.shape.decode_pages, 0)
    world._receiving.register(Region(address=int(moved.ctypes.data), num_bytes=moved.nbytes))
    world.decode_pools[0] = moved
    world.sender.hear(0, registration(world))
    world.run()

    assert world.sender.report(1).reason == "peer"
    assert any(isinstance(posted.message, SourceFailed) for posted in world.sent)


def test_epochs_of_a_process_that_starts_again_are_later(world: World) -> None:
    receivers = [
        DecodeReceiver(world.memories, [0], ["kv"], DecodePorts(send=lambda *_: None), DecodeLimits()) for _ in range(2)
    ]
    first, second = (receiver.reserve(1, 1, [0]).epoch for receiver in receivers)

    assert receivers[0].first_epoch <= first < receivers[1].first_epoch <= second < 1 << 63
