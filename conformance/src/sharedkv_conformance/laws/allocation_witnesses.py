"""The witnesses of allocation: what must have happened before a law's silence proves anything."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import CapacityWait, Rejected
from sharedkv_conformance.laws.allocation import EXTEND
from sharedkv_conformance.laws.allocation_accounting import FLAT, LANES, RELEASE, RELEASE_LOCATIONS, RESTORE, RETAIN
from sharedkv_conformance.laws.allocation_capacity import ADMIT, MAKE_ROOM
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.allocation import misnamed, room_to_make
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.model.lane_pages import EVICTABLE, IN_USE
from sharedkv_conformance.step import Answer, Call, Err, Ok


def _waits(answer: Answer) -> bool:
    return isinstance(answer, Err) and isinstance(answer.error, CapacityWait)


def _rejected(answer: Answer) -> bool:
    return isinstance(answer, Err) and isinstance(answer.error, Rejected)


@witness(on=EXTEND)
def two_requests(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A batch of at least two requests with different prefix and extend lengths was served."""
    lengths = {(r.prefix_tokens, r.extend_tokens) for r in call.batch}
    prefixes, extends = {p for p, _ in lengths}, {e for _, e in lengths}
    return isinstance(answer, Ok) and len(prefixes) > 1 and len(extends) > 1


@witness(on=EXTEND)
def one_request(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A batch of one request with more than one new page was served."""
    return isinstance(answer, Ok) and len(call.batch) == 1 and len(answer.value.pages) > 1


@witness(on=EXTEND)
def lane_wrap(before: AllocationState, call: Call, answer: Answer) -> bool:
    """Pages beyond the first row of lanes were given, so that the lane rule wrapped."""
    return isinstance(answer, Ok) and max(answer.value.pages, default=0) > before.geometry.cp_size


@witness(on=EXTEND)
def partial_tail(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A request's last new page was not filled, and another request followed."""
    size = before.geometry.page_size
    return isinstance(answer, Ok) and any(r.extend_tokens % size for r in call.batch[:-1])


@witness(on=EXTEND)
def lanes_out_of_order(before: AllocationState, call: Call, answer: Answer) -> bool:
    """The owners of a served batch are not ascending, so that sorting them would show."""
    return isinstance(answer, Ok) and list(answer.value.owners) != sorted(answer.value.owners)


@witness(on=EXTEND)
def pool_exhausted(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A batch took the last free page of the whole pool."""
    return isinstance(answer, Ok) and sum(before.free) == len(answer.value.pages) - len(answer.value.evicted)


@witness(on=EXTEND)
def unplannable_batch(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A batch held a request without owners, behind one that has them."""
    return bool(before.refusals(call)) and len(call.batch) > 1


@witness(on=EXTEND)
def supported_batch(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A page-aligned batch of several requests was served: the positive control of refusals."""
    return isinstance(answer, Ok) and len(call.batch) > 1 and not before.refusals(call)


@witness(on="probe.events")
def refusal_reported(before: AllocationState, call: Call, answer: Answer) -> bool:
    """The probe told of a refusal that had happened: the positive control of its silence."""
    reported = {event.reason for event in answer.value[before.events_seen :]} if isinstance(answer, Ok) else set()
    return any(reason in reported for reason in before.refused)


@witness(on=EXTEND)
def capacity_exhausted(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A batch of several requests met a lane that free and evictable pages together could not serve."""
    short = any(need > have for need, have in zip(before.required(call), before.room, strict=True))
    return short and len(call.batch) > 1 and not before.refusals(call)


@witness(on=EXTEND)
def waited(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A batch was answered with a capacity wait."""
    return _waits(answer)


@witness(on=EXTEND)
def one_lane_short_total_enough(before: AllocationState, call: Call, answer: Answer) -> bool:
    """The pool had pages enough in all, and one lane had not."""
    required = before.required(call)
    short = any(need > have for need, have in zip(required, before.room, strict=True))
    return short and sum(required) <= sum(before.room) and not before.refusals(call)


@witness(on=EXTEND)
def served_after_wait(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A batch was served after an earlier one had to wait."""
    return isinstance(answer, Ok) and before.waiting


@witness(on=EXTEND)
def cache_covers_the_deficit(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A lane was short of free pages, and evictable ones covered what was missing on every lane."""
    if before.refusals(call):
        return False
    lanes = list(zip(before.required(call), before.free, before.room, strict=True))
    return any(need > free for need, free, _ in lanes) and all(need <= room for need, _, room in lanes)


@witness(on=EXTEND)
def cache_beyond_the_deficit(before: AllocationState, call: Call, answer: Answer) -> bool:
    """Cache covered the deficit, and some lane held more of it than was missing there."""
    if before.refusals(call) or not cache_covers_the_deficit.occurred(before, call, answer):
        return False
    lanes = zip(before.required(call), before.free, before.evictable, strict=True)
    return any(kept > max(0, need - free) for need, free, kept in lanes)


@witness(on=ADMIT)
def admitted(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A batch was admitted that cp_size times the smallest lane would not hold."""
    required = before.required(call) if not before.refusals(call) else ()
    floor = before.config.cp_size * min(before.room)
    return isinstance(answer, Ok) and answer.value.fits and sum(required) > floor


@witness(on=ADMIT)
def not_admitted(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A batch was not admitted although the sum over lanes would hold it."""
    required = before.required(call) if not before.refusals(call) else ()
    return isinstance(answer, Ok) and not answer.value.fits and sum(required) <= sum(before.room)


def _rooms(before: AllocationState, call: Call) -> list[tuple[int, int, int]]:
    """Return what the policy asks for, what is evictable, and what is free, lane by lane."""
    needs = zip(before.required(call), before.free, before.evictable, strict=True)
    return [(room_to_make(before.config, need, free), evictable, free - need) for need, free, evictable in needs]


@witness(on=MAKE_ROOM)
def room_made_for_the_pending_batch(before: AllocationState, call: Call, answer: Answer) -> bool:
    """Room was due only because of the pending batch: free pages alone reached the target."""
    target = before.config.free_room.target
    lanes = zip(_rooms(before, call), before.free, strict=True)
    return any(asked and evictable and free >= target for (asked, evictable, _), free in lanes)


@witness(on=MAKE_ROOM)
def room_not_due(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A lane with cache had room enough."""
    return any(not asked and evictable for asked, evictable, _ in _rooms(before, call))


@witness(on=MAKE_ROOM)
def chunk_beyond_the_shortage(before: AllocationState, call: Call, answer: Answer) -> bool:
    """The least chunk was more than the exact shortage, and the lane had the pages."""
    return any(
        asked > max(0, -left) and evictable > max(0, -left) > -1 and evictable > 1 and asked > 1
        for asked, evictable, left in _rooms(before, call)
    )


@witness(on=MAKE_ROOM)
def room_short(before: AllocationState, call: Call, answer: Answer) -> bool:
    """The policy asked for more than could be evicted."""
    return any(asked > evictable for asked, evictable, _ in _rooms(before, call))


@witness(on=EXTEND)
def reuse_after_release(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A page that had been given back was given out again."""
    return isinstance(answer, Ok) and bool(before.released.intersection(answer.value.pages))


@witness(on=(RELEASE, RELEASE_LOCATIONS))
def pages_given_back(before: AllocationState, call: Call, answer: Answer) -> bool:
    """Pages of more than one lane were given back in one call."""
    pages = call.args.get("pages") or [where // before.geometry.page_size for where in call.args.get("locations", ())]
    return isinstance(answer, Ok) and len({before.geometry.lane(page) for page in pages}) > 1


@witness(on=RELEASE_LOCATIONS)
def several_locations_in_one_page(before: AllocationState, call: Call, answer: Answer) -> bool:
    """Two locations of one page were named in one call."""
    pages = [location // before.geometry.page_size for location in call.locations]
    return isinstance(answer, Ok) and len(set(pages)) < len(pages)


@witness(on=RELEASE_LOCATIONS)
def misnamed_by_location(before: AllocationState, call: Call, answer: Answer) -> bool:
    """Locations named a page that must be refused."""
    pages = tuple(dict.fromkeys(location // before.geometry.page_size for location in call.locations))
    return bool(misnamed(before.geometry, pages, before.pages.state, (IN_USE, EVICTABLE)))


@witness(on=("allocation.admit", "allocation.make_room"))
def question_about_an_unplannable_batch(before: AllocationState, call: Call, answer: Answer) -> bool:
    """Admission or room was asked for a batch that has no owners."""
    return bool(before.refusals(call))


@witness(on=RELEASE_LOCATIONS)
def tail_alone_named(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A page was given back by a location that is not its first."""
    size = before.geometry.page_size
    firsts = {location for location in call.locations if location % size == 0}
    return isinstance(answer, Ok) and any(location // size * size not in firsts for location in call.locations)


@witness(on=(RELEASE, RETAIN))
def misnamed_beside_good_pages(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A page that must be refused was named after one that is fine."""
    allowed = (IN_USE,) if call.op == RETAIN else (IN_USE, EVICTABLE)
    good = before.geometry.holds(call.pages[0]) and before.pages.state(call.pages[0]) in allowed
    return good and bool(misnamed(before.geometry, call.pages, before.pages.state, allowed))


@witness(on=RELEASE)
def freed_before(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A page that had been given back was given back again."""
    return _rejected(answer) and bool(before.released.intersection(call.pages))


@witness(on=RETAIN)
def pages_retained(before: AllocationState, call: Call, answer: Answer) -> bool:
    """Pages in use became cache."""
    return isinstance(answer, Ok)


@witness(on=LANES)
def every_state_at_once(before: AllocationState, call: Call, answer: Answer) -> bool:
    """Statistics were read while free, evictable and used pages all existed."""
    return all(map(any, before.counts().values()))


@witness(on=LANES)
def surplus_pages(before: AllocationState, call: Call, answer: Answer) -> bool:
    """The pool was not a multiple of the CP size."""
    return before.config.pages % before.config.cp_size != 0


@witness(on=FLAT)
def asked_without_owners(before: AllocationState, call: Call, answer: Answer) -> bool:
    """Pages without owners were asked for."""
    return True


@witness(on=RESTORE)
def restored_after_change(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A snapshot was restored after pages of more than one lane had moved."""
    if not isinstance(answer, Ok) or call.snapshot not in before.snapshots:
        return False
    saved = before.snapshots[call.snapshot][0].counts("free")
    return sum(a != b for a, b in zip(saved, before.free, strict=True)) > 1


@witness(on="allocation.owners")
def table_patched(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A table held several pages, not in the order in which any plan gave them."""
    return len(call.pages) > 1


@witness(on=EXTEND)
def on_a_second_rank(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A second rank served the same batch after pages had been given back on both."""
    return before.peer_answer is not None and isinstance(answer, Ok) and bool(before.released)


@witness(on="probe.cost")
def cost_in_a_large_fragmented_pool(before: AllocationState, call: Call, answer: Answer) -> bool:
    """The cost of an extend was read in a pool much larger than the request, with free pages in many runs."""
    extended = before.last is not None and before.last[0].op == EXTEND and isinstance(before.last[1], Ok)
    return extended and before.config.pages >= 10_000 and min(len(runs.end_of) for runs in before.pages.runs) > 100  # noqa: PLR2004


@witness(on="probe.cost")
def cost_of_a_release(before: AllocationState, call: Call, answer: Answer) -> bool:
    """The cost of a release was read in a large pool."""
    ops = (RELEASE, RELEASE_LOCATIONS)
    return before.last is not None and before.last[0].op in ops and before.config.pages >= 10_000  # noqa: PLR2004


@witness(on="probe.cost")
def cost_of_statistics(before: AllocationState, call: Call, answer: Answer) -> bool:
    """The cost of lane statistics was read in a large pool."""
    return before.last is not None and before.last[0].op == LANES and before.config.pages >= 10_000  # noqa: PLR2004


@witness(on=EXTEND)
def long_run_among_short_ones(before: AllocationState, call: Call, answer: Answer) -> bool:
    """A request took two pages or more of a lane whose free pages lay in several runs, one of them long enough."""
    if not isinstance(answer, Ok):
        return False
    lanes = zip(before.required(call), before.pages.runs, strict=True)
    return any(need > 1 and len(runs.end_of) > 1 and max(runs.starts) >= need for need, runs in lanes)
