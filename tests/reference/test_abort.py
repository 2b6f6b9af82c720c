"""Either side gives up at any moment; nothing is used again while somebody may still write it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sharedkv.control_messages import RoomAborted, RoomOpened, SourceDrained, SourceFailed
from sharedkv.copy_ledger import LocalAgreement
from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import PageId
from sharedkv.rooms import RoomState
from sharedkv.transfer.ports import KV
from sharedkv.transfer.prefill_rooms import SendState
from tests.reference.sending_world import Posted, Shape, World

STAGES = ("bootstrapping", "waiting", "registered", "queued", "in flight", "done")


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


def bring(world: World, stage: str) -> tuple[PageId, ...]:
    """Bring room 1 to a stage; return its pages at prefill."""
    pages = world.allocate(4)
    world.are_messages_held = stage == "bootstrapping"
    world.receiver.reserve(1, 4, [0])
    world.run()
    world.are_jobs_held = stage == "queued"
    world.engine.is_holding = stage == "in flight"
    if stage == "registered":
        world.sender.register(1, pages, 0, is_last=True)
        world.sender.layer_end(0)
    elif stage not in {"bootstrapping", "waiting"}:
        world.chunk(1, pages, 0, is_last=True, whole=pages)
    return pages


def land_all(world: World) -> None:
    world.engine.is_holding = False
    for flight in world.sender.flights():
        world.engine.land(flight.transfer)
    world.run()


@pytest.mark.parametrize("side", ["decode", "prefill"])
@pytest.mark.parametrize("stage", STAGES)
def test_everything_is_free_once_whoever_gives_up_and_whenever(stage: str, side: str) -> None:
    world = World()
    pages = bring(world, stage)
    if side == "decode":
        world.receiver.abort(1)
    else:
        world.sender.abort(1)
    world.are_messages_held = world.are_jobs_held = False
    world.run()
    world.allocator.release(pages)
    state = world.receiver.state(1)

    is_unheard = stage == "bootstrapping" and side == "prefill"
    assert state is {"done": RoomState.SUCCESS}.get(stage, RoomState.WAITING if is_unheard else RoomState.FAILED)
    if is_unheard:
        world.receiver.abort(1)
    world.run()
    world.receiver.close_room(1)

    assert (world.receiver.pools()[0].quarantined == 4) is (stage == "in flight")
    land_all(world)

    assert world.is_clean()
    assert not world.in_use()
    world.close()


def test_decode_pages_are_nobodys_until_every_writer_has_drained(world: World) -> None:
    bring(world, "in flight")
    world.receiver.abort(1)
    world.run()
    world.receiver.close_room(1)

    assert world.receiver.pools()[0].quarantined == 4
    (first, *others) = world.sender.flights()
    for flight in others:
        world.engine.land(flight.transfer)
    world.run()

    assert world.receiver.pools()[0].quarantined == 4
    assert world.kinds().count("SourceDrained") == 1
    world.engine.land(first.transfer)
    world.run()

    assert world.receiver.pools()[0].free == 16
    assert world.sender.report(1).completed == world.sender.report(1).submitted == 4


def test_a_flight_in_doubt_keeps_both_sides_pages_until_their_time(world: World) -> None:
    pages = bring(world, "in flight")
    world.allocator.release(pages)
    flight = world.sender.flights()[0]
    world.engine.fail(flight.transfer, flight.first(1), is_definite=False)
    world.run()
    land_all(world)

    assert world.sender.report(1).reason == "engine"
    assert world.receiver.state(1) is RoomState.FAILED
    world.receiver.close_room(1)
    world.advance(19)

    assert world.in_use()
    assert world.receiver.pools()[0].quarantined == 4
    assert [each.is_in_doubt for each in world.sender.flights()] == [True]
    world.advance(1)

    assert world.is_clean()
    assert not world.in_use()
    for notice in [posted for posted in world.sent if isinstance(posted.message, RoomAborted)]:
        world.deliver(notice)
    world.run()

    assert [posted.message for posted in world.sent if isinstance(posted.message, SourceDrained)] == [
        SourceDrained(room=1, epoch=flight.epoch, source=1, destination=0)
    ] * 2


def test_a_definite_failure_drains_at_once(world: World) -> None:
    bring(world, "in flight")
    flight = world.sender.flights()[0]
    world.engine.fail(flight.transfer, flight.first(1), is_definite=True)
    world.run()
    land_all(world)
    world.receiver.close_room(1)

    assert world.is_clean()


def test_what_is_late_is_given_up(world: World) -> None:
    bring(world, "in flight")
    world.advance(9)

    assert world.sender.state(1) is SendState.TRANSFERRING
    world.advance(1)

    assert world.sender.report(1).reason == "deadline"
    assert all(flight.is_in_doubt for flight in world.sender.flights())
    world.run()

    assert world.receiver.state(1) is RoomState.FAILED


def test_a_chunk_that_no_worker_takes_is_late_too(world: World) -> None:
    pages = bring(world, "queued")
    world.advance(10)
    world.are_jobs_held = False
    world.run()
    world.allocator.release(pages)

    assert world.sender.report(1).reason == "deadline"
    assert not world.in_use()
    assert world.sender.report(1).submitted == 0


def test_a_process_that_stood_still_writes_nothing_that_is_late(world: World) -> None:
    bring(world, "queued")
    world.now += 10
    world.are_jobs_held = False
    world.run()

    assert world.sender.report(1).submitted == 0
    assert world.sender.report(1).reason == "deadline"
    world.engine.is_holding = True
    world.send_whole(2, 2)
    world.now += 10
    world.engine.is_holding = False
    for flight in world.sender.flights():
        world.engine.land(flight.transfer)
    world.run()

    assert world.sender.report(2).submitted == 4
    assert world.sender.report(2).reason == "deadline"


def test_decode_loses_patience_and_tells_every_rank_once(world: World) -> None:
    bring(world, "bootstrapping")
    world.advance(100)
    world.are_messages_held = False
    world.run()

    assert world.receiver.state(1) is RoomState.FAILED
    assert world.kinds().count("RoomAborted") == 2
    assert world.kinds().count("SourceDrained") == 2


def test_an_epoch_that_was_aborted_before_it_was_heard_of_is_dead(world: World) -> None:
    world.are_messages_held = True
    world.receiver.reserve(1, 2, [0])
    world.receiver.abort(1)
    world.receiver.pump()
    opened, notices = world.on_the_way[:2], world.on_the_way[2:]
    world.on_the_way = []
    for posted in [*notices, *opened, *opened]:
        world.deliver(posted)
    world.run()

    assert [type(each.message) for each in world.on_the_way].count(SourceFailed) == 2
    with pytest.raises(RefusedError, match=Refusal.ROOM_UNKNOWN):
        world.sender.state(1)


def test_a_number_that_is_used_again_is_another_room(world: World) -> None:
    pages, places = world.send_whole(1, 2)
    late = [posted for posted in world.sent if isinstance(posted.message, RoomOpened)]
    world.receiver.commit(1)
    world.receiver.close_room(1)
    world.sender.forget(1)
    for posted in late:
        world.deliver(posted)
    with pytest.raises(RefusedError, match=Refusal.ROOM_UNKNOWN):
        world.sender.state(1)
    again, there = world.send_whole(1, 2)
    for posted in world.sent.copy():
        world.deliver(posted)
    world.run()

    assert world.receiver.state(1) is RoomState.SUCCESS
    assert world.holds(again, there)
    assert set(pages).isdisjoint(again)
    assert places


def test_a_later_epoch_takes_the_place_of_one_that_goes_on(world: World) -> None:
    bring(world, "in flight")
    world.are_messages_held = True
    world.receiver.abort(1)
    world.receiver.close_room(1)
    world.receiver.pump()
    world.on_the_way = []
    world.are_messages_held = False
    world.open(1, 2)

    assert world.sender.state(1) is SendState.WAITING
    assert world.receiver.pools()[0].quarantined == 4
    land_all(world)
    pages = world.allocate(2)
    world.chunk(1, pages, 0, is_last=True, whole=pages)

    assert world.receiver.state(1) is RoomState.SUCCESS
    world.advance(20)

    assert world.receiver.pools()[0].quarantined == 0


def test_drained_answers_of_another_epoch_free_nothing(world: World) -> None:
    bring(world, "in flight")
    world.receiver.abort(1)
    world.run()
    world.receiver.close_room(1)
    for source in range(2):
        stale = SourceDrained(room=1, epoch=5, source=source, destination=0)
        world.receiver.hear(stale)

    assert world.receiver.pools()[0].quarantined == 4


def test_each_destination_gets_answers_of_its_own() -> None:
    world = World(Shape(decode_ranks=2, parts=(KV,)))
    world.engine.is_holding = True
    world.open(1, 2)
    pages = world.allocate(2)
    world.chunk(1, pages, 0, is_last=True)
    world.receiver.abort(1)
    world.run()
    for flight in [each for each in world.sender.flights() if each.destination == 0]:
        world.engine.land(flight.transfer)
    world.run()
    drained = [posted.message for posted in world.sent if isinstance(posted.message, SourceDrained)]

    assert [(each.source, each.destination) for each in drained] == [(0, 0), (1, 0)]
    assert world.kinds().count("RoomAborted") == 4
    world.close()


def test_ranks_of_a_group_fail_together(world: World) -> None:
    class ElsewhereFailed(LocalAgreement):
        def least(self, counts: object) -> tuple[int, ...]:
            del counts
            return (0, 2)

    bring(world, "waiting")

    assert world.sender.agreed_states([1, 2], LocalAgreement()) == [SendState.WAITING, SendState.BOOTSTRAPPING]
    agreed = world.sender.agreed_states([1, 2], ElsewhereFailed())

    assert agreed == [SendState.FAILED, SendState.WAITING]
    assert world.sender.report(1).reason == "peer"


def test_pages_of_a_group_may_go_once_no_rank_needs_them(world: World) -> None:
    bring(world, "in flight")
    world.sender.abort(1)
    world.run()
    world.sender.forget(1)

    assert world.sender.agreed_idle([1, 2], LocalAgreement()) == [False, True]
    land_all(world)

    assert world.sender.agreed_idle([1, 2], LocalAgreement()) == [True, True]


def test_giving_up_what_is_not_there_or_has_ended_is_no_error(world: World) -> None:
    world.receiver.abort(5)
    world.sender.abort(5)
    world.send_whole(1, 2)
    world.receiver.abort(1)
    world.sender.abort(1)
    world.run()

    assert (world.receiver.state(1), world.sender.state(1)) == (RoomState.SUCCESS, SendState.SUCCESS)
    assert "RoomAborted" not in world.kinds()
    assert isinstance(world.sent[0], Posted)
