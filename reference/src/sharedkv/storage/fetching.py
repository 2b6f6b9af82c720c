"""Objects to host pages, under a quota, until the caller ends it.

Knows plans, arrivals and the policies by which a caller may end. Does not know nodes, nor how bytes are laid out.

    begin    looks pages up, takes their quota and their host pages: all or nothing
    bring    reads objects and writes host pages, part by part, behind the scheduler's back
    end      gives what arrived to the tree; every page goes to the tree or is free, exactly once
    revoke   gives all of it back

`begin` reads what the store has of the plan, unless it is known to be whole: whoever must not wait for that lets
another thread ask `PageStore.leading_lanes` before. After `end` and `revoke` nobody writes the pages: a page is written
under the lock of its fetch, and only while that is open. A store that hangs holds up nobody but its own worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from sharedkv.errors import Refusal, RefusedError
from sharedkv.storage.fetch import BATCH_PAGES, Fetch, FetchPolicy, FetchStatus, fetch_policy
from sharedkv.storage.objects import ObjectName
from sharedkv.storage.page_store import PageStore
from sharedkv.storage.ports import NOT_STORED, Clock, HostSide
from sharedkv.storage.workers import JobQueue

NO_FETCH = -1


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    """The most pages that fetches hold together (0: no bound), and the least that one is begun for."""

    quota: int = 0
    least: int = 1


class Fetcher:
    """The fetches of one tree. Times are ticks of `clock`."""

    def __init__(
        self, host: HostSide, store: PageStore, workers: JobQueue, clock: Clock, limits: FetchLimits | None = None
    ) -> None:
        self._host = host
        self._store = store
        self._workers = workers
        self._clock = clock
        self._limits = limits or FetchLimits()
        self._fetches: dict[int, Fetch] = {}
        self._held_pages = 0

    @property
    def quota(self) -> int:
        """Count the pages that fetches in flight hold of the quota."""
        return self._held_pages

    def begin(self, tokens: Sequence[int], policy: str, timeout: int) -> int:
        """Plan the stored pages behind what the tree has, and take their quota and host pages; bring none yet.

        Return the fetch, or `NO_FETCH`, and nothing is changed, where there is nothing to bring or no room for it.

        Raises:
            RefusedError: a policy that is none.

        """
        wanted = fetch_policy(policy)
        keys = self._store.keys(tokens)
        first = self._host.tree.known_pages(tokens)
        lanes = self._agreed_lanes(keys[first:])
        planned = len(lanes)
        if not self._is_allowed(planned):
            return NO_FETCH
        pages = self._host.tree.reserve(lanes, tokens)
        if pages is None:
            return NO_FETCH
        fetch = Fetch(tokens, first, keys[first : first + planned], pages)
        fetch.policy, fetch.ends_at = wanted, self._clock() + timeout
        number = self._host.next_number()
        self._fetches[number] = fetch
        self._held_pages += planned
        self._host.page_bytes.settle([page for page in pages if page.lane in self._host.ranks])
        return number

    def start(self, tokens: Sequence[int], policy: str, timeout: int) -> int:
        """Begin, and bring everything."""
        number = self.begin(tokens, policy, timeout)
        if number != NO_FETCH:
            self.bring(number)
        return number

    def query(self, tokens: Sequence[int]) -> int:
        """Count the leading pages of tokens that are stored, as all ranks see it."""
        return len(self._agreed_lanes(self._store.keys(tokens)))

    def bring(self, number: int, part: str | None = None, pages: int | None = None) -> None:
        """Read so many more pages of a part, or all of every part, in batches and in order.

        Raises:
            RefusedError: a fetch that has ended or never was, or a part that pages do not have.

        """
        fetch = self.fetch(number)
        parts = self._store.form.parts if part is None else (part,)
        if not set(parts) <= set(self._store.form.parts):
            raise RefusedError(Refusal.FETCH_UNKNOWN, f"fetch {number} has no part {part!r}")
        for each in parts:
            more = fetch.expect(each, len(fetch.keys) if pages is None else pages)
            for start in range(more.start, more.stop, BATCH_PAGES):
                self._workers.submit(self._job(fetch, each, range(start, min(start + BATCH_PAGES, more.stop))))

    def is_in_flight(self, number: int) -> bool:
        """Say whether a fetch has not ended."""
        return number in self._fetches

    def fetch(self, number: int) -> Fetch:
        """Return a fetch in flight, or refuse the number of none."""
        if number not in self._fetches:
            raise RefusedError(Refusal.FETCH_UNKNOWN, number)
        return self._fetches[number]

    def check(self, number: int) -> FetchStatus:
        """Say how far a fetch is. Refuses one that has ended or never was."""
        fetch = self.fetch(number)
        planned = len(fetch.keys) if fetch.is_plan_known else 0
        arrived = self._arrived(fetch)
        is_complete = 0 < planned == arrived
        is_late = fetch.policy is FetchPolicy.TIMEOUT and self._clock() >= fetch.ends_at
        is_done = is_complete or is_late or fetch.policy is FetchPolicy.BEST_EFFORT
        return FetchStatus(planned=planned, arrived=arrived, is_done=is_done)

    def end(self, number: int) -> int:
        """End a fetch, and return how many of its pages the tree took. Refuses one that has ended or never was."""
        fetch = self.fetch(number)
        arrived = self._arrived(fetch)
        self._forget(number)
        taken = self._host.tree.attach(fetch.tokens, fetch.first_page, fetch.pages[:arrived]) if arrived else range(0)
        self._host.tree.free(
            [page for position, page in enumerate(fetch.pages, fetch.first_page) if position not in taken]
        )
        return len(taken)

    def revoke(self, number: int) -> None:
        """End a fetch and keep nothing of it. Refuses one that has ended or never was."""
        fetch = self.fetch(number)
        self._forget(number)
        self._host.tree.free(fetch.pages)

    def revoke_all(self) -> None:
        """End every fetch and keep nothing."""
        for number in list(self._fetches):
            self.revoke(number)

    def settle(self) -> None:
        """Return when all that was asked for has arrived or never will."""
        for fetch in self._fetches.values():
            fetch.settle()

    def _agreed_lanes(self, keys: Sequence[str]) -> list[int]:
        """Return the lanes of the leading pages that are stored, as far as all ranks find the same."""
        seen = self._store.leading_lanes(keys)
        agreed = self._host.agreed_lanes([*seen, *[NOT_STORED] * (len(keys) - len(seen))])
        return list(takewhile(lambda lane: lane != NOT_STORED, agreed))

    def _is_allowed(self, planned: int) -> bool:
        quota = self._limits.quota
        return planned >= max(self._limits.least, 1) and (not quota or self._held_pages + planned <= quota)

    def _arrived(self, fetch: Fetch) -> int:
        """Count the leading pages of which all ranks have every part."""
        if not fetch.is_plan_known:
            return 0
        (arrived,) = self._host.agreement.least([[fetch.arrived(self._store.form.parts)] for _ in self._host.ranks])
        return arrived

    def _forget(self, number: int) -> None:
        fetch = self._fetches.pop(number)
        fetch.close()
        self._held_pages -= len(fetch.pages)

    def _job(self, fetch: Fetch, part: str, indices: range) -> Callable[[], None]:
        def read() -> None:
            try:
                self._read(fetch, part, indices)
            finally:
                fetch.job_ended()

        return read

    def _read(self, fetch: Fetch, part: str, indices: range) -> None:
        """Bring one part of some pages; nothing of it behind the first that is not as it was planned."""
        ranks = self._host.ranks
        objects = self._store.read([ObjectName(fetch.keys[i], part) for i in indices if fetch.pages[i].lane in ranks])
        for index in indices:
            page = fetch.pages[index]
            found = next(objects) if page.lane in ranks else None
            if page.lane in ranks and (found is None or found.lane != page.lane):
                return
            with fetch.arriving(part, index) as is_open:
                if not is_open:
                    return
                if found is not None:
                    self._host.page_bytes.write(page, part, found.payload)
