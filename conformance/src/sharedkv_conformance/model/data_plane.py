"""What the models of the data plane share within one session: pools, faults, and what can be observed.

Work on the device is done in the order of calls, or as late as order allows while a fault makes its kind late: a read
comes after the writes and loads before it, a backup and a load come after the writes before them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import Collective, Event, HostBuffer, PoolBuffer
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.host_memory import HostMemory
from sharedkv_conformance.model.pool import Pools, buffers_of

FAULTS = ("late_writes", "late_copies", "prefetch_lost", "no_kernels", "late_backups", "late_loads", "worker_crash")
Work = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Enqueued:
    """A copy of one layer between the tiers that was not done yet."""

    layer: int
    work: Work


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
        self._late: list[Work] = []
        self.backups: list[Enqueued] = []
        self.loads: list[Enqueued] = []

    @cached_property
    def unordered_pools(self) -> Pools:
        """Return the pools as one sees them who waits for nothing: rows that are late are not there yet."""
        return self.make_pools(self.config)

    @cached_property
    def unordered_host(self) -> HostMemory:
        """Return host memory as one sees it who waits for nothing."""
        return HostMemory(self.config)

    @property
    def pools(self) -> Pools:
        """Return the pools as one sees them who is ordered after everything that was enqueued."""
        self.settle()
        return self.unordered_pools

    @property
    def host(self) -> HostMemory:
        """Return host memory as one sees it who is ordered after every backup."""
        self.settle_backups()
        return self.unordered_host

    def enqueue(self, work: Work) -> None:
        """Do work on the pools in the order of calls: now, or as late as order allows while writes are late."""
        self.version += 1
        self._late.append(work)
        if "late_writes" not in self.faults:
            self.settle_writes()

    def enqueue_backup(self, layer: int, work: Work) -> None:
        """Copy rows of a layer to the host after every write before, now or late."""
        self.backups.append(Enqueued(layer=layer, work=work))
        if "late_backups" not in self.faults:
            self.settle_backups()

    def enqueue_load(self, layer: int, work: Work) -> None:
        """Copy rows of a layer to the device after every write before, now or late."""
        self.version += 1
        self.loads.append(Enqueued(layer=layer, work=work))
        if "late_loads" not in self.faults:
            self.settle_loads()

    def settle(self) -> None:
        """Do everything that readers of the pools wait for."""
        self.settle_writes()
        self.settle_loads()

    def settle_writes(self) -> None:
        """Do every write that was enqueued."""
        while self._late:
            self._late.pop(0)()

    def settle_backups(self) -> None:
        """Do every backup that was enqueued, after the writes."""
        self.settle_writes()
        while self.backups:
            self.backups.pop(0).work()

    def settle_loads(self) -> None:
        """Do every load that was enqueued, after the writes."""
        self.settle_writes()
        while self.loads:
            self.loads.pop(0).work()

    def inject(self, fault: str) -> None:
        """Bring about a fault from now on."""
        if fault not in FAULTS:
            raise Rejected(Reason.FAULT_UNKNOWN, f"{fault!r}, known are {', '.join(FAULTS)}")
        self.faults.add(fault)

    def pool(self, layer: int) -> tuple[PoolBuffer, ...]:
        """Return every buffer of a layer, rank by rank."""
        self.refuse_layer(layer)
        return tuple(
            PoolBuffer(rank=rank, buffer=buffer, data=bytes(self.pools.buffers[rank, layer, buffer]))
            for rank in range(self.config.cp_size)
            for buffer in buffers_of(self.config.pool)
        )

    def host_pool(self, layer: int) -> tuple[HostBuffer, ...]:
        """Return the host pages of a layer, lane by lane."""
        self.refuse_layer(layer)
        return tuple(
            HostBuffer(lane=lane, buffer=buffer, data=bytes(self.host.buffers[lane, layer, buffer]))
            for lane in range(self.config.cp_size)
            for buffer in buffers_of(self.config.pool)
        )

    def refuse_layer(self, layer: int) -> None:
        """Refuse a layer that neither the target nor the draft has."""
        if layer not in range(self.config.pool.all_layers):
            raise Rejected(Reason.LAYER_OUTSIDE_POOL, f"layer {layer} of {self.config.pool.all_layers}")
