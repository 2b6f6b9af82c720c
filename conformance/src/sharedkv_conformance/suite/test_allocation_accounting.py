"""The checks of `allocation` that count: conservation, release, snapshots, cost and contiguity."""

from __future__ import annotations

from collections.abc import Iterable

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.allocation_accounting import (
    a_restored_snapshot_covers_every_lane,
    allocation_without_owners_keeps_the_lanes_right,
    double_free_and_foreign_pages_are_refused,
    each_page_is_counted_once,
    lanes_have_equal_capacity_and_no_surplus,
    locations_in_one_page_release_it_once,
    no_page_is_in_two_hands,
    released_pages_return_to_their_own_lane,
    statistics_move_by_what_the_answer_says,
)
from sharedkv_conformance.laws.allocation_cost import (
    a_release_costs_what_it_gives_back,
    an_extend_costs_what_it_asks_for,
    lane_statistics_cost_lanes,
    pages_of_a_lane_stay_together,
)
from sharedkv_conformance.marks import Law, check
from sharedkv_conformance.model.allocation_state import batch_of


@check("allocation.equal-lanes", "RFC-0001:C-CONSERVATION#S1", witnesses=("surplus_pages", "pool_exhausted"))
def test_lanes_have_equal_capacity(histories: Histories) -> None:
    """A surplus page on some lanes alone breaks every formula that counts rows of lanes."""
    histories.run("allocation", laws=[lanes_have_equal_capacity_and_no_surplus])


@check(
    "allocation.conservation",
    "RFC-0001:C-CONSERVATION#S2",
    witnesses=("every_state_at_once",),
    cases=("KV-12", "KV-48"),
)
def test_each_page_is_counted_once(histories: Histories) -> None:
    """Pages that no count holds are lost until the next restart."""
    histories.run("allocation", laws=[each_page_is_counted_once])


@check(
    "allocation.exclusive-pages",
    "RFC-0001:C-CONSERVATION#S3",
    witnesses=("two_requests", "cache_covers_the_deficit", "reuse_after_release"),
    cases=("KV-11", "KV-40"),
)
def test_no_page_is_in_two_hands(histories: Histories) -> None:
    """Two requests in one page overwrite each other, and both answers look plausible."""
    histories.run("allocation", laws=[no_page_is_in_two_hands])


@check(
    "allocation.statistics",
    "RFC-0001:C-CONSERVATION#S4",
    witnesses=("cache_covers_the_deficit", "pages_retained", "two_requests"),
)
def test_statistics_move_by_what_the_answer_says(histories: Histories) -> None:
    """A page that moves without being reported is evicted under someone's feet."""
    histories.run("allocation", laws=[statistics_move_by_what_the_answer_says])


@check(
    "allocation.snapshot",
    "RFC-0001:C-CONSERVATION#S5",
    witnesses=("restored_after_change",),
    needs=("allocation.snapshot",),
)
def test_a_restored_snapshot_covers_every_lane(histories: Histories) -> None:
    """A restore that forgets a lane gives its pages out twice."""
    histories.run("allocation", laws=[a_restored_snapshot_covers_every_lane])


@check("allocation.without-owners", "RFC-0001:C-CONSERVATION#S6", witnesses=("asked_without_owners", "supported_batch"))
def test_allocation_without_owners_keeps_the_lanes_right(histories: Histories) -> None:
    """An old code path that takes pages past the lanes hands them out a second time."""
    histories.run("allocation", laws=[allocation_without_owners_keeps_the_lanes_right])


@check("allocation.release", "RFC-0001:C-RELEASE#S1", witnesses=("pages_given_back",), cases=("KV-11",))
def test_released_pages_return_to_their_own_lane(histories: Histories) -> None:
    """A page freed into another lane is given to a rank that does not hold it."""
    histories.run("allocation", laws=[released_pages_return_to_their_own_lane])


@check(
    "allocation.release-by-location",
    "RFC-0001:C-RELEASE#S2",
    witnesses=("several_locations_in_one_page", "tail_alone_named"),
)
def test_locations_in_one_page_release_it_once(histories: Histories) -> None:
    """Body and tail of a page freed one after the other free it twice."""
    histories.run("allocation", laws=[locations_in_one_page_release_it_once])


@check(
    "allocation.double-free",
    "RFC-0001:C-RELEASE#S3",
    witnesses=("misnamed_beside_good_pages", "misnamed_by_location", "freed_before"),
    cases=("KV-11",),
)
def test_double_free_and_foreign_pages_are_refused(histories: Histories) -> None:
    """A page freed twice has two owners at the next allocation."""
    laws = [double_free_and_foreign_pages_are_refused]
    histories.run("allocation", laws=laws)
    with histories.written("allocation", OpenConfig(cp_size=2, page_size=4, pages=8), laws=laws) as call:
        held = call("allocation.extend", batch=batch_of((0, 16)))
        call("allocation.release", pages=held.pages[:2])
        call.attempt("allocation.release", pages=(held.pages[2], held.pages[0]))
        call.attempt("allocation.release_locations", locations=(held.pages[2] * 4, held.pages[0] * 4 + 3))


@check(
    "allocation.extend-cost",
    "RFC-0001:C-COST#S1",
    witnesses=("cost_in_a_large_fragmented_pool",),
    needs=("probe.cost",),
)
def test_an_extend_costs_what_it_asks_for(histories: Histories) -> None:
    """An allocator that looks at every free page takes longer the more memory there is."""
    histories.run("allocation", laws=[an_extend_costs_what_it_asks_for])
    _in_a_large_pool(histories, [an_extend_costs_what_it_asks_for])


@check("allocation.release-cost", "RFC-0001:C-COST#S2", witnesses=("cost_of_a_release",), needs=("probe.cost",))
def test_a_release_costs_what_it_gives_back(histories: Histories) -> None:
    """A release that sorts the free list stalls the scheduler at the end of every request."""
    histories.run("allocation", laws=[a_release_costs_what_it_gives_back])
    _in_a_large_pool(histories, [a_release_costs_what_it_gives_back])


@check("allocation.statistics-cost", "RFC-0001:C-COST#S3", witnesses=("cost_of_statistics",), needs=("probe.cost",))
def test_lane_statistics_cost_lanes(histories: Histories) -> None:
    """Statistics that count pages make every scheduling decision as slow as the pool is large."""
    _in_a_large_pool(histories, [lane_statistics_cost_lanes])


@check("allocation.contiguity", "RFC-0001:C-CONTIGUITY#S1", witnesses=("long_run_among_short_ones",))
def test_pages_of_a_lane_stay_together(histories: Histories) -> None:
    """Scattered pages turn one transfer descriptor into one a page."""
    histories.run("allocation", laws=[pages_of_a_lane_stay_together])
    config = OpenConfig(cp_size=2, page_size=4, pages=16)
    with histories.written("allocation", config, laws=[pages_of_a_lane_stay_together]) as call:
        held = call("allocation.extend", batch=batch_of((0, 48)))
        call("allocation.release", pages=tuple(page for page in held.pages if (page - 1) // 2 in (0, 2, 3)))
        call("allocation.extend", batch=batch_of((0, 16)))


def _in_a_large_pool(histories: Histories, laws: Iterable[Law]) -> None:
    """Fragment a part of a large pool, then extend, release and count there."""
    limit = histories.description.limits.get("max_pages", LARGE_POOL)
    for cp_size in (2, 4):
        config = OpenConfig(cp_size=cp_size, page_size=4, pages=min(limit, LARGE_POOL))
        with histories.written("allocation", config, laws=laws) as call:
            first = call("allocation.extend", batch=batch_of((0, 4 * 200 * 2 * cp_size)))
            every_other = tuple(page for page in first.pages if ((page - 1) // cp_size) % 2)
            call("allocation.release", pages=every_other)
            held = call("allocation.extend", batch=batch_of((0, 300), (4, 1000)))
            call("allocation.lanes")
            call("allocation.release", pages=held.pages)
            call("allocation.extend", batch=batch_of((0, 4 * 50)))


LARGE_POOL = 1 << 16
