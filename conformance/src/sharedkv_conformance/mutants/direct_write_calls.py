"""Wrong variants of direct write: where pages lie, what is read, what is refused, and what comes after a write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import Placement, RankRows
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.direct_write import DirectWriteModel, Kept
from sharedkv_conformance.model.direct_write_refusals import Write, dealt, location_refusals
from sharedkv_conformance.model.planning_batch import new_tokens, tail_refusals, unplannable
from sharedkv_conformance.model.pool import computed_row_bytes

Reasons = frozenset[Reason]
INT32 = 1 << 32


# -- places ----------------------------------------------------------------------------------------------------------


@mutant("direct_write.placed-without-minus-one", kills="RFC-0003:C-PLACEMENT#S1")
class PlacedWithoutMinusOne(DirectWriteModel):
    """Places page l on lane l % C, as pools do that keep a dummy page on every lane."""

    def placement(self, page: int) -> Placement:
        if page == 0:
            return super().placement(page)
        return Placement(lane=page % self.geometry.cp_size, page=self.geometry.physical(page))


@mutant("direct_write.physical-page-one-off", kills="RFC-0003:C-PLACEMENT#S1")
class PhysicalPageOneOff(DirectWriteModel):
    """Places page l at physical page l // C."""

    def placement(self, page: int) -> Placement:
        return replace(super().placement(page), page=page // self.geometry.cp_size)


@mutant("direct_write.page-of-32-bits", kills="RFC-0003:C-PLACEMENT#S1")
class PageOf32Bits(DirectWriteModel):
    """Computes physical pages in 32 bits."""

    def placement(self, page: int) -> Placement:
        return super().placement((page + INT32 // 2) % INT32 - INT32 // 2)


@mutant("direct_write.dummy-on-a-lane", kills="RFC-0003:C-PLACEMENT#S2")
class DummyOnALane(DirectWriteModel):
    """Takes the dummy page for a page of the last lane."""

    def placement(self, page: int) -> Placement:
        if page == 0:
            return Placement(lane=self.geometry.cp_size - 1, page=0)
        return super().placement(page)


@mutant("direct_write.page-back-without-plus-one", kills="RFC-0003:C-PLACEMENT#S3")
class PageBackWithoutPlusOne(DirectWriteModel):
    """Forgets the dummy page on the way from places to pages."""

    def logical(self, lane: int, physical: int) -> int:
        return super().logical(lane, physical) - 1


@mutant("direct_write.lanes-are-ranges", kills="RFC-0003:C-PLACEMENT#S3")
class LanesAreRanges(DirectWriteModel):
    """Counts the pages of a lane one after another, as if a lane were a range of the pool."""

    def logical(self, lane: int, physical: int) -> int:
        return lane * self.geometry.lane_pages + physical


@mutant("direct_write.surplus-placed", kills="RFC-0003:C-PLACEMENT#S4")
class SurplusPlaced(DirectWriteModel):
    """Places whatever page it is asked for, surplus and beyond."""

    def refuse_page(self, page: int) -> None:
        del page


@mutant("direct_write.location-wraps", kills="RFC-0003:C-PLACEMENT#S4")
class LocationWraps(DirectWriteModel):
    """Takes a location of minus one for the last one of the pool."""

    def read(self, layer: int, buffer: str, locations: Sequence[int]) -> bytes:
        slots = (self.geometry.cp_size * self.geometry.lane_pages + 1) * self.geometry.page_size
        return super().read(layer, buffer, [where + slots if where < 0 else where for where in locations])


@mutant("direct_write.read-sorted", kills="RFC-0003:C-PLACEMENT#S5")
class ReadSorted(DirectWriteModel):
    """Returns rows in the order of their locations."""

    def read(self, layer: int, buffer: str, locations: Sequence[int]) -> bytes:
        return super().read(layer, buffer, sorted(locations))


@mutant("direct_write.read-from-the-first-rank", kills="RFC-0003:C-PLACEMENT#S5")
class ReadFromTheFirstRank(DirectWriteModel):
    """Reads every location from the first rank."""

    def fetched(self, layer: int, buffer: str, location: int) -> bytes:
        _, slot = self.plane.pools.place(location)
        return self.plane.pools.read_row(0, layer, buffer, slot)


@mutant("direct_write.location-read-raw", kills="RFC-0003:C-PLACEMENT#S5")
class LocationReadRaw(DirectWriteModel):
    """Uses the location of the whole pool on the buffer of one rank, cut to its size."""

    def fetched(self, layer: int, buffer: str, location: int) -> bytes:
        lane, _ = self.plane.pools.place(location)
        rows = (1 + self.geometry.lane_pages) * self.geometry.page_size
        return self.plane.pools.read_row(lane, layer, buffer, location % rows)


# -- what is refused -------------------------------------------------------------------------------------------------


class _Lenient(DirectWriteModel):
    """A direct write that does not mind some faults: it drops rows that have no place and fills up what is missing."""

    ignored: Reasons = frozenset()

    def reasons(self, write: Write) -> Reasons:
        return super().reasons(write) - self.ignored

    def persist(self, write: Write) -> None:
        if not super().reasons(write):
            super().persist(write)


@mutant("direct_write.rows-cut-to-fit", kills="RFC-0003:C-VALIDATION#S1")
class RowsCutToFit(_Lenient):
    """Takes as many rows as there are."""

    ignored = frozenset({Reason.ROWS_MISMATCH})


@mutant("direct_write.single-request-unchecked", kills="RFC-0003:C-VALIDATION#S1")
class SingleRequestUnchecked(_Lenient):
    """Counts rows only in batches of several requests."""

    def reasons(self, write: Write) -> Reasons:
        found = super().reasons(write)
        return found - {Reason.ROWS_MISMATCH} if len(write.batch) == 1 else found


@mutant(
    "direct_write.split-of-the-first-request",
    kills="RFC-0003:C-VALIDATION#S1",
    also={"RFC-0003:C-VALIDATION#S8": "a split that is not that of the batch refuses the rows of the batch"},
)
class SplitOfTheFirstRequest(_Lenient):
    """Expects the rows of the first request, times the number of requests."""

    def reasons(self, write: Write) -> Reasons:
        found = super().reasons(write)
        if not found <= {Reason.ROWS_MISMATCH} or len(write.rows) != self.geometry.cp_size:
            return found
        first = [len(tokens) * len(write.batch) for tokens in dealt(self.geometry, write.batch[:1])]
        fits = all(rows.rows == due or rows.domain != "valid" for rows, due in zip(write.rows, first, strict=True))
        return frozenset() if fits else frozenset({Reason.ROWS_MISMATCH})


@mutant("direct_write.row-bytes-unchecked", kills="RFC-0003:C-VALIDATION#S2")
class RowBytesUnchecked(_Lenient):
    """Derives the width of a row from the bytes that are given."""

    ignored = frozenset({Reason.ROW_BYTES_MISMATCH})


@mutant("direct_write.only-the-first-buffer-checked", kills="RFC-0003:C-VALIDATION#S2")
class OnlyTheFirstBufferChecked(_Lenient):
    """Counts the bytes of latents or keys, and not those of the buffer beside them."""

    def reasons(self, write: Write) -> Reasons:
        found = super().reasons(write)
        firsts = ((rows.rows, rows.buffers[0]) for rows in write.rows if rows.buffers[0].buffer in ("latent", "key"))
        right = all(len(b.data) == count * computed_row_bytes(self.pool, b.buffer) for count, b in firsts)
        return found - {Reason.ROW_BYTES_MISMATCH} if right else found


@mutant("direct_write.cut-to-the-shorter", kills="RFC-0003:C-VALIDATION#S3")
class CutToTheShorter(_Lenient):
    """Cuts locations and rows to the shorter of both."""

    def reasons(self, write: Write) -> Reasons:
        return super().reasons(write) - tail_refusals(write.batch, write.locations, write.static_tokens)


@mutant("direct_write.tail-dropped-unproven", kills="RFC-0003:C-VALIDATION#S3")
class TailDroppedUnproven(_Lenient):
    """Drops whatever stands behind the locations of the new tokens."""

    ignored = frozenset({Reason.STATIC_TAIL_UNPROVEN})


@mutant("direct_write.tail-dropped-by-length", kills="RFC-0003:C-VALIDATION#S3")
class TailDroppedByLength(_Lenient):
    """Takes the recorded length for proof, whatever stands in the tail."""

    def reasons(self, write: Write) -> Reasons:
        found = super().reasons(write)
        recorded = len(write.locations) == write.static_tokens
        return found - {Reason.STATIC_TAIL_UNPROVEN} if recorded else found


@mutant("direct_write.owner-unchecked", kills="RFC-0003:C-VALIDATION#S4")
class OwnerUnchecked(_Lenient):
    """Writes a row to whatever page it is told."""

    ignored = frozenset({Reason.LANE_MISMATCH})


@mutant("direct_write.owner-of-the-first-token", kills="RFC-0003:C-VALIDATION#S4")
class OwnerOfTheFirstToken(_Lenient):
    """Looks at the lane of the first location of each rank."""

    def reasons(self, write: Write) -> Reasons:
        found = super().reasons(write)
        if found != {Reason.LANE_MISMATCH}:
            return found
        firsts = [tokens[:1] for tokens in dealt(self.geometry, write.batch)]
        return location_refusals(self.geometry, write, firsts)


@mutant("direct_write.outside-dropped", kills="RFC-0003:C-VALIDATION#S4")
class OutsideDropped(_Lenient):
    """Drops rows whose location is not of the pool."""

    ignored = frozenset({Reason.PAGE_OUTSIDE_POOL, Reason.LANE_MISMATCH})

    def reasons(self, write: Write) -> Reasons:
        found = DirectWriteModel.reasons(self, write)
        return found - self.ignored if Reason.PAGE_OUTSIDE_POOL in found else found


@mutant("direct_write.layer-wraps", kills="RFC-0003:C-VALIDATION#S5")
class LayerWraps(_Lenient):
    """Takes a layer of minus one for the last."""

    def reasons(self, write: Write) -> Reasons:
        found = super().reasons(write)
        return found - {Reason.LAYER_OUTSIDE_POOL} if write.layer < 0 else found


@mutant("direct_write.unknown-domain-is-valid", kills="RFC-0003:C-VALIDATION#S5")
class UnknownDomainIsValid(_Lenient):
    """Takes rows of a domain that it does not know for valid ones."""

    ignored = frozenset({Reason.DOMAIN_UNKNOWN})


@mutant("direct_write.unknown-buffer-skipped", kills="RFC-0003:C-VALIDATION#S5")
class UnknownBufferSkipped(_Lenient):
    """Skips buffers that it does not know."""

    ignored = frozenset({Reason.BUFFER_UNKNOWN})


@mutant("direct_write.wrong-word", kills="RFC-0003:C-VALIDATION#S5")
class WrongWord(DirectWriteModel):
    """Says of an unknown buffer that the layer is not there."""

    def refuse(self, write: Write) -> None:
        try:
            super().refuse(write)
        except Rejected as error:
            if error.reason is Reason.BUFFER_UNKNOWN:
                raise Rejected(Reason.LAYER_OUTSIDE_POOL, error.detail) from error
            raise


@mutant("direct_write.unplannable-written", kills="RFC-0003:C-VALIDATION#S6")
class UnplannableWritten(_Lenient):
    """Writes what it can of a batch that has no plan."""

    def reasons(self, write: Write) -> Reasons:
        return super().reasons(write) - unplannable(self.geometry, write.batch)


@mutant("direct_write.empty-batch-is-fine", kills="RFC-0003:C-VALIDATION#S6")
class EmptyBatchIsFine(_Lenient):
    """Has nothing against a batch of no request."""

    ignored = frozenset({Reason.BATCH_EMPTY})


@mutant("direct_write.checked-while-writing", kills="RFC-0003:C-VALIDATION#S7")
class CheckedWhileWriting(DirectWriteModel):
    """Checks each location when it comes to it, and stops there."""

    def refuse(self, write: Write) -> None:
        try:
            super().refuse(write)
        except Rejected as error:
            if error.reason is Reason.LANE_MISMATCH and write.layer in range(self.pool.all_layers):
                self._begin(write)
            raise

    def _begin(self, write: Write) -> None:
        for kept in super().kept(write):
            page = kept.location // self.geometry.page_size
            if not self.geometry.holds(page) or self.geometry.lane(page) != kept.rank:
                return
            for buffer in self.buffers():
                self.put_rows(write, buffer, [kept])


@mutant("direct_write.ranks-checked-one-by-one", kills="RFC-0003:C-VALIDATION#S7")
class RanksCheckedOneByOne(DirectWriteModel):
    """Writes the rows of a rank before it looks at those of the next."""

    def refuse(self, write: Write) -> None:
        try:
            super().refuse(write)
        except Rejected as error:
            fine = [self._is_fine(rows) for rows in write.rows]
            if error.reason is Reason.ROW_BYTES_MISMATCH and fine[0]:
                for kept in (kept for kept in super().kept(write) if kept.rank == 0):
                    for buffer in self.buffers():
                        self.put_rows(write, buffer, [kept])
            raise

    def _is_fine(self, rows: RankRows) -> bool:
        return all(len(b.data) == rows.rows * computed_row_bytes(self.pool, b.buffer) for b in rows.buffers)


@mutant("direct_write.several-requests-refused", kills="RFC-0003:C-VALIDATION#S8")
class SeveralRequestsRefused(DirectWriteModel):
    """Refuses batches of several requests."""

    def reasons(self, write: Write) -> Reasons:
        found = super().reasons(write)
        return found or frozenset({Reason.ROWS_MISMATCH} if len(write.batch) > 1 else ())


@mutant("direct_write.tail-refused", kills="RFC-0003:C-VALIDATION#S8")
class TailRefused(DirectWriteModel):
    """Refuses a static tail with all its proof."""

    def reasons(self, write: Write) -> Reasons:
        longer = bool(write.batch) and len(write.locations) > new_tokens(write.batch)
        return super().reasons(write) or frozenset({Reason.LOCATIONS_MISMATCH} if longer else ())


@mutant("direct_write.idle-rank-refused", kills="RFC-0003:C-VALIDATION#S8")
class IdleRankRefused(DirectWriteModel):
    """Refuses a batch in which some rank has no row."""

    def reasons(self, write: Write) -> Reasons:
        found = super().reasons(write)
        return found or frozenset(() if all(dealt(self.geometry, write.batch)) else {Reason.ROWS_MISMATCH})


@mutant("direct_write.unknown-layout-is-plain", kills="RFC-0003:C-LAYOUTS#S6")
class UnknownLayoutIsPlain(DirectWriteModel):
    """Takes a layout that it does not know for the plain one."""

    @classmethod
    def refuse_layout(cls, config: OpenConfig) -> None:
        del config


@mutant("direct_write.no-heads", kills="RFC-0003:C-LAYOUTS#S6")
class NoHeads(DirectWriteModel):
    """Refuses the layout of keys and values."""

    @classmethod
    def refuse_layout(cls, config: OpenConfig) -> None:
        super().refuse_layout(config)
        if config.pool.layout == "mha_bf16":
            raise Rejected(Reason.LAYOUT_UNKNOWN, config.pool.layout)


# -- order -----------------------------------------------------------------------------------------------------------


@mutant("direct_write.end-before-the-index", kills="RFC-0003:C-ORDER#S1")
class EndBeforeTheIndex(DirectWriteModel):
    """Tells the end of a layer once its first buffer is enqueued."""

    def persist(self, write: Write) -> None:
        kept = tuple(self.kept(write))
        first, *others = self.buffers()
        self.persist_buffer(write, first, kept)
        self.tell("layer_end", "", write.layer)
        for buffer in others:
            self.persist_buffer(write, buffer, kept)


@mutant("direct_write.end-not-told", kills="RFC-0003:C-ORDER#S1")
class EndNotTold(DirectWriteModel):
    """Never tells the end of a layer where some rank had nothing to write."""

    def tell(self, kind: str, reason: str, layer: int) -> None:
        if kind != "layer_end" or self._busy:
            super().tell(kind, reason, layer)

    def persist(self, write: Write) -> None:
        self._busy = all(dealt(self.geometry, write.batch))
        super().persist(write)

    _busy = True


@mutant("direct_write.index-not-told", kills="RFC-0003:C-ORDER#S1")
class IndexNotTold(DirectWriteModel):
    """Enqueues the last buffer on a stream of its own, which nobody is told of."""

    def tell(self, kind: str, reason: str, layer: int) -> None:
        if reason != self.buffers()[-1]:
            super().tell(kind, reason, layer)


@mutant("direct_write.read-does-not-wait", kills="RFC-0003:C-ORDER#S2")
class ReadDoesNotWait(DirectWriteModel):
    """Reads what is in the pool by now."""

    def fetched(self, layer: int, buffer: str, location: int) -> bytes:
        return self.plane.unordered_pools.read(layer, buffer, location)


@benign("direct_write.any-reason")
class AnyReason(DirectWriteModel):
    """Tells the last of several reasons against a write."""

    def refuse(self, write: Write) -> None:
        for reason in sorted(self.reasons(write), reverse=True):
            raise Rejected(reason, "")


@benign("direct_write.rows-backwards")
class RowsBackwards(DirectWriteModel):
    """Writes the last row first."""

    def put_rows(self, write: Write, buffer: str, kept: Sequence[Kept]) -> None:
        super().put_rows(write, buffer, kept[::-1])
