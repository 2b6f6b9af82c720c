"""What becomes of transfers when the process at the other end stands still, or is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sharedkv.engines.engine import PeerUnreachableError, RegionRefusedError, Timing, Transfer, TransferFailedError
from tests.transfer.kinds import BETWEEN_PROCESSES
from tests.transfer.worlds import REGISTERED_BYTES, RemoteReceiver, World, world_of

DEADLINE_S = 1.0
LIBRARIES_GIVE_UP_S = 30.0
LARGE = [(0, 0, REGISTERED_BYTES)]
SMALL = [(64 * number, 64 * number, 64) for number in range(2500)]
# With shared memory a peer has no part in what is written into its memory.
WITH_THE_PEERS_HELP = ("nixl over tcp", "mooncake")


@pytest.fixture(params=BETWEEN_PROCESSES)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A world that has transferred something to both peers, so that what follows is not the first contact."""
    with world_of(request.param, tmp_path, Timing(deadline_s=DEADLINE_S)) as made:
        for number in range(2):
            made.sender.submit(made.peers[number], made.writes(LARGE, receiver=number), deadline_s=20).wait()
        made.clear()
        yield made


def remote(world: World, number: int = 0) -> RemoteReceiver:
    receiver = world.receivers[number]
    assert isinstance(receiver, RemoteReceiver)

    return receiver


def failure_of(transfer: Transfer) -> TransferFailedError:
    with pytest.raises(TransferFailedError) as failed:
        transfer.wait()
    return failed.value


def flood(world: World) -> list[Transfer]:
    """Submit more than the sockets between two processes hold."""
    return [world.sender.submit(world.peers[0], world.writes(SMALL)) for _ in range(12)]


def test_a_peer_that_stands_still_costs_one_deadline_and_hinders_no_other(world: World) -> None:
    remote(world).stop()
    begun_at = time.monotonic()
    transfers = flood(world)
    world.sender.submit(world.peers[1], world.writes(SMALL, receiver=1), deadline_s=20).wait()

    assert world.found(1) == world.expected(SMALL)
    if world.kind in WITH_THE_PEERS_HELP:
        failures = [failure_of(transfer) for transfer in transfers]

        assert DEADLINE_S <= time.monotonic() - begun_at < LIBRARIES_GIVE_UP_S
        assert {failure.is_definite for failure in failures} == {True, False}
        with pytest.raises(RegionRefusedError, match="has not settled"):
            world.sender.unregister(world.source.region(0, REGISTERED_BYTES))
    remote(world).go_on()
    ends_at = time.monotonic() + 20
    while not all(transfer.is_settled() for transfer in transfers) and time.monotonic() < ends_at:
        pass
    world.clear()
    world.sender.submit(world.peers[0], world.writes(LARGE), deadline_s=20).wait()

    assert all(transfer.is_settled() for transfer in transfers)
    assert world.found() == world.expected(LARGE)


def test_a_peer_that_is_killed_fails_what_follows_and_keeps_its_sources_until_it_is_forgotten(world: World) -> None:
    description = remote(world).describe()
    remote(world).stop()
    transfers = flood(world)
    remote(world).kill()
    if world.kind in WITH_THE_PEERS_HELP:
        assert not failure_of(transfers[0]).is_definite
    for _ in range(2):
        failure_of(world.sender.submit(world.peers[0], world.writes(SMALL), deadline_s=5))
    world.sender.submit(world.peers[1], world.writes(SMALL, receiver=1), deadline_s=20).wait()

    assert world.found(1) == world.expected(SMALL)
    region = world.source.region(0, REGISTERED_BYTES)
    with pytest.raises(RegionRefusedError, match="has not settled"):
        world.sender.unregister(region)
    world.sender.forget(world.peers[0])
    world.sender.unregister(region)
    world.sender.register(region)
    with pytest.raises((PeerUnreachableError, TransferFailedError)):
        world.sender.submit(world.sender.connect(description), world.writes(SMALL), deadline_s=5).wait()


def test_a_transfer_under_way_survives_the_end_of_its_engine(world: World) -> None:
    transfer = world.sender.submit(world.peers[0], world.writes(SMALL * 4))
    world.sender.close()
    world.sender.close()
    first = failure_of(transfer)
    second = failure_of(transfer)

    assert (first.args, first.is_definite) == (second.args, False)
    assert not transfer.is_settled()
