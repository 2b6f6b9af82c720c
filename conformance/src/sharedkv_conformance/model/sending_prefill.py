"""The prefill side of the model of sending: rooms that were heard of, chunks, jobs, flights, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.sending_parts import (
    ARRIVED,
    AUX,
    AUX_RANK,
    FAILED,
    INDEX,
    KV,
    Chunk,
    Debt,
    FlightModel,
    Job,
    Notice,
    PrefillRoom,
)
from sharedkv_conformance.model.sending_pins import PinsModel


class PrefillModel(PinsModel):
    """All prefill ranks as one group; small decisions are methods."""

    def __init__(self, config: OpenConfig, plane: DataPlane, allocation: Callable[[], AllocationModel]) -> None:
        super().__init__(config, plane, allocation)
        self.rooms: dict[int, PrefillRoom] = {}
        self.latest: dict[int, int] = {}
        self.dead: set[tuple[int, int]] = set()
        self.told_failed: set[Debt] = set()

    # -- rooms -------------------------------------------------------------------------------------------------------

    def hear_opened(self, notice: Notice) -> None:
        """Learn of a destination of a room."""
        key, known = (notice.room, notice.epoch), self.rooms.get(notice.room)
        if self.is_dead(*key):
            self.tell_failed(notice.source, notice.destination, *key)
        elif known is not None and known.epoch == notice.epoch:
            self.note_opened(known, notice)
        elif self.is_news(notice):
            if known is not None:
                self.fail_prefill(known, "peer")
            self.rooms[notice.room] = self.new_prefill_room(notice)
            self.latest[notice.room] = notice.epoch
            self.note_opened(self.rooms[notice.room], notice)

    def is_dead(self, room: int, epoch: int) -> bool:
        """Say whether decode gave an epoch up before it was heard of."""
        return (room, epoch) in self.dead

    def is_news(self, notice: Notice) -> bool:
        """Say whether an epoch is later than every one that the room had here."""
        return notice.room not in self.latest or notice.epoch > self.latest[notice.room]

    def new_prefill_room(self, notice: Notice) -> PrefillRoom:
        """Return a room that nothing was sent of."""
        return PrefillRoom(room=notice.room, epoch=notice.epoch, destinations=notice.destinations)

    def note_opened(self, room: PrefillRoom, notice: Notice) -> None:
        """Note that a rank has heard of a destination; one that comes late to a failure is told of it."""
        room.heard.add((notice.source, notice.destination))
        if notice.place is not None:
            room.places[notice.destination] = notice.place
        if room.reason:
            self.tell_failed(notice.source, notice.destination, room.room, room.epoch)

    def is_ready(self, room: PrefillRoom) -> bool:
        """Say whether every rank has heard of every destination."""
        return len(room.heard) >= self.config.cp_size * len(room.destinations)

    def has_ended_here(self, room: PrefillRoom) -> bool:
        """Say whether prefill is done with a room."""
        return bool(room.reason) or self.has_sent_all(room)

    def has_sent_all(self, room: PrefillRoom) -> bool:
        """Say whether the last chunk was sent, and every flight has completed, that of the metadata too."""
        if not room.sent or not room.sent[-1].is_last or not self.is_picked(room.sent[-1]):
            return False
        return self.has_all_aux(room) and all(flight.is_completed for flight in room.flights)

    def is_picked(self, chunk: Chunk) -> bool:
        """Say whether the jobs of a chunk were picked up on every rank."""
        return len(chunk.picked) == self.config.cp_size

    def has_all_aux(self, room: PrefillRoom) -> bool:
        """Say whether the metadata of a room was submitted to every destination."""
        return all(room.sent[-1].flights(AUX, AUX_RANK, each) for each in room.destinations)

    # -- jobs --------------------------------------------------------------------------------------------------------

    def enqueue(self, chunk: Chunk, ranks: Sequence[int], layers: tuple[int, ...], *, is_finish: bool) -> None:
        """Let a worker of each rank wait for its turn with layers of a chunk."""
        chunk.assigned.update(layers)
        self.jobs += [Job(rank=rank, chunk=chunk, layers=layers, is_finish=is_finish) for rank in ranks]

    def work(self, job: Job) -> None:
        """Carry out a job that was picked up."""
        if self.skips(job):
            return
        if self.crashes():
            self.after_crash(job)
            return
        for destination in self.destinations_of(job):
            self.send_layers(job, destination)
        if job.is_finish:
            job.chunk.picked.add(job.rank)
            if job.chunk.is_last and self.has_index:
                for destination in self.destinations_of(job):
                    self.send_index(job, destination)
        self.look_after(job.chunk.room)

    def crashes(self) -> bool:
        """Say whether the worker raises what nobody expects, once."""
        is_due = "worker_crash" in self.plane.faults
        self.plane.faults.discard("worker_crash")
        return is_due

    def after_crash(self, job: Job) -> None:
        """Fail the room; the worker goes on."""
        self.fail_prefill(job.chunk.room, "worker")

    def destinations_of(self, job: Job) -> tuple[int, ...]:
        """Return to whom a job sends, in order."""
        return job.chunk.room.destinations

    # -- flights -----------------------------------------------------------------------------------------------------

    def send_layers(self, job: Job, destination: int) -> None:
        """Submit layers of the pages that a rank has of a chunk."""
        chunk = job.chunk
        own = self.own(job.rank, chunk.pages)
        if own and job.layers:
            pages = tuple(self.page_at(chunk.room, destination, self.position(chunk, index)) for index in own)
            sources = tuple(chunk.pages[index] for index in own)
            self.fly(chunk, KV, (job.rank, destination), job.layers, tuple(zip(sources, pages, strict=True)))

    def send_index(self, job: Job, destination: int) -> None:
        """Submit the index of the pages that a rank has of the whole request."""
        chunk, layers = job.chunk, tuple(range(self.config.pool.all_layers))
        own = self.own(job.rank, chunk.state)
        if own:
            pairs = tuple((chunk.state[at], self.page_at(chunk.room, destination, at)) for at in own)
            self.fly(chunk, INDEX, (job.rank, destination), layers, pairs)

    def own(self, rank: int, pages: Sequence[int]) -> list[int]:
        """Return where in a list of logical pages those of a rank stand."""
        return [index for index, page in enumerate(pages) if self.geometry.lane(page) == rank]

    def position(self, chunk: Chunk, index: int) -> int:
        """Return the position in the request of a page of a chunk."""
        return chunk.first + index

    def page_at(self, room: PrefillRoom, destination: int, position: int) -> int:
        """Return the page of decode at a position."""
        return room.places[destination].pages[position]

    def fly(
        self,
        chunk: Chunk,
        part: str,
        way: tuple[int, int],
        layers: tuple[int, ...],
        pairs: tuple[tuple[int, int], ...],
    ) -> None:
        """Submit a flight of pairs of pages."""
        flight = FlightModel(
            number=self.num_flights,
            chunk=chunk,
            source=way[0],
            destination=way[1],
            part=part,
            layers=layers,
            sources=tuple(source for source, _ in pairs),
            pages=tuple(page for _, page in pairs),
            began=self.clock,
        )
        chunk.room.flights.append(flight)
        chunk.room.began = self.clock if chunk.room.began is None else chunk.room.began
        self.submit(flight)

    def has_landed(self, flight: FlightModel) -> None:
        """Note when the last flight landed."""
        flight.room.ended = self.clock

    # -- what follows on flights -------------------------------------------------------------------------------------

    def look_after(self, room: PrefillRoom) -> None:
        """Submit the metadata that is due, and tell decode of what has arrived."""
        if room.reason:
            return
        for destination in room.destinations:
            if self.aux_is_due(room, destination):
                self.fly(room.sent[-1], AUX, (AUX_RANK, destination), (), ())
            for chunk in room.sent:
                for source in range(self.config.cp_size):
                    for part in self.arrived_parts(chunk, source, destination):
                        self.tell_arrived(chunk, part, source, destination)

    def aux_is_due(self, room: PrefillRoom, destination: int) -> bool:
        """Say whether everything else that rank 0 sends to a destination has landed, and the metadata was not sent."""
        if not room.sent or not room.sent[-1].is_last or room.sent[-1].flights(AUX, AUX_RANK, destination):
            return False
        return self.is_aux_turn(room, destination)

    def is_aux_turn(self, room: PrefillRoom, destination: int) -> bool:
        """Say whether the metadata may follow: the last job of rank 0 was picked up, and what it sent has landed."""
        others = [f for f in room.flights if (f.source, f.destination) == (AUX_RANK, destination)]
        return AUX_RANK in room.sent[-1].picked and all(flight.is_completed for flight in others)

    def arrived_parts(self, chunk: Chunk, source: int, destination: int) -> Iterator[str]:
        """Yield the parts of a chunk that have arrived from a rank at a destination."""
        if self.is_there(chunk, KV, source, destination):
            yield KV
        if chunk.is_last and self.has_index and self.is_there(chunk, INDEX, source, destination):
            yield INDEX
        if chunk.is_last and source == AUX_RANK and self.is_aux_there(chunk, destination):
            yield AUX

    def is_there(self, chunk: Chunk, part: str, source: int, destination: int) -> bool:
        """Say whether all that a rank has of a part of a chunk has landed; nothing has landed at once."""
        return source in chunk.picked and all(f.is_completed for f in chunk.flights(part, source, destination))

    def is_aux_there(self, chunk: Chunk, destination: int) -> bool:
        """Say whether the metadata has landed."""
        return any(flight.is_completed for flight in chunk.flights(AUX, AUX_RANK, destination))

    def tell_arrived(self, chunk: Chunk, part: str, source: int, destination: int) -> None:
        """Tell decode once that a chunk of a part has arrived."""
        room, number, is_last = chunk.room, *self.named(chunk, part)
        told = (part, number, source, destination)
        if told not in room.told:
            room.told.add(told)
            self.post(
                Notice(
                    number=-1,
                    kind=ARRIVED,
                    room=room.room,
                    epoch=room.epoch,
                    source=source,
                    destination=destination,
                    part=part,
                    chunk=number,
                    is_last=is_last,
                )
            )

    def named(self, chunk: Chunk, part: str) -> tuple[int, bool]:
        """Return the number of a chunk of a part, and whether it is the last: all but `kv` are one chunk."""
        return (chunk.number, chunk.is_last) if part == KV else (0, True)

    # -- giving up ---------------------------------------------------------------------------------------------------

    def fail_prefill(self, room: PrefillRoom, reason: str) -> None:
        """Have all ranks give a room up that has not ended, and tell every destination that they have heard of."""
        if self.has_ended_here(room):
            return
        room.reason = reason
        self.drop(room)
        for source, destination in sorted(room.heard):
            self.tell_failed(source, destination, room.room, room.epoch)

    def drop(self, room: PrefillRoom) -> None:
        """Drop what was not picked up, and the contexts."""
        self.jobs = [job for job in self.jobs if job.chunk.room is not room or not self.skips(job)]
        self.contexts_open = [chunk for chunk in self.contexts_open if chunk.room is not room]

    def tell_failed(self, source: int, destination: int, room: int, epoch: int) -> None:
        """Tell a destination once that a rank gave up."""
        debt = (source, destination, room, epoch)
        if debt not in self.told_failed:
            self.told_failed.add(debt)
            self.post(Notice(number=-1, kind=FAILED, room=room, epoch=epoch, source=source, destination=destination))
