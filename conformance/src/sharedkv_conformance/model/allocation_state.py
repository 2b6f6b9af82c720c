"""What may be known of an allocator from its answers alone: the state that the laws of allocation judge against."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sharedkv_conformance.contract.allocation import ExtendRequest, LaneStatistics
from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.allocation import by_lane, refusals
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE, IN_USE, LanePages
from sharedkv_conformance.model.planning_split import page_owners
from sharedkv_conformance.step import Answer, Call, Err, Ok

Lanes = tuple[int, ...]


class AllocationState:
    """The state before a call, by what was answered so far. Answers are adopted as they are, right or wrong."""

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.geometry = Geometry.of(config)
        self.pages = LanePages(self.geometry)
        self.flat: set[int] = set()
        self.released: set[int] = set()
        self.snapshots: dict[int, tuple[LanePages, set[int]]] = {}
        self.last: tuple[Call, Answer] | None = None
        self.waiting = False
        self.refused: list[Reason] = []
        self.lanes_seen: LaneStatistics | None = None
        self.counts_seen = self.counts()
        self.events_seen = 0
        self.peer_answer: Answer | None = None
        self._planned: tuple[Call, list[Lanes]] | None = None

    # -- what laws ask -----------------------------------------------------------------------------------------------

    def refusals(self, call: Call) -> frozenset[Reason]:
        """Return every reason for which the batch of a call cannot be served."""
        return refusals(self.geometry, call.batch)

    def expected_by_request(self, call: Call) -> list[Lanes]:
        """Return the owner of each new page, request by request."""
        if self._planned is None or self._planned[0] is not call:
            self._planned = call, [page_owners(self.geometry, request.extend_tokens) for request in call.batch]
        return self._planned[1]

    def expected_owners(self, call: Call) -> Lanes:
        """Return the owner of each new page, flattened in request order."""
        return tuple(lane for request in self.expected_by_request(call) for lane in request)

    def required(self, call: Call) -> Lanes:
        """Return how many pages of each lane the batch of a call needs."""
        return by_lane(self.geometry, self.expected_owners(call))

    @property
    def free(self) -> Lanes:
        """Return the free pages of each lane."""
        return self.pages.counts(FREE)

    @property
    def evictable(self) -> Lanes:
        """Return the evictable pages of each lane."""
        return self.pages.counts(EVICTABLE)

    @property
    def room(self) -> Lanes:
        """Return the pages of each lane that an extend may use."""
        return tuple(map(sum, zip(self.free, self.evictable, strict=True)))

    def counts(self) -> Mapping[str, Lanes]:
        """Return the pages of each lane by state."""
        return {state: self.pages.counts(state) for state in (FREE, EVICTABLE, IN_USE)}

    def pages_in(self, state: str) -> list[int]:
        """Return the pages of a state in ascending order."""
        return sorted(page for lane in self.pages.by_lane(state) for page in lane)

    # -- adopting answers --------------------------------------------------------------------------------------------

    def adopt(self, call: Call, answer: Answer) -> None:
        """Take an answer as it is and go on from there."""
        self._planned = None
        method: Callable[[Call, Any], None] | None = getattr(self, "_adopt_" + call.op.partition(".")[2], None)
        if isinstance(answer, Ok) and method is not None:
            method(call, answer.value)
        elif "batch" in call.args and isinstance(answer, Err):
            self._adopt_failed_batch(answer)
        if call.op.startswith("allocation."):
            self.last = (call, answer)

    def _adopt_extend(self, _call: Call, value: Any) -> None:
        self._move(value.evicted, FREE)
        self._move(value.pages, IN_USE)
        self.waiting = False

    def _adopt_failed_batch(self, answer: Err) -> None:
        if isinstance(answer.error, Rejected):
            self.refused.append(answer.error.reason)
        self.waiting = self.waiting or isinstance(answer.error, CapacityWait)

    def _adopt_make_room(self, _call: Call, value: Any) -> None:
        self._move(value.evicted, FREE)

    def _adopt_retain(self, call: Call, _value: None) -> None:
        self._move(call.pages, EVICTABLE)

    def _adopt_release(self, call: Call, _value: None) -> None:
        self._move(call.pages, FREE)

    def _adopt_release_locations(self, call: Call, _value: None) -> None:
        self._move(tuple(dict.fromkeys(where // self.geometry.page_size for where in call.locations)), FREE)

    def _adopt_allocate_flat(self, _call: Call, value: Any) -> None:
        self._move(value, IN_USE)
        self.flat |= {page for page in value if self.geometry.holds(page)}

    def _adopt_snapshot(self, _call: Call, value: int) -> None:
        self.snapshots[value] = (self.pages.copy(), set(self.flat))

    def _adopt_restore(self, call: Call, _value: None) -> None:
        if call.snapshot in self.snapshots:
            pages, flat = self.snapshots[call.snapshot]
            self.pages, self.flat = pages.copy(), set(flat)
            self.snapshots = {name: saved for name, saved in self.snapshots.items() if name <= call.snapshot}

    def _adopt_lanes(self, _call: Call, value: LaneStatistics) -> None:
        self.lanes_seen, self.counts_seen = value, self.counts()

    def _adopt_events(self, _call: Call, value: Sequence[Any]) -> None:
        self.events_seen = len(value)
        self.refused.clear()

    def _move(self, pages: Sequence[int], state: str) -> None:
        inside = [page for page in pages if self.geometry.holds(page)]
        self.pages.move(inside, state)
        if state == FREE:
            self.flat.difference_update(inside)
            self.released.update(inside)


def batch_of(*lengths: tuple[int, int]) -> tuple[ExtendRequest, ...]:
    """Return a batch of requests with the given prefix and extend lengths, in tokens."""
    return tuple(
        ExtendRequest(request=f"r{index}", prefix_tokens=prefix, extend_tokens=extend)
        for index, (prefix, extend) in enumerate(lengths)
    )
