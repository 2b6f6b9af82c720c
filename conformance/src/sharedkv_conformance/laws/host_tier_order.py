"""The laws of how host pages lie, what a call on them costs, and how slots by token show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sharedkv_conformance.laws.host_tier import ALLOCATE, FREE_SLOTS, RELEASE, served, waits
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_pool import slots
from sharedkv_conformance.model.host_tier_state import STATISTICS, HostTierState
from sharedkv_conformance.step import Answer, Call, Err, Ok

COST = "probe.cost"


def num_runs(pages: Sequence[int]) -> int:
    """Count the ascending runs of consecutive pages, in the order in which the pages stand."""
    return sum(after != before + 1 for before, after in pairwise(pages)) + (1 if pages else 0)


def fewest_runs(run_lengths: Sequence[int], count: int) -> int:
    """Return how many of the free runs are needed to hold so many pages."""
    taken = 0
    for length in sorted(run_lengths, reverse=True):
        if count <= 0:
            break
        count -= length
        taken += 1
    return taken


@law("RFC-0006:C-HOST-POOL#S11", on=FREE_SLOTS)
def slots_show_the_free_pages(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """The view by token slot is what the pool is now, whatever happened before."""
    if not before.has_lane(call.lane):
        return
    if isinstance(answer, Err):
        yield f"free slots of lane {call.lane} were answered with {answer.error}"
        return
    wanted = slots(before.lanes[call.lane].free_pages(), before.config.page_size)
    if answer.value != wanted:
        extra = sorted(set(answer.value).difference(wanted))
        lost = sorted(set(wanted).difference(answer.value))
        yield f"free slots of lane {call.lane}: {extra} too many, {lost} too few, or not ascending, each once"


@law("RFC-0006:C-HOST-POOL#S12", on=ALLOCATE)
def host_pages_of_a_lane_stay_together(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """The pages of a lane are one ascending run whenever a free run is long enough."""
    for lane, pages, run_lengths in _judged_lanes(before, call, answer):
        longest = max(run_lengths, default=0)
        if len(pages) <= longest and num_runs(pages) > 1:
            yield f"pages {list(pages)} of lane {lane}, and a free run of {longest} was there"


@law("RFC-0006:C-HOST-POOL#S13", on=ALLOCATE)
def scattered_host_pages_lie_in_few_runs(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """Where no free run is long enough, the longest ones go first."""
    for lane, pages, run_lengths in _judged_lanes(before, call, answer):
        fewest = fewest_runs(run_lengths, len(pages))
        if fewest > 1 and num_runs(pages) > fewest:
            yield f"pages {list(pages)} of lane {lane} are {num_runs(pages)} runs, {fewest} would hold them"


def _judged_lanes(
    before: HostTierState, call: Call, answer: Answer
) -> Iterator[tuple[int, tuple[int, ...], Sequence[int]]]:
    """Yield lane, pages given and the lengths of the free runs, for lanes whose pages were free and are distinct."""
    if isinstance(answer, Ok) and served(before, call, answer):
        for lane, (own, pages) in enumerate(zip(before.lanes, answer.value.pages, strict=True)):
            if all(map(own.is_free, pages)) and len(set(pages)) == len(pages):
                yield lane, pages, own.run_lengths


def budget(before: HostTierState, asked: int) -> int:
    """Return `8 * asked * ceil(log2(host_pages + 2))`."""
    return 8 * asked * (before.config.host_pages + 1).bit_length()


def last_of(before: HostTierState, op: str) -> tuple[Call, Answer] | None:
    """Return the last call of the facet and its answer, if it was this one."""
    return before.last if before.last is not None and before.last[0].op == op else None


@law("RFC-0006:C-HOST-POOL-COST#S1", on=COST)
def a_host_allocation_costs_what_it_asks_for(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """The touched elements are bounded by the pages that are given, not by the pool, and are not simply denied."""
    last = last_of(before, ALLOCATE)
    if last is None or not isinstance(answer, Ok) or not (isinstance(last[1], Ok) or waits(last[1])):
        return
    pages = last[1].value.pages if isinstance(last[1], Ok) else ()
    num_pages = sum(map(len, pages))
    allowed, least = budget(before, num_pages + before.config.cp_size), sum(map(num_runs, pages))
    if answer.value > allowed:
        yield (
            f"an allocation of {num_pages} pages touched {answer.value} elements, allowed {allowed} "
            f"with {before.config.host_pages} pages a lane"
        )
    elif answer.value < least:
        yield f"{least} runs of pages were taken, the probe tells of {answer.value} touched elements"


@law("RFC-0006:C-HOST-POOL-COST#S2", on=COST)
def a_host_release_costs_what_it_gives_back(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """The touched elements are bounded by the pages named."""
    last = last_of(before, RELEASE)
    if last is None or not isinstance(answer, Ok) or not isinstance(last[1], Ok) or not before.moved:
        return
    named = len(last[0].pages)
    allowed = budget(before, named + 1)
    if answer.value > allowed:
        yield (
            f"giving back {named} pages touched {answer.value} elements, allowed {allowed} "
            f"with {before.config.host_pages} pages a lane"
        )
    elif answer.value < 1:
        yield f"giving back {named} pages touched nothing, says the probe"


@law("RFC-0006:C-HOST-POOL-COST#S3", on=COST)
def host_statistics_cost_lanes(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """Statistics are read for every scheduling decision and do not count pages."""
    last = last_of(before, STATISTICS)
    if last is None or not isinstance(answer, Ok) or not isinstance(last[1], Ok):
        return
    allowed = 8 * before.config.cp_size
    if answer.value > allowed:
        yield f"host statistics touched {answer.value} elements, allowed {allowed}"
