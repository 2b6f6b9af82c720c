"""The checks of `host_tier`: host pages for the requests of a forward batch."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.contract.host_tier import BackupRequest
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.host_tier_scripts import TreeScript, tree_config
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.host_tier_admission import (
    a_batch_that_fits_is_given_all,
    a_cancel_gives_back_what_its_request_had,
    an_insert_uses_up_the_reservation_of_its_request,
    full_pages_alone_are_reserved,
    nobody_goes_where_it_does_not_help,
    one_eviction_makes_room_for_a_batch,
    reservations_lie_on_the_lanes_of_their_pages,
    what_cannot_be_reserved_is_refused,
    what_does_not_fit_is_served_in_batch_order,
)
from sharedkv_conformance.marks import Law, check

WRITE_BACK = tree_config(host=3, write="write_back")


def _play(histories: Histories, law: Law, *scripts: tuple[OpenConfig, Callable[[TreeScript], None]]) -> None:
    """Play written histories, then draw some."""
    for config, script in scripts:
        with histories.written("host_tree", config, laws=[law]) as call:
            script(TreeScript(call, config))
    histories.run("host_tree", laws=[law])


def pages_in_part(script: TreeScript) -> None:
    """Two requests fit, the second with a page that is not full."""
    script.admit(("x", "011", 0), ("y", "01", 1))
    script.cancel("x")


def small_and_large_victims(script: TreeScript) -> None:
    """One large node has what two requests lack together, two small ones what each lacks by itself."""
    script.insert("a", "1")
    script.insert("b", "1")
    script.insert("cd", "11")
    script.poll()
    script.admit(("x", "1", 0), ("y", "1", 0))


def victims_in_vain(script: TreeScript) -> None:
    """No eviction makes room for the first request; of the two after it one fits."""
    script.insert("a", "1")
    script.poll()
    script.admit(("x", "111", 0), ("y", "01", 0), ("z", "1", 0))


def taken(script: TreeScript) -> None:
    """Two requests are inserted one after the other, the first with fewer pages than it has reserved."""
    script.admit(("x", "011", 0), ("y", "0", 0))
    script.insert_admitted("ab", "x")
    script.insert_admitted("c", "y")
    script.admit(("z", "0", 0))
    script.insert_admitted("de", "z", more="1")


def below_a_gap(script: TreeScript) -> None:
    """A request is inserted below a node that has no host pages."""
    script.insert("a", "0")
    script.admit(("x", "1", 0), ("y", "0", 0))
    script.insert_admitted("b", "x", prefix="a")
    script.cancel("y")


def refused(script: TreeScript) -> None:
    """Batches with one bad request beside a good one."""
    script.admit(("x", "0", 0))
    again = BackupRequest(request="z", extend_tokens=script.size, pages=script.admitted["x"])
    script.admit(("y", "1", 0), ("x", "0", 0))
    script.admit(("y", "1", 0), ("y", "0", 0))
    good = BackupRequest(request="y", extend_tokens=script.size, pages=script.take("1"))
    for pages, tokens in (((0,), script.size), (script.take("0"), 3 * script.size), (good.pages, script.size)):
        stray = BackupRequest(request="z", extend_tokens=tokens, pages=pages)
        script.call.attempt("host_tier.admit", batch=(good, stray))
    script.call.attempt("host_tier.admit", batch=(good, again))
    script.cancel("y")
    script.cancel("x")
    script.call.attempt("host_tier.admit", batch=(again,))


@check(
    "host_tier.admission-full-pages",
    "RFC-0006:C-ADMISSION#S1",
    witnesses=("page_not_full_admitted",),
    needs=("host_tier.tree",),
)
def test_full_pages_alone_are_reserved(histories: Histories) -> None:
    """A host page for tokens that change is copied again, or loaded as it was."""
    _play(histories, full_pages_alone_are_reserved, (tree_config(host=3), pages_in_part))


@check(
    "host_tier.admission-lanes",
    "RFC-0006:C-ADMISSION#S2",
    witnesses=("admitted_on_unequal_lanes",),
    needs=("host_tier.tree",),
)
def test_reservations_lie_on_the_lanes_of_their_pages(histories: Histories) -> None:
    """A host page on another lane is in the memory of a rank that does not have the rows."""
    _play(histories, reservations_lie_on_the_lanes_of_their_pages, (tree_config(host=3), pages_in_part))


@check(
    "host_tier.admission-one-eviction",
    "RFC-0006:C-ADMISSION#S3",
    witnesses=("two_requests_lack_a_lane", "batch_lacks_what_no_request_lacks", "lane_short_amid_free_pages"),
    needs=("host_tier.tree", "probe.tree"),
)
def test_one_eviction_makes_room_for_a_batch(histories: Histories) -> None:
    """Two small nodes go for two requests, where one that nobody asks for would have done for both."""
    law = one_eviction_makes_room_for_a_batch
    exact, spare = tree_config(host=4, pages=6), tree_config(host=5, pages=6)
    _play(histories, law, (exact, small_and_large_victims), (spare, small_and_large_victims))


@check(
    "host_tier.admission-no-victim-in-vain",
    "RFC-0006:C-ADMISSION#S4",
    witnesses=("victims_that_would_not_do", "batch_of_two_fits"),
    cases=("KV-18",),
    needs=("host_tier.tree",),
)
def test_nobody_goes_where_it_does_not_help(histories: Histories) -> None:
    """A prefix that was on the host is computed again, and the batch is not backed up either."""
    law = nobody_goes_where_it_does_not_help
    _play(histories, law, (tree_config(host=2, pages=6), victims_in_vain), (tree_config(host=3), pages_in_part))


@check(
    "host_tier.admission-in-batch-order",
    "RFC-0006:C-ADMISSION#S5",
    witnesses=("later_request_fits", "first_request_takes_the_last_pages"),
    cases=("KV-18",),
    needs=("host_tier.tree",),
)
def test_what_does_not_fit_is_served_in_batch_order(histories: Histories) -> None:
    """A request with a part of its host pages has a backup that nobody can load."""
    _play(histories, what_does_not_fit_is_served_in_batch_order, (tree_config(host=2, pages=6), victims_in_vain))


@check(
    "host_tier.admission-all",
    "RFC-0006:C-ADMISSION#S6",
    witnesses=("batch_of_two_fits", "lane_short_amid_free_pages"),
    needs=("host_tier.tree",),
)
def test_a_batch_that_fits_is_given_all(histories: Histories) -> None:
    """A request that goes without is backed up after the forward, and its pages are held so much longer."""
    law = a_batch_that_fits_is_given_all
    _play(histories, law, (tree_config(host=3), pages_in_part), (tree_config(host=4, pages=6), small_and_large_victims))


@check(
    "host_tier.cancel",
    "RFC-0006:C-ADMISSION#S7",
    witnesses=("cancelled_beside_another",),
    cases=("KV-18",),
    needs=("host_tier.tree",),
)
def test_a_cancel_gives_back_what_its_request_had(histories: Histories) -> None:
    """One request of a batch fails, and the host pages of another are given to somebody else under its copy."""
    law = a_cancel_gives_back_what_its_request_had
    _play(histories, law, (tree_config(host=3), pages_in_part), (WRITE_BACK, below_a_gap))


@check(
    "host_tier.reservation-of-the-request",
    "RFC-0006:C-ADMISSION#S8",
    witnesses=("reservation_taken", "reservation_below_a_gap", "reservation_too_small", "reservation_left_over"),
    cases=("KV-83",),
    needs=("host_tier.tree", "probe.tree"),
)
def test_an_insert_uses_up_the_reservation_of_its_request(histories: Histories) -> None:
    """A reservation that is neither a node's nor given back is a host page lost at every request."""
    law = an_insert_uses_up_the_reservation_of_its_request
    selective = tree_config(host=3, write="write_through_selective")
    _play(histories, law, (selective, taken), (WRITE_BACK, taken), (WRITE_BACK, below_a_gap))


@check(
    "host_tier.admission-refused",
    "RFC-0006:C-ADMISSION#S9",
    witnesses=(
        "page_with_a_reservation_admitted",
        "batch_refused_beside_a_good_request",
        "request_with_a_reservation_admitted_again",
        "unknown_request_cancelled",
    ),
    needs=("host_tier.tree",),
)
def test_what_cannot_be_reserved_is_refused(histories: Histories) -> None:
    """A second reservation under one name takes the place of the first, whose pages nobody gives back."""
    _play(histories, what_cannot_be_reserved_is_refused, (tree_config(host=3), refused))
