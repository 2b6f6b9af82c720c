"""Prefetch of the reference, call by call, for all ranks of the group.

Knows which call of the contract is which call of the reference. Does not know buffers. The reference does not prefetch
for batches of several requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch

from sharedkv.dense_positions import ReuseRequest
from sharedkv.prefetching import SIDE_STREAM, Plumbing, Prefetcher
from sharedkv.writing import compute_stream
from sharedkv_adapter.data_plane import LATE_COPIES, PREFETCH_LOST, DataPlane, as_bytes
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract


class ReferencePrefetch:
    """Dense prefixes of all ranks, and the leases on them."""

    def __init__(self, plane: DataPlane, *, is_on: bool) -> None:
        self._plane = plane
        plumbing = Plumbing(
            pools=plane.pools,
            group=plane.group,
            backend=plane.backend,
            page_writes=plane.writer.page_writes,
            pending_loads=plane.fences.events,
        )
        self._prefetcher = Prefetcher(plumbing, self, is_on=is_on)
        plane.writer.after_users(self._prefetcher.readers_of)
        plane.on_fault.append(self._on_fault)
        for fault in sorted(plane.faults):
            self._on_fault(fault)

    def start(self, layer: int, epoch: int, batch: Sequence[contract.ReuseRequest]) -> bool:
        """Begin to make a layer's dense prefix."""
        with contract_errors():
            return self._prefetcher.start(layer, epoch, _requests(batch))

    def consume(self, layer: int, epoch: int, batch: Sequence[contract.ReuseRequest]) -> int:
        """Take a lease on a layer's dense prefix."""
        with contract_errors():
            return self._prefetcher.consume(layer, epoch, _requests(batch))

    def read(self, lease: int, buffer: str) -> tuple[bytes, ...]:
        """Read what is under a lease, on the stream on which ranks compute."""
        with contract_errors():
            rows, access = self._prefetcher.rows(lease, buffer), self._prefetcher.access(lease)
        read: list[bytes] = []
        for rank, own in enumerate(rows):
            stream = self._plane.backend.stream(compute_stream(rank))
            stream.enqueue(partial(_read, own, read), f"read of lease {lease}", reads=[access])
            stream.record().synchronize()
        return tuple(read)

    def release(self, lease: int) -> None:
        """Give up a lease."""
        with contract_errors():
            self._prefetcher.release(lease)

    def live_bytes(self) -> int:
        """Return the bytes of all dense prefixes that are kept or being made."""
        return self._prefetcher.live_bytes()

    def on_fallback(self, reason: str, layer: int) -> None:
        """Leave the event that a prefix was not prefetched."""
        self._plane.note(contract.Event(kind="fallback", reason=reason, layer=layer))

    def _on_fault(self, fault: str) -> None:
        if fault == LATE_COPIES:
            self._plane.backend.stream(SIDE_STREAM).is_late = True
        if fault == PREFETCH_LOST:
            self._prefetcher.lose_next()


def _read(rows: torch.Tensor, into: list[bytes]) -> None:
    into.append(as_bytes(rows))


def _requests(batch: Sequence[contract.ReuseRequest]) -> list[ReuseRequest]:
    return [
        ReuseRequest(
            request=asked.request,
            prefix_tokens=asked.prefix_tokens,
            extend_tokens=asked.extend_tokens,
            table=asked.table,
        )
        for asked in batch
    ]
