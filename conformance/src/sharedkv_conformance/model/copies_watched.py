"""The model of copies without bytes: which layers were told, and what was abandoned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Self

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.copies import CopiesModel, Pairs
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.host_tier_copies import Pair
from sharedkv_conformance.model.host_tier_tree import HostPage


class WatchedCopies(CopiesModel):
    """Copies that a state follows.

    `told` says for each host page how its layers came there: `told` one after another, `rest` where none was told
    before the insert, and `odd` where some were missing, told in another order, or told for nobody before. `staged` are
    the device pages of abandoned pairs of which a layer was submitted, and `num_untold` counts those of which none was.
    """

    def __init__(self, config: OpenConfig, reserved: Callable[[], Iterable[Pair]]) -> None:
        super().__init__(config, DataPlane(config), reserved)
        self.told: dict[HostPage, str] = {}
        self.is_shifted = False
        self.staged: set[int] = set()
        self.num_untold = 0

    def twin(self, reserved: Callable[[], Iterable[Pair]]) -> Self:
        """Return an independent copy for another tree."""
        other = copy(self)
        other.reserved = reserved
        other.submitted = {pair: list(layers) for pair, layers in self.submitted.items()}
        other.kinds, other.told, other.staged = dict(self.kinds), dict(self.told), set(self.staged)
        return other

    def backup(self, copy: int, request: str, pairs: Pairs) -> None:
        """Note how the layers of a copy come to the host."""
        for pair in pairs:
            self.told[pair[0], pair[2]] = self.how(self.submitted.get(pair, []))
        super().backup(copy, request, pairs)

    def how(self, layers: Sequence[int]) -> str:
        """Say how layers came to the host that were told in this order."""
        if not layers:
            return "rest"
        return "told" if list(layers) == list(range(self.pool.all_layers)) and not self.is_shifted else "odd"

    def layer_end(self, layer: int) -> None:
        """Note whether a layer was told for nobody."""
        self.refuse_layer(layer)
        self.is_shifted = self.is_shifted or not self.due(layer, tuple(self.reserved()))
        super().layer_end(layer)

    def abandoned(self, request: str, pairs: Pairs) -> None:
        """Note what was submitted for nothing."""
        self.staged |= {pair[1] for pair in pairs if self.submitted.get(pair)}
        self.num_untold += sum(not self.submitted.get(pair) for pair in pairs)
        super().abandoned(request, pairs)

    def submit_backup(self, layer: int, pairs: Pairs) -> None:
        """Move nothing."""

    def submit_load(self, layer: int, pairs: Pairs) -> None:
        """Move nothing."""
