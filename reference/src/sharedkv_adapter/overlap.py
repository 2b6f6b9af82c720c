"""The facet `overlap` over the reference.

Knows which call of the contract is which call of the sender. Does not know groups, jobs or flights.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_adapter.sides_on_demand import SidesOnDemand
from sharedkv_conformance import contract


class ReferenceOverlap:
    """What schedulers and forwards tell the sender of all prefill ranks."""

    def __init__(self, sides: SidesOnDemand) -> None:
        self._sides = sides

    def register(self, room: int, pages: Sequence[int], first_position: int, is_last: bool) -> bool:  # noqa: FBT001 - by contract
        """Say which chunk will be sent, and hear whether its layers go early."""
        sides = self._sides.get("overlap")
        with sides.settled():
            return sides.sender.register(room, tuple(pages), first_position, is_last)

    def layer_end(self, layer: int) -> None:
        """Tell that every row of a layer is enqueued. Costs nothing where nothing was ever sent."""
        sides = self._sides.made
        if sides is not None:
            with sides.settled():
                sides.sender.layer_end(layer)

    def contexts(self) -> tuple[contract.OverlapContext, ...]:
        """Return the contexts of chunks that were not finished."""
        sides = self._sides.made
        return tuple(
            contract.OverlapContext(
                room=each.room,
                epoch=each.epoch,
                first_position=each.first_position,
                rank=each.rank,
                told=tuple(each.told),
                submitted=tuple(each.submitted),
                completed=tuple(each.completed),
            )
            for each in ([] if sides is None else sides.sender.contexts())
        )
