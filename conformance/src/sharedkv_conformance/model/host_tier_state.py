"""What may be known of a host tier from its answers alone: the state that the laws of the host tier judge against."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import CapacityWait, Reason
from sharedkv_conformance.contract.host_tier import HostStatistics
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.host_pool import are_counts, fits, host_lanes, misnamed
from sharedkv_conformance.step import Answer, Call, Ok

Lanes = tuple[int, ...]
STATISTICS = "host_tier.statistics"


class HostTierState:
    """The state before a call, by what was answered so far. Answers are adopted as they are, right or wrong."""

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.lanes = host_lanes(config)
        self.released: list[set[int]] = [set() for _ in self.lanes]
        self.last: tuple[Call, Answer] | None = None
        self.moved = False
        self.waited = False
        self.looked_at: set[int] = set()
        self.changed_since: set[int] = set()
        self.statistics_seen: HostStatistics | None = None
        self.free_seen = self.free
        self.peer_answer: Answer | None = None

    @property
    def free(self) -> Lanes:
        """Return the free pages of each lane."""
        return tuple(lane.num_free for lane in self.lanes)

    def has_lane(self, lane: int) -> bool:
        """Say whether the pool has a lane of this number."""
        return 0 <= lane < len(self.lanes)

    def can_serve(self, call: Call) -> bool:
        """Say whether an allocation asks for counts, and for no more than is free."""
        return are_counts(self.config, call.pages) and fits(call.pages, self.free)

    def must_wait(self, call: Call) -> bool:
        """Say whether an allocation asks for counts, and for more than is free somewhere."""
        return are_counts(self.config, call.pages) and not fits(call.pages, self.free)

    def misnamed(self, call: Call) -> frozenset[Reason]:
        """Return every reason why the pages of a release cannot be given back; none for a lane that is not there."""
        return misnamed(self.lanes[call.lane], call.pages) if self.has_lane(call.lane) else frozenset()

    # -- adopting answers --------------------------------------------------------------------------------------------

    def adopt(self, call: Call, answer: Answer) -> None:
        """Take an answer as it is and go on from there; `moved` says whether a call of the facet moved a page."""
        free = self.free
        if call.op == "host_tier.allocate":
            self._adopt_allocate(answer)
        elif call.op == "host_tier.release" and isinstance(answer, Ok) and self.has_lane(call.lane):
            self.lanes[call.lane].give(call.pages)
            self.released[call.lane].update(call.pages)
            self.changed_since.add(call.lane)
        elif call.op == "host_tier.free_slots" and isinstance(answer, Ok):
            self.looked_at.add(call.lane)
            self.changed_since.discard(call.lane)
        elif call.op == STATISTICS and isinstance(answer, Ok):
            self.statistics_seen, self.free_seen = answer.value, self.free
        if call.op.startswith("host_tier."):
            self.last, self.moved = (call, answer), self.free != free

    def _adopt_allocate(self, answer: Answer) -> None:
        if isinstance(answer, Ok):
            for lane, (own, pages) in enumerate(zip(self.lanes, answer.value.pages, strict=False)):
                own.take(pages)
                self.changed_since |= {lane} if pages else set()
        else:
            self.waited = self.waited or isinstance(answer.error, CapacityWait)
