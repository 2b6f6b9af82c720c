"""Wrong variants of layers that are told: which go, with which, when, and in what order with the forward."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.pool import Pools
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import Chunk, FlightModel, PrefillRoom

# -- groups ----------------------------------------------------------------------------------------------------------


@mutant(
    "overlap.partial-group-waits",
    kills="RFC-0013:C-LAYERS#S1",
    also={"RFC-0013:C-LAYERS#S7": "an event is recorded where something goes, and only there"},
)
class PartialGroupWaits(SendingModel):
    """Sends a group when it is full, so that the last one waits for the end."""

    def is_boundary(self, layer: int) -> bool:
        return (layer + 1) % self.config.transfer.group == 0


@mutant("overlap.draft-is-a-group", kills="RFC-0013:C-LAYERS#S1")
class DraftIsAGroup(SendingModel):
    """Sends a group again at the end of the draft, without the layers of the target."""

    def group_of(self, layer: int) -> range:
        found, first_draft = super().group_of(layer), self.config.pool.layers
        return range(max(found.start, first_draft), found.stop) if layer >= first_draft else found


@mutant("overlap.group-although-not-told", kills="RFC-0013:C-LAYERS#S1")
class GroupAlthoughNotTold(SendingModel):
    """Sends all layers of a group at its end, also those that the forward skipped."""

    def job_layers(self, context: Chunk, layer: int) -> tuple[int, ...]:
        return tuple(each for each in self.group_of(layer) if each not in context.assigned)


@mutant(
    "overlap.boundary-layer-alone",
    kills="RFC-0013:C-LAYERS#S1",
    also={"RFC-0013:C-FINISH#S1": "the end takes what boundaries left"},
)
class BoundaryLayerAlone(SendingModel):
    """Sends the layer at the boundary, and leaves the others of its group to the end."""

    def job_layers(self, context: Chunk, layer: int) -> tuple[int, ...]:
        return tuple(each for each in super().job_layers(context, layer) if each == layer)


@mutant(
    "overlap.boundary-untold",
    kills="RFC-0013:C-LAYERS#S1",
    also={"RFC-0013:C-LAYERS#S7": "an event is recorded where something goes, and only there"},
)
class BoundaryUntold(SendingModel):
    """Counts layer ends instead of asking which layer it is."""

    def __init__(self, config: OpenConfig, plane: DataPlane, allocation: Callable[[], AllocationModel]) -> None:
        super().__init__(config, plane, allocation)
        self.num_ends = 0

    def is_boundary(self, layer: int) -> bool:
        self.num_ends = (self.num_ends + 1) % self.config.pool.all_layers
        return super().is_boundary(layer) and super().is_boundary((self.num_ends - 1) % self.config.pool.all_layers)


@mutant("overlap.first-context-goes", kills="RFC-0013:C-LAYERS#S1")
class FirstContextGoes(SendingModel):
    """Sends the layers of one request of a forward."""

    def job_layers(self, context: Chunk, layer: int) -> tuple[int, ...]:
        return super().job_layers(context, layer) if context is self.contexts_open[0] else ()


@mutant(
    "overlap.every-layer-goes",
    kills="RFC-0013:C-LAYERS#S2",
    also={"RFC-0013:C-LAYERS#S7": "an event is recorded where something goes, and only there"},
)
class EveryLayerGoes(SendingModel):
    """Sends each layer when it ends, whatever the groups are."""

    def is_boundary(self, layer: int) -> bool:
        del layer
        return True


@mutant(
    "overlap.late-layer-goes",
    kills="RFC-0013:C-LAYERS#S2",
    also={"RFC-0013:C-LAYERS#S7": "an event is recorded where something goes, and only there"},
)
class LateLayerGoes(SendingModel):
    """Sends a layer that is told after the boundary of its group at once."""

    def is_boundary(self, layer: int) -> bool:
        boundary = self.group_of(layer)[-1]
        return super().is_boundary(layer) or any(boundary in context.told for context in self.contexts_open)


# -- once ------------------------------------------------------------------------------------------------------------


@mutant(
    "overlap.told-again-sent-again",
    kills="RFC-0013:C-LAYERS#S3",
    also={"RFC-0013:C-LAYERS#S7": "an event is recorded where something goes, and only there"},
)
class ToldAgainSentAgain(SendingModel):
    """Sends the layers of a group at each of its ends."""

    def job_layers(self, context: Chunk, layer: int) -> tuple[int, ...]:
        return tuple(each for each in self.group_of(layer) if each in context.told)


@mutant(
    "overlap.boundary-sent-again",
    kills="RFC-0013:C-LAYERS#S3",
    also={"RFC-0013:C-LAYERS#S7": "an event is recorded where something goes, and only there"},
)
class BoundarySentAgain(SendingModel):
    """Sends the layer of a boundary whenever its end is told."""

    def job_layers(self, context: Chunk, layer: int) -> tuple[int, ...]:
        return tuple(sorted({*super().job_layers(context, layer), layer}))


@mutant(
    "overlap.room-of-the-first",
    kills="RFC-0013:C-LAYERS#S4",
    also={"RFC-0013:C-FINISH#S3": "its rows are in the pages of others"},
)
class RoomOfTheFirst(SendingModel):
    """Sends the layers of every request of a forward to the pages of the first."""

    def page_at(self, room: PrefillRoom, destination: int, position: int) -> int:
        first = self.contexts_open[0].room if self.contexts_open else room
        pages = first.places.get(destination, room.places[destination]).pages
        return pages[position % len(pages)]


@mutant(
    "overlap.position-within-the-chunk",
    kills="RFC-0013:C-LAYERS#S4",
    also={
        "RFC-0013:C-LAYERS#S5": "late rows are in the pages of others, too",
        "RFC-0013:C-FINISH#S3": "its rows are in the pages of others",
    },
)
class PositionWithinTheChunk(SendingModel):
    """Counts the positions of a registered chunk from 0."""

    def position(self, chunk: Chunk, index: int) -> int:
        return index if chunk.told else super().position(chunk, index)


@mutant(
    "overlap.pages-of-the-next",
    kills="RFC-0013:C-LAYERS#S4",
    also={"RFC-0013:C-LAYERS#S1": "what goes with another chunk does not go with its own"},
)
class PagesOfTheNext(SendingModel):
    """Sends what is registered last in place of each chunk of the room."""

    def end_group(self, layer: int) -> None:
        due = [(context, self.job_layers(context, layer)) for context in self.contexts_open]
        if any(layers for _, layers in due):
            self.tell("boundary", "", layer)
        for context, layers in due:
            newest = self.contexts_of(context.room)[-1]
            if layers:
                self.enqueue(newest, self.ranks_with_pages(context), layers, is_finish=False)
                context.assigned.update(layers)


# -- order with the forward ------------------------------------------------------------------------------------------


@mutant("overlap.groups-wait-for-nothing", kills="RFC-0013:C-LAYERS#S5")
class GroupsWaitForNothing(SendingModel):
    """Reads the layers of a group without waiting for the device."""

    def source_pools(self, flight: FlightModel) -> Pools:
        early = flight.layers and len(flight.layers) < self.config.pool.all_layers and flight.chunk.told
        return self.plane.unordered_pools if early else super().source_pools(flight)


@mutant("overlap.waits-for-the-first-group", kills="RFC-0013:C-LAYERS#S5")
class WaitsForTheFirstGroup(SendingModel):
    """Waits for the event of the first group alone."""

    def source_pools(self, flight: FlightModel) -> Pools:
        later = flight.chunk.told and min(flight.layers, default=0) >= self.config.transfer.group > 0
        return self.plane.unordered_pools if later else super().source_pools(flight)


@mutant("overlap.waits-for-the-flights", kills="RFC-0013:C-LAYERS#S6")
class WaitsForTheFlights(SendingModel):
    """Waits at a boundary until what was submitted before has landed."""

    def end_group(self, layer: int) -> None:
        for flight in [flight for flight in self.flying if not flight.is_in_doubt]:
            self.complete(flight)
        super().end_group(layer)


@mutant("overlap.sends-on-the-forward", kills="RFC-0013:C-LAYERS#S6")
class SendsOnTheForward(SendingModel):
    """Submits on the thread of the forward what is a worker's."""

    def layer_end(self, layer: int) -> None:
        super().layer_end(layer)
        while self.jobs:
            self.work(self.jobs.pop(0))


@mutant("overlap.event-a-context", kills="RFC-0013:C-LAYERS#S7")
class EventAContext(SendingModel):
    """Records an event for each context at a boundary."""

    def end_group(self, layer: int) -> None:
        due = [context for context in self.contexts_open if self.job_layers(context, layer)]
        for _ in due[1:]:
            self.tell("boundary", "", layer)
        super().end_group(layer)


@mutant("overlap.event-a-layer", kills="RFC-0013:C-LAYERS#S7")
class EventALayer(SendingModel):
    """Records an event at the end of every layer."""

    def layer_end(self, layer: int) -> None:
        if self.contexts_open and layer in range(self.config.pool.all_layers) and not self.is_boundary(layer):
            self.tell("boundary", "", layer)
        super().layer_end(layer)


@mutant("overlap.event-for-nothing", kills="RFC-0013:C-LAYERS#S7")
class EventForNothing(SendingModel):
    """Records an event at a boundary at which nothing is left to send."""

    def end_group(self, layer: int) -> None:
        if self.contexts_open and not any(self.job_layers(context, layer) for context in self.contexts_open):
            self.tell("boundary", "", layer)
        super().end_group(layer)


@mutant("overlap.event-when-idle", kills="RFC-0013:C-LAYERS#S8")
class EventWhenIdle(SendingModel):
    """Records events where nothing is registered."""

    def end_group(self, layer: int) -> None:
        if not self.contexts_open:
            self.tell("boundary", "", layer)
        super().end_group(layer)

    def is_boundary(self, layer: int) -> bool:
        return self.config.transfer.group > 0 and super().is_boundary(layer)


@mutant("overlap.layer-from-the-end", kills="RFC-0013:C-LAYERS#S8")
class LayerFromTheEnd(SendingModel):
    """Takes a layer below 0 for one that is counted from the end."""

    def layer_end(self, layer: int) -> None:
        super().layer_end(layer + self.config.pool.all_layers if layer < 0 else layer)


@mutant("overlap.unknown-layer-raises", kills="RFC-0013:C-LAYERS#S8")
class UnknownLayerRaises(SendingModel):
    """Refuses the end of a layer that the pool does not have."""

    def layer_end(self, layer: int) -> None:
        if layer not in range(self.config.pool.all_layers):
            raise Rejected(Reason.LAYER_OUTSIDE_POOL)
        super().layer_end(layer)
