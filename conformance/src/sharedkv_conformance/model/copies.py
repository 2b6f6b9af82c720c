"""The executable specification of copies: which bytes move between the tiers, in which order, and who hears of it.

The tree decides what is copied and tells it here: pairs of a device page and a host page of one lane. What is kept here
is of which pairs a layer was submitted already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import Event
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.host_memory import page_span
from sharedkv_conformance.model.host_tier_copies import BACKUP, LOAD, Pair
from sharedkv_conformance.model.pool import buffers_of

Pairs = Sequence[Pair]


def source_of(config: OpenConfig, layer: int) -> str:
    """Say whose layer it is."""
    return "target" if layer < config.pool.layers else "draft"


class CopiesModel:
    """Copies as an implementation; mutants override one of its small decisions."""

    feature = "copies"

    def __init__(self, config: OpenConfig, plane: DataPlane, reserved: Callable[[], Iterable[Pair]]) -> None:
        self.config = config
        self.pool = config.pool
        self.plane = plane
        self.geometry = plane.geometry
        self.reserved = reserved
        self.submitted: dict[Pair, list[int]] = {}
        self.kinds: dict[int, str] = {}

    # -- the call of the contract ------------------------------------------------------------------------------------

    def layer_end(self, layer: int) -> None:
        """Submit the backup of a layer for everything that is reserved and has not had it."""
        self.refuse_layer(layer)
        if pairs := self.due(layer, tuple(self.reserved())):
            self.note(layer, pairs)
            self.submit_told(layer, pairs)

    # -- what the tree tells -----------------------------------------------------------------------------------------

    def backup(self, copy: int, request: str, pairs: Pairs) -> None:
        """Submit what a copy of these pages still lacks; their reservation, if there was one, is taken."""
        del request
        self.kinds[copy] = BACKUP
        for layer in self.backup_layers(pairs):
            if missing := self.due(layer, pairs):
                self.submit_rest(layer, missing)
        self.forget(pairs)

    def load(self, copy: int, pairs: Pairs) -> None:
        """Submit the load of every layer."""
        self.kinds[copy] = LOAD
        for layer in self.load_layers():
            self.submit_load(layer, pairs)

    def abandoned(self, request: str, pairs: Pairs) -> None:
        """Be ordered after what was submitted for pages whose reservation is given back."""
        del request
        if self.are_under_way(pairs):
            self.plane.settle_backups()
        self.forget(pairs)

    def settle(self, numbers: Sequence[int]) -> None:
        """Be ordered after copies: they are acknowledged."""
        kinds = {self.kinds.pop(number, "") for number in numbers}
        if BACKUP in kinds:
            self.plane.settle_backups()
        if LOAD in kinds:
            self.plane.settle_loads()

    # -- decisions ---------------------------------------------------------------------------------------------------

    def refuse_layer(self, layer: int) -> None:
        """Refuse a layer that is not there."""
        self.plane.refuse_layer(layer)

    def due(self, layer: int, pairs: Pairs) -> Pairs:
        """Choose the pages of which a layer was not submitted."""
        return tuple(pair for pair in pairs if layer not in self.submitted.get(pair, ()))

    def note(self, layer: int, pairs: Pairs) -> None:
        """Keep that a layer was submitted."""
        for pair in pairs:
            self.submitted.setdefault(pair, []).append(layer)

    def forget(self, pairs: Pairs) -> None:
        """Keep nothing of pages that are not reserved any more."""
        for pair in pairs:
            self.submitted.pop(pair, None)

    def are_under_way(self, pairs: Pairs) -> bool:
        """Say whether anything was submitted for pages."""
        return any(self.submitted.get(pair) for pair in pairs)

    def backup_layers(self, pairs: Pairs) -> Sequence[int]:
        """Choose the layers that a backup has."""
        del pairs
        return range(self.pool.all_layers)

    def load_layers(self) -> Sequence[int]:
        """Choose the layers that a load has, in order."""
        return range(self.pool.all_layers)

    def backed_up_buffers(self) -> Sequence[str]:
        """Choose the buffers of a page that a backup has."""
        return buffers_of(self.pool)

    def loaded_buffers(self) -> Sequence[str]:
        """Choose the buffers of a page that a load has."""
        return buffers_of(self.pool)

    def submit_told(self, layer: int, pairs: Pairs) -> None:
        """Submit a layer that was told."""
        self.submit_backup(layer, pairs)

    def submit_rest(self, layer: int, pairs: Pairs) -> None:
        """Submit a layer that was not told."""
        self.submit_backup(layer, pairs)

    def submit_backup(self, layer: int, pairs: Pairs) -> None:
        """Enqueue one set of descriptors to the host, and say so."""
        self.plane.enqueue_backup(layer, lambda: self.copy_out(layer, pairs))
        self.tell("backup_submitted", layer)

    def submit_load(self, layer: int, pairs: Pairs) -> None:
        """Enqueue one set of descriptors to the device, and say so."""
        self.plane.enqueue_load(layer, lambda: self.copy_in(layer, pairs))
        self.tell("load_submitted", layer)

    def copy_out(self, layer: int, pairs: Pairs) -> None:
        """Copy pages of a layer to the host."""
        for buffer in self.backed_up_buffers():
            for lane, page, host_page in pairs:
                data = self.device_page(lane, layer, buffer, page)
                self.plane.unordered_host.put(lane, layer, buffer, host_page, data)

    def copy_in(self, layer: int, pairs: Pairs) -> None:
        """Copy pages of a layer to the device."""
        for buffer in self.loaded_buffers():
            for lane, page, host_page in pairs:
                data = self.plane.unordered_host.page(lane, layer, buffer, host_page)
                self.put_device_page(lane, layer, buffer, page, data)

    def device_page(self, lane: int, layer: int, buffer: str, page: int) -> bytes:
        """Read a page of a rank as it is stored."""
        return bytes(self.plane.unordered_pools.buffers[lane, layer, buffer][self.span(buffer, page)])

    def put_device_page(self, lane: int, layer: int, buffer: str, page: int, data: bytes) -> None:
        """Write a page of a rank as it is stored."""
        self.plane.unordered_pools.buffers[lane, layer, buffer][self.span(buffer, page)] = data

    def span(self, buffer: str, page: int) -> slice:
        """Return where a logical page lies within a buffer of its rank."""
        return page_span(self.pool, self.geometry.page_size, buffer, self.geometry.physical(page))

    def tell(self, kind: str, layer: int) -> None:
        """Leave an event."""
        self.plane.events.append(Event(kind=kind, reason=source_of(self.config, layer), layer=layer))
