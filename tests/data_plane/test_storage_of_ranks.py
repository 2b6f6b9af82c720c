"""Ranks that are processes write the objects of their lanes into one store, and fetch and publish alike."""

from __future__ import annotations

from pathlib import Path

from sharedkv.collectives import DistributedGroup, GroupAgreement
from sharedkv.storage.files import FileBackend
from sharedkv.storage.objects import KV, ObjectName
from sharedkv.storage.workers import Workers
from tests.data_plane.processes import in_processes
from tests.storage.small_tier import FORM, LANES, Ranks, SmallTier

TOKENS = list(range(8))
Seen = tuple[int, int, int, list[int], list[bytes]]


def saved_and_fetched(root: Path, *, lost: bool) -> Seen:
    """Save on this rank, then fetch into a fresh cache: pages stored, planned and published, their lanes and bytes."""
    group = DistributedGroup()
    (rank,) = group.ranks
    store, workers = FileBackend(root), Workers(num_threads=1)
    ranks = Ranks([rank], GroupAgreement(group))
    first = SmallTier(store, jobs=workers, ranks=ranks)
    first.insert(TOKENS)
    first.fill(TOKENS)
    copy = first.saver.save(TOKENS)
    workers.drain()
    assert first.cache.poll() == (copy,)
    second = SmallTier(store, jobs=workers, ranks=ranks)
    fetch = second.fetcher.begin(TOKENS, "wait_complete", 0)
    if lost and rank == 0:
        store.remove(ObjectName(second.pages.keys(TOKENS)[2], KV))
    ranks.agreement.least([[0]])
    second.fetcher.bring(fetch)
    workers.drain()
    planned = second.fetcher.check(fetch).planned
    published = second.fetcher.end(fetch)
    pages = second.tree.backed_up(TOKENS)
    own = second.host_contents(TOKENS)
    stored = second.fetcher.query(TOKENS)
    workers.close()
    return stored, planned, published, [page.lane for page in pages], own


def test_ranks_fetch_the_pages_of_their_lanes_and_publish_all(tmp_path: Path) -> None:
    found = in_processes(LANES, tmp_path, lambda: saved_and_fetched(tmp_path / "objects", lost=False))

    for rank, (stored, planned, published, lanes, contents) in enumerate(found):
        assert (stored, planned, published, lanes) == (4, 4, 4, [0, 1, 1, 0])
        assert contents == [
            bytes([place + 1 if lane == rank else 0] * sum(FORM.part_bytes.values()))
            for place, lane in enumerate(lanes)
        ]


def test_what_one_rank_cannot_read_no_rank_publishes(tmp_path: Path) -> None:
    found = in_processes(LANES, tmp_path, lambda: saved_and_fetched(tmp_path / "objects", lost=True))

    assert [seen[:4] for seen in found] == [(2, 4, 2, [0, 1])] * LANES
