"""The witnesses of the host tier: what must have happened before a law's silence proves anything."""

from __future__ import annotations

from sharedkv_conformance.laws.host_tier import ALLOCATE, FREE_SLOTS, RELEASE, rejected, waits
from sharedkv_conformance.laws.host_tier_order import COST, last_of
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.host_pool import are_counts
from sharedkv_conformance.model.host_tier_state import STATISTICS, HostTierState
from sharedkv_conformance.step import Answer, Call, Ok

LARGE_POOL = 10_000
MANY_RUNS = 100


@witness(on=ALLOCATE)
def host_lanes_asked_unequally(before: HostTierState, call: Call, answer: Answer) -> bool:
    """An allocation was served that asked for pages of two lanes at least, and not for as many of each."""
    return isinstance(answer, Ok) and sum(map(bool, call.pages)) > 1 and len(set(call.pages)) > 1


@witness(on=ALLOCATE)
def host_lane_spared(before: HostTierState, call: Call, answer: Answer) -> bool:
    """An allocation was served that asked for no page of one lane, and for some of another."""
    return isinstance(answer, Ok) and 0 in call.pages and any(call.pages)


@witness(on=ALLOCATE)
def host_lane_emptied(before: HostTierState, call: Call, answer: Answer) -> bool:
    """An allocation took every free page of a lane, which lay in several runs."""
    lanes = zip(call.pages, before.lanes, strict=False)
    return isinstance(answer, Ok) and any(need == own.num_free and len(own.run_lengths) > 1 for need, own in lanes)


@witness(on=ALLOCATE)
def host_pages_reused(before: HostTierState, call: Call, answer: Answer) -> bool:
    """A page was given that had been given back before, while others were allocated."""
    if not isinstance(answer, Ok):
        return False
    lanes = zip(before.released, before.lanes, answer.value.pages, strict=False)
    return any(own.allocated and released.intersection(pages) for released, own, pages in lanes)


@witness(on=ALLOCATE)
def host_lane_short_behind_another(before: HostTierState, call: Call, answer: Answer) -> bool:
    """A lane was short, and a lane before it had what was asked of it."""
    if not before.must_wait(call):
        return False
    short = [need > own.num_free for need, own in zip(call.pages, before.lanes, strict=True)]
    return any(need and not late for need, late in zip(call.pages, short[: short.index(True)], strict=False))


@witness(on=ALLOCATE)
def host_total_enough(before: HostTierState, call: Call, answer: Answer) -> bool:
    """The lanes had pages enough in all, and one of them had not."""
    return before.must_wait(call) and sum(call.pages) <= sum(before.free)


@witness(on=ALLOCATE)
def host_waited(before: HostTierState, call: Call, answer: Answer) -> bool:
    """An allocation had to wait."""
    return waits(answer)


@witness(on=ALLOCATE)
def host_served_after_wait(before: HostTierState, call: Call, answer: Answer) -> bool:
    """An allocation was served after an earlier one had to wait."""
    return isinstance(answer, Ok) and any(call.pages) and before.waited


@witness(on=ALLOCATE)
def host_most_of_another_lane_asked(before: HostTierState, call: Call, answer: Answer) -> bool:
    """An allocation asked more of a lane than another had free, and was served."""
    return isinstance(answer, Ok) and max(call.pages, default=0) > min(before.free)


@witness(on=RELEASE)
def host_pages_given_back(before: HostTierState, call: Call, answer: Answer) -> bool:
    """A part of a lane's pages was given back, not in ascending order, on a lane beyond the first."""
    if not isinstance(answer, Ok) or not before.has_lane(call.lane):
        return False
    return call.lane > 0 and list(call.pages) != sorted(call.pages)


@witness(on=RELEASE)
def host_page_misnamed_beside_good_ones(before: HostTierState, call: Call, answer: Answer) -> bool:
    """A page that must be refused was named after one that is fine."""
    return bool(before.misnamed(call)) and call.pages[0] in before.lanes[call.lane].allocated


@witness(on=RELEASE)
def host_page_freed_before(before: HostTierState, call: Call, answer: Answer) -> bool:
    """A page that had been given back was given back again."""
    return rejected(answer) and before.has_lane(call.lane) and bool(before.released[call.lane].intersection(call.pages))


@witness(on=RELEASE)
def host_page_of_another_lane(before: HostTierState, call: Call, answer: Answer) -> bool:
    """A page was given back that is free on the lane named, and allocated on another."""
    if not before.has_lane(call.lane):
        return False
    own = before.lanes[call.lane]
    return any(own.is_free(page) and any(page in lane.allocated for lane in before.lanes) for page in call.pages)


@witness(on=ALLOCATE)
def host_counts_invalid(before: HostTierState, call: Call, answer: Answer) -> bool:
    """Counts were given that are not one a lane, or one below 0, and pages would have been there."""
    return not are_counts(before.config, call.pages) and any(before.free)


@witness(on=(RELEASE, FREE_SLOTS))
def host_lane_unknown(before: HostTierState, call: Call, answer: Answer) -> bool:
    """A lane was named that is not there."""
    return not before.has_lane(call.lane)


@witness(on=STATISTICS)
def host_pages_in_both_states(before: HostTierState, call: Call, answer: Answer) -> bool:
    """Statistics were read while a lane had free pages and allocated ones."""
    return any(own.allocated and own.num_free for own in before.lanes)


@witness(on=FREE_SLOTS)
def host_slots_seen_again(before: HostTierState, call: Call, answer: Answer) -> bool:
    """The slots of a lane were looked at again after pages of it had moved."""
    return isinstance(answer, Ok) and call.lane in before.looked_at and call.lane in before.changed_since


@witness(on=FREE_SLOTS)
def host_slots_in_several_runs(before: HostTierState, call: Call, answer: Answer) -> bool:
    """The slots of a lane were looked at while its free pages lay in several runs, some of them given back."""
    if not isinstance(answer, Ok) or not before.has_lane(call.lane):
        return False
    return len(before.lanes[call.lane].run_lengths) > 1 and bool(before.released[call.lane])


@witness(on=ALLOCATE)
def host_long_run_behind_short_ones(before: HostTierState, call: Call, answer: Answer) -> bool:
    """Two pages or more of a lane were asked for, and the first run that is long enough lay behind a shorter one."""
    if not isinstance(answer, Ok):
        return False
    lanes = zip(call.pages, before.lanes, strict=False)
    return any(1 < need <= max(own.run_lengths, default=0) and len(own.runs()[0]) < need for need, own in lanes)


@witness(on=ALLOCATE)
def host_no_run_long_enough(before: HostTierState, call: Call, answer: Answer) -> bool:
    """More pages of a lane were given than any run had, where the first of several runs was not the longest."""
    if not isinstance(answer, Ok):
        return False
    lanes = zip(call.pages, before.lanes, strict=False)
    return any(need > max(own.run_lengths, default=0) and _short_before_long(own.runs()) for need, own in lanes if need)


def _short_before_long(runs: list[range]) -> bool:
    return len(runs) > 2 and len(runs[0]) < max(map(len, runs[1:]))  # noqa: PLR2004 - two runs are needed in any order


def _is_large(before: HostTierState) -> bool:
    return before.config.host_pages >= LARGE_POOL


def _is_fragmented(before: HostTierState) -> bool:
    return min(len(own.run_lengths) for own in before.lanes) > MANY_RUNS


def _told(before: HostTierState, op: str, answer: Answer) -> Answer | None:
    """Return what the last call was answered with, if it was this one and the probe told of its cost."""
    last = last_of(before, op)
    return last[1] if last is not None and isinstance(answer, Ok) else None


@witness(on=COST)
def cost_of_a_host_allocation(before: HostTierState, call: Call, answer: Answer) -> bool:
    """The cost of an allocation was read in a large pool with free pages in many runs."""
    last = _told(before, ALLOCATE, answer)
    return isinstance(last, Ok) and _is_large(before) and _is_fragmented(before)


@witness(on=COST)
def cost_of_a_host_wait(before: HostTierState, call: Call, answer: Answer) -> bool:
    """The cost of an allocation that had to wait was read in a large pool with free pages in many runs."""
    last = _told(before, ALLOCATE, answer)
    return last is not None and waits(last) and _is_large(before) and _is_fragmented(before)


@witness(on=COST)
def cost_of_a_host_release(before: HostTierState, call: Call, answer: Answer) -> bool:
    """The cost of a release was read in a large pool, after somebody had looked at the slots of the lane."""
    last = last_of(before, RELEASE)
    looked = last is not None and last[0].lane in before.looked_at
    return looked and isinstance(_told(before, RELEASE, answer), Ok) and _is_large(before)


@witness(on=COST)
def cost_of_host_statistics(before: HostTierState, call: Call, answer: Answer) -> bool:
    """The cost of statistics was read in a large pool."""
    return _told(before, STATISTICS, answer) is not None and _is_large(before)
