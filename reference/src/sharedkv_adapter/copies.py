"""Copies between the tiers, as far as a forward tells of them.

Knows which call of the contract is which call of the engine. Does not know bytes or streams.
"""

from __future__ import annotations

from sharedkv.copying import PageCopyEngine
from sharedkv_adapter.translation import contract_errors


class ReferenceCopies:
    """The engine that copies behind a forward."""

    def __init__(self, engine: PageCopyEngine) -> None:
        self._engine = engine

    def layer_end(self, layer: int) -> None:
        """Submit the backup of a layer for all requests with a reservation, or raise `Rejected`."""
        with contract_errors():
            self._engine.layer_end(layer)
