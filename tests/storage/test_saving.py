"""What is saved is written by the rank of its lane, all of it, once, and read until it is acknowledged."""

from __future__ import annotations

import logging

import pytest

from sharedkv.storage.fetch import BATCH_PAGES
from sharedkv.storage.objects import INDEX, KV, ObjectName
from sharedkv.storage.saving import NO_COPY
from tests.storage.small_tier import FORM, LANES, MemoryStore, Others, Ranks, SmallTier, stored

TOKENS = list(range(8))


def test_each_page_is_written_whole_by_the_rank_of_its_lane() -> None:
    store = MemoryStore()
    tier = SmallTier(store)
    tier.insert(TOKENS)
    tier.fill(TOKENS)

    assert tier.save(TOKENS) != NO_COPY
    found = {name: FORM.decode(name, data) for name, data in store.objects.items()}
    assert set(found) == {ObjectName(key, part) for key in tier.pages.keys(TOKENS) for part in (KV, INDEX)}
    assert [found[ObjectName(key, KV)].lane for key in tier.pages.keys(TOKENS)] == [0, 1, 1, 0]
    assert all(each.writer == each.lane for each in found.values())
    assert [bytes(found[ObjectName(key, INDEX)].payload) for key in tier.pages.keys(TOKENS)] == [
        bytes([place] * 2) for place in (1, 2, 3, 4)
    ]


def test_ranks_of_two_processes_write_the_pages_of_their_lanes() -> None:
    store = MemoryStore()
    for rank in range(LANES):
        tier = SmallTier(store, ranks=Ranks([rank]))
        tier.insert(TOKENS)
        tier.fill(TOKENS)
        before = set(store.objects)
        tier.save(TOKENS)
        written = {FORM.decode(name, store.objects[name]).writer for name in set(store.objects) - before}

        assert written == {rank}
    assert SmallTier(store).fetcher.query(TOKENS) == 4


def test_what_is_stored_or_being_written_is_not_written_again() -> None:
    store = stored(TOKENS[:4])
    tier = SmallTier(store)
    tier.insert(TOKENS)
    first = tier.saver.save(TOKENS)
    again = tier.saver.save(TOKENS)
    tier.by_hand.run()
    still = tier.saver.save(TOKENS)
    tier.cache.poll()

    assert first != NO_COPY
    assert [again, still, tier.saver.save(TOKENS)] == [NO_COPY] * 3
    assert {FORM.decode(name, data).payload[0] for name, data in store.objects.items()} == {0, 1, 2}


def test_what_one_rank_does_not_find_all_ranks_save() -> None:
    tier = SmallTier(stored(TOKENS), ranks=Ranks(agreement=Others(2)))
    tier.insert(TOKENS)

    assert tier.saver.save(TOKENS) != NO_COPY
    assert len(tier.by_hand.waiting) == LANES


def test_all_parts_of_a_page_that_lost_one_are_written_anew() -> None:
    store = stored(TOKENS)
    key = SmallTier(store).pages.keys(TOKENS)[1]
    store.remove(ObjectName(key, INDEX))
    tier = SmallTier(store)
    tier.insert([90, 91])
    tier.insert(TOKENS)
    tier.save(TOKENS)

    names = [ObjectName(key, part) for part in (KV, INDEX)]
    assert [FORM.decode(name, store.objects[name]).payload[0] for name in names] == [0, 0]


def test_a_save_is_finished_when_its_rank_has_written() -> None:
    tier = SmallTier(MemoryStore())
    tier.insert(TOKENS)
    copy = tier.saver.save(TOKENS)

    assert tier.cache.poll() == ()
    tier.by_hand.run(1)
    assert tier.cache.poll() == ()
    tier.by_hand.run()
    assert tier.cache.poll() == (copy,)


def test_host_pages_are_not_evicted_while_a_save_reads_them() -> None:
    tier = SmallTier(MemoryStore(), host_pages=2)
    tier.insert(TOKENS)
    tier.saver.save(TOKENS)

    assert tier.cache.evict_host((1, 1)).freed == (0, 0)
    tier.by_hand.run()
    tier.cache.poll()
    assert tier.cache.evict_host((1, 1)).freed == (2, 2)


def test_a_node_that_is_split_under_a_save_keeps_both_halves_read() -> None:
    store = MemoryStore()
    tier = SmallTier(store, host_pages=2)
    tier.insert(TOKENS)
    tier.saver.save(TOKENS)
    tier.cache.match(TOKENS[:4])

    assert tier.cache.evict_host((1, 1)).freed == (0, 0)
    tier.by_hand.run()
    tier.cache.poll()
    assert tier.fetcher.query(TOKENS) == 4
    assert tier.cache.evict_host((2, 2)).freed == (2, 2)


def test_a_store_that_fails_is_counted_and_the_save_ends(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore(is_full=True)
    tier = SmallTier(store)
    tier.insert(TOKENS)
    with caplog.at_level(logging.WARNING):
        copy = tier.saver.save(TOKENS)
        tier.by_hand.run()

    assert tier.cache.poll() == (copy,)
    assert tier.pages.num_failed_puts == 8
    assert "not stored: " in caplog.text
    store.is_full = False
    assert tier.save(TOKENS) != NO_COPY
    assert tier.fetcher.query(TOKENS) == 4


def test_jobs_are_bounded_in_pages() -> None:
    tokens = list(range(4 * BATCH_PAGES + 4))
    tier = SmallTier(MemoryStore(), host_pages=BATCH_PAGES + 1, pages=len(tokens))
    tier.insert(tokens)
    tier.saver.save(tokens)

    assert len(tier.by_hand.waiting) == 2 * LANES
