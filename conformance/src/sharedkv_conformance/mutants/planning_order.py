"""Wrong, and odd but right, variants of row domains, permutations and descriptors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.planning import Descriptor, DummyRow, LastToken, RankPlan, SegmentRows
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.model.planning_batch import Place, compute_rows, segment_min, valid_rows

Batch = Sequence[ExtendRequest]
Rows = Sequence[SegmentRows]
ByRank = Sequence[Sequence[int]]
Ints = tuple[int, ...]


@mutant("planning.dummies-counted-valid", kills="RFC-0002:C-ROWS#S1")
class DummiesCountedValid(PlanningModel):
    """Has one length for valid and compute rows."""

    def ranks(self, batch: Batch, rows: Rows, static_multiple: int) -> tuple[RankPlan, ...]:
        plans = super().ranks(batch, rows, static_multiple)
        return tuple(replace(plan, valid_rows=plan.compute_rows) for plan in plans)


@mutant("planning.share-of-the-batch", kills="RFC-0002:C-ROWS#S1")
class ShareOfTheBatch(PlanningModel):
    """Counts the same rounded share of the batch on every rank."""

    def ranks(self, batch: Batch, rows: Rows, static_multiple: int) -> tuple[RankPlan, ...]:
        share = -(-sum(request.extend_tokens for request in batch) // self.geometry.cp_size)
        return tuple(replace(plan, valid_rows=share) for plan in super().ranks(batch, rows, static_multiple))


@mutant("planning.dummies-not-named", kills="RFC-0002:C-ROWS#S2")
class DummiesNotNamed(PlanningModel):
    """Counts dummy rows and lists none."""

    def dummies(self, batch: Batch, rows: Rows) -> tuple[DummyRow, ...]:
        return ()


@mutant("planning.dummy-named-at-a-valid-row", kills="RFC-0002:C-ROWS#S2")
class DummyNamedAtAValidRow(PlanningModel):
    """Pads every empty segment and names the rank's first rows as the dummies."""

    def padding(self, batch: Batch) -> Mapping[Place, int]:
        return segment_min(self.geometry, batch)

    def dummies(self, batch: Batch, rows: Rows) -> tuple[DummyRow, ...]:
        seen: dict[int, int] = {}
        named = []
        for dummy in super().dummies(batch, rows):
            named.append(replace(dummy, row=seen.setdefault(dummy.rank, 0)))
            seen[dummy.rank] += 1
        return tuple(named)


@mutant("planning.compute-rows-of-valid-rows", kills="RFC-0002:C-ROWS#S2")
class ComputeRowsOfValidRows(PlanningModel):
    """Pads every empty segment and numbers compute rows as if there were no dummies."""

    def padding(self, batch: Batch) -> Mapping[Place, int]:
        return segment_min(self.geometry, batch)

    def layout(self, batch: Batch) -> tuple[SegmentRows, ...]:
        return tuple(replace(s, first_compute_row=s.first_row) for s in super().layout(batch))


@mutant("planning.idle-rank", kills="RFC-0002:C-ROWS#S3")
class IdleRank(PlanningModel):
    """Gives a rank without tokens nothing to compute."""

    def padding(self, batch: Batch) -> Mapping[Place, int]:
        return {}


@mutant("planning.padding-for-one-request-alone", kills="RFC-0002:C-ROWS#S3")
class PaddingForOneRequestAlone(PlanningModel):
    """Pads a batch of one tiny request and forgets that two can leave a rank idle as well."""

    def padding(self, batch: Batch) -> Mapping[Place, int]:
        return super().padding(batch) if len(batch) == 1 else {}


@mutant("planning.page-tails-padded", kills="RFC-0002:C-ROWS#S4")
class PageTailsPadded(PlanningModel):
    """Pads every page tail to a whole page."""

    def padding(self, batch: Batch) -> Mapping[Place, int]:
        size = self.geometry.page_size
        tails = {(r, s.rank, s.part): -(s.end - s.start) % size for r, s in self.listed(batch)}
        return {**super().padding(batch), **{place: rows for place, rows in tails.items() if rows}}


@mutant("planning.page-of-dummies", kills="RFC-0002:C-ROWS#S4")
class PageOfDummies(PlanningModel):
    """Gives an idle rank a whole page of dummy rows."""

    def padding(self, batch: Batch) -> Mapping[Place, int]:
        return dict.fromkeys(super().padding(batch), self.geometry.page_size)


@mutant("planning.dummy-at-the-batch-s-end", kills="RFC-0002:C-ROWS#S5")
class DummyAtTheBatchsEnd(PlanningModel):
    """Lets a dummy row see the tokens of all requests."""

    def dummies(self, batch: Batch, rows: Rows) -> tuple[DummyRow, ...]:
        sees = sum(request.prefix_tokens + request.extend_tokens for request in batch)
        return tuple(replace(dummy, kv_tokens=sees) for dummy in super().dummies(batch, rows))


@mutant("planning.dummy-behind-the-request", kills="RFC-0002:C-ROWS#S5")
class DummyBehindTheRequest(PlanningModel):
    """Puts a dummy row at the position after the last token."""

    def dummies(self, batch: Batch, rows: Rows) -> tuple[DummyRow, ...]:
        return tuple(replace(dummy, position=dummy.kv_tokens) for dummy in super().dummies(batch, rows))


@mutant("planning.static-rows-by-rank", kills="RFC-0002:C-ROWS#S6")
class StaticRowsByRank(PlanningModel):
    """Rounds up the rows of each rank by itself."""

    def ranks(self, batch: Batch, rows: Rows, static_multiple: int) -> tuple[RankPlan, ...]:
        return tuple(
            replace(plan, static_rows=-(-plan.compute_rows // static_multiple) * static_multiple)
            for plan in super().ranks(batch, rows, static_multiple)
        )


@mutant("planning.static-rows-of-the-average", kills="RFC-0002:C-ROWS#S6")
class StaticRowsOfTheAverage(PlanningModel):
    """Rounds up an equal share of the rows, as if ranks had equally many."""

    def ranks(self, batch: Batch, rows: Rows, static_multiple: int) -> tuple[RankPlan, ...]:
        plans = super().ranks(batch, rows, static_multiple)
        share = -(-sum(plan.compute_rows for plan in plans) // len(plans))
        return tuple(replace(p, static_rows=-(-share // static_multiple) * static_multiple) for p in plans)


@mutant("planning.multiple-of-zero", kills="RFC-0002:C-ROWS#S7")
class MultipleOfZero(PlanningModel):
    """Takes a multiple below one for one."""

    def refuse_multiple(self, static_multiple: int) -> None:
        pass


@mutant("planning.tokens-of-each-request", kills="RFC-0002:C-RESTORE#S1")
class TokensOfEachRequest(PlanningModel):
    """Counts the tokens of a gather permutation from 0 in each request."""

    def gather(self, batch: Batch, rows: Rows) -> Ints:
        return tuple(
            token
            for rank in range(self.geometry.cp_size)
            for s in rows
            if s.rank == rank
            for token in range(s.start, s.end)
        )


@mutant("planning.rows-in-token-order", kills="RFC-0002:C-RESTORE#S1")
class RowsInTokenOrder(PlanningModel):
    """Takes the rows of a rank in the order of their tokens in the batch, which is theirs, and ranks by size."""

    def gather(self, batch: Batch, rows: Rows) -> Ints:
        return super().gather(batch, sorted(rows, key=lambda s: (-s.rank, s.first_row)))[::-1]


@mutant("planning.restore-by-gather", kills="RFC-0002:C-RESTORE#S2")
class RestoreByGather(PlanningModel):
    """Restores with the gather permutation itself, which is its own inverse where there are few rows."""

    def restoring(self, gather: Ints) -> Ints:
        return gather


@mutant("planning.rank-major-restore", kills="RFC-0002:C-RESTORE#S2")
class RankMajorRestore(PlanningModel):
    """Takes rows in the order of ranks for tokens."""

    def restoring(self, gather: Ints) -> Ints:
        return tuple(range(len(gather)))


@mutant("planning.dealt-in-turn", kills="RFC-0002:C-RESTORE#S3")
class DealtInTurn(PlanningModel):
    """Deals consecutive values, as many as each rank has rows."""

    def dealt(self, batch: Batch, values: Sequence[int]) -> tuple[Ints, ...]:
        rest = iter(values)
        return tuple(tuple(next(rest) for _ in rank) for rank in super().dealt(batch, values))


@mutant("planning.dealt-prev-first", kills="RFC-0002:C-RESTORE#S3")
class DealtPrevFirst(PlanningModel):
    """Deals to all `prev` rows of a rank before its `next` rows, whatever its plan says."""

    def dealt(self, batch: Batch, values: Sequence[int]) -> tuple[Ints, ...]:
        first, bases = 0, []
        for request in batch:
            bases.append(first)
            first += request.extend_tokens
        ordered = sorted(self.listed(batch), key=lambda found: found[1].part == "next")
        return tuple(
            tuple(values[bases[r] + token] for r, s in ordered if s.rank == rank for token in range(s.start, s.end))
            for rank in range(self.geometry.cp_size)
        )


@mutant("planning.rank-major-product", kills="RFC-0002:C-RESTORE#S4")
class RankMajorProduct(PlanningModel):
    """Gives the rows of the ranks one after another for the tokens of the batch."""

    def restored(self, batch: Batch, rows: ByRank) -> Ints:
        return tuple(value for values in rows for value in values)


@mutant("planning.restored-as-one-request", kills="RFC-0002:C-RESTORE#S4")
class RestoredAsOneRequest(PlanningModel):
    """Takes first halves of the ranks ascending, then second halves descending: undoes the split of one request."""

    def restored(self, batch: Batch, rows: ByRank) -> Ints:
        halves = [((len(values) + 1) // 2, values) for values in rows]
        early = [value for half, values in halves for value in values[:half]]
        late = [value for half, values in reversed(halves) for value in values[half:]]
        return (*early, *late)


@mutant("planning.collected-from-the-first", kills="RFC-0002:C-RESTORE#S5")
class CollectedFromTheFirst(PlanningModel):
    """Collects every request's row with the first request's metadata."""

    def collected(self, batch: Batch) -> tuple[LastToken, ...]:
        return super().collected(batch)[:1] * len(batch)


@mutant("planning.collected-among-valid-rows", kills="RFC-0002:C-RESTORE#S5")
class CollectedAmongValidRows(PlanningModel):
    """Pads every empty segment and collects compute rows by the numbers of valid rows."""

    def padding(self, batch: Batch) -> Mapping[Place, int]:
        return segment_min(self.geometry, batch)

    def collected(self, batch: Batch) -> tuple[LastToken, ...]:
        return tuple(replace(last, compute_row=last.row) for last in super().collected(batch))


@mutant("planning.values-cut-or-repeated", kills="RFC-0002:C-RESTORE#S6")
class ValuesCutOrRepeated(PlanningModel):
    """Deals the values that are there, and the last one again where there are too few."""

    def deal(self, batch: Batch, values: Sequence[int]) -> tuple[Ints, ...]:
        self.refuse_unplannable(batch)
        wanted = sum(request.extend_tokens for request in batch)
        filled = [*values[:wanted], *([values[-1] if values else 0] * (wanted - len(values)))]
        return self.dealt(batch, filled)


@mutant("planning.missing-ranks-skipped", kills="RFC-0002:C-RESTORE#S6")
class MissingRanksSkipped(PlanningModel):
    """Restores from the ranks that answered."""

    def restore(self, batch: Batch, rows: ByRank) -> Ints:
        self.refuse_unplannable(batch)
        laid = self.layout(batch)
        wanted = [valid_rows(laid, rank) for rank in range(self.geometry.cp_size)]
        given = [*rows, *[()] * self.geometry.cp_size]
        return self.restored(batch, [(*v[:n], *[0] * (n - len(v))) for v, n in zip(given, wanted, strict=False)])


@mutant("planning.collected-from-any-rows", kills="RFC-0002:C-RESTORE#S6")
class CollectedFromAnyRows(PlanningModel):
    """Collects without a look at how many rows there are."""

    def refuse_compute_rows(self, batch: Batch, rows: ByRank) -> None:
        pass

    def collect_last(self, batch: Batch, rows: ByRank) -> Ints:
        self.refuse_unplannable(batch)
        laid = self.layout(batch)
        wanted = [compute_rows(laid, rank) for rank in range(self.geometry.cp_size)]
        given = [*rows, *[()] * self.geometry.cp_size]
        return super().collect_last(batch, [(*v[:n], *[0] * (n - len(v))) for v, n in zip(given, wanted, strict=False)])


@mutant("planning.narrow-tokens", kills="RFC-0002:C-DESCRIPTORS#S1")
class NarrowTokens(PlanningModel):
    """Gives all arrays the type of the descriptors, locations too."""

    def arrays(self, batch: Batch, rows: Rows) -> dict[str, Descriptor]:
        return {name: replace(array, dtype="int32") for name, array in super().arrays(batch, rows).items()}


@mutant("planning.array-left-out", kills="RFC-0002:C-DESCRIPTORS#S1")
class ArrayLeftOut(PlanningModel):
    """Gives no array of compute rows, for valid rows mostly are the same."""

    def arrays(self, batch: Batch, rows: Rows) -> dict[str, Descriptor]:
        return {name: array for name, array in super().arrays(batch, rows).items() if name != "compute_rows"}


@mutant("planning.query-rows-everywhere", kills="RFC-0002:C-DESCRIPTORS#S2")
class QueryRowsEverywhere(PlanningModel):
    """Gives valid rows for compute rows."""

    def arrays(self, batch: Batch, rows: Rows) -> dict[str, Descriptor]:
        arrays = super().arrays(batch, rows)
        return {**arrays, "compute_rows": replace(arrays["compute_rows"], values=arrays["query_rows"].values)}


@mutant("planning.segments-in-request-order", kills="RFC-0002:C-DESCRIPTORS#S2")
class SegmentsInRequestOrder(PlanningModel):
    """Lists the entries of descriptors request by request, and the plan rank by rank."""

    def arrays(self, batch: Batch, rows: Rows) -> dict[str, Descriptor]:
        return super().arrays(batch, rows) | {
            name: array
            for name, array in super().arrays(batch, sorted(rows, key=lambda s: (s.request, s.rank))).items()
            if name not in ("kv_base", "token")
        }


@mutant("planning.base-without-prefixes", kills="RFC-0002:C-DESCRIPTORS#S3")
class BaseWithoutPrefixes(PlanningModel):
    """Counts new tokens alone in the bases of keys and values."""

    def arrays(self, batch: Batch, rows: Rows) -> dict[str, Descriptor]:
        bare = [replace(request, prefix_tokens=0) for request in batch]
        return super().arrays(batch, rows) | {"kv_base": super().arrays(bare, rows)["kv_base"]}


@mutant("planning.padded-base", kills="RFC-0002:C-DESCRIPTORS#S3")
class PaddedBase(PlanningModel):
    """Counts the last page of each request as full in the bases of keys and values."""

    def arrays(self, batch: Batch, rows: Rows) -> dict[str, Descriptor]:
        size = self.geometry.page_size
        full = [replace(request, extend_tokens=-(-request.extend_tokens // size) * size) for request in batch]
        bases = [sum(r.prefix_tokens + r.extend_tokens for r in full[: s.request]) for s in rows]
        arrays = super().arrays(batch, rows)
        return arrays | {"kv_base": replace(arrays["kv_base"], values=tuple(bases))}


@benign("planning.more-arrays")
class MoreArrays(PlanningModel):
    """Gives kernels an array that nobody asked for, and all of them in another order."""

    def arrays(self, batch: Batch, rows: Rows) -> dict[str, Descriptor]:
        arrays = super().arrays(batch, rows)
        return {"end": Descriptor(name="end", dtype="int32", values=tuple(s.end for s in rows))} | dict(
            reversed(arrays.items())
        )
