"""The laws of static tails and of chunks."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.laws.planning_batch import found, rejected_for
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.planning_batch import chunk_refusals, new_tokens, tail_refusals, unplannable
from sharedkv_conformance.model.planning_state import PlanningState
from sharedkv_conformance.step import Answer, Call, Err, Ok

STRIP = "planning.strip"
CHUNK = "planning.chunk"


def tail_reasons(before: PlanningState, call: Call) -> frozenset[Reason] | None:
    """Return why a call of `strip` is refused; None where the batch has no plan, which is another law's business."""
    if unplannable(before.geometry, call.batch):
        return None
    return tail_refusals(call.batch, call.locations, call.static_tokens)


def chunk_reasons(before: PlanningState, call: Call) -> frozenset[Reason]:
    """Return why a request has no next chunk."""
    return chunk_refusals(before.geometry, call.prefix_tokens, call.remaining_tokens, call.budget_tokens)


@law("RFC-0002:C-STATIC-TAIL#S1", on=STRIP)
def locations_of_new_tokens_stay(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Nothing but a proven tail goes away."""
    wanted = tuple(call.locations[: new_tokens(call.batch)])
    if tail_reasons(before, call) == frozenset() and not (isinstance(answer, Ok) and answer.value == wanted):
        yield f"{_asked(call)}: expected {list(wanted)}, got {found(answer)}"


@law("RFC-0002:C-STATIC-TAIL#S2", on=STRIP)
def an_unproven_tail_is_refused(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """A tail of another length than was recorded, or with a location in it, is somebody's."""
    yield from _refused(before, call, answer, Reason.STATIC_TAIL_UNPROVEN)


@law("RFC-0002:C-STATIC-TAIL#S3", on=STRIP)
def locations_that_are_missing_are_refused(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The shorter of two lengths is not the right one because it fits."""
    yield from _refused(before, call, answer, Reason.LOCATIONS_MISMATCH)


@law("RFC-0002:C-CHUNKS#S1", on=CHUNK)
def a_budget_that_covers_all_takes_all(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The last chunk is whatever is left, a part of a page included."""
    is_last = call.budget_tokens >= call.remaining_tokens
    if is_last and isinstance(answer, Ok) and not chunk_reasons(before, call) and answer.value != call.remaining_tokens:
        yield f"{_chunk(call)}: takes {answer.value}, expected all"


@law("RFC-0002:C-CHUNKS#S2", on=CHUNK)
def a_chunk_that_leaves_tokens_is_whole_pages(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The next chunk begins with a page of its own."""
    if not _is_cut(before, call, answer) or not isinstance(answer, Ok):
        return
    if answer.value < 1 or answer.value % before.geometry.page_size or answer.value > call.budget_tokens:
        yield f"{_chunk(call)}: takes {answer.value}, expected whole pages of {before.geometry.page_size} within it"


@law("RFC-0002:C-CHUNKS#S3", on=CHUNK)
def a_chunk_that_cannot_be_is_refused_by_name(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """A chunk of no token never ends, and one of an unaligned prefix is written to another rank's page."""
    reasons = chunk_reasons(before, call)
    if reasons and not rejected_for(answer, reasons):
        yield f"{_chunk(call)}: expected a rejection for {' or '.join(sorted(reasons))}, got {found(answer)}"
    elif not reasons and isinstance(answer, Err):
        yield f"{_chunk(call)}: has a next chunk, got {found(answer)}"


@law("RFC-0002:C-CHUNKS#S4", on=CHUNK)
def a_chunk_uses_its_budget(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Fewer pages than there is budget for mean more chunks than there need be."""
    size = before.geometry.page_size
    wanted = call.budget_tokens // size * size
    if (
        _is_cut(before, call, answer)
        and isinstance(answer, Ok)
        and 0 < answer.value < wanted
        and not answer.value % size
    ):
        yield f"{_chunk(call)}: takes {answer.value}, could take {wanted}"


def _refused(before: PlanningState, call: Call, answer: Answer, reason: Reason) -> Iterator[str]:
    if tail_reasons(before, call) == frozenset({reason}) and not rejected_for(answer, frozenset({reason})):
        yield f"{_asked(call)}: expected a rejection for {reason}, got {found(answer)}"


def _is_cut(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Say whether a chunk was given that must leave tokens over."""
    is_last = call.budget_tokens >= call.remaining_tokens
    return isinstance(answer, Ok) and not is_last and not chunk_reasons(before, call)


def _asked(call: Call) -> str:
    tokens = new_tokens(call.batch)
    return f"{tokens} new tokens, locations {list(call.locations)}, {call.static_tokens} recorded"


def _chunk(call: Call) -> str:
    return f"prefix {call.prefix_tokens}, remaining {call.remaining_tokens}, budget {call.budget_tokens}"
