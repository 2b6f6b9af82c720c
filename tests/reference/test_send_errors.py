"""Whatever raises below a sender fails one room, or one call: nothing is taken for sent, stays pinned, or unsaid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from sharedkv.control_messages import Message, RoomOpened
from sharedkv.engines.engine import Peer, RegionRefusedError, Transfer
from sharedkv.engines.regions import Region
from sharedkv.errors import Refusal, RefusedError
from sharedkv.page_mapping import Writes
from sharedkv.rooms import RoomState
from sharedkv.transfer.ports import WriteEvent
from sharedkv.transfer.prefill_rooms import SendState
from tests.reference.sending_world import Shape, World


class BrokenError(Exception):
    """Something nobody expected."""


class BrokenWorld(World):
    """A world of which one thing raises, once, when a test says so."""

    def __init__(self, shape: Shape | None = None) -> None:
        self.breaks = ""
        super().__init__(shape)
        inner = self.engine._inner
        self.deadlines: list[float | None] = []
        self._submit, self._register = inner.submit, inner.register
        inner.submit, inner.register = self._submitted, self._registered  # type: ignore[method-assign]

    def may_break(self, what: str) -> None:
        """Raise if this is what is to be broken."""
        if self.breaks == what:
            self.breaks = ""
            raise BrokenError(what)

    def _record(self) -> WriteEvent:
        self.may_break("record")
        return super()._record()

    def _post(self, message: Message, *, rank: int, to_prefill: bool) -> None:
        self.may_break("messages to prefill" if to_prefill else "messages to decode")
        super()._post(message, rank=rank, to_prefill=to_prefill)

    def _registered(self, region: Region) -> None:
        if self.breaks == "register":
            raise RegionRefusedError(region, "is full")
        self._register(region)

    def _submitted(self, peer: Peer, writes: Writes, deadline_s: float | None = None) -> Transfer:
        self.deadlines.append(deadline_s)
        if self.breaks == "poll":
            self.breaks = ""
            return _BrokenTransfer()
        return self._submit(peer, writes, deadline_s)


class _BrokenTransfer:
    def poll(self) -> bool:
        raise BrokenError("poll")

    def wait(self) -> None:
        raise BrokenError("wait")

    def is_settled(self) -> bool:
        return False


@pytest.fixture
def world() -> Iterator[BrokenWorld]:
    made = BrokenWorld(Shape(layers=4, group=2))
    yield made
    made.close()


def require_another_room_goes(world: World) -> None:
    """Send one more room from its beginning to its end."""
    pages, places = world.send_whole(9, 2)

    assert world.receiver.state(9) is RoomState.SUCCESS
    assert world.holds(pages, places)


def test_layers_whose_event_could_not_be_recorded_go_when_the_chunk_is_sent(world: BrokenWorld) -> None:
    (places,) = world.open(1, 4)
    pages = world.allocate(4)
    world.sender.register(1, pages, 0, is_last=True)
    world.breaks = "record"
    for layer in range(4):
        world.sender.layer_end(layer)
        world.run()

    assert world.sender.contexts()[0].submitted == (2, 3)
    world.chunk(1, pages, 0, is_last=True, whole=pages)

    assert world.receiver.state(1) is RoomState.SUCCESS
    assert world.holds(pages, places)


@pytest.mark.parametrize("is_registered", [False, True])
def test_a_chunk_whose_event_could_not_be_recorded_was_not_sent(world: BrokenWorld, is_registered: bool) -> None:  # noqa: FBT001 - a parameter of the test
    (places,) = world.open(1, 4)
    pages = world.allocate(4)
    if is_registered:
        world.sender.register(1, pages, 0, is_last=True)
    world.breaks = "record"
    with pytest.raises(BrokenError):
        world.chunk(1, pages, 0, is_last=True, whole=pages)

    assert len(world.sender.contexts()) == 2 * is_registered
    world.chunk(1, pages, 0, is_last=True, whole=pages)
    world.allocator.release(pages)

    assert world.receiver.state(1) is RoomState.SUCCESS
    assert world.holds(pages, places)
    assert not world.in_use()


def test_metadata_that_cannot_be_staged_fails_its_room(world: BrokenWorld) -> None:
    world.breaks = "register"
    pages, _ = world.send_whole(1, 2)
    world.allocator.release(pages)
    world.breaks = ""

    assert world.sender.report(1).reason == "engine"
    assert world.receiver.state(1) is RoomState.FAILED
    assert not world.in_use()
    require_another_room_goes(world)


def test_a_flight_that_cannot_be_looked_at_is_in_doubt_and_harms_no_other(world: BrokenWorld) -> None:
    world.breaks = "poll"
    world.send_whole(1, 2)

    assert world.sender.report(1).reason == "engine"
    assert [flight.is_in_doubt for flight in world.sender.flights()] == [True]
    require_another_room_goes(world)
    world.receiver.close_room(1)

    assert world.receiver.pools()[0].quarantined == 2
    world.advance(20)

    assert world.receiver.pools()[0].quarantined == 0
    assert not world.sender.flights()


def test_a_message_that_cannot_be_sent_takes_no_other_with_it(world: BrokenWorld) -> None:
    world.open(1, 2)
    world.sender.abort(1)
    world.breaks = "messages to decode"
    with pytest.raises(BrokenError):
        world.run()
    world.run()

    assert world.receiver.state(1) is RoomState.FAILED
    require_another_room_goes(world)


def test_pages_that_cannot_be_let_go_keep_no_message_back(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()

    def broken(_pages: Sequence[int]) -> None:
        raise BrokenError("unpin")

    with monkeypatch.context() as patch:
        patch.setattr(world.allocator, "unpin", broken)
        with pytest.raises(BrokenError):
            world.send_whole(1, 2)
    world.run()

    assert world.receiver.state(1) is RoomState.SUCCESS
    world.close()


def test_the_engine_has_the_deadline_of_the_sender(world: BrokenWorld) -> None:
    world.send_whole(1, 2)

    assert set(world.deadlines) == {world.shape.deadline}


def changed(opened: RoomOpened, **changes: Any) -> RoomOpened:  # noqa: ANN401 - whatever fields it has
    return replace(opened, **changes)


def test_what_decode_ranks_tell_has_to_agree() -> None:
    world = World(Shape(decode_ranks=2))
    world.are_messages_held = True
    reserved = world.receiver.reserve(1, 2, [0])
    world.receiver.pump()
    opened = next(each.message for each in world.on_the_way)
    assert isinstance(opened, RoomOpened)
    first = reserved.places[0].pages[0]
    for wrong in (
        changed(opened, pages=(first, first)),
        changed(opened, pages=(0, first)),
        changed(opened, pages=()),
        changed(opened, num_destinations=0),
        changed(opened, destination=7),
    ):
        world.sender.hear(0, wrong)
        with pytest.raises(RefusedError, match=Refusal.ROOM_UNKNOWN):
            world.sender.state(1)
    world.are_messages_held = False
    world.run()
    for wrong in (changed(opened, destination=1), changed(opened, destination=1, num_destinations=2)):
        world.sender.hear(0, wrong)

    assert world.sender.state(1) is SendState.WAITING
    pages = world.allocate(2)
    world.chunk(1, pages, 0, is_last=True, whole=pages)

    assert (world.sender.state(1), world.receiver.state(1)) == (SendState.SUCCESS, RoomState.SUCCESS)
    world.close()


def test_metadata_is_no_longer_than_decode_has_memory_for() -> None:
    world = World()
    world.are_messages_held = True
    world.receiver.reserve(1, 1, [0])
    world.receiver.pump()
    for posted in world.on_the_way:
        assert isinstance(posted.message, RoomOpened)
        world.sender.hear(posted.rank, changed(posted.message, aux_bytes=8))
    pages = world.allocate(1)
    with pytest.raises(RefusedError, match=Refusal.AUX_TOO_LONG):
        world.chunk(1, pages, 0, is_last=True, whole=pages, aux=bytes(9))
    world.chunk(1, pages, 0, is_last=True, whole=pages, aux=bytes(8))

    assert world.sender.state(1) is SendState.SUCCESS
    world.close()
