"""A worker beside the scheduler: whatever the moment, bytes are right, nothing is let go early, and nothing is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from random import Random
from threading import Thread
from typing import NoReturn

import pytest

from sharedkv.control_messages import SourceDrained
from sharedkv.copy_ledger import LocalAgreement
from sharedkv.geometry import PageId
from sharedkv.rooms import RoomState
from sharedkv.transfer.chunks import Chunk
from sharedkv.transfer.jobs import Job, JobQueue, WorkerThread
from sharedkv.transfer.ports import INDEX, KV
from sharedkv.transfer.prefill_rooms import SendState
from tests.reference.sending_world import Shape, World
from tests.reference.test_send_jobs import WITHIN_S, GatedWorld

SHORT_SWITCH_S = 1e-6
ROOMS = 120


@pytest.fixture
def hurried() -> Iterator[None]:
    """Let threads take turns much more often than they do."""
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(SHORT_SWITCH_S)
    yield
    sys.setswitchinterval(before_s)


def until(world: World, rooms: Sequence[int]) -> None:
    """Go on until rooms have ended on both sides."""
    ends_at = time.monotonic() + WITHIN_S
    while any(
        world.sender.state(room) not in {SendState.SUCCESS, SendState.FAILED}
        or world.receiver.state(room) not in {RoomState.SUCCESS, RoomState.FAILED}
        for room in rooms
    ):
        world.run()
        assert time.monotonic() < ends_at


def start(world: World, room: int, chance: Random) -> tuple[tuple[PageId, ...], tuple[int, ...]]:
    """Send a room of two chunks, layer by layer or not, and give it up somewhere, or nowhere."""
    (places,) = world.open(room, 4)
    pages = world.allocate(4)
    give_up_at = chance.choice([None, None, None, *range(8)])
    give_up = chance.choice([world.receiver.abort, world.sender.abort])
    world.sender.register(room, pages[:2], 0, is_last=False)
    for layer in range(world.shape.layers):
        if layer == give_up_at:
            give_up(room)
        world.sender.layer_end(layer)
    world.sender.send(Chunk(room=room, pages=pages[:2], first_position=0, is_last=False))
    if give_up_at == 5:
        give_up(room)
    world.sender.pump()
    world.sender.send(Chunk(room=room, pages=pages[2:], first_position=2, is_last=True, state=pages, aux=b"a"))
    if give_up_at == 7:
        give_up(room)
    return pages, places


@pytest.mark.usefixtures("hurried")
def test_rooms_that_are_given_up_at_any_moment_leave_nothing_behind() -> None:
    world = World(Shape(layers=4, group=2))
    world.are_jobs_held = True
    worker = WorkerThread(world.jobs)
    chance = Random(3)  # noqa: S311 - histories, not secrets
    ends: list[RoomState] = []
    for first in range(0, ROOMS, 3):
        rooms = range(first, first + 3)
        sent = [start(world, room, chance) for room in rooms]
        until(world, rooms)
        for room, (pages, places) in zip(rooms, sent, strict=True):
            ends.append(world.receiver.state(room))
            if ends[-1] is RoomState.SUCCESS:
                assert world.holds(pages, places)
                assert world.holds(pages, places, INDEX)
                assert world.receiver.commit(room) == (b"a",)
            world.receiver.close_room(room)
            world.sender.forget(room)
            world.allocator.release(pages)

    assert worker.close(WITHIN_S)
    world.run()

    assert set(ends) == {RoomState.SUCCESS, RoomState.FAILED}
    assert world.is_clean()
    assert not world.in_use()
    world.close()


class Beside:
    """An exchange among ranks during which the jobs of this one are done on another thread."""

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue

    def least(self, counts: Sequence[Sequence[int]]) -> tuple[int, ...]:
        thread = Thread(target=self._queue.run_all, daemon=True)
        thread.start()
        thread.join(WITHIN_S)
        assert not thread.is_alive()
        return tuple(counts[0])


@pytest.mark.parametrize("what", ["agreed_states", "agreed_idle"])
def test_the_worker_goes_on_while_ranks_agree(what: str) -> None:
    world = World()
    world.are_jobs_held = True
    world.send_whole(1, 2)
    getattr(world.sender, what)([1], Beside(world.jobs))
    world.run()

    assert world.sender.state(1) is SendState.SUCCESS
    world.close()


def test_a_room_is_not_idle_while_a_job_of_it_is_under_way_though_it_is_forgotten() -> None:
    world = GatedWorld(Shape(layers=4, group=2))
    world.are_jobs_held = True
    world.open(1, 4)
    pages = world.allocate(4)
    world.chunk(1, pages, 0, is_last=True, whole=pages)
    worker = WorkerThread(world.jobs)
    assert world.gates[0].is_waited_for.wait(WITHIN_S)
    world.sender.abort(1)
    world.sender.forget(1)

    assert world.sender.agreed_idle([1, 2, 1], LocalAgreement()) == [False, True, False]
    world.gates[0].is_open.set()

    assert worker.close(WITHIN_S)
    assert world.sender.agreed_idle([1], LocalAgreement()) == [True]
    world.close()


def test_a_worker_that_cannot_be_bound_fails_its_job_and_tries_again() -> None:
    world = World(Shape(parts=(KV,)))
    world.are_jobs_held = True
    tries = list[int]()

    def bind() -> None:
        tries.append(len(tries))
        if len(tries) == 1:
            raise OSError("the device is busy")

    worker = WorkerThread(world.jobs, bind)
    world.send_whole(1, 2)
    until(world, [1])
    world.send_whole(2, 2)
    until(world, [2])

    assert worker.close(WITHIN_S)
    assert world.sender.report(1).reason == "worker"
    assert world.receiver.state(2) is RoomState.SUCCESS
    assert tries == [0, 1]
    world.close()


def test_a_worker_outlives_a_job_that_cannot_even_fail() -> None:
    queue, done = JobQueue(), list[int]()

    def broken(*_arguments: object) -> NoReturn:
        raise OSError("broken")

    worker = WorkerThread(queue)
    queue.put(
        [
            Job(begin=broken, run=lambda: None, fail=lambda _error: None),
            Job(begin=lambda: True, run=broken, fail=broken),
            Job(begin=lambda: True, run=lambda: done.append(1), fail=lambda _error: None),
        ]
    )

    assert worker.close(WITHIN_S)
    assert done == [1]


def test_ways_that_were_in_doubt_are_never_drained_however_many_there_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sharedkv.transfer.send_flights._MOST_POISONED", 2)
    world = World(Shape(parts=(KV,), slots=6))
    world.engine.is_holding = True
    for room in range(6):
        world.send_whole(room, 1)
        flight = world.sender.flights()[-1]
        world.engine.fail(flight.transfer, None, is_definite=False)
        world.run()
    for posted in world.sent.copy():
        world.deliver(posted)
    world.run()

    drained = [posted.message for posted in world.sent if isinstance(posted.message, SourceDrained)]

    assert {(each.room, each.source) for each in drained} == {(room, 1) for room in range(6)}
    world.close()
