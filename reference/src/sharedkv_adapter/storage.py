"""Storage of the contract over the reference's, and the probes of it.

Knows which call of the contract is which call of the reference, and what a held fetch is. Does not know stores or how
bytes move. Every call returns when the work that it began has ended: what the suite sees does not hang on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sharedkv.copy_ledger import EVERY_RANK, LocalAgreement
from sharedkv.errors import Refusal, RefusedError
from sharedkv.host_cache import HostCache
from sharedkv.layouts import Layout
from sharedkv.storage.fetching import NO_FETCH, Fetcher, FetchLimits
from sharedkv.storage.forms import page_form
from sharedkv.storage.keys import Namespace, page_keys
from sharedkv.storage.objects import ObjectName, PageForm
from sharedkv.storage.page_store import PageStore
from sharedkv.storage.ports import HostSide, PageBytes
from sharedkv.storage.saving import Saver
from sharedkv.stored_pages import StoredPages
from sharedkv.tree_node import HostPage
from sharedkv_adapter.session_clock import SessionClock
from sharedkv_adapter.stores import Stores
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract

BytesOf = Callable[[PageForm], PageBytes]


class SessionParts(Protocol):
    """What storage needs of the session that it belongs to."""

    @property
    def config(self) -> contract.OpenConfig:
        """What the session was opened with."""

    @property
    def rows(self) -> Layout:
        """What a row of a layer holds."""

    @property
    def host_cache(self) -> HostCache:
        """The tree over both tiers."""

    @property
    def clock(self) -> SessionClock:
        """What fetches with a timeout look at."""


class ReferenceStorage:
    """What one session saves and fetches; `bytes_of` gives the host memory of a form."""

    def __init__(self, session: SessionParts, stores: Stores, bytes_of: BytesOf) -> None:
        config, cache = session.config, session.host_cache
        pool = config.pool
        self._form = page_form(session.rows, config.page_size, pool.layers, pool.draft_layers)
        self._shelf = stores.open(config.storage.store)
        self._is_alone = not config.storage.store
        self._workers = stores.workers
        self._ledger = cache.ledger
        self._ranks = range(config.cp_size)
        self._unlooked: dict[int, set[int]] = {}
        self._store = PageStore(self._shelf, self._form, session_namespace(config))
        host = HostSide(
            tree=StoredPages(cache),
            page_bytes=bytes_of(self._form),
            ranks=self._ranks,
            agreement=LocalAgreement(),
            next_number=cache.ledger.next_number,
        )
        limits = FetchLimits(quota=config.storage.quota, least=config.storage.least)
        self._saver = Saver(host, self._store, self._workers)
        self._fetcher = Fetcher(host, self._store, self._workers, lambda: session.clock.ticks, limits)
        cache.on_reset.append(self._fetcher.revoke_all)

    def close(self) -> None:
        """Give up every fetch, and the objects of a store that no other session reaches."""
        self._fetcher.revoke_all()
        if self._is_alone:
            self._shelf.clear()

    def keys(self, namespace: contract.StorageNamespace, tokens: Sequence[int]) -> tuple[str, ...]:
        """Return the key of each whole page of tokens, or raise `Rejected`."""
        with contract_errors():
            return page_keys(_namespace(namespace), tokens)

    def save(self, tokens: Sequence[int]) -> int:
        """Write what is backed up and not stored."""
        with contract_errors():
            copy = self._saver.save(tokens)
        self._workers.drain()
        return copy

    def query(self, tokens: Sequence[int]) -> int:
        """Count the leading pages that are stored."""
        with contract_errors():
            return self._fetcher.query(tokens)

    def fetch(self, tokens: Sequence[int], policy: str, timeout: int) -> int:
        """Begin to bring what is stored behind the tree, and bring it unless fetches are held."""
        with contract_errors():
            number = self._fetcher.begin(tokens, policy, timeout)
            if number != NO_FETCH and self._ledger.is_holding:
                self._fetcher.fetch(number).is_plan_known = False
                self._unlooked[number] = set(self._ranks)
            elif number != NO_FETCH:
                self._fetcher.bring(number)
        self._workers.drain()
        return number

    def check(self, fetch: int) -> contract.FetchStatus:
        """Say how far a fetch is, or raise `Rejected`."""
        with contract_errors():
            status = self._fetcher.check(fetch)
        return contract.FetchStatus(planned=status.planned, arrived=status.arrived, is_done=status.is_done)

    def end(self, fetch: int) -> int:
        """End a fetch and count what became nodes, or raise `Rejected`."""
        with contract_errors():
            return self._fetcher.end(fetch)

    def revoke(self, fetch: int) -> None:
        """End a fetch and keep nothing, or raise `Rejected`."""
        with contract_errors():
            self._fetcher.revoke(fetch)

    def quota(self) -> int:
        """Count the pages of fetches in flight."""
        return self._fetcher.quota

    def finish_query(self, fetch: int, rank: int) -> None:
        """Let it be known what a rank, or every rank, planned. Refuses a fetch or a rank that is not there."""
        looked = set(self._ranks) if rank == EVERY_RANK else {rank}
        if not self._fetcher.is_in_flight(fetch) or not looked <= set(self._ranks):
            raise RefusedError(Refusal.COPY_UNKNOWN, f"fetch {fetch}, source query, rank {rank}")
        unlooked = self._unlooked.get(fetch, set())
        unlooked -= looked
        self._fetcher.fetch(fetch).is_plan_known = not unlooked

    def arrive(self, fetch: int, part: str, pages: int) -> None:
        """Bring so many more pages of a part. Refuses a fetch that is not there."""
        self._fetcher.bring(fetch, part, pages)
        self._workers.drain()

    def objects(self) -> tuple[contract.StoredObject, ...]:
        """Return every object of the store that is whole."""
        return tuple(
            contract.StoredObject(key=each.name.key, part=each.name.part, lane=each.lane, writer=each.writer)
            for each in self._shelf.objects()
        )

    def spoil(self, key: str, part: str, how: str) -> None:
        """Spoil an object. Refuses where there is none."""
        self._shelf.spoil(ObjectName(key, part), how, self._form)


class NoBytes:
    """Host memory where there is no torch: pages of zeros, and whatever is written is gone."""

    def __init__(self, form: PageForm) -> None:
        self._form = form

    def settle(self, pages: Sequence[HostPage]) -> None:
        """Wait for nothing."""

    def read(self, page: HostPage, part: str) -> bytes:
        """Return zeros."""
        del page
        return bytes(self._form.part_bytes[part])

    def write(self, page: HostPage, part: str, data: bytes | memoryview) -> None:
        """Keep nothing."""


def session_namespace(config: contract.OpenConfig) -> Namespace:
    """Return the namespace of a session's objects; refuses a field that is named twice."""
    return Namespace(
        model=config.storage.model,
        layout=config.pool.layout,
        layers=config.pool.layers,
        draft_layers=config.pool.draft_layers,
        page_size=config.page_size,
        cp_size=config.cp_size,
        fields=config.storage.fields,
    )


def _namespace(given: contract.StorageNamespace) -> Namespace:
    return Namespace(
        model=given.model,
        layout=given.layout,
        layers=given.layers,
        draft_layers=given.draft_layers,
        page_size=given.page_size,
        cp_size=given.cp_size,
        fields=given.fields,
    )
