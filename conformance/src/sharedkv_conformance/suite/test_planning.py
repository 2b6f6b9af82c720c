"""The checks of `planning`: the page-aligned in-sequence split of one request."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.planning import (
    VECTORS,
    a_geometry_without_owner_lanes_is_refused_by_name,
    a_request_without_a_split_is_refused_by_name,
    a_segment_sees_the_prefix_and_all_up_to_its_end,
    each_new_page_has_one_owner,
    each_page_is_owned_by_the_rank_of_its_block,
    segments_are_whole_blocks,
    segments_cover_each_new_token_once,
    the_last_token_has_its_rank_and_row,
    written_rows_hold,
    written_vectors_hold,
)
from sharedkv_conformance.marks import check


@check("planning.page-count", "RFC-0002:C-SPLIT#S1", witnesses=("tail_shorter_than_a_page", "fewer_pages_than_blocks"))
def test_each_new_page_has_one_owner(histories: Histories) -> None:
    """A page too few loses the tail of every request; a page too many drains the pool."""
    histories.run("planning", laws=[each_new_page_has_one_owner])


@check("planning.owners", "RFC-0002:C-SPLIT#S2", witnesses=("remainder_pages", "fewer_pages_than_blocks"))
def test_pages_are_owned_by_the_rank_of_their_block(histories: Histories) -> None:
    """A page that another rank computes than owns is written to the wrong lane."""
    histories.run("planning", laws=[each_page_is_owned_by_the_rank_of_its_block])


@check(
    "planning.vectors",
    "RFC-0002:C-SPLIT#S2",
    "RFC-0002:C-SPLIT#S4",
    witnesses=("remainder_pages", "split_with_a_prefix"),
)
def test_the_written_table_holds(histories: Histories) -> None:
    """The rows of the clause's table hold to the number, so that no shared formula can be wrong on both sides."""
    for cp_size, page_size, prefix, extend in sorted(VECTORS):
        config = OpenConfig(cp_size=cp_size, page_size=page_size, pages=4 * cp_size)
        with histories.written("planning", config, laws=[written_vectors_hold, written_rows_hold]) as call:
            call("planning.split", prefix_tokens=prefix, extend_tokens=extend)


@check(
    "planning.partition",
    "RFC-0002:C-SPLIT#S3",
    witnesses=("tail_shorter_than_a_page", "fewer_pages_than_blocks", "remainder_pages"),
)
def test_segments_partition_the_new_tokens(histories: Histories) -> None:
    """A token that no rank computes has stale key and value bytes; one that two compute is written twice."""
    histories.run("planning", laws=[segments_cover_each_new_token_once])


@check("planning.whole-pages", "RFC-0002:C-SPLIT#S4", witnesses=("remainder_pages", "tail_shorter_than_a_page"))
def test_segments_are_whole_blocks(histories: Histories) -> None:
    """A segment that cuts a page makes two ranks write one page."""
    histories.run("planning", laws=[segments_are_whole_blocks])


@check(
    "planning.kv-length",
    "RFC-0002:C-SPLIT#S5",
    witnesses=("split_with_a_prefix", "tail_shorter_than_a_page"),
    cases=("KV-54",),
)
def test_a_segment_sees_the_prefix_and_all_up_to_its_end(histories: Histories) -> None:
    """A length that forgets the prefix, counts it twice or counts padding makes attention read other tokens."""
    histories.run("planning", laws=[a_segment_sees_the_prefix_and_all_up_to_its_end])


@check("planning.last-token", "RFC-0002:C-SPLIT#S6", witnesses=("fewer_pages_than_blocks", "remainder_pages"))
def test_the_last_token_is_found(histories: Histories) -> None:
    """The next token is sampled from the row of the last one; a wrong rank or row answers from the middle."""
    histories.run("planning", laws=[the_last_token_has_its_rank_and_row])


@check("planning.refusal", "RFC-0002:C-SPLIT#S7", witnesses=("unaligned_prefix", "empty_extend", "split_with_a_prefix"))
def test_a_request_without_a_split_is_refused(histories: Histories) -> None:
    """An unaligned prefix that is planned all the same writes into a page of another rank."""
    histories.run("planning", laws=[a_request_without_a_split_is_refused_by_name])


@check(
    "planning.geometry", "RFC-0002:C-SPLIT#S8", witnesses=("unsupported_opening", "supported_opening"), cases=("KV-51",)
)
def test_a_geometry_without_owner_lanes_is_refused(histories: Histories) -> None:
    """One rank, one-token pages or a round-robin split would give a page several writers, in silence."""
    geometries = [
        OpenConfig(cp_size=2, page_size=4, pages=8),
        OpenConfig(cp_size=1, page_size=4, pages=8),
        OpenConfig(cp_size=0, page_size=4, pages=8),
        OpenConfig(cp_size=2, page_size=1, pages=8),
        OpenConfig(cp_size=2, page_size=0, pages=8),
        OpenConfig(cp_size=2, page_size=4, pages=8, split="round_robin"),
        OpenConfig(cp_size=1, page_size=1, pages=8, split="round_robin"),
    ]
    for config in geometries:
        histories.opened("planning", config, laws=[a_geometry_without_owner_lanes_is_refused_by_name])
