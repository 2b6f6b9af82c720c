"""Wrong, and odd but right, variants of batch plans: requests, order, numbering, last tokens, maxima, refusals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.planning import BatchPlan, LastToken, RankPlan, RequestSplit, SegmentRows
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.planning import Listed, PlanningModel
from sharedkv_conformance.model.planning_batch import (
    Place,
    laid_out,
    lane_min,
    new_tokens,
    segment_min,
    unplannable,
)
from sharedkv_conformance.model.planning_split import page_owners, request_split

Batch = Sequence[ExtendRequest]
Rows = Sequence[SegmentRows]


@mutant("planning.concatenated", kills="RFC-0002:C-PLAN#S1")
class Concatenated(PlanningModel):
    """Splits the batch as one sequence and cuts it up into requests."""

    def splits(self, batch: Batch) -> tuple[RequestSplit, ...]:
        owners = iter(page_owners(self.geometry, new_tokens(batch)))
        return tuple(
            replace(split, owners=tuple(next(owners, 0) for _ in split.owners)) for split in super().splits(batch)
        )


@mutant("planning.padded-to-the-longest", kills="RFC-0002:C-PLAN#S1")
class PaddedToTheLongest(PlanningModel):
    """Pads every request of a batch to the length of the longest."""

    def splits(self, batch: Batch) -> tuple[RequestSplit, ...]:
        longest = max(request.extend_tokens for request in batch)
        return tuple(request_split(self.geometry, request.prefix_tokens, longest) for request in batch)


@mutant("planning.batch-of-one-by-another-path", kills="RFC-0002:C-PLAN#S1")
class BatchOfOneByAnotherPath(PlanningModel):
    """Gives a batch of one request whole to rank 0, as engines do where the batch path asks for two."""

    def splits(self, batch: Batch) -> tuple[RequestSplit, ...]:
        splits = super().splits(batch)
        return splits if len(batch) > 1 else tuple(replace(s, owners=(0,) * len(s.owners)) for s in splits)


@mutant("planning.all-prev-then-all-next", kills="RFC-0002:C-PLAN#S2")
class AllPrevThenAllNext(PlanningModel):
    """Puts the `prev` parts of all requests first, as engines do that split without owner lanes."""

    def listed(self, batch: Batch) -> Listed:
        return sorted(super().listed(batch), key=lambda found: (found[1].rank, found[1].part == "next"))


@mutant("planning.next-before-prev", kills="RFC-0002:C-PLAN#S2")
class NextBeforePrev(PlanningModel):
    """Puts the late part of a request before its early one."""

    def listed(self, batch: Batch) -> Listed:
        return sorted(super().listed(batch), key=lambda found: (found[1].rank, found[0], found[1].part == "prev"))


@mutant("planning.empty-segments-left-out", kills="RFC-0002:C-PLAN#S2")
class EmptySegmentsLeftOut(PlanningModel):
    """Does not list a segment without rows, so that a kernel's fixed pairs shift."""

    def listed(self, batch: Batch) -> Listed:
        padded = self.padding(batch)
        return [(r, s) for r, s in super().listed(batch) if s.start != s.end or (r, s.rank, s.part) in padded]


@mutant("planning.key-values-of-the-wrong-prefix", kills="RFC-0002:C-PLAN#S2")
class KeyValuesOfTheWrongPrefix(PlanningModel):
    """Adds the first request's prefix to the key-value lengths of all."""

    def listed(self, batch: Batch) -> Listed:
        return [(r, replace(s, kv_tokens=batch[0].prefix_tokens + s.end)) for r, s in super().listed(batch)]


@mutant("planning.rows-counted-over-all-ranks", kills="RFC-0002:C-PLAN#S3")
class RowsCountedOverAllRanks(PlanningModel):
    """Numbers valid rows across ranks, as if one buffer held them."""

    def layout(self, batch: Batch) -> tuple[SegmentRows, ...]:
        following, rows = 0, []
        for s in super().layout(batch):
            rows.append(replace(s, first_row=following))
            following += s.end - s.start
        return tuple(rows)

    def last_tokens(self, batch: Batch, rows: Rows) -> tuple[LastToken, ...]:
        return super().last_tokens(batch, super().layout(batch))


@mutant("planning.rows-counted-by-request", kills="RFC-0002:C-PLAN#S3")
class RowsCountedByRequest(PlanningModel):
    """Begins at row 0 again with each request."""

    def plan(self, batch: Batch, static_multiple: int) -> BatchPlan:
        plan = super().plan(batch, static_multiple)
        first = {(s.rank, s.request): s.first_row for s in reversed(plan.segments)}
        return replace(
            plan, segments=tuple(replace(s, first_row=s.first_row - first[s.rank, s.request]) for s in plan.segments)
        )


@mutant("planning.last-tokens-on-rank-zero", kills="RFC-0002:C-PLAN#S4")
class LastTokensOnRankZero(PlanningModel):
    """Looks for last tokens in rank 0's `next` segments, where they are unless blocks are empty."""

    def last_tokens(self, batch: Batch, rows: Rows) -> tuple[LastToken, ...]:
        return tuple(
            LastToken(
                rank=0, row=s.first_row + s.end - s.start - 1, compute_row=s.first_compute_row + s.end - s.start - 1
            )
            for s in rows
            if s.rank == 0 and s.part == "next"
        )


@mutant("planning.last-row-of-the-rank", kills="RFC-0002:C-PLAN#S4")
class LastRowOfTheRank(PlanningModel):
    """Takes the last row of the rank that has a request's last token, where it is in a batch of one."""

    def last_tokens(self, batch: Batch, rows: Rows) -> tuple[LastToken, ...]:
        ends = {s.rank: s for s in rows}
        return tuple(
            replace(last, row=(s := ends[last.rank]).first_row + s.end - s.start - 1)
            for last in super().last_tokens(batch, rows)
        )


@mutant("planning.last-token-among-valid-rows", kills="RFC-0002:C-PLAN#S4")
class LastTokenAmongValidRows(PlanningModel):
    """Pads every empty segment and gives the valid row of a last token for its compute row."""

    def padding(self, batch: Batch) -> Mapping[Place, int]:
        return segment_min(self.geometry, batch)

    def last_tokens(self, batch: Batch, rows: Rows) -> tuple[LastToken, ...]:
        return tuple(replace(last, compute_row=last.row) for last in super().last_tokens(batch, rows))


@mutant("planning.maximum-of-the-first-request", kills="RFC-0002:C-PLAN#S5")
class MaximumOfTheFirstRequest(PlanningModel):
    """Takes key-value maxima from the first request alone."""

    def ranks(self, batch: Batch, rows: Rows, static_multiple: int) -> tuple[RankPlan, ...]:
        first = super().ranks(batch, [s for s in rows if s.request == 0], static_multiple)
        plans = super().ranks(batch, rows, static_multiple)
        return tuple(replace(p, max_kv_tokens=f.max_kv_tokens) for p, f in zip(plans, first, strict=True))


@mutant("planning.longest-segment-halved", kills="RFC-0002:C-PLAN#S5")
class LongestSegmentHalved(PlanningModel):
    """Takes half of a rank's rows, rounded up, for its longest segment, as if there were two of equal length."""

    def ranks(self, batch: Batch, rows: Rows, static_multiple: int) -> tuple[RankPlan, ...]:
        plans = super().ranks(batch, rows, static_multiple)
        return tuple(replace(plan, max_query_rows=(plan.compute_rows + 1) // 2) for plan in plans)


@mutant("planning.maxima-without-dummies", kills="RFC-0002:C-PLAN#S5")
class MaximaWithoutDummies(PlanningModel):
    """Takes maxima over valid rows, so that the kernel of an idle rank is launched for nothing."""

    def ranks(self, batch: Batch, rows: Rows, static_multiple: int) -> tuple[RankPlan, ...]:
        bare = super().ranks(batch, [replace(s, dummy_rows=0) for s in rows], static_multiple)
        return tuple(
            replace(plan, max_query_rows=b.max_query_rows, max_kv_tokens=b.max_kv_tokens)
            for plan, b in zip(super().ranks(batch, rows, static_multiple), bare, strict=True)
        )


@mutant("planning.empty-batch-planned", kills="RFC-0002:C-PLAN#S6")
class EmptyBatchPlanned(PlanningModel):
    """Takes a batch without a request for one that has nothing to do."""

    def refuse_unplannable(self, batch: Batch) -> None:
        if batch:
            super().refuse_unplannable(batch)


@mutant("planning.faulty-request-skipped", kills="RFC-0002:C-PLAN#S6")
class FaultyRequestSkipped(PlanningModel):
    """Looks at the first request of a batch alone."""

    def refuse_unplannable(self, batch: Batch) -> None:
        super().refuse_unplannable(batch[:1])

    def plan(self, batch: Batch, static_multiple: int) -> BatchPlan:
        self.refuse_unplannable(batch)
        return super().plan([r for r in batch if not unplannable(self.geometry, (r,))], static_multiple)


@mutant("planning.tiny-in-company-refused", kills="RFC-0002:C-PLAN#S6")
class TinyInCompanyRefused(PlanningModel):
    """Refuses a plan of a batch in which a request after the first has no more than a page."""

    def plan(self, batch: Batch, static_multiple: int) -> BatchPlan:
        plan = super().plan(batch, static_multiple)
        if any(request.extend_tokens <= self.geometry.page_size for request in batch[1:]):
            raise Rejected(Reason.EXTEND_EMPTY)
        return plan


@mutant("planning.tail-of-a-faulty-batch", kills="RFC-0002:C-PLAN#S6")
class TailOfAFaultyBatch(PlanningModel):
    """Strips locations without a look at the batch."""

    def strip(self, batch: Batch, locations: Sequence[int], static_tokens: int) -> tuple[int, ...]:
        self.refuse_tail(batch, locations, static_tokens)
        return self.stripped(batch, locations)


@mutant("planning.dummies-by-rank", kills="RFC-0002:C-PLAN#S7")
class DummiesByRank(PlanningModel):
    """Puts dummy rows elsewhere on the ranks from the second on."""

    def padding(self, batch: Batch) -> Mapping[Place, int]:
        part = "next" if self.config.rank else "prev"
        return {(request, rank, part): rows for (request, rank, _), rows in super().padding(batch).items()}


@mutant("planning.left-over", kills="RFC-0002:C-PLAN#S7")
class LeftOver(PlanningModel):
    """Leaves in empty segments what the plan before had there, for nobody reads it."""

    before = 0

    def plan(self, batch: Batch, static_multiple: int) -> BatchPlan:
        plan = super().plan(batch, static_multiple)
        left, self.before = self.before, new_tokens(batch)
        return replace(
            plan, segments=tuple(replace(s, kv_tokens=left) if s.start == s.end else s for s in plan.segments)
        )


@benign("planning.dummy-in-each-empty-segment")
class DummyInEachEmptySegment(PlanningModel):
    """Gives every empty segment a dummy row."""

    def padding(self, batch: Batch) -> Mapping[Place, int]:
        return segment_min(self.geometry, batch)


@benign("planning.dummy-in-the-last-request")
class DummyInTheLastRequest(PlanningModel):
    """Gives an idle rank its dummy row in its late segment of the last request."""

    def padding(self, batch: Batch) -> Mapping[Place, int]:
        return {(len(batch) - 1, rank, "next"): 1 for _, rank, _ in lane_min(self.geometry, batch)}


@benign("planning.empty-segments-of-a-batch-anywhere")
class EmptySegmentsOfABatchAnywhere(PlanningModel):
    """Reports empty segments of a batch at position zero, with nothing to see."""

    def layout(self, batch: Batch) -> tuple[SegmentRows, ...]:
        moved = [(r, s if s.start < s.end else replace(s, start=0, end=0, kv_tokens=0)) for r, s in self.listed(batch)]
        return laid_out(moved, self.padding(batch))


@benign("planning.last-fault-first")
class LastFaultFirst(PlanningModel):
    """Refuses for another of several faults than the model does."""

    def refuse_unplannable(self, batch: Batch) -> None:
        for reason in sorted(unplannable(self.geometry, batch), reverse=True):
            raise Rejected(reason)
