"""Copies between the tiers: backups that run behind the layers of a forward, and loads that readers wait for.

Every page of the tree has, on its lane, the rows of all buffers of all layers: those of the target and, after them,
those of the draft (`PoolConfig.draft_layers`). A *backup* copies them to the host, a *load* back; `host_tier` submits
both, on streams of their own. A backup of a layer runs after the rows of the layer were written, a load after
everything that was enqueued on the device before it, and whoever reads rows of a layer after the load of that layer:
`direct_write.read` and `reuse` and `prefetch` of any buffer, and backups. A load submits its layers in ascending order.

The acknowledgement of a copy comes after its bytes, and so does a reset. What was submitted for a reservation that is
given up is never acknowledged and may still run: its host pages are free at once, and whoever has them next is ordered
after it.
"""

from __future__ import annotations

from typing import Protocol


class Copies(Protocol):
    """What a forward tells those who copy behind it."""

    def layer_end(self, layer: int) -> None:
        """Tell that every row of a layer is enqueued, and submit its backup for all requests with a reservation.

        One set of descriptors a layer and forward; a layer that is told again submits only what is new. Layers that
        were not told when `host_tier.insert` takes a reservation are submitted there. A layer outside the pool is
        `Rejected` (`layer_outside_pool`).
        """
