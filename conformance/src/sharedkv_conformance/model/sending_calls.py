"""The calls of prefill in the model of sending: what is refused, what a chunk begins, and what is reported."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.sending import SendReport
from sharedkv_conformance.model.host_memory import page_bytes
from sharedkv_conformance.model.lane_pages import FREE
from sharedkv_conformance.model.sending_parts import AUX, KV, Chunk, FlightModel, PrefillRoom
from sharedkv_conformance.model.sending_prefill import PrefillModel


class SendCalls(PrefillModel):
    """The calls of the contract on the prefill side; small decisions are methods."""

    def send(
        self,
        room: int,
        pages: Sequence[int],
        first_position: int,
        is_last: bool,  # noqa: FBT001 - by contract
        state: Sequence[int],
        aux: bytes,
    ) -> None:
        """Check, then let a worker of each rank send what is left of the chunk."""
        found = self.required(room)
        if found.reason:
            return
        asked = Chunk(
            room=found,
            first=first_position,
            pages=tuple(pages),
            is_last=is_last,
            state=tuple(state),
            aux=bytes(aux),
        )
        for reason in sorted(self.send_faults(asked)):
            raise Rejected(reason, f"room {room}, {len(asked.pages)} pages from position {first_position}")
        chunk = self.begun(asked)
        chunk.number, chunk.sent_at = len(found.sent), self.clock
        found.sent.append(chunk)
        layers = self.layers_left(chunk)
        self.enqueue(chunk, range(self.config.cp_size), layers, is_finish=True)
        self.refresh()
        self.settle()

    def send_status(self, room: int) -> str:
        """Say how far prefill is."""
        found = self.required(room)
        if found.reason:
            return "failed"
        if not self.is_ready(found):
            return "bootstrapping"
        if self.has_sent_all(found):
            return "success"
        return "transferring" if found.sent or self.contexts_of(found) else "waiting"

    def forget(self, room: int) -> None:
        """Forget a room that has ended."""
        if not self.has_ended_here(self.required(room)):
            raise Rejected(Reason.ROOM_IN_USE, f"room {room}")
        del self.rooms[room]
        self.settle()

    def report(self, room: int) -> SendReport:
        """Count what was sent."""
        found = self.required(room)
        done = [flight for flight in found.flights if flight.is_completed]
        return SendReport(
            bytes=sum(map(self.bytes_of, done)),
            pages=self.pages_sent(found),
            submitted=len(found.flights),
            completed=len(done),
            ticks=self.ticks_of(found),
            reason=found.reason,
        )

    # -- decisions ---------------------------------------------------------------------------------------------------

    def required(self, room: int) -> PrefillRoom:
        """Return a room that prefill knows."""
        if room not in self.rooms:
            raise Rejected(Reason.ROOM_UNKNOWN, f"room {room}")
        return self.rooms[room]

    def send_faults(self, asked: Chunk) -> frozenset[Reason]:
        """Return every reason why a chunk cannot be sent."""
        room, context = asked.room, self.context_of(asked.room, asked.first)
        if not self.is_ready(room):
            return frozenset({Reason.ROOM_NOT_READY})
        differs = context is not None and (context.pages, context.is_last) != (asked.pages, asked.is_last)
        own = {
            Reason.CHUNK_BACKWARDS: not self.follows(asked, room.sent),
            Reason.AUX_TOO_LONG: len(asked.aux) > self.config.transfer.aux_bytes,
            Reason.CONTEXT_DIFFERS: differs,
        }
        found = frozenset(reason for reason, present in own.items() if present)
        return found | self.count_faults(asked) | self.page_faults(asked.pages) | self.page_faults(asked.state)

    def follows(self, asked: Chunk, before: Sequence[Chunk]) -> bool:
        """Say whether a chunk begins where the last of others ended, and that was not the end."""
        if not before:
            return asked.first == 0
        return asked.first == before[-1].end and not before[-1].is_last

    def count_faults(self, asked: Chunk) -> frozenset[Reason]:
        """Say whether a chunk does not fit into what decode set aside, or the pages of the index do not."""
        total = asked.room.num_pages
        wanted = total if asked.is_last and self.has_index else 0
        differs = asked.end > total or (asked.is_last and asked.end != total) or len(asked.state) != wanted
        return frozenset({Reason.PAGE_COUNTS_DIFFER} if differs else ())

    def page_faults(self, pages: Sequence[int]) -> frozenset[Reason]:
        """Return every reason why logical pages cannot be sent."""
        inside = [page for page in pages if self.geometry.holds(page)]
        faults = {
            Reason.PAGE_OUTSIDE_POOL: len(inside) < len(pages),
            Reason.PAGE_NAMED_TWICE: len(set(pages)) < len(pages),
            Reason.PAGE_NOT_ALLOCATED: any(self.allocation.pages.state(page) == FREE for page in inside),
        }
        return frozenset(reason for reason, present in faults.items() if present)

    def context_of(self, room: PrefillRoom, first: int) -> Chunk | None:
        """Return the context of a chunk, if it was registered and not finished."""
        return next((chunk for chunk in self.contexts_of(room) if chunk.first == first), None)

    def contexts_of(self, room: PrefillRoom) -> list[Chunk]:
        """Return the open contexts of a room, in the order of registration."""
        return [chunk for chunk in self.contexts_open if chunk.room is room]

    def begun(self, asked: Chunk) -> Chunk:
        """Return the chunk to send: what was registered of it, which is finished with this, or the chunk itself."""
        context = self.context_of(asked.room, asked.first)
        if context is None:
            return asked
        context.state, context.aux = asked.state, asked.aux
        self.contexts_open.remove(context)
        return context

    def layers_left(self, chunk: Chunk) -> tuple[int, ...]:
        """Return the layers that the last flight of a chunk carries: those that are in no job."""
        return tuple(layer for layer in range(self.config.pool.all_layers) if layer not in chunk.assigned)

    def bytes_of(self, flight: FlightModel) -> int:
        """Return the bytes that a flight carries."""
        if flight.part == AUX:
            return len(flight.chunk.aux)
        page = sum(page_bytes(self.config.pool, self.config.page_size, each) for each in self.buffers_of(flight.part))
        return page * len(flight.layers) * len(flight.pages)

    def pages_sent(self, room: PrefillRoom) -> int:
        """Count the pages of which every layer has landed, once a destination."""
        chunks = dict.fromkeys(flight.chunk for flight in room.flights)
        return sum(
            len(self.own(source, chunk.pages))
            for chunk in chunks
            for destination in room.destinations
            for source in range(self.config.cp_size)
            if self.num_layers_there(chunk, source, destination) == self.config.pool.all_layers
        )

    def num_layers_there(self, chunk: Chunk, source: int, destination: int) -> int:
        """Count the layers of a chunk that have landed from a rank at a destination."""
        done = [flight for flight in chunk.flights(KV, source, destination) if flight.is_completed]
        return len({layer for flight in done for layer in flight.layers})

    def ticks_of(self, room: PrefillRoom) -> int:
        """Return how long the flights took together; 0 where none was submitted, or none has completed."""
        return 0 if room.began is None or room.ended is None else room.ended - room.began
