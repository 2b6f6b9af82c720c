"""Wrong variants of direct write that count: rows, whole rows and the tokens of a page."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.direct_write import DirectWriteModel
from sharedkv_conformance.model.direct_write_refusals import Write, dealt, miscounted_ranks, page_refusals
from sharedkv_conformance.model.planning_batch import tail_refusals
from sharedkv_conformance.model.pool import computed_row_bytes

Reasons = frozenset[Reason]


class _Lenient(DirectWriteModel):
    """A direct write that lets some faults pass, and then writes nothing."""

    def passes(self, write: Write, found: Reasons) -> Reasons:
        """Choose which of the reasons against a write do not count."""
        del write
        return found & frozenset()

    def reasons(self, write: Write) -> Reasons:
        found = super().reasons(write)
        return found - self.passes(write, found)

    def persist(self, write: Write) -> None:
        if not super().reasons(write):
            super().persist(write)


@mutant("direct_write.first-two-ranks-counted", kills="RFC-0003:C-VALIDATION#S1")
class FirstTwoRanksCounted(_Lenient):
    """Counts the rows of the first two ranks."""

    def passes(self, write: Write, found: Reasons) -> Reasons:
        if found != {Reason.ROWS_MISMATCH} or len(write.rows) != self.geometry.cp_size:
            return frozenset()
        valid = [len(tokens) for tokens in dealt(self.geometry, write.batch)]
        compute = self.compute_rows(write.batch)
        wrong = miscounted_ranks(write, {"valid": valid, "compute": compute, "static": compute})
        return frozenset() if any(wrong[:2]) else found


@mutant("direct_write.whole-rows-suffice", kills="RFC-0003:C-VALIDATION#S2")
class WholeRowsSuffice(_Lenient):
    """Takes any whole number of rows in a buffer."""

    def passes(self, write: Write, found: Reasons) -> Reasons:
        if found != {Reason.ROW_BYTES_MISMATCH}:
            return frozenset()
        given = [each for rows in write.rows for each in rows.buffers]
        odd = any(len(each.data) % computed_row_bytes(self.pool, each.buffer) for each in given)
        return frozenset() if odd else found


@mutant("direct_write.static-rows-of-the-largest-rank", kills="RFC-0003:C-VALIDATION#S8")
class StaticRowsOfTheLargestRank(DirectWriteModel):
    """Wants as many static rows from each rank as the one gives that computes most."""

    def reasons(self, write: Write) -> Reasons:
        found = super().reasons(write)
        if found:
            return found
        most = max(self.compute_rows(write.batch))
        few = any(rows.domain == "static" and rows.rows < most for rows in write.rows)
        return frozenset({Reason.ROWS_MISMATCH} if few else ())


@mutant("direct_write.page-order-unchecked", kills="RFC-0003:C-VALIDATION#S9")
class PageOrderUnchecked(_Lenient):
    """Looks at the page of a location and not at its place there."""

    def passes(self, write: Write, found: Reasons) -> Reasons:
        if not write.batch or tail_refusals(write.batch, write.locations, write.static_tokens):
            return frozenset()
        order = page_refusals(self.geometry, write)
        return order if found == order and Reason.PAGE_NAMED_TWICE not in order else frozenset()


@mutant("direct_write.page-of-two", kills="RFC-0003:C-VALIDATION#S9")
class PageOfTwo(_Lenient):
    """Writes two pages of new tokens into one."""

    def passes(self, write: Write, found: Reasons) -> Reasons:
        twice = frozenset({Reason.LOCATIONS_MISMATCH, Reason.PAGE_NAMED_TWICE})
        return twice if found == twice else frozenset()
