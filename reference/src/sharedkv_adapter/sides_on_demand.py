"""Both sides of transfers, made when a call first needs them: most sessions send nothing.

Knows whether they are made. Does not know how, nor what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharedkv_adapter.transfer_sides import TransferSides

Make = Callable[[str], "TransferSides"]
"""Makes them for a feature, or raises `Unsupported` for it."""


class SidesOnDemand:
    """The sides of one session; `made` is None until somebody needed them."""

    def __init__(self, make: Make) -> None:
        self.made: TransferSides | None = None
        self._make = make

    def get(self, feature: str) -> TransferSides:
        """Return them for a feature, made now if they were not."""
        if self.made is None:
            self.made = self._make(feature)
        return self.made
