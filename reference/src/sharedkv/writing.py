"""Direct write: each rank persists the valid rows that it computed, in its own pool, without a gather before.

Knows batch lengths, locations and pools. Does not know how rows are computed or who reads them.

    locations (flattened request-token order)      rank r: its valid rows, request by request, `prev` before `next`
    r0: 8 9 10 11 | 4 5 6 7 | 12                   physical slot of each on lane r; -1 for dummies and padding

Everything is checked on the host, with numbers that the host has; then the rows of each buffer are enqueued on the
compute stream of each rank, then the end of the layer. Nothing waits for a device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from sharedkv.batching import Lengths, plan_batch, strip_static_tail
from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.layouts import Buffer, Layout
from sharedkv.pool_rows import write_pool_rows
from sharedkv.pools import Pool
from sharedkv.row_domains import require_rows, spread
from sharedkv.rows import on_device
from sharedkv.streams import Access, Backend, Event, Stream

Ints = NDArray[np.int64]
UsersOf = Callable[[int, Ints], Sequence[Event]]
"""Given a layer and logical pages (n,): the events after which nobody uses these pages on another stream."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ComputedRows:
    """What one rank computed for a layer: `num_rows` rows of `domain`.

    `buffers` has, for each buffer of the layout, uint8 (num_rows, computed row bytes), contiguous, on the device of the
    pool. Nobody may change them before the layer's end event.
    """

    domain: str
    num_rows: int
    buffers: Mapping[str, torch.Tensor]


class Listener(Protocol):
    """Who hears what was enqueued."""

    def on_written(self, layer: int, buffer: str) -> None:
        """Hear that the rows of one buffer are enqueued on every rank."""

    def on_layer_end(self, layer: int) -> None:
        """Hear that every buffer of a layer is."""


class _Deaf:
    def on_written(self, layer: int, buffer: str) -> None:
        """Ignore it."""

    def on_layer_end(self, layer: int) -> None:
        """Ignore it."""


def compute_stream(rank: int) -> str:
    """Return the name of the stream on which a rank computes and writes."""
    return f"compute {rank}"


class GroupWriter:
    """Writes the rows of all ranks: `pools` has one for each, in rank order."""

    def __init__(
        self, geometry: Geometry, pools: Sequence[Pool], backend: Backend, listener: Listener | None = None
    ) -> None:
        self._geometry = geometry
        self._pools = tuple(pools)
        self._streams = tuple(backend.stream(compute_stream(rank)) for rank in range(len(pools)))
        self._listener = listener or _Deaf()
        self._page_writes: dict[int, Ints] = {}
        self._users: list[UsersOf] = []

    def write(
        self,
        layer: int,
        batch: Sequence[Lengths],
        locations: Sequence[int],
        static_tokens: int,
        rows: Sequence[ComputedRows],
    ) -> tuple[Event, ...]:
        """Enqueue the valid rows of one layer, each on the rank that computed it, and return each rank's layer end.

        `locations` are logical token locations in flattened request-token order, perhaps with a static tail of zeros,
        of which `static_tokens` is the recorded padded length. `rows` has one item a rank.

        Raises:
            RefusedError: anything does not fit; nothing was enqueued.

        """
        self._pools[0].require_layer(layer)
        slots = rank_slots(self._geometry, batch, locations, static_tokens, rows)
        for given in rows:
            require_buffers(self._pools[0].layout, given)
        pages = self._pages_of(slots)
        self.count_writes(layer, pages)
        self._wait_for_users(layer, pages)
        for buffer in self._pools[0].layout.buffers:
            for rank, at in enumerate(slots):
                self._enqueue(rank, layer, buffer, rows[rank].buffers[buffer.name], at)
            self._listener.on_written(layer, buffer.name)
        ends = tuple(stream.record() for stream in self._streams)
        self._listener.on_layer_end(layer)
        return ends

    def stream(self, rank: int) -> Stream:
        """Return the stream on which a rank's rows are written."""
        return self._streams[rank]

    def page_writes(self, layer: int, pages: Ints) -> Ints:
        """Return how often each logical page (n,) of a layer was written: tells whether a copy of it is old."""
        return self._writes_of(layer)[pages]

    def count_writes(self, layer: int, pages: Ints) -> None:
        """Count a write of each logical page (n,) of a layer, by whomever; each is named once."""
        self._writes_of(layer)[pages] += 1

    def after_users(self, users_of: UsersOf) -> None:
        """Let every write from now on wait for those who still use its pages on another stream."""
        self._users.append(users_of)

    def _pages_of(self, slots: Sequence[Ints]) -> Ints:
        """Return each logical page that the slots of all ranks lie in, once."""
        size, ranks = self._geometry.page_size, self._geometry.cp_size
        physical = [np.unique(at[at >= 0] // size) for at in slots]
        return np.concatenate([(own - 1) * ranks + rank + 1 for rank, own in enumerate(physical)])

    def _wait_for_users(self, layer: int, pages: Ints) -> None:
        for event in [event for users_of in self._users for event in users_of(layer, pages)]:
            for stream in self._streams:
                stream.wait(event)

    def _writes_of(self, layer: int) -> Ints:
        if layer not in self._page_writes:
            self._page_writes[layer] = np.zeros(self._geometry.last_page + 1, dtype=np.int64)
        return self._page_writes[layer]

    def _enqueue(self, rank: int, layer: int, buffer: Buffer, computed: torch.Tensor, slots: Ints) -> None:
        pool = self._pools[rank]
        self._streams[rank].enqueue(
            lambda: write_pool_rows(pool, layer, buffer, computed, on_device(slots, pool.device)),
            f"write of {buffer.name}, layer {layer}",
            writes=[rows_of(rank, layer, buffer.name, slots)],
        )


def rows_of(rank: int, layer: int, buffer: str, slots: Ints) -> Access:
    """Name rows of a pool for a stream; negative slots are none."""
    return pool_rows_of(rank, layer, buffer, slots[slots >= 0])


def pool_rows_of(rank: int, layer: int, buffer: str, slots: Ints) -> Access:
    """Name rows of a pool for a stream; no slot is negative."""
    return Access(buffer=(rank, layer, buffer), slots=slots)


def rank_slots(
    geometry: Geometry,
    batch: Sequence[Lengths],
    locations: Sequence[int],
    static_tokens: int,
    rows: Sequence[ComputedRows],
) -> tuple[Ints, ...]:
    """Return for each rank the physical slot of each given row (num_rows,), -1 for a row that nobody keeps.

    Raises:
        RefusedError: an empty or unsplittable batch, rows that are not those of the batch, locations that are not
            those of its tokens, a tail without proof, or a page that does not lie where its tokens are computed.

    """
    plan = plan_batch(geometry, batch)
    if len(rows) != plan.cp_size:
        raise RefusedError(Refusal.ROWS_MISMATCH, f"rows of {len(rows)} ranks of {plan.cp_size}")
    for rank, given in enumerate(rows):
        require_rows(plan, rank, given.domain, given.num_rows)
    kept = strip_static_tail(plan.num_tokens, _as_integers(locations), static_tokens)
    pages = kept // geometry.page_size
    for rank in range(plan.cp_size):
        _require_lane(geometry, rank, pages[plan.tokens(rank)])
    _require_whole_pages(geometry, batch, kept)
    _, physical = geometry.places(pages)
    slots = physical * geometry.page_size + kept % geometry.page_size
    return tuple(spread(plan, rank, given.domain, given.num_rows, slots) for rank, given in enumerate(rows))


def require_buffers(layout: Layout, rows: ComputedRows) -> None:
    """Refuse rows that do not have the buffers of a layout, each with rows of its size."""
    for name in rows.buffers:
        layout.buffer(name)
    for buffer in layout.buffers:
        if buffer.name not in rows.buffers:
            raise RefusedError(Refusal.BUFFER_UNKNOWN, f"no rows of {buffer.name}")
        found = tuple(rows.buffers[buffer.name].shape)
        if found != (rows.num_rows, buffer.computed_row_bytes):
            raise RefusedError(Refusal.ROW_BYTES_MISMATCH, f"{found} of {buffer.name}")


def _as_integers(locations: Sequence[int]) -> Ints:
    try:
        return np.array(locations, dtype=np.int64)
    except OverflowError as error:
        raise RefusedError(Refusal.PAGE_OUTSIDE_POOL, "a location beyond 64 bits") from error


def _require_lane(geometry: Geometry, rank: int, pages: Ints) -> None:
    """Refuse pages of a rank's tokens that lie nowhere or on another lane."""
    for at in np.flatnonzero((pages < 1) | (pages > geometry.last_page))[:1]:
        raise RefusedError(Refusal.PAGE_OUTSIDE_POOL, int(pages[at]))
    for at in np.flatnonzero(geometry.places(pages)[0] != rank)[:1]:
        raise RefusedError(Refusal.LANE_MISMATCH, f"page {pages[at]} of rows of rank {rank}")


def _require_whole_pages(geometry: Geometry, batch: Sequence[Lengths], locations: Ints) -> None:
    """Refuse tokens that do not lie in order in pages of their own, each filled from its start."""
    size, first = geometry.page_size, 0
    starts: list[Ints] = []
    for request in batch:
        own = locations[first : first + request.extend_tokens]
        starts.append(own[::size])
        expected = np.repeat(own[::size], size)[: len(own)] + np.arange(len(own)) % size
        if (own[::size] % size).any() or (own != expected).any():
            raise RefusedError(Refusal.LOCATIONS_MISMATCH, "tokens that do not lie in order in their page")
        first += request.extend_tokens
    named = np.concatenate(starts)
    if len(np.unique(named)) != len(named):
        raise RefusedError(Refusal.PAGE_NAMED_TWICE, "two pages of new tokens are one")
