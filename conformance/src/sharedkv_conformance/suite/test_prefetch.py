"""The checks of `prefetch`: what is under a lease, for how long, what is told of misses, and what counts as live."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.prefetch import (
    a_batch_without_a_prefix_is_refused,
    a_dense_prefix_has_rows_written_since_its_start,
    a_dense_prefix_has_the_rows_of_the_pools,
    a_dense_prefix_waits_for_rows_that_are_late,
    a_hit_is_no_miss,
    a_lease_keeps_its_bytes,
    a_lease_that_is_not_held_is_refused,
    a_lost_prefetch_is_made_again,
    a_miss_is_told,
    a_skip_is_told,
    every_live_buffer_is_counted,
    nothing_is_told_while_prefetch_is_off,
    prefetched_bytes_are_synchronous_bytes,
    the_first_layer_misses_nothing,
    what_is_released_is_not_counted,
)
from sharedkv_conformance.marks import check

ON = OpenConfig(cp_size=2, page_size=2, pages=4, prefetch=True)
OTHER = ReuseRequest(request="r1", prefix_tokens=2, extend_tokens=1, table=(4, 3))
TWO_PAGES = (ReuseRequest(request="r0", prefix_tokens=4, extend_tokens=1, table=(2, 1, 3)),)


@check(
    "prefetch.off-is-silent",
    "RFC-0005:C-SYNCHRONOUS#S1",
    witnesses=("off_and_consumed",),
    needs=("direct_write", "probe.events"),
)
def test_nothing_is_told_while_prefetch_is_off(histories: Histories) -> None:
    """A missing prefetcher that is reported as a fallback sends an engineer looking for what nobody switched on."""
    histories.run("prefetch", laws=[nothing_is_told_while_prefetch_is_off])


@check(
    "prefetch.rows",
    "RFC-0005:C-SYNCHRONOUS#S2",
    witnesses=(
        "prefix_made_on_demand",
        "prefixes_of_two_requests_read",
        "pages_out_of_order_read",
        "consumed_for_another_batch",
    ),
    needs=("direct_write",),
)
def test_a_dense_prefix_has_the_rows_of_the_pools(histories: Histories) -> None:
    """A prefix in the order of its pages, or of one rank alone, is attended to as if it were the text."""
    histories.run("prefetch", laws=[a_dense_prefix_has_the_rows_of_the_pools])


@check(
    "prefetch.same-bytes", "RFC-0005:C-SYNCHRONOUS#S3", witnesses=("made_after_prefetched",), needs=("direct_write",)
)
def test_prefetched_bytes_are_synchronous_bytes(histories: Histories) -> None:
    """An answer that depends on whether a copy came in time is no answer."""
    histories.run("prefetch", laws=[prefetched_bytes_are_synchronous_bytes])


@check(
    "prefetch.refusals",
    "RFC-0005:C-SYNCHRONOUS#S4",
    witnesses=("prefixless_batch", "prefixed_batch", "consumed_after_a_later_start"),
    needs=("direct_write",),
)
def test_a_batch_without_a_prefix_is_refused(histories: Histories) -> None:
    """A table that ends too early is read on into whatever stands behind it."""
    laws = [a_batch_without_a_prefix_is_refused]
    histories.run("prefetch", laws=laws)
    with histories.written("prefetch", ON, laws=laws) as call:
        for layer in (0, 1):
            call("prefetch.start", layer=layer, epoch=1, batch=TWO_PAGES)
        for layer in (1, 0):
            call.attempt("prefetch.consume", layer=layer, epoch=1, batch=TWO_PAGES)


@check(
    "prefetch.miss-told", "RFC-0005:C-MISSES#S1", witnesses=("layer_missed",), needs=("direct_write", "probe.events")
)
def test_a_miss_is_told(histories: Histories) -> None:
    """A prefetch that is on and never hits costs memory and saves nothing, and nobody knows."""
    histories.run("prefetch", laws=[a_miss_is_told])


@check(
    "prefetch.loss-told",
    "RFC-0005:C-MISSES#S1",
    witnesses=("layer_lost",),
    needs=("direct_write", "probe.events", "probe.inject"),
)
def test_a_lost_prefetch_is_told(histories: Histories) -> None:
    """A prefetch that was begun and never finished is a miss, whatever the books say."""
    histories.run("prefetch", laws=[a_miss_is_told])


@check(
    "prefetch.first-layer",
    "RFC-0005:C-MISSES#S2",
    witnesses=("first_layer_consumed",),
    needs=("direct_write", "probe.events"),
)
def test_the_first_layer_misses_nothing(histories: Histories) -> None:
    """A warning a step, in every step, hides those that mean something."""
    histories.run("prefetch", laws=[the_first_layer_misses_nothing])


@check(
    "prefetch.skip-told",
    "RFC-0005:C-MISSES#S3",
    witnesses=("several_requests_started",),
    needs=("direct_write", "probe.events"),
)
def test_a_skip_is_told(histories: Histories) -> None:
    """A batch for which prefetch quietly stays off is measured as if it were on."""
    histories.run("prefetch", laws=[a_skip_is_told])
    with histories.written("prefetch", ON, laws=[a_skip_is_told]) as call:
        call.attempt("prefetch.start", layer=1, epoch=1, batch=(*TWO_PAGES, OTHER))
        call.attempt("probe.events")


@check("prefetch.hit", "RFC-0005:C-MISSES#S4", witnesses=("layer_hit",), needs=("direct_write", "probe.events"))
def test_a_hit_is_no_miss(histories: Histories) -> None:
    """A prefetch that is thrown away costs twice what it should save."""
    histories.run("prefetch", laws=[a_hit_is_no_miss])


@check("prefetch.lost", "RFC-0005:C-MISSES#S5", witnesses=("made_after_lost",), needs=("direct_write", "probe.inject"))
def test_a_lost_prefetch_is_made_again(histories: Histories) -> None:
    """A buffer that was never filled has the prefix of the request before."""
    histories.run("prefetch", laws=[a_lost_prefetch_is_made_again])


@check(
    "prefetch.late-writes",
    "RFC-0005:C-ORDER#S1",
    witnesses=("late_prefix_read",),
    needs=("direct_write", "probe.inject"),
    cases=("KV-58",),
)
def test_a_dense_prefix_waits_for_rows_that_are_late(histories: Histories) -> None:
    """A copy on a stream of its own that waits for nothing copies what was there before."""
    histories.run("prefetch", laws=[a_dense_prefix_waits_for_rows_that_are_late])


@check(
    "prefetch.rewritten",
    "RFC-0005:C-ORDER#S2",
    witnesses=("prefix_rewritten_since_start", "prefix_rewritten_on_the_last_lane"),
    needs=("direct_write",),
    cases=("KV-59",),
)
def test_a_dense_prefix_has_rows_written_since_its_start(histories: Histories) -> None:
    """Pages that change hands between a start and its consume leave another request's text in the buffer."""
    histories.run("prefetch", laws=[a_dense_prefix_has_rows_written_since_its_start])


@check(
    "prefetch.rewritten-late",
    "RFC-0005:C-ORDER#S2",
    witnesses=("late_prefix_rewritten",),
    needs=("direct_write", "probe.inject"),
)
def test_a_dense_prefix_waits_for_rows_written_since_its_start(histories: Histories) -> None:
    """Rows that are written after a start and reach the pools late are missed twice as easily."""
    histories.run("prefetch", laws=[a_dense_prefix_has_rows_written_since_its_start])


@check(
    "prefetch.lease-kept",
    "RFC-0005:C-BUFFERS#S1",
    witnesses=("lease_read_again", "lease_read_after_a_write"),
    needs=("direct_write",),
    cases=("KV-61",),
)
def test_a_lease_keeps_its_bytes(histories: Histories) -> None:
    """A buffer that is filled anew before its reader is done changes under the reader's hands."""
    histories.run("prefetch", laws=[a_lease_keeps_its_bytes])


@check(
    "prefetch.live-bytes",
    "RFC-0005:C-BUFFERS#S2",
    witnesses=("filling_counted", "leases_counted"),
    needs=("direct_write",),
)
def test_every_live_buffer_is_counted(histories: Histories) -> None:
    """An estimate that leaves buffers out admits one request too many."""
    histories.run("prefetch", laws=[every_live_buffer_is_counted])


@check("prefetch.released-bytes", "RFC-0005:C-BUFFERS#S3", witnesses=("nothing_counted",), needs=("direct_write",))
def test_what_is_released_is_not_counted(histories: Histories) -> None:
    """Buffers that stay on the books after their release shrink the engine step by step."""
    laws = [what_is_released_is_not_counted]
    histories.run("prefetch", laws=laws)
    with histories.written("prefetch", ON, laws=laws) as call:
        call("prefetch.start", layer=1, epoch=1, batch=TWO_PAGES)
        lease = call("prefetch.consume", layer=1, epoch=1, batch=TWO_PAGES)
        call("prefetch.release", lease=lease)
        call("prefetch.live_bytes")


@check(
    "prefetch.leases",
    "RFC-0005:C-BUFFERS#S4",
    witnesses=("released_lease_named", "leases_counted", "unknown_buffer_read"),
    needs=("direct_write",),
)
def test_a_lease_that_is_not_held_is_refused(histories: Histories) -> None:
    """A lease that is given up twice frees the buffer of its next holder."""
    laws = [a_lease_that_is_not_held_is_refused]
    histories.run("prefetch", laws=laws)
    with histories.written("prefetch", ON, laws=laws) as call:
        lease = call("prefetch.consume", layer=0, epoch=1, batch=TWO_PAGES)
        call("prefetch.live_bytes")
        call.attempt("prefetch.read", lease=lease, buffer="scales")
        call("prefetch.release", lease=lease)
        call.attempt("prefetch.read", lease=lease, buffer="latent")
        call.attempt("prefetch.release", lease=lease)
