"""What every engine does: exactly the bytes that were asked for, exactly there, or a refusal before the first one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sharedkv.engines.engine import (
    DescriptionRefusedError,
    Peer,
    PeerUnknownError,
    RegionRefusedError,
    Side,
    TransferFailedError,
    WriteRefusedError,
)
from sharedkv.engines.regions import Region
from sharedkv.page_mapping import BufferAddresses, writes
from tests.transfer.worlds import POOL_BYTES, REGISTERED_BYTES, World

Rows = list[tuple[int, int, int]]


def pieces(number: int, size: int, seed: int, gap: int = 0) -> Rows:
    """Rows whose sources and destinations are two permutations; `gap` bytes are left between destinations."""
    chance = np.random.default_rng(seed)
    sources, places = (chance.permutation(number).tolist() for _ in range(2))
    return [(source * size, place * (size + gap), size) for source, place in zip(sources, places, strict=True)]


SHAPES: dict[str, Callable[[], Rows]] = {
    "one": lambda: [(5, 11, 1000)],
    "all of the region": lambda: [(0, 0, REGISTERED_BYTES)],
    "the last byte": lambda: [(0, REGISTERED_BYTES - 1, 1)],
    "odd sizes and places": lambda: [(number * 101 + 3, number * 211 + 7, number + 1) for number in range(97)],
    "permuted pages": lambda: pieces(40, 4096, seed=1),
    "permuted pages, with gaps": lambda: pieces(30, 2048, seed=2, gap=1000),
    "many small": lambda: pieces(2500, 64, seed=3),
    "one source many times": lambda: [(0, 32 * number, 32) for number in range(1500)],
    "with writes of no bytes": lambda: [(0, 0, 0), (10, 20, 30), (0, 0, 0), (50, 60, 70)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_exactly_what_was_asked_for_lands_and_nothing_else_changes(world: World, shape: str) -> None:
    rows = SHAPES[shape]()
    world.sender.submit(world.peers[0], world.writes(rows)).wait()

    assert world.found() == world.expected(rows)
    assert world.found(1) == bytes(POOL_BYTES)


def test_pages_of_several_buffers_go_where_the_mapping_says(world: World) -> None:
    page_bytes = (656, 132)
    sources, destinations = (3, 4, 5, 9, 1), (7, 8, 9, 2, 20)
    places = [(0, 0), (40_000, 50_000)]
    buffers = [
        BufferAddresses(
            source=world.source.address + source,
            destination=world.receivers[0].address + place,
            source_page_bytes=size,
            destination_page_bytes=size,
        )
        for (source, place), size in zip(places, page_bytes, strict=True)
    ]
    world.sender.submit(world.peers[0], writes(sources, destinations, buffers)).wait()

    assert world.found() == world.expected(
        [
            (begin + size * page, place + size * target, size)
            for (begin, place), size in zip(places, page_bytes, strict=True)
            for page, target in zip(sources, destinations, strict=True)
        ]
    )


@pytest.mark.parametrize("rows", [[], [(0, 0, 0)]], ids=["no writes", "no bytes"])
def test_nothing_to_write_is_done_at_once(world: World, rows: Rows) -> None:
    transfer = world.sender.submit(world.peers[0], world.writes(rows))

    assert transfer.poll()
    assert transfer.is_settled()


def test_a_transfer_that_is_done_stays_so(world: World) -> None:
    transfer = world.sender.submit(world.peers[0], world.writes([(0, 0, 8)]))
    transfer.wait()
    world.clear()
    transfer.wait()

    assert [transfer.poll(), transfer.poll(), transfer.is_settled()] == [True, True, True]
    assert world.found() == bytes(POOL_BYTES)


OUTSIDE: dict[str, tuple[Side, tuple[int, int, int]]] = {
    "a source behind the region": (Side.SOURCE, (REGISTERED_BYTES, 0, 1)),
    "a source over its end": (Side.SOURCE, (REGISTERED_BYTES - 1, 0, 2)),
    "a source before it": (Side.SOURCE, (-1, 0, 2)),
    "a destination behind the region": (Side.DESTINATION, (0, REGISTERED_BYTES, 1)),
    "a destination over its end": (Side.DESTINATION, (0, REGISTERED_BYTES - 1, 2)),
    "a destination before it": (Side.DESTINATION, (0, -1, 2)),
    "a length below 0": (Side.SOURCE, (0, 0, -1)),
    "a length beyond all memory": (Side.SOURCE, (0, 0, (1 << 63) - 1)),
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_one_write_outside_is_found_before_the_first_is_begun(world: World, case: str) -> None:
    side, row = OUTSIDE[case]
    rows = [*pieces(1500, 32, seed=4), row]

    with pytest.raises(WriteRefusedError) as refused:
        world.sender.submit(world.peers[0], world.writes(rows))
    assert (refused.value.side, refused.value.index) == (side, 1500)
    assert world.found() == bytes(POOL_BYTES)


def test_the_regions_of_one_peer_are_not_those_of_another(world: World) -> None:
    there = world.writes([(0, 0, 64)], receiver=1)

    with pytest.raises(WriteRefusedError):
        world.sender.submit(world.peers[0], there)


def test_a_region_is_a_source_for_as_long_as_it_is_registered(world: World) -> None:
    last = REGISTERED_BYTES
    region = world.source.region(last, last + 4096)
    world.sender.register(region)
    world.sender.submit(world.peers[0], world.writes([(last, 0, 4096)])).wait()
    with pytest.raises(WriteRefusedError):
        world.sender.submit(world.peers[0], world.writes([(last - 1, 0, 2)]))
    world.sender.unregister(region)
    with pytest.raises(WriteRefusedError):
        world.sender.submit(world.peers[0], world.writes([(last, 0, 1)]))

    assert world.found() == world.expected([(last, 0, 4096)])


def test_regions_do_not_overlap_and_are_taken_back_once(world: World) -> None:
    last = REGISTERED_BYTES
    region = world.source.region(last, last + 64)
    with pytest.raises(RegionRefusedError, match="overlaps"):
        world.sender.register(world.source.region(last - 1, last + 64))
    world.sender.register(region)
    world.sender.unregister(region)
    with pytest.raises(RegionRefusedError, match="not registered"):
        world.sender.unregister(region)


def test_what_a_peer_registers_later_is_reached_after_connecting_again(world: World) -> None:
    receiver = world.receivers[1]
    first = REGISTERED_BYTES + 8192
    rows = [(0, first, 4096), (0, 0, 16)]
    receiver.register(first, first + 4096)
    with pytest.raises(WriteRefusedError):
        world.sender.submit(world.peers[1], world.writes(rows, receiver=1))
    assert world.sender.connect(receiver.describe()) == world.peers[1]
    world.sender.submit(world.peers[1], world.writes(rows, receiver=1)).wait()

    assert world.found(1) == world.expected(rows)


def test_transfers_to_two_peers_go_on_together(world: World) -> None:
    rows = [pieces(1500, 64, seed=seed) for seed in (5, 6)]
    transfers = [
        world.sender.submit(world.peers[number], world.writes(rows[number], receiver=number)) for number in range(2)
    ]
    for transfer in reversed(transfers):
        transfer.wait()

    assert [world.found(number) for number in range(2)] == [world.expected(each) for each in rows]


def test_several_transfers_to_one_peer_each_bring_their_bytes(world: World) -> None:
    parts = [[(part * 10_000, part * 12_000, 9_000)] for part in range(12)]
    transfers = [world.sender.submit(world.peers[0], world.writes(rows)) for rows in parts]
    for transfer in transfers[::-1]:
        transfer.wait()

    assert world.found() == world.expected([row for rows in parts for row in rows])


def test_threads_may_send_at_once(world: World) -> None:
    rows = [[(part * 64 + 6400 * part, 100 * 64 * part + 64 * one, 64) for one in range(100)] for part in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda part: world.sender.submit(world.peers[0], world.writes(part)).wait(), rows))

    assert world.found() == world.expected([row for part in rows for row in part])


def test_bytes_that_describe_no_peer_are_refused(world: World) -> None:
    right = world.receivers[0].describe()
    other = b'{"form": 1, "kind": "%s", "contact": "%s", "regions": []}'
    kind = world.kind.partition(" ")[0].encode()
    for wrong in (b"", b"\xff", right[:-1], b"[" * 100_000, other % (b"pigeon", b""), other % (kind, b"Z2FyYmFnZQ==")):
        with pytest.raises(DescriptionRefusedError):
            world.sender.connect(wrong)


def test_a_peer_that_was_forgotten_can_be_met_again(world: World) -> None:
    peer = world.peers[0]
    world.sender.forget(peer)
    with pytest.raises(PeerUnknownError):
        world.sender.submit(peer, world.writes([(0, 0, 8)]))
    with pytest.raises(PeerUnknownError):
        world.sender.forget(Peer(name="nobody"))
    assert world.sender.connect(world.receivers[0].describe()) == peer
    world.sender.submit(peer, world.writes([(0, 0, 8)])).wait()

    assert world.found() == world.expected([(0, 0, 8)])


def test_without_any_time_nothing_is_begun(world: World) -> None:
    transfer = world.sender.submit(world.peers[0], world.writes(pieces(2500, 64, seed=8)), deadline_s=0.0)
    with pytest.raises(TransferFailedError, match="not done within") as failed:
        transfer.wait()

    assert failed.value.is_definite
    assert transfer.is_settled()
    assert world.found() == bytes(POOL_BYTES)


def test_a_region_of_nothing_is_none() -> None:
    for address, num_bytes in ((0, 8), (8, 0), (8, -1), ((1 << 63) - 8, 8)):
        with pytest.raises(ValueError, match="no region"):
            Region(address=address, num_bytes=num_bytes)
