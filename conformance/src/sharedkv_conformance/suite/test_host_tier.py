"""The checks of `host_tier`: the pool of host pages."""

from __future__ import annotations

from collections.abc import Iterable

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.host_tier import (
    a_released_host_page_is_free_again,
    a_short_host_lane_means_capacity_wait,
    an_allocation_that_waits_takes_nothing,
    each_lane_gives_what_is_asked_of_it,
    free_counts_move_by_what_is_given,
    free_host_pages_serve,
    lanes_hold_the_host_pages_of_the_session,
    misnamed_host_pages_are_refused,
    no_host_page_is_in_two_hands,
    what_names_no_lanes_is_refused,
)
from sharedkv_conformance.laws.host_tier_order import (
    a_host_allocation_costs_what_it_asks_for,
    a_host_release_costs_what_it_gives_back,
    host_pages_of_a_lane_stay_together,
    host_statistics_cost_lanes,
    scattered_host_pages_lie_in_few_runs,
    slots_show_the_free_pages,
)
from sharedkv_conformance.marks import Law, check

LARGE_LANE = 1 << 15


@check(
    "host_tier.capacity",
    "RFC-0006:C-HOST-POOL#S1",
    witnesses=("host_pages_in_both_states", "host_lane_emptied"),
)
def test_lanes_hold_the_host_pages_of_the_session(histories: Histories) -> None:
    """A page beyond the lane's memory is written over something else's."""
    histories.run("host_tier", laws=[lanes_hold_the_host_pages_of_the_session])


@check(
    "host_tier.pages-asked",
    "RFC-0006:C-HOST-POOL#S2",
    witnesses=("host_lanes_asked_unequally", "host_lane_spared"),
)
def test_each_lane_gives_what_is_asked_of_it(histories: Histories) -> None:
    """A node with a host page fewer than it has device pages loses the tokens of its last page."""
    histories.run("host_tier", laws=[each_lane_gives_what_is_asked_of_it])


@check(
    "host_tier.exclusive-pages",
    "RFC-0006:C-HOST-POOL#S3",
    witnesses=("host_pages_reused", "host_lane_emptied"),
)
def test_no_host_page_is_in_two_hands(histories: Histories) -> None:
    """Two nodes backed up to one host page load each other's tokens back."""
    histories.run("host_tier", laws=[no_host_page_is_in_two_hands])


@check(
    "host_tier.statistics",
    "RFC-0006:C-HOST-POOL#S4",
    witnesses=("host_lanes_asked_unequally", "host_pages_in_both_states"),
)
def test_free_counts_move_by_what_is_given(histories: Histories) -> None:
    """Free room is computed from these counts: where they are late, backups are admitted that do not fit."""
    histories.run("host_tier", laws=[free_counts_move_by_what_is_given])


@check(
    "host_tier.capacity-wait",
    "RFC-0006:C-HOST-POOL#S5",
    witnesses=("host_lane_short_behind_another", "host_total_enough"),
    cases=("KV-34",),
)
def test_a_short_host_lane_means_capacity_wait(histories: Histories) -> None:
    """A backup of a part of a node is none; whoever waits has to know which lane to make room on."""
    histories.run("host_tier", laws=[a_short_host_lane_means_capacity_wait])


@check(
    "host_tier.failure-changes-nothing",
    "RFC-0006:C-HOST-POOL#S6",
    witnesses=("host_lane_short_behind_another", "host_waited"),
    cases=("KV-18", "KV-34"),
)
def test_an_allocation_that_waits_takes_nothing(histories: Histories) -> None:
    """Pages taken of the first lanes before a later one fails have no owner any more."""
    histories.run("host_tier", laws=[an_allocation_that_waits_takes_nothing])


@check(
    "host_tier.free-pages-serve",
    "RFC-0006:C-HOST-POOL#S7",
    witnesses=("host_served_after_wait", "host_lane_emptied", "host_most_of_another_lane_asked"),
)
def test_free_host_pages_serve(histories: Histories) -> None:
    """A pool that keeps its last pages, or those that lie scattered, is smaller than what was paid for."""
    histories.run("host_tier", laws=[free_host_pages_serve])


@check("host_tier.release", "RFC-0006:C-HOST-POOL#S8", witnesses=("host_pages_given_back",))
def test_a_released_host_page_is_free_again(histories: Histories) -> None:
    """A pool that loses a page at each eviction is empty after a day."""
    histories.run("host_tier", laws=[a_released_host_page_is_free_again])


@check(
    "host_tier.double-free",
    "RFC-0006:C-HOST-POOL#S9",
    witnesses=("host_page_misnamed_beside_good_ones", "host_page_freed_before", "host_page_of_another_lane"),
    cases=("KV-11",),
)
def test_misnamed_host_pages_are_refused(histories: Histories) -> None:
    """A host page that is freed twice is given to two nodes."""
    laws = [misnamed_host_pages_are_refused]
    histories.run("host_tier", laws=laws)
    with histories.written("host_tier", OpenConfig(cp_size=2, page_size=4, pages=8, host_pages=4), laws=laws) as call:
        held = call("host_tier.allocate", pages=(3, 2))
        call("host_tier.release", lane=0, pages=held.pages[0][:1])
        call.attempt("host_tier.release", lane=0, pages=(held.pages[0][1], held.pages[0][0]))
        call.attempt("host_tier.release", lane=0, pages=(held.pages[0][1], held.pages[0][1]))
        call.attempt("host_tier.release", lane=1, pages=(held.pages[1][0], 4))


@check(
    "host_tier.malformed-calls",
    "RFC-0006:C-HOST-POOL#S10",
    witnesses=("host_counts_invalid", "host_lane_unknown"),
)
def test_what_names_no_lanes_is_refused(histories: Histories) -> None:
    """A lane that is left out is backed up nowhere, and a lane counted from the end is somebody else's."""
    laws = [what_names_no_lanes_is_refused]
    histories.run("host_tier", laws=laws)
    with histories.written("host_tier", OpenConfig(cp_size=2, page_size=4, pages=8, host_pages=4), laws=laws) as call:
        held = call("host_tier.allocate", pages=(1, 2))
        for counts in ((1,), (1, 1, 0), (1, -1), (-1, 1), ()):
            call.attempt("host_tier.allocate", pages=counts)
        for lane in (-1, 2):
            call.attempt("host_tier.release", lane=lane, pages=held.pages[1])
            call.attempt("host_tier.free_slots", lane=lane)


@check(
    "host_tier.slots-view",
    "RFC-0006:C-HOST-POOL#S11",
    witnesses=("host_slots_seen_again", "host_slots_in_several_runs"),
)
def test_slots_show_the_free_pages(histories: Histories) -> None:
    """Code that still reads slots by token sees a pool of yesterday."""
    histories.run("host_tier", laws=[slots_show_the_free_pages])


@check("host_tier.contiguity", "RFC-0006:C-HOST-POOL#S12", witnesses=("host_long_run_behind_short_ones",))
def test_host_pages_of_a_lane_stay_together(histories: Histories) -> None:
    """Scattered pages turn one copy into one a page, on every layer."""
    laws = [host_pages_of_a_lane_stay_together]
    histories.run("host_tier", laws=laws)
    _among_holes(histories, laws, asked=3)


@check("host_tier.few-runs", "RFC-0006:C-HOST-POOL#S13", witnesses=("host_no_run_long_enough",))
def test_scattered_host_pages_lie_in_few_runs(histories: Histories) -> None:
    """A pool that fills its smallest holes first ends with copies of single pages."""
    laws = [scattered_host_pages_lie_in_few_runs]
    histories.run("host_tier", laws=laws)
    _among_holes(histories, laws, asked=6)


def _among_holes(histories: Histories, laws: Iterable[Law], asked: int) -> None:
    """Free runs of one, two and four pages, in this order, and ask for some of them."""
    config = OpenConfig(cp_size=2, page_size=4, pages=8, host_pages=10)
    with histories.written("host_tier", config, laws=laws) as call:
        held = call("host_tier.allocate", pages=(10, 0))
        call("host_tier.release", lane=0, pages=tuple(p for p in held.pages[0] if p in (1, 3, 4, 6, 7, 8, 9)))
        call("host_tier.allocate", pages=(asked, 0))


@check(
    "host_tier.allocation-cost",
    "RFC-0006:C-HOST-POOL-COST#S1",
    witnesses=("cost_of_a_host_allocation", "cost_of_a_host_wait"),
    needs=("probe.cost",),
)
def test_a_host_allocation_costs_what_it_asks_for(histories: Histories) -> None:
    """A pool that slices an array of slots by token takes milliseconds for every backup."""
    laws = [a_host_allocation_costs_what_it_asks_for]
    histories.run("host_tier", laws=laws)
    _in_a_large_pool(histories, laws)


@check(
    "host_tier.release-cost",
    "RFC-0006:C-HOST-POOL-COST#S2",
    witnesses=("cost_of_a_host_release",),
    needs=("probe.cost",),
)
def test_a_host_release_costs_what_it_gives_back(histories: Histories) -> None:
    """A view by slot that each release brings up to date makes evictions as slow as the host memory is large."""
    laws = [a_host_release_costs_what_it_gives_back]
    histories.run("host_tier", laws=laws)
    _in_a_large_pool(histories, laws)


@check(
    "host_tier.statistics-cost",
    "RFC-0006:C-HOST-POOL-COST#S3",
    witnesses=("cost_of_host_statistics",),
    needs=("probe.cost",),
)
def test_host_statistics_cost_lanes(histories: Histories) -> None:
    """Free room is computed before every batch, from these counts."""
    _in_a_large_pool(histories, [host_statistics_cost_lanes])


def _in_a_large_pool(histories: Histories, laws: Iterable[Law]) -> None:
    """Fragment a part of a large pool, then wait, allocate, count and release there."""
    lane_pages = min(histories.description.limits.get("max_host_pages", LARGE_LANE), LARGE_LANE)
    config = OpenConfig(cp_size=2, page_size=2, pages=8, host_pages=lane_pages)
    with histories.written("host_tier", config, laws=laws) as call:
        first = call("host_tier.allocate", pages=(400, 600))
        for lane, pages in enumerate(first.pages):
            call("host_tier.release", lane=lane, pages=pages[::2])
        held = call("host_tier.allocate", pages=(40, 50))
        call.attempt("host_tier.allocate", pages=(1, lane_pages))
        call("host_tier.free_slots", lane=1)
        call("host_tier.statistics")
        call("host_tier.release", lane=1, pages=held.pages[1])
        call("host_tier.allocate", pages=(0, 20))
