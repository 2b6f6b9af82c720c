"""What the models of the data plane share within one session: pools, faults, and what can be observed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import Collective, Event, PoolBuffer
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.pool import Pools, buffers_of

FAULTS = ("late_writes", "late_copies", "prefetch_lost", "no_kernels")


class DataPlane:
    """The pools of all ranks, the faults that were injected, and the events and collectives so far."""

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.geometry = Geometry.of(config)
        self.faults: set[str] = set()
        self.events: list[Event] = []
        self.collectives: list[Collective] = []
        self.make_pools: Callable[[OpenConfig], Pools] = Pools
        self.version = 0
        self._late: list[Callable[[], None]] = []

    @cached_property
    def unordered_pools(self) -> Pools:
        """Return the pools as one sees them who waits for nothing: rows that are late are not there yet."""
        return self.make_pools(self.config)

    @property
    def pools(self) -> Pools:
        """Return the pools as one sees them who is ordered after everything that was enqueued."""
        self.settle()
        return self.unordered_pools

    def enqueue(self, work: Callable[[], None]) -> None:
        """Do work on the pools in the order of calls: now, or as late as order allows while writes are late."""
        self.version += 1
        self._late.append(work)
        if "late_writes" not in self.faults:
            self.settle()

    def settle(self) -> None:
        """Do everything that was enqueued."""
        while self._late:
            self._late.pop(0)()

    def inject(self, fault: str) -> None:
        """Bring about a fault from now on."""
        if fault not in FAULTS:
            raise Rejected(Reason.FAULT_UNKNOWN, f"{fault!r}, known are {', '.join(FAULTS)}")
        self.faults.add(fault)

    def pool(self, layer: int) -> tuple[PoolBuffer, ...]:
        """Return every buffer of a layer, rank by rank."""
        if layer not in range(self.config.pool.layers):
            raise Rejected(Reason.LAYER_OUTSIDE_POOL, f"layer {layer} of {self.config.pool.layers}")
        return tuple(
            PoolBuffer(rank=rank, buffer=buffer, data=bytes(self.pools.buffers[rank, layer, buffer]))
            for rank in range(self.config.cp_size)
            for buffer in buffers_of(self.config.pool)
        )
