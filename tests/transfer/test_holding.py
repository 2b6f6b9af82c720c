"""A held transfer ends as it is told, reads its sources when it lands, and may land after it failed."""

from __future__ import annotations

import pytest

from sharedkv.engines.engine import Timing, TransferFailedError
from sharedkv.engines.holding import HoldingEngine
from sharedkv.engines.memory import Memory, memory_engine
from tests.transfer.worlds import LocalReceiver, World

ROWS = [(100 * number, 64 * number, 64) for number in range(4)]


@pytest.fixture
def world() -> World:
    memory = Memory()
    sender, receiver = (memory_engine(memory, Timing()) for _ in range(2))
    return World("memory", HoldingEngine(sender), [LocalReceiver(receiver)])


def held(world: World) -> HoldingEngine:
    assert isinstance(world.sender, HoldingEngine)

    world.sender.is_holding = True
    return world.sender


def test_what_is_not_held_lands_by_itself(world: World) -> None:
    transfer = world.sender.submit(world.peers[0], world.writes(ROWS))

    assert transfer.poll()
    assert world.found() == world.expected(ROWS)


def test_what_is_held_reads_its_sources_when_it_lands(world: World) -> None:
    engine = held(world)
    transfer = engine.submit(world.peers[0], world.writes(ROWS))

    assert not transfer.poll()
    assert not transfer.is_settled()
    assert not any(world.found())
    world.source.bytes[:] = 7
    engine.land(transfer)

    assert transfer.poll()
    assert transfer.is_settled()
    assert world.found() == world.expected(ROWS)


@pytest.mark.parametrize("is_definite", [True, False])
def test_what_fails_lands_in_part_and_the_rest_when_it_is_told(world: World, is_definite: bool) -> None:  # noqa: FBT001 - a parameter of the test
    engine = held(world)
    transfer = engine.submit(world.peers[0], world.writes(ROWS))
    engine.fail(transfer, world.writes(ROWS[:2]), is_definite=is_definite)

    with pytest.raises(TransferFailedError) as failed:
        transfer.poll()
    assert failed.value.is_definite is is_definite
    assert transfer.is_settled() is is_definite
    assert world.found() == world.expected(ROWS[:2])
    engine.land(transfer)

    assert world.found() == world.expected(ROWS)
    with pytest.raises(TransferFailedError):
        transfer.poll()
    world.source.bytes[:] = 9
    engine.land(transfer)

    assert world.found() == world.expected(ROWS)


def test_nobody_waits_for_what_is_held(world: World) -> None:
    transfer = held(world).submit(world.peers[0], world.writes(ROWS))

    with pytest.raises(TransferFailedError, match="may still land"):
        transfer.wait()
