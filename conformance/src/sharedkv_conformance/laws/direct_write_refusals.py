"""The laws of refusal: which writes are refused, with which reason, and that nothing of them is left."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.laws.direct_write import POOL
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.direct_write_state import DirectWriteState
from sharedkv_conformance.model.geometry import unsupported_geometry
from sharedkv_conformance.model.pool import LAYOUTS, buffers_of
from sharedkv_conformance.step import Answer, Call, Err, Ok
from sharedkv_conformance.trace import OPEN

WRITE = "direct_write.write"
READ = "direct_write.read"
TAIL = frozenset({Reason.LOCATIONS_MISMATCH, Reason.STATIC_TAIL_UNPROVEN})
PLACES = frozenset({Reason.LANE_MISMATCH, Reason.PAGE_OUTSIDE_POOL})
PAGES = frozenset({Reason.LOCATIONS_MISMATCH, Reason.PAGE_NAMED_TWICE})
NAMES = frozenset({Reason.LAYER_OUTSIDE_POOL, Reason.BUFFER_UNKNOWN, Reason.DOMAIN_UNKNOWN})
UNPLANNABLE = frozenset(
    {Reason.BATCH_EMPTY, Reason.PREFIX_NOT_PAGE_ALIGNED, Reason.PREFIX_NEGATIVE, Reason.EXTEND_EMPTY}
)


def _not_refused(
    before: DirectWriteState, call: Call, answer: Answer, kind: frozenset[Reason], also: frozenset[Reason] = frozenset()
) -> Iterator[str]:
    """Yield what is wrong with the answer to a write whose faults are all of one kind."""
    reasons = before.reasons(call)
    if not reasons or not reasons <= kind:
        return
    if isinstance(answer, Ok):
        yield f"expected {' or '.join(sorted(reasons))}, and the write was done"
    elif not isinstance(answer.error, Rejected) or answer.error.reason not in reasons | also:
        yield f"expected {' or '.join(sorted(reasons))}, got {answer.error}"


@law("RFC-0003:C-VALIDATION#S1", on=WRITE)
def the_rows_of_each_rank_are_counted(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """A rank gives as many rows as the plan of this batch has for it, request by request."""
    yield from _not_refused(before, call, answer, frozenset({Reason.ROWS_MISMATCH}))


@law("RFC-0003:C-VALIDATION#S2", on=WRITE)
def the_bytes_of_rows_are_counted(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """A buffer has whole rows of the layout's size."""
    yield from _not_refused(before, call, answer, frozenset({Reason.ROW_BYTES_MISMATCH}))


@law("RFC-0003:C-VALIDATION#S3", on=WRITE)
def locations_are_counted(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """There is one location a token, and more only as a static tail that is proven."""
    if before.has_other_count(call):
        yield from _not_refused(before, call, answer, TAIL, also=TAIL)


@law("RFC-0003:C-VALIDATION#S4", on=WRITE)
def tokens_lie_on_the_rank_that_computes_them(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """A row of one rank never goes to the lane of another, nor outside the pool."""
    yield from _not_refused(before, call, answer, PLACES)


@law("RFC-0003:C-VALIDATION#S5", on=(WRITE, READ))
def unknown_names_are_refused(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """A layer, a buffer or a domain that is not there is refused by name."""
    if call.op == WRITE:
        yield from _not_refused(before, call, answer, NAMES)
        return
    wanted = {
        Reason.LAYER_OUTSIDE_POOL: call.layer not in range(before.pool.all_layers),
        Reason.BUFFER_UNKNOWN: call.buffer not in buffers_of(before.pool),
    }
    reasons = [reason for reason, present in wanted.items() if present]
    if reasons and not (isinstance(answer, Err) and getattr(answer.error, "reason", None) in reasons):
        found = "it was answered" if isinstance(answer, Ok) else str(answer.error)
        yield f"read of layer {call.layer}, {call.buffer!r}: expected {' or '.join(reasons)}, got: {found}"


@law("RFC-0003:C-VALIDATION#S6", on=WRITE)
def a_batch_without_a_plan_is_refused(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """No page-aligned split, no write."""
    yield from _not_refused(before, call, answer, UNPLANNABLE)


@law("RFC-0003:C-VALIDATION#S7", on=POOL)
def a_refused_write_leaves_nothing(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Everything is looked at before the first byte is written."""
    if isinstance(answer, Ok) and call.layer in before.refused and not before.due.get(call.layer):
        yield from (f"after a refused write: {stray}" for stray in before.findings(call, answer).strays)


@law("RFC-0003:C-VALIDATION#S8", on=WRITE)
def a_faultless_write_is_done(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Whatever the number of requests, their lengths, and the domain in which rows are given."""
    if before.reasons(call) == frozenset() and isinstance(answer, Err):
        lengths = ", ".join(f"{request.prefix_tokens}+{request.extend_tokens}" for request in call.batch)
        yield f"requests of prefix+extend tokens [{lengths}]: nothing is wrong with the write, got {answer.error}"


@law("RFC-0003:C-VALIDATION#S9", on=WRITE)
def new_tokens_fill_pages_in_order(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """The tokens of a new page stand in it one after another, from its start, and no page is that of two."""
    if not before.has_other_count(call):
        yield from _not_refused(before, call, answer, PAGES)


@law("RFC-0003:C-LAYOUTS#S6", on=OPEN)
def an_unknown_layout_is_refused(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Rows whose form nobody knows are not written somehow."""
    if unsupported_geometry(before.config):
        return
    layout, known = before.pool.layout, before.pool.layout in LAYOUTS
    if known and isinstance(answer, Err):
        yield f"layout {layout!r} is known, got {answer.error}"
    elif not known and getattr(getattr(answer, "error", None), "reason", None) != Reason.LAYOUT_UNKNOWN:
        found = "it was opened" if isinstance(answer, Ok) else str(answer.error)
        yield f"layout {layout!r}: expected {Reason.LAYOUT_UNKNOWN}, got: {found}"
