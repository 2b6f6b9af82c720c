"""Threads and files: fetches that end at any moment publish whole pages, and leave the others alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharedkv.storage.files import FileBackend
from sharedkv.storage.workers import Workers
from tests.storage.small_tier import PAGE_SIZE, SmallTier, stored

PAGES = 300
TOKENS = list(range(PAGES * PAGE_SIZE))


@pytest.fixture
def store(tmp_path: Path) -> FileBackend:
    files = FileBackend(tmp_path, is_durable=False)
    for name, data in stored(TOKENS[: 60 * PAGE_SIZE]).objects.items():
        files.put(name, data)
    return files


@pytest.mark.parametrize("arrived", [0, 1, 30, 60])
def test_a_fetch_that_ends_while_threads_read_publishes_what_arrived(store: FileBackend, arrived: int) -> None:
    workers = Workers(num_threads=4)
    tier = SmallTier(store, host_pages=40, jobs=workers)
    fetch = tier.fetcher.start(TOKENS, "best_effort", 0)
    while tier.fetcher.check(fetch).arrived < arrived:
        pass
    published = tier.fetcher.end(fetch)
    written = len(tier.memory.written)
    workers.drain()
    workers.close()

    assert published >= arrived
    assert len(tier.memory.written) == written
    assert sum(tier.free()) == 80 - published
    assert [set(page) for page in tier.host_contents(TOKENS)] == [{place % 256} for place in range(1, published + 1)]
