"""Over a long history near full host lanes, no page is lost or held twice, and the quota is that of open fetches."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from sharedkv.storage.fetching import NO_FETCH, FetchLimits
from sharedkv.storage.objects import ObjectName
from sharedkv.storage.saving import NO_COPY
from sharedkv.tree_node import HostPage
from tests.storage.small_tier import FORM, LANES, PAGE_SIZE, MemoryStore, SmallTier

OPERATIONS = 1_500
HOST_PAGES = 6
QUOTA = 7


class History:
    """Random calls on two caches over one store, whose bytes say which page they are of."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - examples, not secrets
        self.store = MemoryStore()
        self.tiers = [
            SmallTier(self.store, host_pages=HOST_PAGES, pages=24, limits=FetchLimits(quota=QUOTA)) for _ in range(2)
        ]
        self.fetches: list[set[int]] = [set(), set()]
        self.seen = {"saved": 0, "begun": 0, "declined": 0, "published": 0, "revoked": 0, "reset": 0}

    def step(self) -> None:
        which = self.random.randrange(2)
        tier, fetches = self.tiers[which], self.fetches[which]
        tokens = self.tokens()
        calls = [self.insert, self.save, self.save, self.begin, self.begin, self.bring, self.end, self.evict, self.jobs]
        if fetches and self.random.random() < 0.02:
            tier.by_hand.run()
            tier.cache.reset()
            fetches.clear()
            self.seen["reset"] += 1
        self.random.choice(calls)(tier, fetches, tokens)

    def tokens(self) -> list[int]:
        pages = self.random.randint(1, 5)
        return [token for _ in range(pages) for token in [self.random.randrange(2)] * PAGE_SIZE]

    def insert(self, tier: SmallTier, _fetches: set[int], tokens: list[int]) -> None:
        tier.cache.evict((LANES * HOST_PAGES,) * LANES)
        tier.insert(tokens)
        self.compute(tier, tokens)

    def compute(self, tier: SmallTier, tokens: list[int]) -> None:
        """Set the bytes of host pages to what their key says."""
        for page, key in zip(tier.tree.backed_up(tokens), tier.pages.keys(tokens), strict=False):
            for part in FORM.parts:
                tier.memory.pages[page, part] = meaning(ObjectName(key, part))

    def save(self, tier: SmallTier, _fetches: set[int], tokens: list[int]) -> None:
        self.seen["saved"] += tier.saver.save(tokens) != NO_COPY

    def begin(self, tier: SmallTier, fetches: set[int], tokens: list[int]) -> None:
        begin = self.random.choice([tier.fetcher.begin, tier.fetcher.start])
        fetch = begin(tokens, "best_effort", 0)
        self.seen["declined" if fetch == NO_FETCH else "begun"] += 1
        fetches |= {fetch} - {NO_FETCH}

    def bring(self, tier: SmallTier, fetches: set[int], _tokens: list[int]) -> None:
        if fetches:
            tier.fetcher.bring(self.random.choice(sorted(fetches)), self.random.choice(FORM.parts), 2)

    def end(self, tier: SmallTier, fetches: set[int], _tokens: list[int]) -> None:
        if not fetches:
            return
        fetch = self.random.choice(sorted(fetches))
        fetches.remove(fetch)
        tier.by_hand.run(self.random.choice([0, 1_000]))
        if self.random.random() < 0.3:
            tier.fetcher.revoke(fetch)
            self.seen["revoked"] += 1
        else:
            self.seen["published"] += tier.fetcher.end(fetch)

    def evict(self, tier: SmallTier, _fetches: set[int], _tokens: list[int]) -> None:
        tier.cache.evict_host((1, 1))

    def jobs(self, tier: SmallTier, _fetches: set[int], tokens: list[int]) -> None:
        tier.by_hand.run(self.random.randint(1, 6))
        tier.cache.poll()
        if self.random.random() < 0.2:
            self.lose(tokens)

    def lose(self, tokens: list[int]) -> None:
        """Spoil or lose an object of a page."""
        name = ObjectName(self.tiers[0].pages.keys(tokens)[-1], self.random.choice(FORM.parts))
        data = self.store.objects.pop(name, b"")
        if data and self.random.random() < 0.5:
            self.store.objects[name] = data[:-1]

    def broken(self) -> list[str]:
        """List the laws that are broken now."""
        laws = []
        for tier, fetches in zip(self.tiers, self.fetches, strict=True):
            own = [tier.fetcher.fetch(fetch).pages for fetch in fetches]
            if tier.fetcher.quota != sum(map(len, own)) or tier.fetcher.quota > QUOTA:
                laws.append(f"quota {tier.fetcher.quota}, fetches hold {sum(map(len, own))} of {QUOTA}")
            held = [page for pages in own for page in pages]
            held += [page for node in tier.cache.tree.nodes.values() for page in node.host]
            if len(set(held)) != len(held):
                laws.append(f"a host page is held twice: {sorted(held)}")
            if [HOST_PAGES - free for free in tier.free()] != [lanes(held).count(lane) for lane in range(LANES)]:
                laws.append(f"free {tier.free()} and held {sorted(held)} are not all pages")
            laws += [
                f"page {page} does not hold {key}" for page, key in published(tier) if not is_right(tier, page, key)
            ]
        return laws


def lanes(pages: list[HostPage]) -> list[int]:
    return [page.lane for page in pages]


def published(tier: SmallTier) -> Iterator[tuple[HostPage, str]]:
    """Host pages of the tree, each with the key of what it must hold."""
    for node in tier.cache.tree.nodes.values():
        tokens, above = list(node.tokens), node.parent
        while above is not None:
            tokens, above = [*above.tokens, *tokens], above.parent
        keys = tier.pages.keys(tokens)
        yield from zip(node.host, keys[len(keys) - len(node.host) :], strict=True)


def is_right(tier: SmallTier, page: HostPage, key: str) -> bool:
    return all(tier.memory.read(page, part) == meaning(ObjectName(key, part)) for part in FORM.parts)


def meaning(name: ObjectName) -> bytes:
    """The bytes of a part of a page: they say which page it is."""
    return bytes.fromhex(name.key)[: FORM.part_bytes[name.part]]


@pytest.mark.parametrize("seed", range(3))
def test_no_page_is_lost_or_held_twice(seed: int) -> None:
    history = History(seed)
    for number in range(OPERATIONS):
        history.step()
        assert history.broken() == [], number

    assert min(history.seen.values()) > 5, history.seen
