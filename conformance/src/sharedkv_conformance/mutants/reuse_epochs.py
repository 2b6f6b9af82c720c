"""Wrong, and odd but right, variants of dense views: what is refused, and when a view is made anew."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from sharedkv_conformance.contract.errors import Reason, Rejected, Unsupported
from sharedkv_conformance.contract.pool import RankRows
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.model.reuse import Batch, ReuseModel, Rows, View


class _Lenient(ReuseModel):
    """Composes although there are reasons against it."""

    forgives: frozenset[Reason] = frozenset()

    def refuse_composition(self, layer: int, epoch: int, batch: Batch, rows: Sequence[RankRows]) -> None:
        try:
            super().refuse_composition(layer, epoch, batch, rows)
        except Rejected as error:
            if error.reason not in self.forgives:
                raise


@mutant("reuse.unaligned-prefix-cut", kills="RFC-0004:C-DENSE-VIEW#S8")
class UnalignedPrefixCut(_Lenient):
    """Cuts a prefix that is not a multiple of the page size down to whole pages."""

    forgives = frozenset({Reason.PREFIX_NOT_PAGE_ALIGNED})

    def begin(self, epoch: int, batch: Batch) -> None:
        size = self.geometry.page_size
        cut = tuple(
            ReuseRequest(
                request=r.request,
                prefix_tokens=r.prefix_tokens // size * size,
                extend_tokens=r.extend_tokens,
                table=r.table,
            )
            for r in batch
        )
        super().begin(epoch, cut)


@mutant("reuse.short-table-accepted", kills="RFC-0004:C-DENSE-VIEW#S8")
class ShortTableAccepted(_Lenient):
    """Looks at the pages of the prefix alone and finds nothing wrong with the rest."""

    forgives = frozenset({Reason.TABLE_TOO_SHORT})


@mutant("reuse.unknown-page-is-the-dummy", kills="RFC-0004:C-DENSE-VIEW#S8")
class UnknownPageIsTheDummy(_Lenient):
    """Maps a page that is not there to the dummy page."""

    forgives = frozenset({Reason.PAGE_OUTSIDE_POOL})

    def place(self, location: int) -> tuple[int, int]:
        known = self.geometry.holds(location // self.geometry.page_size)
        return super().place(location) if known else (0, location % self.geometry.page_size)


@mutant("reuse.every-batch-is-empty", kills="RFC-0004:C-DENSE-VIEW#S8")
class EveryBatchIsEmpty(ReuseModel):
    """Gives one reason for every batch that has no view."""

    def refuse_composition(self, layer: int, epoch: int, batch: Batch, rows: Sequence[RankRows]) -> None:
        if reuse_batch.batch_refusals(self.geometry, batch):
            raise Rejected(Reason.BATCH_EMPTY)
        super().refuse_composition(layer, epoch, batch, rows)


@mutant("reuse.rows-uncounted", kills="RFC-0004:C-DENSE-VIEW#S9")
class RowsUncounted(_Lenient):
    """Takes the first rows that it needs of whatever is given."""

    forgives = frozenset({Reason.ROWS_MISMATCH, Reason.ROW_BYTES_MISMATCH})


@mutant("reuse.compute-rows-wanted", kills="RFC-0004:C-DENSE-VIEW#S9")
class ComputeRowsWanted(ReuseModel):
    """Wants as many rows of each rank as it computes, whatever the domain."""

    def refuse_composition(self, layer: int, epoch: int, batch: Batch, rows: Sequence[RankRows]) -> None:
        super().refuse_composition(layer, epoch, batch, rows)
        wanted = self.rows_by_domain(batch)["compute"]
        if any(given.rows < wanted[rank] for rank, given in enumerate(rows)):
            raise Rejected(Reason.ROWS_MISMATCH)


@mutant("reuse.static-rows-have-padding", kills="RFC-0004:C-DENSE-VIEW#S9")
class StaticRowsHavePadding(ReuseModel):
    """Refuses static rows of a rank that are no more than it computes."""

    def refuse_composition(self, layer: int, epoch: int, batch: Batch, rows: Sequence[RankRows]) -> None:
        super().refuse_composition(layer, epoch, batch, rows)
        compute = self.rows_by_domain(batch)["compute"]
        if any(given.domain == "static" and given.rows == compute[rank] for rank, given in enumerate(rows)):
            raise Rejected(Reason.ROWS_MISMATCH)


@mutant("reuse.passed-epoch-composed", kills="RFC-0004:C-EPOCHS#S1")
class PassedEpochComposed(_Lenient):
    """Composes for a batch that has been replaced."""

    forgives = frozenset({Reason.EPOCH_STALE})


@mutant("reuse.second-batch-composed", kills="RFC-0004:C-EPOCHS#S2")
class SecondBatchComposed(_Lenient):
    """Gives another batch under the same epoch what the first was given."""

    forgives = frozenset({Reason.EPOCH_OF_ANOTHER_BATCH})

    def begin(self, epoch: int, batch: Batch) -> None:
        super().begin(epoch, self.batch if epoch == self.epoch else batch)


@mutant("reuse.first-table-alone-compared", kills="RFC-0004:C-EPOCHS#S2")
class FirstTableAloneCompared(ReuseModel):
    """Takes a batch for the one of the epoch where requests and lengths are, and the pages of the first request."""

    def refuse_composition(self, layer: int, epoch: int, batch: Batch, rows: Sequence[RankRows]) -> None:
        is_alike = epoch == self.epoch and reuse_batch.lengths(batch) == reuse_batch.lengths(self.batch)
        if is_alike and batch[0].table == self.batch[0].table:
            batch = self.batch
        super().refuse_composition(layer, epoch, batch, rows)


@mutant("reuse.view-of-zeros", kills="RFC-0004:C-EPOCHS#S3")
class ViewOfZeros(ReuseModel):
    """Reads a view that nobody composed as zeros."""

    def view(self, layer: int, epoch: int) -> View:
        if epoch == self.epoch and (layer, epoch) not in self.composed_at:
            rows: dict[str, Sequence[Rows]] = {buffer: [{} for _ in self.ranks] for buffer in buffers_of(self.pool)}
            return View(tokens=reuse_batch.tokens(self.batch), rows=rows)
        return super().view(layer, epoch)


@mutant("reuse.any-epoch-read", kills="RFC-0004:C-EPOCHS#S3")
class AnyEpochRead(ReuseModel):
    """Reads the view of a layer whatever epoch is asked for."""

    def view(self, layer: int, epoch: int) -> View:
        return super().view(layer, self.epoch if self.epoch is not None else epoch)


@mutant("reuse.scratch-by-layer", kills="RFC-0004:C-EPOCHS#S4")
class ScratchByLayer(ReuseModel):
    """Keeps views by layer, and finds that of the last batch."""

    def forget(self) -> None:
        self.composed_at.clear()

    def scratch(self, layer: int, epoch: int) -> Hashable:
        return layer


@mutant("reuse.scratch-by-epoch", kills="RFC-0004:C-EPOCHS#S4")
class ScratchByEpoch(ReuseModel):
    """Keeps views by epoch, and finds that of the layer before."""

    def scratch(self, layer: int, epoch: int) -> Hashable:
        return epoch


@mutant("reuse.refusal-drops-views", kills="RFC-0004:C-EPOCHS#S5")
class RefusalDropsViews(ReuseModel):
    """Forgets which views it has when it refuses to compose another."""

    def refuse_composition(self, layer: int, epoch: int, batch: Batch, rows: Sequence[RankRows]) -> None:
        try:
            super().refuse_composition(layer, epoch, batch, rows)
        except Rejected:
            self.composed_at.clear()
            raise


@benign("reuse.replaced-is-stale")
class ReplacedIsStale(ReuseModel):
    """Says of a view that is replaced that its epoch is stale."""

    def view(self, layer: int, epoch: int) -> View:
        if self.epoch is not None and epoch < self.epoch:
            raise Rejected(Reason.EPOCH_STALE)
        return super().view(layer, epoch)


@benign("reuse.no-kernels-no-service")
class NoKernelsNoService(ReuseModel):
    """Refuses everything while its kernels are missing."""

    def refuse_composition(self, layer: int, epoch: int, batch: Batch, rows: Sequence[RankRows]) -> None:
        if "no_kernels" in self.plane.faults:
            raise Unsupported("reuse")
        super().refuse_composition(layer, epoch, batch, rows)
