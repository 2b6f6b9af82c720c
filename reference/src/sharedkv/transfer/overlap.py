"""Contexts of overlap: chunks whose layers go while the forward that computes them still runs.

Knows layers, groups and boundaries. Does not know pages, jobs, nor whether a chunk may be registered.

    group 3, layers 0..6     0 1 2│3 4 5│6│       boundaries 2, 5, 6

Between boundaries the forward thread only notes the layer, once for all contexts. What was noted is given to each
context when somebody needs to know: at a boundary, at a registration, at `send`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sharedkv.transfer.chunks import ChunkProgress
from sharedkv.transfer.prefill_rooms import PrefillRoom


@dataclass(frozen=True, kw_only=True)
class OverlapView:
    """One context on one rank: the layers that it was told of, that were submitted, and that have landed."""

    room: int
    epoch: int
    first_position: int
    rank: int
    told: tuple[int, ...]
    submitted: tuple[int, ...]
    completed: tuple[int, ...]


class OverlapContexts:
    """The open contexts, in the order of registration. `group` layers go together; with 0 nothing goes early."""

    def __init__(self, num_layers: int, group: int) -> None:
        self.is_on = group > 0
        self._num_layers = num_layers
        self._group = max(group, 1)
        self._open: list[tuple[PrefillRoom, ChunkProgress]] = []
        self._noted: set[int] = set()

    def add(self, room: PrefillRoom, chunk: ChunkProgress) -> None:
        """Open a context; it is told of what comes from now on."""
        self._tell()
        self._open.append((room, chunk))
        room.contexts.append(chunk)
        chunk.has_context = True

    def note(self, layer: int) -> bool:
        """Note that a layer was told; say whether something is to be done: a boundary, and a context may be open."""
        if not self._open or not 0 <= layer < self._num_layers:
            return False
        self._noted.add(layer)
        return (layer + 1) % self._group == 0 or layer + 1 == self._num_layers

    def at_boundary(self, layer: int) -> list[tuple[PrefillRoom, ChunkProgress, tuple[int, ...]]]:
        """Return for each open context the layers of a group that were told and no job has, where there are any."""
        self._tell()
        first = layer - layer % self._group
        group = range(first, layer + 1)
        due = [(room, chunk, chunk.without_job(chunk.told.intersection(group))) for room, chunk in self._open]
        return [each for each in due if each[2]]

    def finish(self, room: PrefillRoom) -> ChunkProgress:
        """Close the context of a room that was opened first, which there is."""
        chunk = room.contexts.popleft()
        chunk.has_context = False
        self._tell()
        return chunk

    def views(self) -> tuple[OverlapView, ...]:
        """Return the open contexts, one for each rank with pages."""
        self._tell()
        return tuple(
            OverlapView(
                room=room.room,
                epoch=room.epoch,
                first_position=chunk.chunk.first_position,
                rank=rank,
                told=tuple(sorted(chunk.told)),
                submitted=tuple(sorted(chunk.submitted.get(rank, ()))),
                completed=tuple(sorted(chunk.completed.get(rank, ()))),
            )
            for room, chunk in self._open
            for rank in chunk.ranks_with_pages()
        )

    def _tell(self) -> None:
        """Give what was noted to every open context, and forget those that are not open any more."""
        self._open = [each for each in self._open if each[1].has_context]
        if self._noted:
            noted, self._noted = self._noted, set()
            for _, chunk in self._open:
                chunk.told.update(noted)
