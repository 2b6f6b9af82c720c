"""The executable specification of prefetch: dense prefixes that are made ahead, under leases.

A *filling* was started and not consumed; a *lease* was consumed and not released. Both hold a buffer of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import Event
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.pool import buffers_of, stored_row_bytes
from sharedkv_conformance.model.reuse_batch import batch_refusals, prefix_pages

Batch = tuple[ReuseRequest, ...]
Key = tuple[int, int, Batch]
"""A layer, an epoch and the batch."""

View = Mapping[str, tuple[bytes, ...]]
"""For each buffer the dense prefix as each rank has it."""


@dataclass(frozen=True, kw_only=True)
class Filling:
    """A buffer that is being filled: `view` is None while its copy is late, `version` is the pools' at the start.

    `number` counts what was begun.
    """

    view: View | None
    version: int
    number: int
    is_lost: bool = False


class PrefetchModel:
    """Prefetch as an implementation; mutants override one of its small decisions."""

    feature = "prefetch"

    def __init__(self, config: OpenConfig, plane: DataPlane) -> None:
        self.config = config
        self.pool = config.pool
        self.plane = plane
        self.geometry = plane.geometry
        self.fillings: dict[Key, Filling] = {}
        self.leases: dict[int, tuple[Key, View]] = {}
        self.granted = self.begun = 0

    # -- the calls of the contract -----------------------------------------------------------------------------------

    def start(self, layer: int, epoch: int, batch: Sequence[ReuseRequest]) -> bool:
        """Begin to fill a buffer, or skip that."""
        self.refuse(layer, batch)
        if not self.config.prefetch:
            return False
        if self.is_skipped(layer, tuple(batch)):
            self.tell_skip(layer)
            return False
        self.fillings[layer, epoch, tuple(batch)] = self.filling(layer, tuple(batch))
        return True

    def consume(self, layer: int, epoch: int, batch: Sequence[ReuseRequest]) -> int:
        """Lease what was prefetched, or make it now."""
        self.refuse(layer, batch)
        key = (layer, epoch, tuple(batch))
        view = self.arrived(key, self.fillings.pop(key, None))
        if view is None:
            self.tell_miss(layer)
            view = self.made(layer, tuple(batch))
        self.fillings = {other: filling for other, filling in self.fillings.items() if other[1] >= epoch}
        return self.lease(key, view)

    def read(self, lease: int, buffer: str) -> tuple[bytes, ...]:
        """Return the bytes under a lease."""
        self.refuse_lease(lease)
        self.refuse_buffer(buffer)
        return self.under(lease)[buffer]

    def release(self, lease: int) -> None:
        """Give up a lease."""
        self.refuse_lease(lease)
        self.leases.pop(lease, None)

    def live_bytes(self) -> int:
        """Count the bytes of all buffers that are leased or being filled."""
        return sum(self.buffer_bytes(key) for key in self.live())

    # -- decisions ---------------------------------------------------------------------------------------------------

    def refuse(self, layer: int, batch: Sequence[ReuseRequest]) -> None:
        """Raise `Rejected` with the first reason against a layer of a batch."""
        for reason in sorted(self.reasons(layer, batch)):
            raise Rejected(reason, f"layer {layer}, batch of {len(batch)}")

    def reasons(self, layer: int, batch: Sequence[ReuseRequest]) -> frozenset[Reason]:
        """Return every reason against a layer of a batch."""
        return prefetch_refusals(self.config, layer, batch)

    def refuse_lease(self, lease: int) -> None:
        """Raise `Rejected` when a lease is not held."""
        if lease not in self.leases:
            raise Rejected(Reason.LEASE_UNKNOWN, f"lease {lease}")

    def refuse_buffer(self, buffer: str) -> None:
        """Raise `Rejected` when the layout has no such buffer."""
        if buffer not in buffers_of(self.pool):
            raise Rejected(Reason.BUFFER_UNKNOWN, f"{buffer!r} in {self.pool.layout}")

    def is_skipped(self, layer: int, batch: Batch) -> bool:
        """Choose whether to make a layer when it is consumed: where several requests need buffers at once."""
        del layer
        return len(batch) > 1

    def filling(self, layer: int, batch: Batch) -> Filling:
        """Begin to fill a buffer: at once, when somebody waits for it, or never, as faults will have it."""
        lost = "prefetch_lost" in self.plane.faults
        self.plane.faults.discard("prefetch_lost")
        late = lost or "late_copies" in self.plane.faults
        view = None if late else self.made_ahead(layer, batch)
        self.begun += 1
        return Filling(view=view, version=self.plane.version, number=self.begun, is_lost=lost)

    def arrived(self, key: Key, filling: Filling | None) -> View | None:
        """Return what was prefetched, if it is of use."""
        if filling is None or filling.is_lost:
            return None
        if filling.view is None:
            return self.made_ahead(key[0], key[2])
        return filling.view if self.is_fresh(filling) else None

    def is_fresh(self, filling: Filling) -> bool:
        """Say whether the pools are as they were when a buffer was filled."""
        return filling.version == self.plane.version

    def made_ahead(self, layer: int, batch: Batch) -> View:
        """Gather ahead of time: in the same way as now."""
        return self.made(layer, batch)

    def made(self, layer: int, batch: Batch) -> View:
        """Gather the prefixes of a batch: each rank gets all rows, from their owners."""
        locations = tuple(self.locations(batch))
        return {buffer: self.copies(layer, buffer, locations) for buffer in buffers_of(self.pool)}

    def copies(self, layer: int, buffer: str, locations: Sequence[int]) -> tuple[bytes, ...]:
        """Return the dense prefix of one buffer as each rank has it."""
        return (b"".join(self.row(layer, buffer, where) for where in locations),) * self.geometry.cp_size

    def locations(self, batch: Batch) -> Iterator[int]:
        """Choose the locations of a dense prefix, in order."""
        for request in batch:
            pages = self.pages(request)
            yield from self.geometry.locations(pages, len(pages) * self.geometry.page_size)

    def pages(self, request: ReuseRequest) -> Sequence[int]:
        """Choose the pages of a prefix, in order."""
        return prefix_pages(self.geometry, request)

    def row(self, layer: int, buffer: str, location: int) -> bytes:
        """Read a stored row, after everything that was enqueued before."""
        return self.plane.pools.read(layer, buffer, location)

    def lease(self, key: Key, view: View) -> int:
        """Give out a lease on a buffer."""
        self.granted += 1
        self.leases[self.granted] = (key, view)
        return self.granted

    def under(self, lease: int) -> View:
        """Return what is under a lease: what it was when it was given out."""
        return self.leases[lease][1]

    def live(self) -> Iterator[Key]:
        """Yield what each live buffer is for."""
        yield from (key for key, _ in self.leases.values())
        yield from self.fillings

    def buffer_bytes(self, key: Key) -> int:
        """Return the size of the buffers of a dense prefix on all ranks."""
        return prefix_bytes(self.config, key[2])

    def tell_skip(self, layer: int) -> None:
        """Leave an event: a prefetch was skipped."""
        self.tell("prefetch_skip", layer)

    def tell_miss(self, layer: int) -> None:
        """Leave an event: a layer was not prefetched, and it could have been."""
        if self.config.prefetch and layer > 0:
            self.tell("prefetch_miss", layer)

    def tell(self, reason: str, layer: int) -> None:
        """Leave an event of a fallback."""
        self.plane.events.append(Event(kind="fallback", reason=reason, layer=layer))


def prefetch_refusals(config: OpenConfig, layer: int, batch: Sequence[ReuseRequest]) -> frozenset[Reason]:
    """Return every reason why a layer of a batch has no dense prefix."""
    outside = frozenset({Reason.LAYER_OUTSIDE_POOL} if layer not in range(config.pool.all_layers) else ())
    return outside | batch_refusals(Geometry.of(config), tuple(batch))


def prefix_bytes(config: OpenConfig, batch: Batch) -> int:
    """Return the bytes of the dense prefix of a batch, all buffers and ranks together."""
    row = sum(stored_row_bytes(config.pool, buffer) for buffer in buffers_of(config.pool))
    return config.cp_size * row * sum(request.prefix_tokens for request in batch)
