"""Every page of a fetch becomes the tree's or free exactly once, its quota comes back, and no late write follows."""

from __future__ import annotations

from threading import Event

import pytest

from sharedkv.errors import Refusal, RefusedError
from sharedkv.storage.fetch import FetchStatus
from sharedkv.storage.fetching import NO_FETCH, FetchLimits
from sharedkv.storage.objects import INDEX, KV, ObjectName
from sharedkv.storage.workers import Workers
from tests.storage.small_tier import FORM, MemoryStore, Others, Ranks, SmallTier, stored

TOKENS = list(range(10))
PAGES = 5
LOST, CUT, FLIPPED, FOREIGN = "lost", "cut", "flipped", "foreign"


def spoil(store: MemoryStore, page: int, part: str, how: str) -> None:
    keys = SmallTier(store).pages.keys(TOKENS)
    name = ObjectName(keys[page], part)
    data = store.objects.pop(name)
    if how == CUT:
        store.objects[name] = data[:-1]
    elif how == FLIPPED:
        store.objects[name] = data[:-1] + bytes([data[-1] ^ 1])
    elif how == FOREIGN:
        store.objects[name] = store.objects[ObjectName(keys[page - 1], part)]


def test_what_was_saved_comes_back_to_the_lanes_it_was_on() -> None:
    tier = SmallTier(stored(TOKENS))
    fetch = tier.fetcher.start(TOKENS, "wait_complete", 0)
    tier.by_hand.run()

    assert tier.fetcher.check(fetch) == FetchStatus(planned=PAGES, arrived=PAGES, is_done=True)
    assert tier.fetcher.end(fetch) == PAGES
    assert tier.host_contents(TOKENS) == [bytes([place] * 8) for place in range(1, PAGES + 1)]
    (node,) = tier.cache.tree.nodes.values()
    assert [page.lane for page in node.host] == [0, 0, 1, 1, 0]


@pytest.mark.parametrize("part", [KV, INDEX])
@pytest.mark.parametrize("how", [LOST, CUT, FLIPPED, FOREIGN])
def test_a_page_without_a_whole_part_is_no_hit_nor_is_what_follows(part: str, how: str) -> None:
    store = stored(TOKENS)
    spoil(store, 3, part, how)
    tier = SmallTier(store)

    assert tier.fetcher.query(TOKENS) == 3
    fetch = tier.fetcher.start(TOKENS, "wait_complete", 0)
    tier.by_hand.run()
    assert tier.fetcher.end(fetch) == 3


@pytest.mark.parametrize("how", [LOST, CUT, FLIPPED, FOREIGN])
def test_a_page_that_is_spoiled_after_the_plan_is_never_loaded(how: str) -> None:
    store = stored(TOKENS)
    tier = SmallTier(store)
    fetch = tier.fetcher.start(TOKENS, "wait_complete", 0)
    spoil(store, 3, INDEX, how)
    tier.by_hand.run()

    assert tier.fetcher.check(fetch) == FetchStatus(planned=PAGES, arrived=3, is_done=False)
    assert tier.fetcher.end(fetch) == 3
    assert sum(tier.free()) == 16 - 3


def test_a_page_that_was_stored_anew_on_another_lane_since_the_plan_is_not_loaded() -> None:
    store = stored(TOKENS)
    tier = SmallTier(store)
    fetch = tier.fetcher.start(TOKENS, "best_effort", 0)
    for part, num_bytes in FORM.part_bytes.items():
        name = ObjectName(tier.pages.keys(TOKENS)[2], part)
        store.objects[name] = FORM.object(name, 0, 0, bytes(num_bytes)).encode()
    tier.by_hand.run()

    assert tier.fetcher.end(fetch) == 2


def test_parts_of_two_lanes_are_no_page() -> None:
    store = stored(TOKENS)
    tier = SmallTier(store)
    name = ObjectName(tier.pages.keys(TOKENS)[0], KV)
    store.objects[name] = FORM.object(name, 1, 1, bytes(6)).encode()

    assert tier.fetcher.query(TOKENS) == 0


def test_objects_of_another_form_are_no_page() -> None:
    store = stored(TOKENS)
    tier = SmallTier(store)
    for name in list(store.objects):
        found = FORM.decode(name, store.objects[name])
        store.objects[name] = found._replace(form="00" * 32).encode()

    assert tier.fetcher.query(TOKENS) == 0


def revoked_at_once(tier: SmallTier, fetch: int) -> int:
    tier.fetcher.revoke(fetch)
    return 0


def ended_at_once(tier: SmallTier, fetch: int) -> int:
    return tier.fetcher.end(fetch) or 0


def ended_after_three(tier: SmallTier, fetch: int) -> int:
    tier.fetcher.bring(fetch, KV, PAGES)
    tier.fetcher.bring(fetch, INDEX, 3)
    tier.by_hand.run()
    assert tier.fetcher.end(fetch) == 3
    return 3


def reset(tier: SmallTier, _fetch: int) -> int:
    tier.cache.reset()
    return 0


@pytest.mark.parametrize("end", [revoked_at_once, ended_at_once, ended_after_three, reset])
def test_every_page_is_freed_or_published_once_and_the_quota_comes_back(end: object) -> None:
    assert callable(end)
    tier = SmallTier(stored(TOKENS), limits=FetchLimits(quota=PAGES))
    fetch = tier.fetcher.begin(TOKENS, "best_effort", 0)
    held = (sum(tier.free()), tier.fetcher.quota)
    published = end(tier, fetch)
    tier.by_hand.run()

    assert held == (16 - PAGES, PAGES)
    assert tier.fetcher.quota == 0
    assert sum(tier.free()) == 16 - published
    assert tier.pool.invariants() == []
    for call in (tier.fetcher.end, tier.fetcher.revoke, tier.fetcher.check):
        with pytest.raises(RefusedError) as refused:
            call(fetch)
        assert refused.value.reason is Refusal.FETCH_UNKNOWN


def test_a_late_read_does_not_write_pages_that_were_given_back() -> None:
    store = stored(TOKENS)
    is_reading, may_go_on = Event(), Event()
    workers = Workers(num_threads=1)
    tier = SmallTier(store, jobs=workers)
    fetch = tier.fetcher.begin(TOKENS, "best_effort", 0)

    def wait(_name: ObjectName) -> None:
        is_reading.set()
        may_go_on.wait(60)

    store.before_get = wait
    tier.fetcher.bring(fetch)
    is_reading.wait(60)
    tier.fetcher.revoke(fetch)
    may_go_on.set()
    workers.drain()
    workers.close()

    assert tier.memory.written == []


def test_only_what_the_tree_does_not_have_is_fetched() -> None:
    tier = SmallTier(stored(TOKENS))
    tier.insert(TOKENS[:4])
    fetch = tier.fetcher.start(TOKENS, "best_effort", 0)
    tier.by_hand.run()

    assert tier.fetcher.check(fetch).planned == 3
    assert tier.fetcher.end(fetch) == 3
    assert sorted(len(node.host) for node in tier.cache.tree.nodes.values()) == [2, 3]
    assert tier.fetcher.begin(TOKENS, "best_effort", 0) == NO_FETCH


def test_pages_that_somebody_inserted_meanwhile_are_freed() -> None:
    tier = SmallTier(stored(TOKENS))
    fetch = tier.fetcher.start(TOKENS, "best_effort", 0)
    tier.by_hand.run()
    tier.insert(TOKENS[:6])

    assert tier.fetcher.end(fetch) == 2
    assert sum(tier.free()) == 16 - PAGES


def test_nothing_is_published_below_a_node_without_host_pages() -> None:
    tier = SmallTier(stored(TOKENS), host_pages=3)
    fetch = tier.fetcher.start(TOKENS, "best_effort", 0)
    tier.by_hand.run()
    tier.insert(TOKENS[:4])

    assert tier.fetcher.end(fetch) == 0
    assert sum(tier.free()) == 6 - sum(len(node.host) for node in tier.cache.tree.nodes.values())


@pytest.mark.parametrize(
    ("limits", "host_pages", "begins"),
    [
        (FetchLimits(), 8, True),
        (FetchLimits(least=PAGES), 8, True),
        (FetchLimits(least=PAGES + 1), 8, False),
        (FetchLimits(quota=PAGES), 8, True),
        (FetchLimits(quota=PAGES - 1), 8, False),
        (FetchLimits(), 2, False),
    ],
)
def test_a_fetch_begins_whole_or_not_at_all(limits: FetchLimits, host_pages: int, *, begins: bool) -> None:
    tier = SmallTier(stored(TOKENS), limits=limits, host_pages=host_pages)
    fetch = tier.fetcher.begin(TOKENS, "best_effort", 0)

    assert (fetch != NO_FETCH) == begins
    assert sum(tier.free()) == 2 * host_pages - PAGES * begins
    assert tier.fetcher.quota == PAGES * begins


def test_policies_let_a_fetch_end_when_they_say() -> None:
    tier = SmallTier(stored(TOKENS), limits=FetchLimits())
    done = {}
    for policy in ("best_effort", "wait_complete", "timeout"):
        fetch = tier.fetcher.begin(TOKENS, policy, 2)
        done[policy] = [tier.fetcher.check(fetch).is_done]
        tier.ticks += 2
        done[policy].append(tier.fetcher.check(fetch).is_done)
        tier.fetcher.bring(fetch)
        tier.by_hand.run()
        done[policy].append(tier.fetcher.check(fetch).is_done)
        tier.fetcher.revoke(fetch)

    assert done == {
        "best_effort": [True, True, True],
        "wait_complete": [False, False, True],
        "timeout": [False, True, True],
    }


def test_a_plan_that_nobody_knows_completes_nothing() -> None:
    tier = SmallTier(stored(TOKENS))
    fetch = tier.fetcher.begin(TOKENS, "wait_complete", 0)
    tier.fetcher.fetch(fetch).is_plan_known = False

    assert tier.fetcher.check(fetch) == FetchStatus(planned=0, arrived=0, is_done=False)


def test_a_policy_that_is_none_is_refused_and_nothing_changes() -> None:
    tier = SmallTier(stored(TOKENS))
    with pytest.raises(RefusedError, match="policy_unknown: sometime"):
        tier.fetcher.begin(TOKENS, "sometime", 0)

    assert sum(tier.free()) == 16


def test_a_part_that_was_read_once_is_not_read_again_to_know_it() -> None:
    store = stored(TOKENS)
    tier = SmallTier(store)
    store.num_gets = 0
    found = [tier.fetcher.query(TOKENS) for _ in range(2)]

    assert found == [PAGES, PAGES]
    assert store.num_gets == 2 * PAGES


def test_ranks_plan_and_publish_what_all_of_them_see() -> None:
    others = Others(3)
    tier = SmallTier(stored(TOKENS), ranks=Ranks(agreement=others))
    fetch = tier.fetcher.start(TOKENS, "best_effort", 0)
    tier.by_hand.run()
    planned = tier.fetcher.check(fetch)
    others.pages = 2

    assert planned == FetchStatus(planned=3, arrived=3, is_done=True)
    assert tier.fetcher.end(fetch) == 2


def test_a_page_that_ranks_see_on_two_lanes_is_not_stored() -> None:
    tier = SmallTier(stored(TOKENS), ranks=Ranks(agreement=Others(PAGES, moved=2)))

    assert tier.fetcher.query(TOKENS) == 2
