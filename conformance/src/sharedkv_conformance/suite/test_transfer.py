"""The checks of `transfer`: which pages go where, as which writes, and what both sides have in common."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.transfer import LayerBuffers
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.transfer import (
    a_chunk_sends_full_pages_and_the_last_one_all,
    a_chunk_that_is_right_is_dealt,
    a_chunk_without_pages_is_a_chunk,
    a_fingerprint_names_what_decides_where_bytes_lie,
    a_peer_that_differs_is_refused,
    a_rank_sends_the_pages_of_its_lane,
    an_equal_peer_is_accepted,
    destinations_are_those_of_the_positions,
    every_rank_is_named_once,
    lists_that_do_not_pair_are_refused,
    neighbours_on_both_sides_are_one_write,
    page_counts_are_equal_or_nothing_is_sent,
    pages_are_sent_in_the_order_of_positions,
    pages_of_other_sizes_are_refused,
    pages_that_are_none_of_a_chunk_are_refused,
    pages_that_pair_have_writes,
    positions_are_those_of_the_request,
    what_is_no_chunk_is_refused,
    writes_go_buffer_by_buffer,
    writes_move_each_page_of_each_buffer_once,
)
from sharedkv_conformance.marks import check

SMALL = OpenConfig(cp_size=2, page_size=2, pages=8)
BUFFERS = tuple(
    LayerBuffers(source=1000 * at, destination=5000 * at, source_page_bytes=size, destination_page_bytes=size)
    for at, size in enumerate((16, 8))
)


@check(
    "transfer.chunk-range",
    "RFC-0012:C-CHUNKS#S1",
    witnesses=("tail_of_a_chunk_waits", "tail_of_the_last_chunk"),
    cases=("KV-71",),
)
def test_a_chunk_sends_full_pages(histories: Histories) -> None:
    """A page that is sent while it is half full is sent twice, or never again."""
    histories.run("transfer", laws=[a_chunk_sends_full_pages_and_the_last_one_all])


@check(
    "transfer.empty-chunk",
    "RFC-0012:C-CHUNKS#S2",
    witnesses=("last_chunk_without_pages", "chunk_within_a_page"),
)
def test_a_chunk_without_pages_is_a_chunk(histories: Histories) -> None:
    """Decode waits for ever for what comes with the last chunk."""
    histories.run("transfer", laws=[a_chunk_without_pages_is_a_chunk])


@check(
    "transfer.no-chunk",
    "RFC-0012:C-CHUNKS#S3",
    witnesses=("chunk_from_within_a_page", "chunk_that_goes_back"),
)
def test_what_is_no_chunk_is_refused(histories: Histories) -> None:
    """Half a page stays behind at prefill."""
    histories.run("transfer", laws=[what_is_no_chunk_is_refused])


@check(
    "transfer.own-lane",
    "RFC-0012:C-MAPPING#S1",
    witnesses=("pages_out_of_order", "rank_without_pages", "later_chunk"),
    cases=("KV-50",),
)
def test_a_rank_sends_the_pages_of_its_lane(histories: Histories) -> None:
    """A rank that takes pages for a contiguous range sends another request's."""
    histories.run("transfer", laws=[a_rank_sends_the_pages_of_its_lane])


@check("transfer.positions", "RFC-0012:C-MAPPING#S2", witnesses=("later_chunk", "pages_out_of_order"))
def test_positions_are_those_of_the_request(histories: Histories) -> None:
    """The second chunk lands on the pages of the first."""
    histories.run("transfer", laws=[positions_are_those_of_the_request])


@check(
    "transfer.destinations",
    "RFC-0012:C-MAPPING#S3",
    witnesses=("destinations_out_of_order", "later_chunk"),
    cases=("KV-75",),
)
def test_destinations_are_those_of_the_positions(histories: Histories) -> None:
    """A page lands on another one's place."""
    histories.run("transfer", laws=[destinations_are_those_of_the_positions])


@check("transfer.order", "RFC-0012:C-MAPPING#S4", witnesses=("pages_out_of_order",))
def test_pages_are_sent_in_the_order_of_positions(histories: Histories) -> None:
    """Sorted by page, the front of a request may come last."""
    histories.run("transfer", laws=[pages_are_sent_in_the_order_of_positions])


@check(
    "transfer.every-rank",
    "RFC-0012:C-MAPPING#S5",
    witnesses=("rank_without_pages", "chunk_of_no_page"),
    cases=("KV-53",),
)
def test_every_rank_is_named_once(histories: Histories) -> None:
    """Decode waits for a rank that has nothing to send."""
    histories.run("transfer", laws=[every_rank_is_named_once])


@check(
    "transfer.page-counts",
    "RFC-0012:C-MAPPING#S6",
    witnesses=("fewer_pages_than_destinations", "more_pages_than_destinations"),
)
def test_page_counts_are_equal_or_nothing_is_sent(histories: Histories) -> None:
    """A list cut to the shorter one leaves pages of decode as they were."""
    laws = [page_counts_are_equal_or_nothing_is_sent]
    with histories.written("transfer", SMALL, laws=laws) as call:
        asked = {"pages": (2, 1), "first_position": 1}
        call.attempt("transfer.deal", **asked, destinations=(5, 3), is_last=False)
        call.attempt("transfer.deal", **asked, destinations=(5, 3, 4, 6), is_last=True)
    histories.run("transfer", laws=laws)


@check(
    "transfer.foreign-pages",
    "RFC-0012:C-MAPPING#S7",
    witnesses=("dummy_page_in_a_chunk", "page_beyond_the_pool", "page_at_two_positions"),
)
def test_pages_that_are_none_of_a_chunk_are_refused(histories: Histories) -> None:
    """The padding of a batch is sent as if it were somebody's context."""
    histories.run("transfer", laws=[pages_that_are_none_of_a_chunk_are_refused])


@check("transfer.dealt", "RFC-0012:C-MAPPING#S8", witnesses=("pages_out_of_order", "chunk_of_no_page"))
def test_a_chunk_that_is_right_is_dealt(histories: Histories) -> None:
    """A fragmented pool is no reason to refuse a transfer."""
    histories.run("transfer", laws=[a_chunk_that_is_right_is_dealt])


@check(
    "transfer.bytes",
    "RFC-0012:C-BLOCKS#S1",
    witnesses=("neighbours_on_one_side_only", "neighbours_on_both_sides", "buffers_of_different_pages"),
    cases=("KV-64",),
)
def test_writes_move_each_page_of_each_buffer_once(histories: Histories) -> None:
    """A run that is one on one side only carries a neighbour's bytes along."""
    laws = [writes_move_each_page_of_each_buffer_once]
    with histories.written("transfer", SMALL, laws=laws) as call:
        call.attempt("transfer.blocks", sources=(1, 2, 5, 6, 7), destinations=(1, 7, 8, 9, 3), buffers=BUFFERS)
    histories.run("transfer", laws=laws)


@check("transfer.runs", "RFC-0012:C-BLOCKS#S2", witnesses=("neighbours_on_both_sides",))
def test_neighbours_on_both_sides_are_one_write(histories: Histories) -> None:
    """Submitting takes longer than sending."""
    histories.run("transfer", laws=[neighbours_on_both_sides_are_one_write])


@check("transfer.buffer-order", "RFC-0012:C-BLOCKS#S3", witnesses=("neighbours_on_both_sides",))
def test_writes_go_buffer_by_buffer(histories: Histories) -> None:
    """The first layer is there last."""
    histories.run("transfer", laws=[writes_go_buffer_by_buffer])


@check(
    "transfer.page-bytes",
    "RFC-0012:C-BLOCKS#S4",
    witnesses=("one_buffer_of_another_size",),
    cases=("KV-94",),
)
def test_pages_of_other_sizes_are_refused(histories: Histories) -> None:
    """Each page runs over the one behind it."""
    histories.run("transfer", laws=[pages_of_other_sizes_are_refused])


@check("transfer.unequal-lists", "RFC-0012:C-BLOCKS#S5", witnesses=("lists_of_different_length",))
def test_lists_that_do_not_pair_are_refused(histories: Histories) -> None:
    """A warning is written, and pages are missing."""
    histories.run("transfer", laws=[lists_that_do_not_pair_are_refused])


@check("transfer.writes", "RFC-0012:C-BLOCKS#S6", witnesses=("nothing_to_move", "neighbours_on_both_sides"))
def test_pages_that_pair_have_writes(histories: Histories) -> None:
    """A rank without pages fails a transfer that it has no part in."""
    histories.run("transfer", laws=[pages_that_pair_have_writes])


@check("transfer.fingerprint", "RFC-0012:C-FINGERPRINT#S1", witnesses=("fingerprint_with_a_draft",))
def test_a_fingerprint_names_what_decides_where_bytes_lie(histories: Histories) -> None:
    """Two sides with pages of 16 and 64 tokens shake hands."""
    histories.run("transfer", laws=[a_fingerprint_names_what_decides_where_bytes_lie])


@check(
    "transfer.other-peer",
    "RFC-0012:C-FINGERPRINT#S2",
    witnesses=("peer_with_one_other_value", "peer_with_fewer_fields", "peer_with_more_fields"),
    cases=("KV-94",),
)
def test_a_peer_that_differs_is_refused(histories: Histories) -> None:
    """Bytes are sent before anybody looks whether they fit."""
    histories.run("transfer", laws=[a_peer_that_differs_is_refused])


@check("transfer.equal-peer", "RFC-0012:C-FINGERPRINT#S3", witnesses=("equal_peer",))
def test_an_equal_peer_is_accepted(histories: Histories) -> None:
    """Nobody can be served."""
    histories.run("transfer", laws=[an_equal_peer_is_accepted])
