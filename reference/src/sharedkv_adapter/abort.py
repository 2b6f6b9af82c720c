"""The facet `abort` over the reference.

Knows which side a call is for. Does not know what giving up means. Where nothing was ever sent there is no room.
"""

from __future__ import annotations

from sharedkv_adapter.sides_on_demand import SidesOnDemand


class ReferenceAbort:
    """Giving up, on either side."""

    def __init__(self, sides: SidesOnDemand) -> None:
        self._sides = sides

    def decode(self, room: int) -> None:
        """Have decode give a room up."""
        if (sides := self._sides.made) is not None:
            with sides.settled():
                sides.receiver.abort(room)

    def prefill(self, room: int) -> None:
        """Have prefill give a room up."""
        if (sides := self._sides.made) is not None:
            with sides.settled():
                sides.sender.abort(room)
