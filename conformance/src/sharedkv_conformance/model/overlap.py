"""The executable specification of overlap: contexts, the layers that were told, and the groups that go early."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.overlap import OverlapContext
from sharedkv_conformance.model.sending_calls import SendCalls
from sharedkv_conformance.model.sending_parts import KV, Chunk, FlightModel


class OverlapModel(SendCalls):
    """The calls of overlap; small decisions are methods."""

    def register(self, room: int, pages: Sequence[int], first_position: int, is_last: bool) -> bool:  # noqa: FBT001 - by contract
        """Open the context of a chunk, or decline it."""
        if self.is_off():
            return False
        found = self.rooms.get(room)
        known = None if found is None else self.context_of(found, first_position)
        if known is not None:
            return self.register_again(known, tuple(pages), is_last=is_last)
        if found is None or self.declines(
            chunk := Chunk(room=found, first=first_position, pages=tuple(pages), is_last=is_last)
        ):
            self.tell("fallback", "overlap_declined")
            return False
        self.contexts_open.append(chunk)
        self.refresh()
        return True

    def layer_end(self, layer: int) -> None:
        """Tell every context of a layer; at a boundary, let the group go."""
        if self.is_off() or layer not in range(self.config.pool.all_layers):
            return
        for context in self.contexts_open:
            self.hear_layer(context, layer)
        if self.is_boundary(layer):
            self.end_group(layer)
        self.settle()

    def contexts(self) -> tuple[OverlapContext, ...]:
        """Show the open contexts, one a rank with pages."""
        return tuple(
            self.shown(context, rank) for context in self.contexts_open for rank in self.ranks_with_pages(context)
        )

    # -- decisions ---------------------------------------------------------------------------------------------------

    def is_off(self) -> bool:
        """Say whether nothing is sent early."""
        return self.config.transfer.group <= 0

    def register_again(self, known: Chunk, pages: tuple[int, ...], *, is_last: bool) -> bool:
        """Keep what is registered; say so where it is the same."""
        if (known.pages, known.is_last) == (pages, is_last):
            return True
        self.tell("fallback", "overlap_declined")
        return False

    def declines(self, chunk: Chunk) -> bool:
        """Say whether a chunk goes as a whole."""
        room = chunk.room
        return (
            not self.is_ready(room)
            or self.has_ended_here(room)
            or len(room.destinations) > 1
            or not chunk.pages
            or not self.follows(chunk, (*room.sent, *self.contexts_of(room)))
            or self.would_be_refused(chunk)
        )

    def would_be_refused(self, chunk: Chunk) -> bool:
        """Say whether pages and ends of a chunk are ones that a send would refuse."""
        total = chunk.room.num_pages
        return bool(self.page_faults(chunk.pages)) or chunk.end > total or (chunk.is_last and chunk.end != total)

    def hear_layer(self, context: Chunk, layer: int) -> None:
        """Note a layer."""
        context.told.add(layer)

    def is_boundary(self, layer: int) -> bool:
        """Say whether a group of layers ends with a layer."""
        return layer == self.config.pool.all_layers - 1 or (layer + 1) % self.config.transfer.group == 0

    def group_of(self, layer: int) -> range:
        """Return the layers of the group that a layer is in."""
        first = layer - layer % self.config.transfer.group
        return range(first, min(first + self.config.transfer.group, self.config.pool.all_layers))

    def end_group(self, layer: int) -> None:
        """Let each rank send what every context has of a group, behind one event."""
        due = {context: self.job_layers(context, layer) for context in self.contexts_open}
        if any(due.values()):
            self.tell("boundary", "", layer)
        for context, layers in due.items():
            if layers:
                self.enqueue(context, self.ranks_with_pages(context), layers, is_finish=False)

    def job_layers(self, context: Chunk, layer: int) -> tuple[int, ...]:
        """Return the layers of a group that were told and are in no job."""
        return tuple(each for each in self.group_of(layer) if each in context.told and each not in context.assigned)

    def ranks_with_pages(self, context: Chunk) -> list[int]:
        """Return the ranks that have pages of a chunk."""
        return [rank for rank in range(self.config.cp_size) if self.own(rank, context.pages)]

    def shown(self, context: Chunk, rank: int) -> OverlapContext:
        """Return the context of one rank as it is shown."""
        made = [flight for flight in context.room.flights if (flight.chunk, flight.part) == (context, KV)]
        own = [flight for flight in made if flight.source == rank]
        return OverlapContext(
            room=context.room.room,
            epoch=context.room.epoch,
            first_position=context.first,
            rank=rank,
            told=tuple(sorted(context.told)),
            submitted=layers_of(own),
            completed=layers_of([flight for flight in own if flight.is_completed]),
        )


def layers_of(flights: Sequence[FlightModel]) -> tuple[int, ...]:
    """Return the layers that flights carry, ascending."""
    return tuple(sorted({layer for flight in flights for layer in flight.layers}))
