"""Decode ranks as prefill knows them, and the writes that reach them.

Knows addresses on both sides. Does not know rooms, nor what has been written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from sharedkv.control_messages import Registration
from sharedkv.engines.engine import Engine, Peer, PeerUnknownError, Transfer
from sharedkv.errors import Refusal, RefusedError
from sharedkv.fingerprint import require_same
from sharedkv.page_mapping import (
    AddressTable,
    BufferAddresses,
    Integers,
    PageShare,
    Writes,
    address_table,
    page_runs,
    writes_of,
)
from sharedkv.transfer.ports import INDEX, KV, RankSource


@dataclass(frozen=True, kw_only=True, eq=False)
class PageWrites:
    """Pages of one rank on their way to one decode rank: their places on both sides, and the buffers that move."""

    sources: Integers
    targets: Integers
    table: AddressTable

    @property
    def num_bytes(self) -> int:
        """Count the bytes of all pages."""
        return len(self.sources) * int(self.table.page_bytes.sum())

    def first(self, num_pages: int) -> Writes:
        """Return the writes of the first pages."""
        return writes_of(page_runs(self.sources[:num_pages], self.targets[:num_pages]), self.table)

    def all(self) -> Writes:
        """Return the writes of every page."""
        return self.first(len(self.sources))


@dataclass(frozen=True, kw_only=True, eq=False)
class Destination:
    """One decode rank as it has registered: the peer, and addresses for each prefill rank of this process.

    Rooms keep the one that they were opened by: a decode rank that comes again has other pages at these addresses.
    """

    registration: Registration
    peer: Peer
    tables: Mapping[int, AddressTable]

    def is_where(self, other: Destination) -> bool:
        """Say whether bytes for both go to the same place, whatever else is registered there by now."""
        own, theirs = (replace(each.registration, engine=b"") for each in (self, other))
        return self.peer == other.peer and own == theirs


class Destinations:
    """The decode ranks that have registered, for the prefill ranks of this process."""

    def __init__(self, sources: Sequence[RankSource], engine: Engine) -> None:
        self._sources = {source.rank: source for source in sources}
        self._engine = engine
        self._known: dict[int, Destination] = {}
        placed = sources[0].buffers
        self.num_layers = 1 + max((each.layer for each in placed), default=-1)
        self.has_index = any(each.part == INDEX for each in placed)
        self._index_buffers = np.array([at for at, each in enumerate(placed) if each.part == INDEX], dtype=np.int64)
        self._kv_buffers = [
            np.array([at for at, each in enumerate(placed) if (each.layer, each.part) == (layer, KV)], dtype=np.int64)
            for layer in range(self.num_layers)
        ]

    def __contains__(self, rank: int) -> bool:
        return rank in self._known

    def __getitem__(self, rank: int) -> Destination:
        return self._known[rank]

    def connect(self, registration: Registration, own_fields: Mapping[str, str] | None) -> bool:
        """Make a decode rank known, or learn its addresses anew; say whether it takes the place of another one.

        A peer that nobody else is at is forgotten then. Raises `RefusedError` where it does not have what it has to
        have, and what the engine raises.
        """
        if own_fields is not None:
            require_same(own_fields, registration.fingerprint)
        tables = {rank: _table(source, registration) for rank, source in self._sources.items()}
        peer = self._engine.connect(registration.engine)
        known = self._known.get(registration.rank)
        made = Destination(registration=registration, peer=peer, tables=tables)
        self._known[registration.rank] = made
        if known is None or known.is_where(made):
            return False
        if known.peer not in {each.peer for each in self._known.values()}:
            with suppress(PeerUnknownError):
                self._engine.forget(known.peer)
        return True

    def pages(self, rank: int, destination: Destination, share: PageShare, targets: Integers) -> PageWrites:
        """Return pages of a rank with every buffer; `targets` are the pages of decode for each position."""
        return PageWrites(
            sources=share.sources,
            targets=targets[share.positions],
            table=destination.tables[rank],
        )

    def kv(self, pages: PageWrites, layers: Iterable[int]) -> PageWrites:
        """Narrow pages to the buffers of some layers, but `index`."""
        return _narrowed(pages, np.concatenate([self._kv_buffers[layer] for layer in layers]))

    def index(self, pages: PageWrites) -> PageWrites:
        """Narrow pages to the buffer `index` of all layers."""
        return _narrowed(pages, self._index_buffers)

    def submit(self, destination: Destination, writes: Writes, deadline: float) -> Transfer:
        """Begin to write to a decode rank."""
        return self._engine.submit(destination.peer, writes, deadline)


def _narrowed(pages: PageWrites, buffers: Integers) -> PageWrites:
    return PageWrites(sources=pages.sources, targets=pages.targets, table=pages.table.of(buffers))


def _table(source: RankSource, registration: Registration) -> AddressTable:
    if len(source.buffers) != len(registration.buffers):
        told = f"{len(source.buffers)} buffers here, {len(registration.buffers)} there"
        raise RefusedError(Refusal.FINGERPRINT_DIFFERS, told)
    return address_table(
        [
            BufferAddresses(
                source=here.address,
                destination=there.address,
                source_page_bytes=here.page_bytes,
                destination_page_bytes=there.page_bytes,
            )
            for here, there in zip(source.buffers, registration.buffers, strict=True)
        ]
    )
