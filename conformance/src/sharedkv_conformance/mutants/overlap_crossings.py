"""Wrong variants of overlap that go wrong where two things cross: layers of two groups, two forwards, two ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.overlap import OverlapContext
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.pool import Pools
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import AUX_RANK, KV, Chunk, FlightModel


@mutant("overlap.group-counted-back", kills="RFC-0013:C-LAYERS#S1")
class GroupCountedBack(SendingModel):
    """Counts a group back from its boundary, also the last one, which is smaller."""

    def group_of(self, layer: int) -> range:
        return range(max(0, layer + 1 - self.config.transfer.group), layer + 1)


@mutant("overlap.told-before-it-was-registered", kills="RFC-0013:C-LAYERS#S1")
class ToldBeforeItWasRegistered(SendingModel):
    """Notes layers, and tells them at a boundary to all contexts that there are by then, or when somebody looks."""

    def __init__(self, config: OpenConfig, plane: DataPlane, allocation: Callable[[], AllocationModel]) -> None:
        super().__init__(config, plane, allocation)
        self.noted: set[int] = set()

    def hear_layer(self, context: Chunk, layer: int) -> None:
        self.noted.add(layer)
        if self.is_boundary(layer):
            self.tell_all()

    def contexts(self) -> tuple[OverlapContext, ...]:
        self.tell_all()
        return super().contexts()

    def tell_all(self) -> None:
        """Tell what was noted."""
        for context in self.contexts_open:
            context.told.update(self.noted)
        if self.contexts_open:
            self.noted.clear()


@mutant("overlap.noted-layers-lost", kills="RFC-0013:C-LAYERS#S1")
class NotedLayersLost(ToldBeforeItWasRegistered):
    """Notes layers, and forgets what was noted when a chunk is sent."""

    def register(self, room: int, pages: Sequence[int], first_position: int, is_last: bool) -> bool:  # noqa: FBT001 - by contract
        self.tell_all()
        return super().register(room, pages, first_position, is_last)

    def begun(self, asked: Chunk) -> Chunk:
        self.noted.clear()
        return super().begun(asked)


@mutant("overlap.deadline-from-registration", kills="RFC-0013:C-FINISH#S7")
class DeadlineFromRegistration(SendingModel):
    """Counts the time of a chunk from its registration, so that a long forward is too late."""

    def __init__(self, config: OpenConfig, plane: DataPlane, allocation: Callable[[], AllocationModel]) -> None:
        super().__init__(config, plane, allocation)
        self.registered_at: dict[tuple[int, int], int] = {}

    def register(self, room: int, pages: Sequence[int], first_position: int, is_last: bool) -> bool:  # noqa: FBT001 - by contract
        self.registered_at.setdefault((room, first_position), self.clock)
        return super().register(room, pages, first_position, is_last)

    def is_overdue(self, chunk: Chunk) -> bool:
        began = self.registered_at.get((chunk.room.room, chunk.first), chunk.sent_at)
        return not self.is_picked(chunk) and self.clock - began >= self.config.transfer.deadline


@mutant("overlap.rows-of-the-first-rank", kills="RFC-0013:C-LAYERS#S5")
class RowsOfTheFirstRank(SendingModel):
    """Has the worker of the first rank alone wait for rows, and not where that rank has no page."""

    def source_pools(self, flight: FlightModel) -> Pools:
        is_alone = flight.part == KV and not self.own(AUX_RANK, flight.chunk.pages)
        return self.plane.unordered_pools if is_alone else super().source_pools(flight)


@mutant("overlap.order-of-pages-ignored", kills="RFC-0013:C-CONTEXTS#S7")
class OrderOfPagesIgnored(SendingModel):
    """Compares the pages of a chunk with those that were registered as sets."""

    def send_faults(self, asked: Chunk) -> frozenset[Reason]:
        context = self.context_of(asked.room, asked.first)
        is_alike = context is not None and context.is_last == asked.is_last
        is_same = is_alike and context is not None and set(context.pages) == set(asked.pages)
        return super().send_faults(asked) - ({Reason.CONTEXT_DIFFERS} if is_same else set())
