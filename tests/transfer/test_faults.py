"""What a sender is told when the engine of one process does what networks do: late, out of order, in part, never."""

from __future__ import annotations

import pytest

from sharedkv.engines.engine import EngineClosedError, RegionRefusedError, Timing, TransferFailedError
from sharedkv.engines.faults import Faults
from sharedkv.engines.memory import Memory, memory_engine
from tests.transfer.worlds import REGISTERED_BYTES, LocalReceiver, World

DEADLINE_S = 5.0
ROWS = [(100 * number, 64 * number, 64) for number in range(10)]


class Clock:
    """Time that passes when somebody dozes."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def doze(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def world(faults: Faults, clock: Clock) -> World:
    memory = Memory(faults)
    timing = Timing(deadline_s=DEADLINE_S, now=lambda: clock.seconds, doze=clock.doze)
    engines = [memory_engine(memory, timing) for _ in range(3)]
    return World("memory", engines[0], [LocalReceiver(engine) for engine in engines[1:]])


def failure(world: World, rows: list[tuple[int, int, int]]) -> TransferFailedError:
    with pytest.raises(TransferFailedError) as failed:
        world.sender.submit(world.peers[0], world.writes(rows)).wait()
    return failed.value


def test_what_is_held_is_not_done_until_it_is_released(world: World, faults: Faults) -> None:
    faults.hold()
    transfer = world.sender.submit(world.peers[0], world.writes(ROWS))

    assert not transfer.poll()
    assert not transfer.is_settled()
    assert not any(world.found())
    faults.release()
    assert transfer.poll()
    assert world.found() == world.expected(ROWS)


def test_a_held_transfer_fails_at_its_deadline_and_settles_when_it_ends(
    world: World, faults: Faults, clock: Clock
) -> None:
    faults.hold()
    transfer = world.sender.submit(world.peers[0], world.writes(ROWS))
    with pytest.raises(TransferFailedError, match=r"not done within 5\.0 s") as failed:
        transfer.wait()

    assert DEADLINE_S <= clock.seconds < DEADLINE_S + 0.1
    assert not failed.value.is_definite
    assert not transfer.is_settled()
    faults.release()
    assert transfer.is_settled()
    assert world.found() == world.expected(ROWS)
    with pytest.raises(TransferFailedError):
        transfer.poll()


def test_a_deadline_of_its_own_replaces_that_of_the_engine(world: World, faults: Faults, clock: Clock) -> None:
    faults.hold()
    transfer = world.sender.submit(world.peers[0], world.writes(ROWS), deadline_s=0.25)
    with pytest.raises(TransferFailedError, match=r"not done within 0\.25 s"):
        transfer.wait()

    assert clock.seconds < DEADLINE_S


def test_a_definite_failure_leaves_what_was_right_and_nothing_follows(world: World, faults: Faults) -> None:
    faults.fail_at(4, is_definite=True)
    failed = failure(world, ROWS)

    assert failed.is_definite
    assert world.found() == world.expected(ROWS[:4])
    assert faults.land_late() == 0


def test_after_a_failure_of_unknown_state_the_rest_may_land_late(world: World, faults: Faults) -> None:
    faults.fail_at(4, is_definite=False)
    transfer = world.sender.submit(world.peers[0], world.writes(ROWS))
    with pytest.raises(TransferFailedError, match="may still land") as failed:
        transfer.wait()

    assert not failed.value.is_definite
    assert world.found() == world.expected(ROWS[:4])
    assert not transfer.is_settled()
    assert faults.land_late() == 6
    assert world.found() == world.expected(ROWS)


def test_the_order_in_which_bytes_land_is_open(world: World, faults: Faults) -> None:
    faults.reverse()
    faults.fail_at(3, is_definite=True)
    failure(world, ROWS)

    assert world.found() == world.expected(ROWS[-3:])


def test_a_stuck_peer_hinders_no_other(world: World, faults: Faults) -> None:
    faults.stick(world.peers[0].name)
    stuck = world.sender.submit(world.peers[0], world.writes(ROWS))
    world.sender.submit(world.peers[1], world.writes(ROWS, receiver=1)).wait()

    assert not stuck.poll()
    assert (world.found(1), any(world.found())) == (world.expected(ROWS), False)


def test_a_failure_is_told_when_all_that_was_begun_has_ended_and_nothing_more_is_begun(
    world: World, faults: Faults
) -> None:
    rows = [(7 * number, 16 * number, 16) for number in range(3000)]
    faults.fail_at(300, is_definite=True)
    failed = failure(world, rows)

    assert failed.is_definite
    assert world.found() == world.expected(rows[:300] + rows[512:1024])


def test_a_source_in_use_is_not_taken_back(world: World, faults: Faults) -> None:
    region = world.source.region(0, REGISTERED_BYTES)
    faults.hold()
    transfer = world.sender.submit(world.peers[0], world.writes(ROWS))
    with pytest.raises(RegionRefusedError, match="has not settled"):
        world.sender.unregister(region)
    faults.release()
    world.sender.unregister(region)

    assert transfer.poll()


def test_a_source_in_doubt_is_not_taken_back_before_its_peer_is_gone(world: World, faults: Faults) -> None:
    region = world.source.region(0, REGISTERED_BYTES)
    faults.fail_at(0, is_definite=False)
    failure(world, ROWS)
    with pytest.raises(RegionRefusedError, match="has not settled"):
        world.sender.unregister(region)
    world.sender.forget(world.peers[0])
    world.sender.unregister(region)


def test_a_closed_engine_ends_what_is_under_way_and_refuses_the_rest(world: World, faults: Faults) -> None:
    done = world.sender.submit(world.peers[0], world.writes(ROWS))
    done.wait()
    faults.hold()
    held = world.sender.submit(world.peers[0], world.writes(ROWS))
    begun_in_part = world.sender.submit(world.peers[0], world.writes([(0, 0, 1)] * 1020))
    waiting = world.sender.submit(world.peers[0], world.writes(ROWS))
    world.sender.close()
    endings = []
    for transfer in (held, begun_in_part, waiting):
        with pytest.raises(TransferFailedError, match="closed") as failed:
            transfer.wait()
        endings.append((failed.value.is_definite, transfer.is_settled()))
    done.wait()

    assert endings == [(False, False), (False, False), (True, True)]
    with pytest.raises(EngineClosedError):
        world.sender.describe()


def test_a_peer_that_is_closed_takes_nothing(world: World) -> None:
    receiver = world.receivers[0]
    assert isinstance(receiver, LocalReceiver)
    receiver.close()

    assert failure(world, ROWS).is_definite
