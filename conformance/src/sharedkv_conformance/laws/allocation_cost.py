"""The laws of cost and contiguity: an allocation costs what is asked for, and keeps a lane's pages together."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.laws.allocation import EXTEND, granted
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.model.lane_pages import EVICTABLE, LaneRuns
from sharedkv_conformance.step import Answer, Call, Ok

COST = "probe.cost"


def _budget(before: AllocationState, asked: int) -> int:
    """Return `8 * asked * ceil(log2(pages + 2))`."""
    return 8 * asked * (before.config.pages + 1).bit_length()


def _last_ok(before: AllocationState, *ops: str) -> Call | None:
    if before.last is None or before.last[0].op not in ops or not isinstance(before.last[1], Ok):
        return None
    return before.last[0]


def _runs(before: AllocationState, pages: tuple[int, ...]) -> int:
    """Return how many runs of physical pages an answer holds, lane by lane."""
    lanes: dict[int, list[int]] = {}
    for page in pages:
        lanes.setdefault(before.geometry.lane(page), []).append(before.geometry.physical(page))
    return sum(1 for run in lanes.values() for a, b in zip([None, *run], run, strict=False) if a is None or b != a + 1)


@law("RFC-0001:C-COST#S1", on=COST)
def an_extend_costs_what_it_asks_for(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """The touched elements are bounded by the request, not by the pool, and are not simply denied."""
    extend = _last_ok(before, EXTEND)
    if extend is None or not isinstance(answer, Ok) or before.last is None:
        return
    pages = before.last[1].value.pages  # type: ignore[union-attr]
    budget = _budget(before, len(pages) + before.geometry.cp_size + len(extend.batch))
    if answer.value > budget:
        yield f"{len(pages)} new pages touched {answer.value} elements, allowed {budget} of {before.config.pages} pages"
    elif answer.value < _runs(before, pages):
        yield f"{_runs(before, pages)} runs of pages were taken, the probe tells of {answer.value} touched elements"


@law("RFC-0001:C-COST#S2", on=COST)
def a_release_costs_what_it_gives_back(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """The touched elements are bounded by the pages and locations named."""
    release = _last_ok(before, "allocation.release", "allocation.release_locations")
    if release is None or not isinstance(answer, Ok):
        return
    named = len(release.args.get("pages", release.args.get("locations")))
    budget = _budget(before, named + before.geometry.cp_size)
    if answer.value > budget:
        yield f"giving back {named} touched {answer.value} elements, allowed {budget} of {before.config.pages} pages"
    elif named and answer.value < 1:
        yield f"giving back {named} touched nothing, says the probe"


@law("RFC-0001:C-COST#S3", on=COST)
def lane_statistics_cost_lanes(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Statistics are read for every scheduling decision and do not count pages."""
    if _last_ok(before, "allocation.lanes") is None or not isinstance(answer, Ok):
        return
    budget = 8 * before.geometry.cp_size
    if answer.value > budget:
        yield f"lane statistics touched {answer.value} elements, allowed {budget}"


@law("RFC-0001:C-CONTIGUITY#S1", on=EXTEND)
def pages_of_a_lane_stay_together(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """One request's pages of a lane are one ascending run of physical pages whenever a free run is long enough."""
    found = granted(before, call, answer)
    if found is None or found.owners != before.expected_owners(call) or len(found.pages) != len(found.owners):
        return
    free = [runs.copy() for runs in before.pages.runs]
    for page in found.evicted:
        if before.geometry.holds(page) and before.pages.state(page) == EVICTABLE:
            free[before.geometry.lane(page)].free(before.geometry.physical(page))
    pages = iter(found.pages)
    for request, owners in zip(call.batch, before.expected_by_request(call), strict=True):
        own = [next(pages) for _ in owners]
        for lane in sorted(set(owners)):
            places = [before.geometry.physical(p) for p in own if before.geometry.lane(p) == lane]
            places = [place for place in places if _is_free(free[lane], place)]
            longest = max(free[lane].starts, default=0)
            together = places == list(range(min(places, default=0), max(places, default=-1) + 1))
            if longest >= len(places) and not together:
                where = f"physical pages {places} of lane {lane}"
                yield f"request {request.request!r}: {where}, and a free run of {longest} was there"
            for place in dict.fromkeys(places):
                free[lane].take(place)


def _is_free(runs: LaneRuns, place: int) -> bool:
    return any(start <= place < end for start, end in runs.end_of.items())
