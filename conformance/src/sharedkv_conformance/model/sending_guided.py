"""Models that take the free choices of an answer where they are ones that they could have made themselves.

Free are the pages of an allocation and those that give way, the pages, slots and epoch of a reservation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sharedkv_conformance.contract.allocation import ExtendAllocation, ExtendRequest
from sharedkv_conformance.contract.errors import ContractError
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.operations import OPERATION_BY_NAME
from sharedkv_conformance.contract.sending import DecodePlace, Reservation
from sharedkv_conformance.model.allocation import AllocationModel, Lanes
from sharedkv_conformance.model.host_tier_tree_state import GuidedModel
from sharedkv_conformance.model.implementation import ModelImplementation, ModelSession
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.step import Answer, Call, Err, Ok


class GuidedAllocation(AllocationModel):
    """Takes the pages of an answer."""

    guide: Any = None

    def evict_deficit(self, required: Lanes) -> tuple[int, ...]:
        """Let the pages of the answer give way, where they are evictable and as many a lane."""
        own = super().evict_deficit(required)
        if not isinstance(self.guide, ExtendAllocation) or not self.are(self.guide.evicted, EVICTABLE):
            return own
        lanes = [Counter(map(self.geometry.lane, pages)) for pages in (own, self.guide.evicted)]
        return tuple(self.guide.evicted) if lanes[0] == lanes[1] else own

    def take(self, batch: Sequence[ExtendRequest], owners: Sequence[Lanes]) -> tuple[int, ...]:
        """Take the pages of the answer, where they are free and on the lanes of their owners."""
        wanted = tuple(lane for request in owners for lane in request)
        given = self.guide.pages if isinstance(self.guide, ExtendAllocation) else ()
        if not self.are(given, FREE) or tuple(map(self.geometry.lane, given)) != wanted:
            return super().take(batch, owners)
        self.pages.move(given, "in_use")
        return tuple(given)

    def are(self, pages: Sequence[int], state: str) -> bool:
        """Say whether pages are of the pool, each once, and in a state."""
        inside = all(map(self.geometry.holds, pages)) and len(set(pages)) == len(pages)
        return inside and all(self.pages.state(page) == state for page in pages)


class GuidedSending(SendingModel):
    """Takes the epoch, the pages and the slots of an answer."""

    guide: Any = None

    def next_epoch(self, room: int) -> int:
        """Take the epoch of the answer, where it grows."""
        if isinstance(self.guide, Reservation) and self.guide.epoch > self.epochs:
            self.epochs = self.guide.epoch
            return self.epochs
        return super().next_epoch(room)

    def place_given(self, rank: int) -> DecodePlace | None:
        """Return what the answer says of a rank."""
        places = self.guide.places if isinstance(self.guide, Reservation) else ()
        return next((place for place in places if place.rank == rank), None)

    def pages_for_room(self, rank: int, num_pages: int) -> tuple[int, ...]:
        """Take the pages of the answer, where they are free."""
        place = self.place_given(rank)
        given = place.pages if place is not None else ()
        are_free = len(set(given)) == num_pages == len(given) and set(given) <= set(self.free_pages[rank])
        return given if are_free else super().pages_for_room(rank, num_pages)

    def slot_for_room(self, rank: int) -> int:
        """Take the slot of the answer, where it is free."""
        place = self.place_given(rank)
        if place is not None and place.slot in self.free_slots[rank]:
            return place.slot
        return super().slot_for_room(rank)


def guided_session(config: OpenConfig) -> ModelSession:
    """Return a session of models that can be guided."""
    guided = ModelImplementation(allocation=GuidedAllocation, sending=GuidedSending, host_tier=GuidedModel)
    return guided.open(config)


def answered(session: ModelSession, call: Call, answer: Answer) -> Answer:
    """Return what a session of guided models answers, guided by an answer."""
    guide = answer.value if isinstance(answer, Ok) else None
    session.made("allocation").guide = session.sending.guide = guide  # type: ignore[attr-defined]  # guided models
    if session.has_made("host_tier"):
        session.made("host_tier").follow(guide)
    try:
        return Ok(OPERATION_BY_NAME[call.op].of(session)(*call.args.values()))
    except ContractError as error:
        return Err(error)
