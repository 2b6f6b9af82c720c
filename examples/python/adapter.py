"""A pool of pages in owner lanes, and the adapter that shows it to the SharedKV suite.

`Pool` stands for an engine: replace it by calls into yours. Everything below it is the contract: which calls there are,
what each refuses, and what is not claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from sharedkv_conformance.contract import (
    Admission,
    CapacityWait,
    Description,
    ExtendAllocation,
    ExtendRequest,
    LaneStatistics,
    OpenConfig,
    PageSets,
    Reason,
    Rejected,
    Unsupported,
)

FREE, IN_USE, EVICTABLE = "free", "in_use", "evictable"
Counts = tuple[int, ...]


class Pool:
    """The pages of one session: which lane each lies on, what state it is in, and which of them a request gets."""

    def __init__(self, cp_size: int, page_size: int, pages: int) -> None:
        self.cp_size = cp_size
        self.page_size = page_size
        self.lane_pages = pages // cp_size  # surplus pages stay unused
        self.states = dict.fromkeys(range(1, cp_size * self.lane_pages + 1), FREE)  # page 0 is the dummy
        self.kept: list[list[int]] = [[] for _ in range(cp_size)]  # evictable pages, oldest first

    def lane(self, page: int) -> int:
        """Return the lane of a page, which its id alone decides."""
        return (page - 1) % self.cp_size

    def lanes(self, state: str) -> tuple[tuple[int, ...], ...]:
        """Return the pages of each lane in a state, ascending."""
        found: list[list[int]] = [[] for _ in range(self.cp_size)]
        for page, now in self.states.items():
            if now == state:
                found[self.lane(page)].append(page)
        return tuple(map(tuple, found))

    def counts(self, *states: str) -> Counts:
        """Count the pages of each lane in any of some states."""
        return tuple(sum(map(len, of_lane)) for of_lane in zip(*map(self.lanes, states), strict=True))

    def owners(self, extend_tokens: int) -> Counts:
        """Deal a request's new pages to 2 * cp_size blocks, and those to the ranks upwards and back downwards."""
        blocks = 2 * self.cp_size
        base, remainder = divmod(-(-extend_tokens // self.page_size), blocks)
        return tuple(
            min(block, blocks - 1 - block) for block in range(blocks) for _ in range(base + (block < remainder))
        )

    def needed(self, owners: Iterable[int]) -> Counts:
        """Count the pages that are needed of each lane."""
        found = Counter(owners)
        return tuple(found[lane] for lane in range(self.cp_size))

    def evict(self, needed: Counts) -> tuple[int, ...]:
        """Free the oldest evictable pages of each lane that is short, as many as are missing."""
        short = [max(0, need - free) for need, free in zip(needed, self.counts(FREE), strict=True)]
        victims = tuple(page for kept, count in zip(self.kept, short, strict=True) for page in kept[:count])
        self.move(victims, FREE)
        return victims

    def take(self, owners: Counts) -> list[int]:
        """Take a page of its owner's lane for each new page of one request, in order."""
        free = self.lanes(FREE)
        runs = [iter(self._run(free[lane], count)) for lane, count in enumerate(self.needed(owners))]
        pages = [next(runs[owner]) for owner in owners]
        self.move(pages, IN_USE)
        return pages

    def _run(self, free: Sequence[int], count: int) -> Sequence[int]:
        """Return the first pages that are neighbours in their lane, or the lowest where no run is long enough."""
        for start in range(len(free) - count + 1):
            if count and free[start + count - 1] - free[start] == (count - 1) * self.cp_size:
                return free[start : start + count]
        return free[:count]

    def locations(self, pages: Sequence[int], tokens: int) -> list[int]:
        """Return where each token of a request lies."""
        return [pages[t // self.page_size] * self.page_size + t % self.page_size for t in range(tokens)]

    def move(self, pages: Iterable[int], state: str) -> None:
        """Put pages into a state."""
        for page in pages:
            kept = self.kept[self.lane(page)]
            if self.states[page] == EVICTABLE:
                kept.remove(page)
            if state == EVICTABLE:
                kept.append(page)
            self.states[page] = state


class Allocation:
    """The calls of `allocation`. Each checks everything before the first page moves."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def extend(self, batch: Sequence[ExtendRequest]) -> ExtendAllocation:
        """Allocate all new pages of the batch, or change nothing."""
        pool, plan = self._pool, self._planned(batch)
        admission = self.admit(batch)
        if not admission.fits:
            raise CapacityWait(admission.required, admission.available, admission.deficit)
        evicted = pool.evict(admission.required)
        taken = [pool.take(owners) for owners in plan]
        places = [pool.locations(pages, r.extend_tokens) for pages, r in zip(taken, batch, strict=True)]
        return ExtendAllocation(owners=_flat(plan), pages=_flat(taken), locations=_flat(places), evicted=evicted)

    def admit(self, batch: Sequence[ExtendRequest]) -> Admission:
        """Compare what is needed of each lane with what it has."""
        required = self._pool.needed(_flat(self._planned(batch)))
        available = self._pool.counts(FREE, EVICTABLE)
        deficit = tuple(max(0, need - have) for need, have in zip(required, available, strict=True))
        return Admission(fits=not any(deficit), required=required, available=available, deficit=deficit)

    def retain(self, pages: Sequence[int]) -> None:
        """Keep pages that are in use as cache."""
        self._check_named(pages, IN_USE)
        self._pool.move(pages, EVICTABLE)

    def release(self, pages: Sequence[int]) -> None:
        """Give pages back."""
        self._check_named(pages, IN_USE, EVICTABLE)
        self._pool.move(pages, FREE)

    def release_locations(self, locations: Sequence[int]) -> None:
        """Give back each page that holds one of the locations, once."""
        self.release(sorted({location // self._pool.page_size for location in locations}))

    def allocate_flat(self, num_pages: int) -> tuple[int, ...]:
        """Refuse: a page without an owner has no lane."""
        raise Rejected(Reason.ALLOCATION_WITHOUT_OWNERS, f"{num_pages} pages")

    def owners(self, request: str, pages: Sequence[int]) -> Counts:
        """Read the owner of each page from its id, whatever plan allocated it."""
        if foreign := [page for page in pages if page not in self._pool.states]:
            raise Rejected(Reason.PAGE_OUTSIDE_POOL, f"page {foreign[0]} of {request}")
        return tuple(map(self._pool.lane, pages))

    def lanes(self) -> LaneStatistics:
        """Count the pages of each lane."""
        counts = {state: self._pool.counts(state) for state in (FREE, EVICTABLE, IN_USE)}
        return LaneStatistics(capacity=(self._pool.lane_pages,) * self._pool.cp_size, **counts)

    def make_room(self, *_batch: object) -> NoReturn:
        """Refuse: free room is not claimed."""
        raise Unsupported("allocation.free-room")

    def snapshot(self) -> NoReturn:
        """Refuse: snapshots are not claimed."""
        raise Unsupported("allocation.snapshot")

    def restore(self, *_snapshot: object) -> NoReturn:
        """Refuse: snapshots are not claimed."""
        raise Unsupported("allocation.snapshot")

    def _planned(self, batch: Sequence[ExtendRequest]) -> list[Counts]:
        for request in batch:
            for reason, is_broken in (
                (Reason.PREFIX_NEGATIVE, request.prefix_tokens < 0),
                (Reason.PREFIX_NOT_PAGE_ALIGNED, request.prefix_tokens % self._pool.page_size != 0),
                (Reason.EXTEND_EMPTY, request.extend_tokens < 1),
            ):
                if is_broken:
                    raise Rejected(reason, f"{request}")
        return [self._pool.owners(request.extend_tokens) for request in batch]

    def _check_named(self, pages: Sequence[int], *allowed: str) -> None:
        for index, page in enumerate(pages):
            for reason, is_broken in (
                (Reason.PAGE_OUTSIDE_POOL, page not in self._pool.states),
                (Reason.PAGE_NAMED_TWICE, page in pages[:index]),
                (Reason.PAGE_NOT_ALLOCATED, self._pool.states.get(page) not in allowed),
            ):
                if is_broken:
                    raise Rejected(reason, f"page {page}")


class Refused:
    """A facet, or the rest of one, that is not claimed: every call is refused."""

    def __init__(self, facet: str, *, word_alone: bool = True) -> None:
        self._facet = facet
        self._word_alone = word_alone

    def __getattr__(self, method: str) -> Callable[..., NoReturn]:
        feature = self._facet if self._word_alone else f"{self._facet}.{method}"

        def refuse(*_arguments: object, **_named: object) -> NoReturn:
            raise Unsupported(feature)

        return refuse


class Probe(Refused):
    """The one view of inner state that is claimed."""

    def __init__(self, pool: Pool) -> None:
        super().__init__("probe", word_alone=False)
        self._pool = pool

    def pages(self) -> PageSets:
        """Return the state of every page."""
        return PageSets(**{state: self._pool.lanes(state) for state in (FREE, EVICTABLE, IN_USE)})


class Session:
    """One fresh pool."""

    def __init__(self, pool: Pool) -> None:
        self.planning = Refused("planning")
        self.allocation = Allocation(pool)
        self.probe = Probe(pool)

    def close(self) -> None:
        """Hold nothing."""


class Adapter:
    """What the suite is pointed at."""

    def describe(self) -> Description:
        """Say what this is and what it claims."""
        return Description(name="example-python", version="1.0", features=frozenset({"allocation", "probe.pages"}))

    def open(self, config: OpenConfig) -> Session:
        """Open a session, or refuse a geometry that has no owner lanes."""
        for reason, is_broken in (
            (Reason.CP_SIZE_TOO_SMALL, config.cp_size < 2),  # noqa: PLR2004 - one rank shares with nobody
            (Reason.PAGE_SIZE_TOO_SMALL, config.page_size < 2),  # noqa: PLR2004 - a page of one token has no tail
            (Reason.SPLIT_NOT_IN_SEQUENCE, config.split != "in_sequence"),
        ):
            if is_broken:
                raise Rejected(reason, f"{config}")
        return Session(Pool(config.cp_size, config.page_size, config.pages))


def make() -> Adapter:
    """Return the implementation: `--impl adapter.py:make`."""
    return Adapter()


def _flat(parts: Iterable[Iterable[int]]) -> tuple[int, ...]:
    return tuple(number for part in parts for number in part)
