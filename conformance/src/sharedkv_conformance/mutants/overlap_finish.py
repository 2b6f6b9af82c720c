"""Wrong variants of how a context ends: what is left, what has arrived, and what becomes of failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import AUX, INDEX, KV, Chunk, FlightModel, Job, PrefillRoom


class KnowsContexts(SendingModel):
    """Remembers which chunks were registered."""

    def __init__(self, config: OpenConfig, plane: DataPlane, allocation: Callable[[], AllocationModel]) -> None:
        super().__init__(config, plane, allocation)
        self.finished: list[Chunk] = []

    def begun(self, asked: Chunk) -> Chunk:
        found = super().begun(asked)
        if found is not asked:
            self.finished.append(found)
        return found


# -- what is left ----------------------------------------------------------------------------------------------------


@mutant(
    "overlap.waits-for-untold-layers",
    kills="RFC-0013:C-FINISH#S1",
    also={"RFC-0013:C-FINISH#S3": "what is not sent is not there"},
)
class WaitsForUntoldLayers(KnowsContexts):
    """Sends what was told, and waits for layers that nobody announces."""

    def layers_left(self, chunk: Chunk) -> tuple[int, ...]:
        found = super().layers_left(chunk)
        return tuple(layer for layer in found if layer in chunk.told) if chunk in self.finished else found


@mutant("overlap.rest-layer-by-layer", kills="RFC-0013:C-FINISH#S1")
class RestLayerByLayer(KnowsContexts):
    """Sends what is left of a context in a flight for each layer."""

    def send_layers(self, job: Job, destination: int) -> None:
        if not job.is_finish or job.chunk not in self.finished:
            super().send_layers(job, destination)
            return
        for layer in job.layers:
            single = Job(rank=job.rank, chunk=job.chunk, layers=(layer,), is_finish=True)
            super().send_layers(single, destination)


@mutant(
    "overlap.rest-from-one-rank",
    kills="RFC-0013:C-FINISH#S1",
    also={"RFC-0013:C-FINISH#S3": "what is not sent is not there"},
)
class RestFromOneRank(KnowsContexts):
    """Lets the first rank with pages send what is left, and no other."""

    def send_layers(self, job: Job, destination: int) -> None:
        first = self.ranks_with_pages(job.chunk)[:1]
        if not job.is_finish or job.chunk not in self.finished or [job.rank] == first:
            super().send_layers(job, destination)


@mutant("overlap.sent-twice", kills="RFC-0013:C-FINISH#S2")
class SentTwice(SendingModel):
    """Sends the whole chunk when the forward is done, beside its layers."""

    def layers_left(self, chunk: Chunk) -> tuple[int, ...]:
        del chunk
        return tuple(range(self.config.pool.all_layers))


@mutant("overlap.sent-beside-its-layers", kills="RFC-0013:C-FINISH#S2")
class SentBesideItsLayers(KnowsContexts):
    """Sends what is left, and the whole chunk too."""

    def send_layers(self, job: Job, destination: int) -> None:
        super().send_layers(job, destination)
        if job.is_finish and job.chunk in self.finished:
            everything = tuple(range(self.config.pool.all_layers))
            whole = Job(rank=job.rank, chunk=job.chunk, layers=everything, is_finish=True)
            super().send_layers(whole, destination)


@mutant(
    "overlap.first-row-of-the-group",
    kills="RFC-0013:C-FINISH#S3",
    also={"RFC-0013:C-LAYERS#S5": "rows that were late are among those that are lost"},
)
class FirstRowOfTheGroup(SendingModel):
    """Sends the rows of the first layer of a group for each layer of it."""

    def read(self, flight: FlightModel, layer: int, buffer: str, page: int) -> bytes:
        is_group = flight.chunk.told and flight.part == KV
        return super().read(flight, flight.layers[0] if is_group else layer, buffer, page)


@mutant(
    "overlap.last-layer-lost",
    kills="RFC-0013:C-FINISH#S3",
    also={"RFC-0013:C-LAYERS#S5": "rows that were late are among those that are lost"},
)
class LastLayerLost(SendingModel):
    """Leaves out the last layer of a group where it submits it."""

    def write(self, flight: FlightModel, pages: int) -> None:
        layers = flight.layers
        if flight.chunk.told and flight.part == KV and len(layers) > 1:
            flight.layers = layers[:-1]
        super().write(flight, pages)
        flight.layers = layers


@mutant(
    "overlap.one-buffer-of-a-group",
    kills="RFC-0013:C-FINISH#S3",
    also={"RFC-0013:C-LAYERS#S5": "rows that were late are among those that are lost"},
)
class OneBufferOfAGroup(SendingModel):
    """Sends the first buffer of the layers of a group."""

    is_group = False

    def write(self, flight: FlightModel, pages: int) -> None:
        self.is_group = bool(flight.chunk.told)
        super().write(flight, pages)
        self.is_group = False

    def buffers_of(self, part: str) -> tuple[str, ...]:
        found = super().buffers_of(part)
        return found[:1] if self.is_group and part == KV else found


# -- what has arrived ------------------------------------------------------------------------------------------------


@mutant("overlap.finish-is-arrival", kills="RFC-0013:C-FINISH#S4")
class FinishIsArrival(KnowsContexts):
    """Tells decode that a chunk has arrived when its last flight has landed, wherever the others are."""

    def is_there(self, chunk: Chunk, part: str, source: int, destination: int) -> bool:
        if chunk not in self.finished or part != KV:
            return super().is_there(chunk, part, source, destination)
        return source in chunk.picked and all(f.is_completed for f in chunk.flights(part, source, destination)[-1:])


@mutant("overlap.done-before-workers-began", kills="RFC-0013:C-FINISH#S4")
class DoneBeforeWorkersBegan(KnowsContexts):
    """Takes a chunk for done where every flight that was made has landed, whatever still waits for a worker."""

    def send(self, *args: object) -> None:
        super().send(*args)  # type: ignore[arg-type]
        room = self.rooms.get(args[0])  # type: ignore[call-overload]
        if room is not None and not room.reason:
            self.look_after(room)
            self.settle()

    def is_there(self, chunk: Chunk, part: str, source: int, destination: int) -> bool:
        if chunk not in self.finished or part != KV:
            return super().is_there(chunk, part, source, destination)
        return all(flight.is_completed for flight in chunk.flights(part, source, destination))


@mutant("overlap.index-forgotten", kills="RFC-0013:C-FINISH#S5")
class IndexForgotten(KnowsContexts):
    """Leaves the part `index` out where the layers were sent early."""

    def send_index(self, job: Job, destination: int) -> None:
        if job.chunk not in self.finished:
            super().send_index(job, destination)


@mutant("overlap.metadata-forgotten", kills="RFC-0013:C-FINISH#S5")
class MetadataForgotten(KnowsContexts):
    """Leaves the metadata out where the layers were sent early."""

    def is_aux_turn(self, room: PrefillRoom, destination: int) -> bool:
        return room.sent[-1] not in self.finished and super().is_aux_turn(room, destination)


@mutant("overlap.metadata-overtakes-layers", kills="RFC-0013:C-FINISH#S5")
class MetadataOvertakesLayers(KnowsContexts):
    """Sends the metadata when the last flight of layers has landed, wherever those before it are."""

    def is_aux_turn(self, room: PrefillRoom, destination: int) -> bool:
        last = room.sent[-1]
        if last not in self.finished or 0 not in last.picked:
            return super().is_aux_turn(room, destination)
        own = [f for f in room.flights if (f.source, f.destination) == (0, destination) and f.part != INDEX]
        return all(flight.is_completed for flight in own[-1:])


@mutant("overlap.index-with-every-chunk", kills="RFC-0013:C-FINISH#S5")
class IndexWithEveryGroup(SendingModel):
    """Sends the buffer of the index with each group of layers as well."""

    def send_layers(self, job: Job, destination: int) -> None:
        super().send_layers(job, destination)
        if not job.is_finish and self.has_index:
            own = self.own(job.rank, job.chunk.pages)
            places = [self.page_at(job.chunk.room, destination, self.position(job.chunk, at)) for at in own]
            pairs = tuple(zip((job.chunk.pages[at] for at in own), places, strict=True))
            self.fly(job.chunk, INDEX, (job.rank, destination), job.layers, pairs)


@mutant("overlap.target-inflated", kills="RFC-0013:C-FINISH#S9")
class TargetInflated(KnowsContexts):
    """Waits for as many layers as were told, those that later forwards told again among them."""

    def __init__(self, config: OpenConfig, plane: DataPlane, allocation: Callable[[], AllocationModel]) -> None:
        super().__init__(config, plane, allocation)
        self.ends: Counter[int] = Counter()

    def hear_layer(self, context: Chunk, layer: int) -> None:
        self.ends[id(context)] += 1
        super().hear_layer(context, layer)

    def is_there(self, chunk: Chunk, part: str, source: int, destination: int) -> bool:
        is_waiting = part == KV and chunk in self.finished and self.ends[id(chunk)] > self.config.pool.all_layers
        return not is_waiting and super().is_there(chunk, part, source, destination)


@mutant("overlap.waits-for-another-hook", kills="RFC-0013:C-FINISH#S9")
class WaitsForAnotherHook(KnowsContexts):
    """Waits until every layer of the pool was told, also where it was sent at the end."""

    def is_there(self, chunk: Chunk, part: str, source: int, destination: int) -> bool:
        is_waiting = part == KV and chunk in self.finished and len(chunk.told) < self.config.pool.all_layers
        return not is_waiting and super().is_there(chunk, part, source, destination)


# -- failures --------------------------------------------------------------------------------------------------------


@mutant(
    "overlap.crash-swallowed",
    kills="RFC-0013:C-FINISH#S6",
    also={"RFC-0013:C-FINISH#S8": "a room that does not fail keeps its contexts"},
)
class CrashSwallowed(SendingModel):
    """Logs what a worker raises, and takes its layers for sent."""

    def after_crash(self, job: Job) -> None:
        if job.is_finish:
            job.chunk.picked.add(job.rank)
        self.look_after(job.chunk.room)


@mutant("overlap.crash-ends-every-room", kills="RFC-0013:C-FINISH#S6")
class CrashEndsEveryRoom(SendingModel):
    """Gives every room up where a worker raises."""

    def after_crash(self, job: Job) -> None:
        super().after_crash(job)
        for room in list(self.rooms.values()):
            self.fail_prefill(room, "worker")


@mutant("overlap.crash-told-as-of-the-engine", kills="RFC-0013:C-FINISH#S6")
class CrashIsTheEngines(SendingModel):
    """Says that the engine failed where a worker did."""

    def after_crash(self, job: Job) -> None:
        self.fail_prefill(job.chunk.room, "engine")


@mutant("overlap.waits-for-ever", kills="RFC-0013:C-FINISH#S7")
class WaitsForEver(SendingModel):
    """Has a deadline for flights, and none for chunks that no worker begins with."""

    def is_overdue(self, chunk: Chunk) -> bool:
        del chunk
        return False


@mutant("overlap.flights-have-time", kills="RFC-0013:C-FINISH#S7")
class FlightsHaveTime(SendingModel):
    """Has no deadline for flights."""

    def is_late(self, flight: FlightModel) -> bool:
        return flight.part == AUX and super().is_late(flight)


@mutant("overlap.lateness-told-as-of-the-engine", kills="RFC-0013:C-FINISH#S7")
class LateIsTheEngines(SendingModel):
    """Says that the engine failed where a flight took too long."""

    def reason_of(self, flight: FlightModel) -> str:
        del flight
        return "engine"


@mutant("overlap.context-left-behind", kills="RFC-0013:C-FINISH#S8")
class ContextLeftBehind(SendingModel):
    """Keeps the contexts of a room that has failed."""

    def drop(self, room: PrefillRoom) -> None:
        contexts = list(self.contexts_open)
        super().drop(room)
        self.contexts_open = contexts


@mutant("overlap.finished-context-kept", kills="RFC-0013:C-FINISH#S8")
class FinishedContextKept(SendingModel):
    """Keeps a context after its chunk was sent."""

    def begun(self, asked: Chunk) -> Chunk:
        known = list(self.contexts_open)
        found = super().begun(asked)
        self.contexts_open = known
        return found
