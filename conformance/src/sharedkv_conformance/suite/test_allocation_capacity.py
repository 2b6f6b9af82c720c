"""The checks of `allocation` under pressure: waiting, eviction, admission and free room."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import FreeRoom, OpenConfig
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.allocation_accounting import a_failed_attempt_changes_no_count
from sharedkv_conformance.laws.allocation_capacity import (
    a_capacity_wait_says_what_is_missing_where,
    a_failed_attempt_moves_no_page,
    a_free_room_shortfall_is_no_failure,
    a_short_lane_means_capacity_wait,
    admission_is_decided_lane_by_lane,
    evictable_pages_give_way,
    free_pages_serve_the_batch,
    lanes_without_deficit_keep_their_cache,
    no_more_than_the_deficit_is_evicted,
    only_retained_pages_are_evicted,
    room_is_made_in_chunks_and_never_beyond_the_need,
    room_is_made_only_when_the_pending_batch_leaves_too_little,
)
from sharedkv_conformance.marks import check
from sharedkv_conformance.model.allocation_state import batch_of

# Two lanes of two pages each.
SMALL = OpenConfig(cp_size=2, page_size=4, pages=4)


@check(
    "allocation.evict-and-retry",
    "RFC-0001:C-CAPACITY-AND-EVICTION#S1",
    witnesses=("cache_covers_the_deficit", "waited"),
)
def test_evictable_pages_give_way(histories: Histories) -> None:
    """A request that waits for cache to leave by itself waits for ever."""
    histories.run("allocation", laws=[evictable_pages_give_way])


@check(
    "allocation.capacity-wait",
    "RFC-0001:C-CAPACITY-AND-EVICTION#S2",
    witnesses=("capacity_exhausted", "one_lane_short_total_enough", "two_requests"),
    cases=("KV-34", "KV-48"),
)
def test_a_short_lane_means_capacity_wait(histories: Histories) -> None:
    """Running out of pages on one lane must neither kill the process nor be papered over."""
    histories.run("allocation", laws=[a_short_lane_means_capacity_wait])


@check(
    "allocation.wait-figures",
    "RFC-0001:C-CAPACITY-AND-EVICTION#S3",
    witnesses=("waited", "one_lane_short_total_enough"),
)
def test_a_capacity_wait_says_what_is_missing_where(histories: Histories) -> None:
    """A scheduler that is told a total frees pages of lanes that were never short."""
    histories.run("allocation", laws=[a_capacity_wait_says_what_is_missing_where])


@check(
    "allocation.failure-changes-nothing",
    "RFC-0001:C-CAPACITY-AND-EVICTION#S4",
    witnesses=("waited", "capacity_exhausted"),
    cases=("KV-18", "KV-34"),
)
def test_a_failed_attempt_changes_no_count(histories: Histories) -> None:
    """Lanes popped before a later lane fails leak a few pages at every full pool."""
    histories.run("allocation", laws=[a_failed_attempt_changes_no_count])


@check(
    "allocation.failure-moves-no-page",
    "RFC-0001:C-CAPACITY-AND-EVICTION#S4",
    witnesses=("waited", "pages_retained"),
    needs=("probe.pages",),
    cases=("KV-18",),
)
def test_a_failed_attempt_moves_no_page(histories: Histories) -> None:
    """Right counts can hide that cache was exchanged for nothing."""
    histories.run("allocation", laws=[a_failed_attempt_moves_no_page])


@check(
    "allocation.wait-is-recoverable",
    "RFC-0001:C-CAPACITY-AND-EVICTION#S5",
    witnesses=("served_after_wait", "reuse_after_release"),
)
def test_free_pages_serve_the_batch(histories: Histories) -> None:
    """A wait that does not end once pages are back is a hang."""
    histories.run("allocation", laws=[free_pages_serve_the_batch])
    with histories.written("allocation", SMALL, laws=[free_pages_serve_the_batch]) as call:
        held = call("allocation.extend", batch=batch_of((0, 8), (0, 8)))
        call.attempt("allocation.extend", batch=batch_of((0, 4)))
        call("allocation.release", pages=held.pages[:1])
        call.attempt("allocation.extend", batch=batch_of((0, 4)))


@check(
    "allocation.admission",
    "RFC-0001:C-CAPACITY-AND-EVICTION#S6",
    witnesses=("admitted", "not_admitted"),
    cases=("KV-48", "KV-80"),
)
def test_admission_is_decided_lane_by_lane(histories: Histories) -> None:
    """A batch admitted by the sum over lanes fails late; one judged by the smallest lane starves."""
    histories.run("allocation", laws=[admission_is_decided_lane_by_lane])
    with histories.written("allocation", SMALL, laws=[admission_is_decided_lane_by_lane]) as call:
        call("allocation.retain", pages=call("allocation.extend", batch=batch_of((0, 16))).pages)
        call("allocation.admit", batch=batch_of((0, 16)))
    config = OpenConfig(cp_size=4, page_size=16, pages=12)
    with histories.written("allocation", config, laws=[admission_is_decided_lane_by_lane]) as call:
        held = call("allocation.extend", batch=batch_of((0, 7 * 16)))
        call("allocation.release", pages=_beyond(held.pages, keep=(0, 2, 1, 1)))
        for lengths in ([128], [64], [16], [16, 16, 64]):
            call("allocation.admit", batch=batch_of(*((0, tokens) for tokens in lengths)))


def _beyond(pages: tuple[int, ...], keep: tuple[int, ...]) -> tuple[int, ...]:
    """Return the pages of each lane beyond those to keep."""
    lanes: dict[int, list[int]] = {}
    for page in pages:
        lanes.setdefault((page - 1) % len(keep), []).append(page)
    return tuple(page for lane, own in sorted(lanes.items()) for page in own[keep[lane] :])


@check(
    "allocation.evict-only-short-lanes",
    "RFC-0001:C-CAPACITY-AND-EVICTION#S7",
    witnesses=("cache_covers_the_deficit", "cache_beyond_the_deficit"),
    cases=("KV-48",),
)
def test_lanes_without_deficit_keep_their_cache(histories: Histories) -> None:
    """Cache of other lanes is thrown away and the short lane is as short as before."""
    histories.run("allocation", laws=[lanes_without_deficit_keep_their_cache])


@check(
    "allocation.evict-only-the-deficit",
    "RFC-0001:C-CAPACITY-AND-EVICTION#S8",
    witnesses=("cache_covers_the_deficit", "cache_beyond_the_deficit"),
    cases=("KV-81",),
)
def test_no_more_than_the_deficit_is_evicted(histories: Histories) -> None:
    """Warm prefixes that are evicted for nothing come back as first-token latency."""
    histories.run("allocation", laws=[no_more_than_the_deficit_is_evicted])


@check(
    "allocation.evict-only-cache",
    "RFC-0001:C-CAPACITY-AND-EVICTION#S9",
    witnesses=("cache_covers_the_deficit", "pages_retained"),
)
def test_only_retained_pages_are_evicted(histories: Histories) -> None:
    """A page evicted under the request that reads it answers with another prompt's tokens."""
    histories.run("allocation", laws=[only_retained_pages_are_evicted])


@check(
    "allocation.free-room-trigger",
    "RFC-0001:C-FREE-ROOM#S1",
    needs=("allocation.free-room",),
    witnesses=("room_made_for_the_pending_batch", "room_not_due"),
)
def test_room_is_made_only_when_due(histories: Histories) -> None:
    """A trigger that forgets the pending batch acts one batch too late."""
    histories.run("allocation", laws=[room_is_made_only_when_the_pending_batch_leaves_too_little])


@check(
    "allocation.free-room-amount",
    "RFC-0001:C-FREE-ROOM#S2",
    needs=("allocation.free-room",),
    witnesses=("chunk_beyond_the_shortage", "room_short"),
)
def test_room_is_made_in_chunks(histories: Histories) -> None:
    """Too little evicted means eviction at every batch; too much wastes residency."""
    laws = [room_is_made_in_chunks_and_never_beyond_the_need]
    histories.run("allocation", laws=laws)
    for policy in (FreeRoom(target=6, min_chunk=2), FreeRoom(target=6, min_chunk=1)):
        config = OpenConfig(cp_size=2, page_size=4, pages=16, free_room=policy)
        with histories.written("allocation", config, laws=laws) as call:
            call("allocation.retain", pages=call("allocation.extend", batch=batch_of((0, 32))).pages)
            call("allocation.make_room", batch=batch_of((0, 4)))


@check(
    "allocation.free-room-shortfall",
    "RFC-0001:C-FREE-ROOM#S3",
    needs=("allocation.free-room",),
    witnesses=("room_short",),
)
def test_a_free_room_shortfall_is_no_failure(histories: Histories) -> None:
    """Room is a wish; a batch that fits must not die of it."""
    histories.run("allocation", laws=[a_free_room_shortfall_is_no_failure])
