"""Values and errors of the reference as the contract has them, and back.

Knows both vocabularies, word by word. Does not know sessions or state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sharedkv import allocation, errors, lanes, planning
from sharedkv_conformance import contract


@contextmanager
def contract_errors() -> Iterator[None]:
    """Raise what the reference raises as the contract's errors."""
    try:
        yield
    except errors.RefusedError as refused:
        raise contract.Rejected(reason(refused), str(refused.value)) from refused
    except errors.CapacityWaitError as wait:
        raise contract.CapacityWait(wait.required, wait.available, wait.deficit) from wait


def reason(refused: errors.RefusedError) -> contract.Reason:
    """Name a refusal in the contract's vocabulary, which has the same words."""
    return contract.Reason(refused.reason.value)


def free_room(policy: contract.FreeRoom) -> allocation.FreeRoom:
    """Read a free-room policy."""
    return allocation.FreeRoom(target=policy.target, min_chunk=policy.min_chunk)


def requests(batch: Sequence[contract.ExtendRequest]) -> list[allocation.ExtendRequest]:
    """Read an extend batch."""
    return [
        allocation.ExtendRequest(
            request=request.request, prefix_tokens=request.prefix_tokens, extend_tokens=request.extend_tokens
        )
        for request in batch
    ]


def request_split(split: planning.RequestSplit) -> contract.RequestSplit:
    """Write the split of one request."""
    segments = tuple(
        contract.Segment(
            rank=segment.rank,
            part=segment.part,
            start=segment.start,
            end=segment.end,
            kv_tokens=segment.kv_tokens,
        )
        for segment in split.segments
    )
    return contract.RequestSplit(
        owners=split.owners, segments=segments, last_rank=split.last_rank, last_row=split.last_row
    )


def extend_allocation(given: allocation.ExtendAllocation) -> contract.ExtendAllocation:
    """Write what an extend batch was given."""
    return contract.ExtendAllocation(
        owners=tuple(given.owners),
        pages=tuple(given.pages),
        locations=tuple(given.locations.tolist()),
        evicted=tuple(given.evicted),
    )


def admission(answer: allocation.Admission) -> contract.Admission:
    """Write whether a batch would fit."""
    return contract.Admission(
        fits=answer.fits, required=answer.required, available=answer.available, deficit=answer.deficit
    )


def lane_statistics(counts: lanes.LaneCounts) -> contract.LaneStatistics:
    """Write the counts of every lane."""
    return contract.LaneStatistics(
        capacity=counts.capacity, free=counts.free, evictable=counts.evictable, in_use=counts.in_use
    )


def page_sets(pages: lanes.LanePages) -> contract.PageSets:
    """Write the pages of every lane by state."""
    return contract.PageSets(free=pages.free, evictable=pages.evictable, in_use=pages.in_use)
