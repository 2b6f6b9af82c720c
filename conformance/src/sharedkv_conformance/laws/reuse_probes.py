"""The laws of what dense views cost: gathers, collectives, and paths that are left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from sharedkv_conformance.contract.probe import Span
from sharedkv_conformance.laws.reuse import COMPOSE
from sharedkv_conformance.marks import law
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.reuse_state import ReuseState
from sharedkv_conformance.step import Answer, Call, Ok

EVENTS, COLLECTIVES = "probe.events", "probe.collectives"
MOST_COLLECTIVES = 2
"""Of one buffer of one layer, in one epoch: for the prefixes, and for the new tokens."""


def _new_events(before: ReuseState, answer: Answer) -> Sequence[Any]:
    return answer.value[before.events_seen :] if isinstance(answer, Ok) else ()


def _composed(before: ReuseState) -> bool:
    """Say whether the call that is looked at was a composition that was served."""
    return before.last is not None and before.last[0].op == COMPOSE and isinstance(before.last[1], Ok)


def _gathers(before: ReuseState, answer: Answer) -> dict[tuple[int, str], int]:
    """Return how often each buffer of a layer was gathered in this epoch, the events of this answer counted."""
    if before.is_lost:
        return {}
    counts = dict(before.gathered)
    for event in _new_events(before, answer):
        if event.kind == "materialized":
            counts[event.layer, event.reason] = counts.get((event.layer, event.reason), 0) + 1
    return counts


def _has_prefix(before: ReuseState) -> bool:
    return bool(reuse_batch.prefix_spans(before.batch))


@law("RFC-0004:C-MATERIALIZATION#S1", on=EVENTS)
def a_prefix_is_gathered_once(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Each buffer of a layer is gathered from the pools at most once in an epoch."""
    for (layer, buffer), times in sorted(_gathers(before, answer).items()):
        if times > 1 and _has_prefix(before):
            yield f"layer {layer}, {buffer}: gathered {times} times in epoch {before.epoch}"


@law("RFC-0004:C-MATERIALIZATION#S2", on=EVENTS)
def a_batch_without_prefixes_gathers_nothing(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Where all tokens are new the rows are at hand, and no pool is read."""
    if before.epoch is not None and not _has_prefix(before):
        for (layer, buffer), times in sorted(_gathers(before, answer).items()):
            yield f"layer {layer}, {buffer}: gathered {times} times for a batch without a prefix"


@law("RFC-0004:C-MATERIALIZATION#S3", on=EVENTS)
def several_requests_keep_the_path(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Nothing is done the long way because a batch has more than one request."""
    if _composed(before) and len(before.batch) > 1 and not before.faults:
        for event in _new_events(before, answer):
            if event.kind == "fallback" and event.reason not in before.reasons_of_one:
                yield f"fallback {event.reason!r} for a batch of {len(before.batch)}, never seen for a batch of one"


def _carried(before: ReuseState, answer: Answer) -> dict[tuple[int, str], list[Any]]:
    """Return the collectives of this epoch by layer and buffer, those of this answer among them."""
    if before.is_lost or "late_writes" in before.faults:  # an exchange of an earlier epoch may be told in this one
        return {}
    carried = {key: list(known) for key, known in before.carried.items()}
    for collective in answer.value[before.collectives_seen :] if isinstance(answer, Ok) else ():
        carried.setdefault((collective.layer, collective.buffer), []).append(collective)
    return carried


@law("RFC-0004:C-COLLECTIVES#S1", on=COLLECTIVES)
def collectives_do_not_grow_with_the_batch(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """However many requests there are, a buffer of a layer takes one collective for prefixes and one for new rows."""
    for (layer, buffer), found in sorted(_carried(before, answer).items()):
        if len(found) > MOST_COLLECTIVES:
            yield f"layer {layer}, {buffer}: {len(found)} collectives for {len(before.batch)} requests"


@law("RFC-0004:C-COLLECTIVES#S2", on=COLLECTIVES)
def spans_are_exact(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """What ranks exchange lies in one request's prefix or in one request's new tokens."""
    for (layer, buffer), found in sorted(_carried(before, answer).items()):
        for span in _inexact(before, found):
            yield f"layer {layer}, {buffer}: span {span.start}..{span.end} is neither prefix nor new tokens"


@law("RFC-0004:C-COLLECTIVES#S3", on=COLLECTIVES)
def no_token_is_carried_twice(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """A row that is complete and is summed once more is multiplied."""
    for (layer, buffer), found in sorted(_carried(before, answer).items()):
        if any(True for _ in _inexact(before, found)):
            continue
        spans = sorted((span.start, span.end) for collective in found for span in collective.spans)
        for (_, end), (start, _) in pairwise(spans):
            if start < end:
                yield f"layer {layer}, {buffer}: tokens {start}..{end} are carried twice"


def _inexact(before: ReuseState, collectives: Sequence[Any]) -> Iterator[Span]:
    """Yield each span that is not within one prefix or the new tokens of one request."""
    exact = (*reuse_batch.prefix_spans(before.batch), *reuse_batch.current_spans(before.batch))
    for collective in collectives:
        for span in collective.spans:
            if not any(part.start <= span.start < span.end <= part.end for part in exact):
                yield span


@law("RFC-0004:C-FALLBACK#S1", on=EVENTS)
def a_missing_kernel_is_told(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """What is done without its kernel is done, and told."""
    if not before.answered_without_kernels or not isinstance(answer, Ok):
        return
    if not any(event.kind == "fallback" for event in answer.value[before.events_before_fault :]):
        yield "the fast kernels are missing, calls were answered, and no fallback was told"
