"""The executable specification of direct write: each computed row goes to the pool of the rank that computed it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import Placement, RankRows
from sharedkv_conformance.contract.probe import Event
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.direct_write_refusals import Write, dealt, refusals
from sharedkv_conformance.model.planning_batch import compute_rows, laid_out, lane_min, listed, unplannable
from sharedkv_conformance.model.pool import LAYOUTS, buffers_of, computed_row_bytes, stored_row


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A row that is persisted: which of a rank's rows, and the logical location of its token."""

    rank: int
    row: int
    location: int


class DirectWriteModel:
    """Direct write as an implementation; mutants override one of its small decisions."""

    feature = "direct_write"

    def __init__(self, config: OpenConfig, plane: DataPlane) -> None:
        self.config = config
        self.pool = config.pool
        self.plane = plane
        self.geometry = plane.geometry

    @classmethod
    def refuse_layout(cls, config: OpenConfig) -> None:
        """Refuse to open a session whose rows have no known form."""
        if config.pool.layout not in LAYOUTS:
            raise Rejected(Reason.LAYOUT_UNKNOWN, f"{config.pool.layout!r}, known are {', '.join(LAYOUTS)}")

    # -- the calls of the contract -----------------------------------------------------------------------------------

    def place(self, pages: Sequence[int]) -> tuple[Placement, ...]:
        """Return where each logical page lies."""
        for page in pages:
            self.refuse_page(page)
        return tuple(self.placement(page) for page in pages)

    def page_at(self, lane: int, physical: int) -> int:
        """Return the logical page at a place."""
        if physical == 0 and lane in range(-1, self.geometry.cp_size):
            return 0
        if lane not in range(self.geometry.cp_size) or physical not in range(1, 1 + self.geometry.lane_pages):
            raise Rejected(Reason.PAGE_OUTSIDE_POOL, f"physical page {physical} of lane {lane}")
        return self.logical(lane, physical)

    def write(
        self,
        layer: int,
        batch: Sequence[ExtendRequest],
        locations: Sequence[int],
        static_tokens: int,
        rows: Sequence[RankRows],
    ) -> None:
        """Check everything, then persist the valid rows, then tell that the layer ended."""
        write = Write(layer=layer, batch=batch, locations=locations, static_tokens=static_tokens, rows=rows)
        self.refuse(write)
        self.persist(write)

    def read(self, layer: int, buffer: str, locations: Sequence[int]) -> bytes:
        """Return stored rows, each from its owner."""
        if layer not in range(self.pool.all_layers):
            raise Rejected(Reason.LAYER_OUTSIDE_POOL, f"layer {layer} of {self.pool.all_layers}")
        if buffer not in buffers_of(self.pool):
            raise Rejected(Reason.BUFFER_UNKNOWN, f"{buffer!r}, {self.pool.layout} has {buffers_of(self.pool)}")
        for location in locations:
            self.refuse_location(location)
        return b"".join(self.fetched(layer, buffer, location) for location in locations)

    # -- decisions ---------------------------------------------------------------------------------------------------

    def placement(self, page: int) -> Placement:
        """Choose the place of a logical page."""
        if page == 0:
            return Placement(lane=-1, page=0)
        return Placement(lane=self.geometry.lane(page), page=self.geometry.physical(page))

    def logical(self, lane: int, physical: int) -> int:
        """Choose the logical page of a place."""
        return self.geometry.logical(lane, physical)

    def refuse_page(self, page: int) -> None:
        """Refuse a page that is neither the dummy nor one of the pool."""
        if page != 0 and not self.geometry.holds(page):
            raise Rejected(Reason.PAGE_OUTSIDE_POOL, f"page {page}")

    def refuse_location(self, location: int) -> None:
        """Refuse to read a location that has no owner."""
        if not self.geometry.holds(location // self.geometry.page_size):
            raise Rejected(Reason.PAGE_OUTSIDE_POOL, f"location {location}")

    def compute_rows(self, batch: Sequence[ExtendRequest]) -> list[int]:
        """Return how many rows each rank computes, dummies included."""
        rows = laid_out(listed(self.geometry, batch), lane_min(self.geometry, batch))
        return [compute_rows(rows, rank) for rank in range(self.geometry.cp_size)]

    def refuse(self, write: Write) -> None:
        """Raise `Rejected` with the first reason against a write, before anything is written."""
        for reason in sorted(self.reasons(write)):
            raise Rejected(
                reason, f"layer {write.layer}, {len(write.batch)} requests, {len(write.locations)} locations"
            )

    def reasons(self, write: Write) -> frozenset[Reason]:
        """Return every reason against a write."""
        compute = [] if unplannable(self.geometry, write.batch) else self.compute_rows(write.batch)
        return refusals(self.geometry, self.pool, write, compute) or frozenset()

    def order(self, write: Write) -> Sequence[Sequence[int]]:
        """Choose for each rank which tokens its rows are, in row order."""
        return dealt(self.geometry, write.batch)

    def kept(self, write: Write) -> Iterator[Kept]:
        """Choose the rows that are persisted, and where."""
        for rank, tokens in enumerate(self.order(write)):
            for row, token in enumerate(tokens):
                yield Kept(rank=rank, row=row, location=write.locations[token])

    def persist(self, write: Write) -> None:
        """Enqueue every buffer of the layer, then the end of the layer."""
        kept = tuple(self.kept(write))
        for buffer in self.buffers():
            self.persist_buffer(write, buffer, kept)
        self.tell("layer_end", "", write.layer)

    def buffers(self) -> tuple[str, ...]:
        """Choose the order of buffers."""
        return buffers_of(self.pool)

    def persist_buffer(self, write: Write, buffer: str, kept: Sequence[Kept]) -> None:
        """Enqueue the rows of one buffer, then say so."""
        self.plane.enqueue(lambda: self.put_rows(write, buffer, kept))
        self.tell("written", buffer, write.layer)

    def put_rows(self, write: Write, buffer: str, kept: Sequence[Kept]) -> None:
        """Write the rows of one buffer."""
        for row in kept:
            self.put(row.rank, write.layer, buffer, self.slot(buffer, row.location), self.stored(write, buffer, row))

    def slot(self, buffer: str, location: int) -> int:
        """Choose the physical token slot of a logical location, the same for every buffer."""
        del buffer
        return self.plane.unordered_pools.place(location)[1]

    def put(self, rank: int, layer: int, buffer: str, slot: int, stored: bytes) -> None:
        """Write a stored row into a slot of a rank."""
        self.plane.unordered_pools.write_row(rank, layer, buffer, slot, stored)

    def stored(self, write: Write, buffer: str, row: Kept) -> bytes:
        """Choose the bytes that are kept of a row."""
        return stored_row(self.pool, buffer, self.computed(write, buffer, row))

    def computed(self, write: Write, buffer: str, row: Kept) -> bytes:
        """Return the bytes that were computed for a row."""
        size = computed_row_bytes(self.pool, buffer)
        given = next(given.data for given in write.rows[row.rank].buffers if given.buffer == buffer)
        return given[row.row * size : (row.row + 1) * size]

    def fetched(self, layer: int, buffer: str, location: int) -> bytes:
        """Read the stored row of a location from its owner, after everything that was enqueued before."""
        return self.plane.pools.read(layer, buffer, location)

    def tell(self, kind: str, reason: str, layer: int) -> None:
        """Leave an event."""
        self.plane.events.append(Event(kind=kind, reason=reason, layer=layer))
