"""Overlap: the layers of a chunk are sent while the forward that computes it still runs.

A chunk that will be sent is *registered* before its forward: that is its *context*, known by room and first position.
At the end of a layer the forward tells so; groups of `TransferConfig.group` layers go as one flight a rank, at the
*boundary*, the last layer of the group (the last group may be smaller; draft layers follow on those of the target).
The `transfer.send` of the chunk *finishes* its context: what was not submitted goes as one last flight a rank, and no
flight of part `kv` goes beside; `index`, `aux` and messages are as without a context.

    group 3, layers 0..6     0 1 2│3 4 5│6│          flights 012, 345, 6
    layer 4 is not told      0 1 2│3 . 5│6│ send 4   flights 012, 35, 6, and 4 at the end
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class OverlapContext:
    """The context of one chunk on one rank: which layers were told, which were submitted, which have completed."""

    room: int
    epoch: int
    first_position: int
    rank: int
    told: tuple[int, ...]
    submitted: tuple[int, ...]
    completed: tuple[int, ...]


class Overlap(Protocol):
    """What a scheduler and a forward tell those who send. Nothing here waits for a flight, and nothing raises."""

    def register(self, room: int, pages: Sequence[int], first_position: int, is_last: bool) -> bool:  # noqa: FBT001 - as it crosses
        """Say which chunk will be sent, before the forward computes it; return whether its layers will be sent early.

        Its pages are pinned from here on. A chunk that is registered already, with the same pages and end, stays as it
        is. It is declined, nothing is kept, and `transfer.send` sends it as a whole, where overlap is off (group 0),
        the room is unknown, not ready or ended, has several destinations, the chunk has no page, does not begin where
        the last one that was sent or registered ended, or is one that `transfer.send` would refuse. Each of these but
        the first leaves the event `fallback` with the reason `overlap_declined`.
        """

    def layer_end(self, layer: int) -> None:
        """Tell that every row of a layer is enqueued; every context that was not told of the layer is told.

        At a boundary each rank submits, for each context, the layers of the group that were told and not submitted. One
        device event a boundary serves all contexts: the event `boundary` with the layer. Without a context this does
        nothing. A layer outside the pool is ignored.
        """

    def contexts(self) -> tuple[OverlapContext, ...]:
        """Return the contexts of chunks that were not finished, in the order of registration, one a rank with pages."""
