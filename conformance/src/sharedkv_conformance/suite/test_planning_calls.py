"""The checks of `planning.batch`: static tails and chunks."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.planning_calls import (
    a_budget_that_covers_all_takes_all,
    a_chunk_that_cannot_be_is_refused_by_name,
    a_chunk_that_leaves_tokens_is_whole_pages,
    a_chunk_uses_its_budget,
    an_unproven_tail_is_refused,
    locations_of_new_tokens_stay,
    locations_that_are_missing_are_refused,
)
from sharedkv_conformance.marks import check
from sharedkv_conformance.model.allocation_state import batch_of

BATCH = ("planning.batch",)


@check(
    "planning.strip",
    "RFC-0002:C-STATIC-TAIL#S1",
    witnesses=("stripped_a_tail", "stripped_without_a_tail"),
    needs=BATCH,
)
def test_locations_of_new_tokens_stay(histories: Histories) -> None:
    """A tail that stays is written to the dummy page as if it were tokens; a location too few loses a token."""
    histories.run("planning", laws=[locations_of_new_tokens_stay])
    config = OpenConfig(cp_size=2, page_size=4, pages=16)
    with histories.written("planning", config, laws=[locations_of_new_tokens_stay]) as call:
        locations = (*range(4, 22), 0, 0)
        call("planning.strip", batch=batch_of((8, 13), (0, 5)), locations=locations, static_tokens=len(locations))


@check(
    "planning.unproven-tail",
    "RFC-0002:C-STATIC-TAIL#S2",
    witnesses=("tail_of_another_length_than_recorded", "tail_with_a_location", "stripped_a_tail"),
    needs=BATCH,
)
def test_an_unproven_tail_is_refused(histories: Histories) -> None:
    """What is cut because some padding is switched on may be somebody's tokens."""
    histories.run("planning", laws=[an_unproven_tail_is_refused])


@check(
    "planning.missing-locations",
    "RFC-0002:C-STATIC-TAIL#S3",
    witnesses=("locations_missing", "stripped_without_a_tail"),
    needs=BATCH,
)
def test_missing_locations_are_refused(histories: Histories) -> None:
    """Two lengths that disagree are cut to the shorter one, and the last tokens of the batch are never written."""
    histories.run("planning", laws=[locations_that_are_missing_are_refused])


@check("planning.last-chunk", "RFC-0002:C-CHUNKS#S1", witnesses=("chunk_takes_all",), needs=BATCH)
def test_a_budget_that_covers_all_takes_all(histories: Histories) -> None:
    """A last chunk that is rounded down to pages never reaches the end of the request."""
    histories.run("planning", laws=[a_budget_that_covers_all_takes_all])


@check("planning.chunk-boundary", "RFC-0002:C-CHUNKS#S2", witnesses=("chunk_is_cut",), cases=("KV-71",), needs=BATCH)
def test_a_chunk_that_leaves_tokens_is_whole_pages(histories: Histories) -> None:
    """A boundary inside a page lets two chunks, and perhaps two ranks, write one page."""
    histories.run("planning", laws=[a_chunk_that_leaves_tokens_is_whole_pages])


@check(
    "planning.chunked-request",
    "RFC-0002:C-CHUNKS#S1",
    "RFC-0002:C-CHUNKS#S2",
    witnesses=("chunk_is_cut", "chunk_takes_all"),
    cases=("KV-71", "KV-72"),
    needs=BATCH,
)
def test_a_request_is_chunked_by_what_remains(histories: Histories) -> None:
    """Chunks that are numbered by the prompt, not by what remains after a hit, are one too many."""
    laws = [a_budget_that_covers_all_takes_all, a_chunk_that_leaves_tokens_is_whole_pages]
    for page_size, prefix, prompt, budget in ((16, 0, 100, 40), (8, 3000, 4001, 2001), (8, 0, 4001, 2001)):
        with histories.written("planning", OpenConfig(cp_size=2, page_size=page_size, pages=8), laws=laws) as call:
            done = prefix
            for _ in range(prompt // page_size):
                taken = call("planning.chunk", prefix_tokens=done, remaining_tokens=prompt - done, budget_tokens=budget)
                done += taken
                if taken < 1 or done >= prompt:
                    break


@check(
    "planning.chunk-refusal",
    "RFC-0002:C-CHUNKS#S3",
    witnesses=("budget_below_a_page", "nothing_remains", "chunk_is_cut", "chunk_takes_all"),
    cases=("KV-78",),
    needs=BATCH,
)
def test_a_chunk_that_cannot_be_is_refused(histories: Histories) -> None:
    """A chunk of no token is scheduled again and again; a request that is all cached has nobody to sample from."""
    histories.run("planning", laws=[a_chunk_that_cannot_be_is_refused_by_name])


@check("planning.chunk-size", "RFC-0002:C-CHUNKS#S4", witnesses=("chunk_is_cut",), needs=BATCH)
def test_a_chunk_uses_its_budget(histories: Histories) -> None:
    """Chunks that are smaller than their budget take more passes than they need."""
    histories.run("planning", laws=[a_chunk_uses_its_budget])
