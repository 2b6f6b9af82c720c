"""The laws of the page-aligned in-sequence split, and the witnesses of its triggers."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Rejected
from sharedkv_conformance.contract.planning import RequestSplit
from sharedkv_conformance.marks import law, witness
from sharedkv_conformance.model.geometry import unsupported_geometry
from sharedkv_conformance.model.planning_split import last_token, page_owners, segments, unsplittable
from sharedkv_conformance.model.planning_state import PlanningState
from sharedkv_conformance.step import Answer, Call, Err, Ok
from sharedkv_conformance.trace import OPEN

SPLIT = "planning.split"


def _split(before: PlanningState, call: Call, answer: Answer) -> RequestSplit | None:
    """Return the split that a law may judge: one given for a request that has one."""
    refused = unsplittable(before.geometry, call.prefix_tokens, call.extend_tokens)
    return answer.value if isinstance(answer, Ok) and not refused else None


def _covers(split: RequestSplit, extend_tokens: int) -> bool:
    """Say whether the segments partition the new tokens."""
    ranges = sorted((s.start, s.end) for s in split.segments if s.start != s.end)
    ends = [0, *(end for _, end in ranges)]
    return all(start == end for (start, _), end in zip(ranges, ends, strict=False)) and ends[-1] == extend_tokens


def _ranges(split: RequestSplit) -> list[tuple[int, str, int, int]]:
    return sorted((s.rank, s.part, s.start, s.end) for s in split.segments if s.start != s.end)


@law("RFC-0002:C-SPLIT#S1", on=SPLIT)
def each_new_page_has_one_owner(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The extend, rounded up to whole pages, gives the number of owners."""
    split = _split(before, call, answer)
    wanted = before.geometry.pages_for(call.extend_tokens)
    if split and len(split.owners) != wanted:
        yield f"{call.extend_tokens} tokens are {wanted} new pages, got {len(split.owners)} owners"


@law("RFC-0002:C-SPLIT#S2", on=SPLIT)
def each_page_is_owned_by_the_rank_of_its_block(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Blocks are consecutive pages, the remainder lies in the earliest, and ranks go up and down again."""
    split = _split(before, call, answer)
    wanted = page_owners(before.geometry, call.extend_tokens)
    if split and len(split.owners) == len(wanted) and split.owners != wanted:
        page = next(i for i, (a, b) in enumerate(zip(split.owners, wanted, strict=True)) if a != b)
        yield f"new page {page} is owned by rank {split.owners[page]}, expected {wanted[page]} ({list(wanted)})"


@law("RFC-0002:C-SPLIT#S2", on=SPLIT)
def written_vectors_hold(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The rows of the clause's table, as numbers that nothing computes."""
    split = _split(before, call, answer)
    geometry = before.geometry
    row = VECTORS.get((geometry.cp_size, geometry.page_size, call.prefix_tokens, call.extend_tokens))
    if split and row and len(split.owners) == len(row[0]) and split.owners != row[0]:
        yield f"owners {list(split.owners)}, the table says {list(row[0])}"


@law("RFC-0002:C-SPLIT#S3", on=SPLIT)
def segments_cover_each_new_token_once(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """No token is computed twice and none is forgotten."""
    split = _split(before, call, answer)
    if split and not _covers(split, call.extend_tokens):
        yield f"segments {_ranges(split)} do not partition the tokens 0..{call.extend_tokens}"


@law("RFC-0002:C-SPLIT#S4", on=SPLIT)
def segments_are_whole_blocks(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """A rank computes exactly the tokens of the pages that it owns."""
    split = _split(before, call, answer)
    if not split or not _covers(split, call.extend_tokens):
        return
    wanted = [s for s in segments(before.geometry, call.prefix_tokens, call.extend_tokens) if s.start != s.end]
    expected = sorted((s.rank, s.part, s.start, s.end) for s in wanted)
    if _ranges(split) != expected:
        yield f"segments (rank, part, start, end) {_ranges(split)}, expected {expected}"


@law("RFC-0002:C-SPLIT#S5", on=SPLIT)
def a_segment_sees_the_prefix_and_all_up_to_its_end(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The key-value length of a segment counts the prefix once, and unpadded tokens."""
    if split := _split(before, call, answer):
        for s in split.segments:
            if s.start != s.end and s.kv_tokens != call.prefix_tokens + s.end:
                yield f"rank {s.rank} {s.part}: kv_tokens {s.kv_tokens}, expected {call.prefix_tokens} + {s.end}"


@law("RFC-0002:C-SPLIT#S6", on=SPLIT)
def the_last_token_has_its_rank_and_row(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The last token is the last row of the last non-empty block."""
    if split := _split(before, call, answer):
        parts = segments(before.geometry, call.prefix_tokens, call.extend_tokens)
        wanted = last_token(parts, call.extend_tokens)
        if (split.last_rank, split.last_row) != wanted:
            yield f"last token at (rank, row) {(split.last_rank, split.last_row)}, expected {wanted}"


@law("RFC-0002:C-SPLIT#S7", on=SPLIT)
def a_request_without_a_split_is_refused_by_name(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """An unaligned or negative prefix and an empty extend are refused with their own reason, nothing else is."""
    reasons = unsplittable(before.geometry, call.prefix_tokens, call.extend_tokens)
    asked = f"prefix {call.prefix_tokens}, extend {call.extend_tokens}, page size {before.geometry.page_size}"
    if not reasons and isinstance(answer, Err):
        yield f"{asked}: has a split, got {answer.error}"
    elif reasons and isinstance(answer, Ok):
        yield f"{asked}: expected a rejection for {' or '.join(sorted(reasons))}, got a split"
    elif reasons and isinstance(answer, Err) and not _rejected_for(answer, reasons):
        yield f"{asked}: expected a rejection for {' or '.join(sorted(reasons))}, got {answer.error}"


@law("RFC-0002:C-SPLIT#S8", on=OPEN)
def a_geometry_without_owner_lanes_is_refused_by_name(
    before: PlanningState, call: Call, answer: Answer
) -> Iterator[str]:
    """One rank, pages of one token and other splits are refused when the session is opened."""
    reasons = unsupported_geometry(before.config)
    if reasons and not (isinstance(answer, Err) and _rejected_for(answer, reasons)):
        yield f"{before.config}: expected a rejection for {' or '.join(sorted(reasons))}, got {_shown(answer)}"
    elif not reasons and isinstance(answer, Err):
        yield f"{before.config}: is supported, got {answer.error}"


def _rejected_for(answer: Err, reasons: frozenset[object]) -> bool:
    return isinstance(answer.error, Rejected) and answer.error.reason in reasons


def _shown(answer: Answer) -> str:
    return str(answer.error) if isinstance(answer, Err) else "a session"


# 1563 pages in 16 blocks: rank and pages of each block.
_LONG = (*((rank, 98) for rank in range(8)), (7, 98), (6, 98), (5, 98), (4, 97), (3, 97), (2, 97), (1, 97), (0, 97))

# (cp_size, page_size, prefix, extend): (owners, valid rows a rank)
VECTORS: dict[tuple[int, int, int, int], tuple[tuple[int, ...], tuple[int, ...]]] = {
    (2, 4, 0, 16): ((0, 1, 1, 0), (8, 8)),
    (2, 4, 8, 13): ((0, 1, 1, 0), (5, 8)),
    (2, 4, 0, 5): ((0, 1), (4, 1)),
    (2, 4, 0, 1): ((0,), (1, 0)),
    (2, 4, 0, 32): ((0, 0, 1, 1, 1, 1, 0, 0), (16, 16)),
    (4, 64, 128, 513): ((0, 0, 1, 2, 3, 3, 2, 1, 0), (129, 128, 128, 128)),
    (8, 64, 4096, 700): ((0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5), (64, 64, 64, 64, 64, 124, 128, 128)),
    (8, 64, 0, 100_000): (
        tuple(rank for rank, pages in _LONG for _ in range(pages)),
        (12_448, 12_480, 12_480, 12_480, 12_480, 12_544, 12_544, 12_544),
    ),
}


@law("RFC-0002:C-SPLIT#S4", on=SPLIT)
def written_rows_hold(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The rows of the clause's table, as numbers that nothing computes."""
    split = _split(before, call, answer)
    geometry = before.geometry
    row = VECTORS.get((geometry.cp_size, geometry.page_size, call.prefix_tokens, call.extend_tokens))
    if not split or not row or not _covers(split, call.extend_tokens):
        return
    rows = tuple(sum(s.end - s.start for s in split.segments if s.rank == r) for r in range(geometry.cp_size))
    if rows != row[1]:
        yield f"valid rows by rank {list(rows)}, the table says {list(row[1])}"


@witness(on=SPLIT)
def tail_shorter_than_a_page(before: PlanningState, call: Call, answer: Answer) -> bool:
    """The last new page is not full."""
    return isinstance(answer, Ok) and call.extend_tokens % before.geometry.page_size != 0


@witness(on=SPLIT)
def fewer_pages_than_blocks(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Some blocks are empty."""
    return isinstance(answer, Ok) and len(answer.value.owners) < 2 * before.geometry.cp_size


@witness(on=SPLIT)
def remainder_pages(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Every block has a page, and some have one more than others."""
    return (
        isinstance(answer, Ok)
        and (pages := len(answer.value.owners)) > (blocks := 2 * before.geometry.cp_size)
        and pages % blocks != 0
    )


@witness(on=SPLIT)
def split_with_a_prefix(before: PlanningState, call: Call, answer: Answer) -> bool:
    """The request has cached tokens."""
    return isinstance(answer, Ok) and call.prefix_tokens > 0


@witness(on=SPLIT)
def unaligned_prefix(before: PlanningState, call: Call, answer: Answer) -> bool:
    """The prefix does not end at a page boundary."""
    return bool(call.prefix_tokens % before.geometry.page_size)


@witness(on=SPLIT)
def empty_extend(before: PlanningState, call: Call, answer: Answer) -> bool:
    """There is no new token."""
    return bool(call.extend_tokens < 1)


@witness(on=OPEN)
def unsupported_opening(before: PlanningState, call: Call, answer: Answer) -> bool:
    """The geometry has no owner lanes."""
    return bool(unsupported_geometry(before.config))


@witness(on=OPEN)
def supported_opening(before: PlanningState, call: Call, answer: Answer) -> bool:
    """The geometry has owner lanes: the positive control of refusals."""
    return not unsupported_geometry(before.config)
