"""Prefetch: the dense prefix of a later layer is made while an earlier one computes.

Switched on by `OpenConfig.prefetch`. Whether on or off, `consume` answers with the prefix that the pools hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sharedkv_conformance.contract.reuse import ReuseRequest


class Prefetch(Protocol):
    """Buffers of dense prefixes: the tokens of all prefixes in logical order, requests one after another."""

    def start(self, layer: int, epoch: int, batch: Sequence[ReuseRequest]) -> bool:
        """Begin to make a layer's dense prefix; false when this is skipped, with an event while prefetch is on.

        What is made is for this layer, epoch and batch alone; epochs never fall.

        A batch of several requests may be skipped, as may any.
        """

    def consume(self, layer: int, epoch: int, batch: Sequence[ReuseRequest]) -> int:
        """Return a lease on a layer's dense prefix, made now where it was not prefetched for this epoch and batch.

        While prefetch is on, a layer that was not prefetched is told by a `fallback` event, but for the first.
        """

    def read(self, lease: int, buffer: str) -> tuple[bytes, ...]:
        """Return the bytes under a lease as each rank has them, in stored rows, or raise `Rejected`."""

    def release(self, lease: int) -> None:
        """Give up a lease: its buffer may be used again. `Rejected` when it is not held."""

    def live_bytes(self) -> int:
        """Return the bytes of all buffers under a lease or started and not consumed, summed over ranks."""
