"""The laws of indexer and attention: what a row selects, in which coordinates, and what attention gives.

Both are judged by the dense view as it was shown, right or wrong, so that a fault of the view is not told twice.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf, isfinite

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.pool import LATENT_VALUES
from sharedkv_conformance.contract.reuse import RankTopK
from sharedkv_conformance.laws.reuse import ATTEND, NO_INDEX, OF_QUERIES, OUTSIDE, TOP_K, refusals
from sharedkv_conformance.marks import law
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.reuse_batch import Place
from sharedkv_conformance.model.reuse_scores import QUERY_BYTES, attention, heads_of, score, weights_of
from sharedkv_conformance.model.reuse_state import Asked, KnownView, ReuseState, SeenRow
from sharedkv_conformance.step import Answer, Call, Ok

TOLERANCE = 1e-3
"""An attention value may differ from the exact one by so much of one more than its magnitude."""

Found = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One row with its selection: `scores` has the score of each visible token."""

    rank: int
    row: int
    place: Place
    base: int
    selected: tuple[int, ...]
    count: int
    scores: tuple[float, ...]

    def __str__(self) -> str:
        return f"rank {self.rank}, row {self.row} (request {self.place[0]}, position {self.place[1]})"

    def fault(self, shift: int = 0) -> str:
        """Say which kind of fault the selection has when it is moved by `shift`, or nothing."""
        chosen = [position + shift - self.base for position in self.selected if position != -1]
        visible = len(self.scores)
        if any(token not in range(visible) for token in chosen):
            return "outside"
        if len(self.selected) != self.count or len(set(chosen)) != min(self.count, visible):
            return "count"
        return "count" if len(chosen) != len(set(chosen)) else self._score_fault(set(chosen))

    def _score_fault(self, chosen: set[int]) -> str:
        if not all(map(isfinite, self.scores)):
            return ""
        least = min((self.scores[token] for token in chosen), default=0.0)
        best = max((value for token, value in enumerate(self.scores) if token not in chosen), default=least)
        return "score" if best > least else ""


def _top_k_found(before: ReuseState, call: Call, answer: Answer) -> Found:
    """Return what is wrong with the selections of a call, by kind; laws of one answer look once."""
    view = before.view(call)
    if not isinstance(answer, Ok) or view is None or before.query_reasons(call) != frozenset():
        return {}
    if before.memo is None or before.memo[0] is not answer:
        before.memo = answer, _top_k_judged(before, view, call, answer.value)
    found: Found = before.memo[1]
    return found


def _top_k_judged(before: ReuseState, view: KnownView, call: Call, value: Sequence[RankTopK]) -> Found:
    found: dict[str, str] = {}
    of_request: dict[int, list[Answered]] = defaultdict(list)
    for rank, given in enumerate(call.queries):
        places, shown = before.places(view.batch, given.domain), before.shown(view, "index", rank)
        if places is None or shown is None:
            continue
        indices = value[rank].indices if rank < len(value) else ()
        if len(indices) != len(places[rank]):
            found["count"] = f"rank {rank}: {len(indices)} selections for {len(places[rank])} rows"
            continue
        for row, (place, selected) in enumerate(zip(places[rank], indices, strict=True)):
            if place is None:
                if any(position != -1 for position in selected):
                    found["dummy"] = f"rank {rank}, row {row} is nobody's, and selects {list(selected)}"
                continue
            of_request[place[0]].append(_answered(before, view, call, (rank, row, place), tuple(selected), shown))
    return {**found, **_told(view, of_request)}


def _answered(
    before: ReuseState,
    view: KnownView,
    call: Call,
    where: tuple[int, int, Place],
    selected: tuple[int, ...],
    shown: Sequence[bytes],
) -> Answered:
    rank, row, place = where
    base, heads = reuse_batch.bases(view.batch)[place[0]], before.pool.index_heads
    query = heads_of(call.queries[rank].query, row, heads, QUERY_BYTES["top_k"])
    weights = weights_of(call.queries[rank].weights, row, heads)
    scores = tuple(score(query, weights, key) for key in shown[base : base + place[1] + 1])
    return Answered(rank=rank, row=row, place=place, base=base, selected=selected, count=call.count, scores=scores)


def _told(view: KnownView, of_request: Mapping[int, list[Answered]]) -> Found:
    """Return the faults by kind.

    Where every row of a request is right from one other base, that is what is wrong; a single token proves neither.
    """
    found: dict[str, str] = {}
    for request, rows in of_request.items():
        wrong = [row for row in rows if row.fault()]
        shifts = (
            [reuse_batch.bases(view.batch)[request] - base for base in _other_bases(view, request)] if wrong else []
        )
        moved = next((shift for shift in shifts if shift and not any(row.fault(shift) for row in rows)), None)
        if moved is not None and sum(len(row.selected) for row in rows) == 1:
            continue
        for row in wrong:
            kind = row.fault() if moved is None else "coordinates"
            base = f"base {row.base}" if moved is None else f"base {row.base - moved} in place of {row.base}"
            found.setdefault(kind, f"{row}: {list(row.selected)}, {base}, {row.count} of scores {list(row.scores)}")
    return found


def _other_bases(view: KnownView, request: int) -> Iterator[int]:
    """Yield what is taken for the base of a request by mistake: none, new tokens, prefixes, or either alone."""
    earlier = view.batch[:request]
    yield 0
    yield sum(r.extend_tokens for r in earlier)
    yield sum(r.prefix_tokens for r in earlier)
    yield from list(accumulate(reuse_batch.request_tokens(r) for r in view.batch))[request:]


@law("RFC-0004:C-TOP-K#S1", on=TOP_K)
def no_token_left_out_scores_higher(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Each selected token scores at least as high as every visible one that is not selected."""
    yield from _kind(before, call, answer, "score")


@law("RFC-0004:C-TOP-K#S2", on=TOP_K)
def as_many_as_asked_for_and_visible(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Each row has as many entries as were asked for, and only those that nothing is left for are -1."""
    yield from _kind(before, call, answer, "count")


@law("RFC-0004:C-TOP-K#S3", on=TOP_K)
def a_row_sees_its_own_request_up_to_itself(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """No row looks into the future, or into another request."""
    yield from _kind(before, call, answer, "outside")


@law("RFC-0004:C-TOP-K#S4", on=TOP_K)
def positions_are_those_of_the_dense_view(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """The right tokens, counted from another base, are other tokens to attention."""
    yield from _kind(before, call, answer, "coordinates")


@law("RFC-0004:C-TOP-K#S5", on=TOP_K)
def a_dummy_row_selects_nothing(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """A row that nobody keeps has nothing but -1."""
    yield from _kind(before, call, answer, "dummy")


def _kind(before: ReuseState, call: Call, answer: Answer, kind: str) -> Iterator[str]:
    if text := _top_k_found(before, call, answer).get(kind):
        yield text


@law("RFC-0004:C-TOP-K#S6", on=(TOP_K, ATTEND))
def queries_are_the_rows_of_a_domain(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Rows that are neither the valid nor the compute rows are refused, and those that are one of them are not."""
    yield from refusals(before, call, answer, _reasons(before, call), OF_QUERIES, is_default=True)


@law("RFC-0004:C-TOP-K#S7", on=(TOP_K, ATTEND))
def a_layout_without_an_index_has_no_selection(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Pools of keys and values have nothing to select by."""
    yield from refusals(before, call, answer, _reasons(before, call), NO_INDEX)


@law("RFC-0004:C-ATTENTION#S3", on=ATTEND)
def a_position_of_another_request_is_refused(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Attention over another request would show what it holds."""
    yield from refusals(before, call, answer, _reasons(before, call), OUTSIDE)


def _reasons(before: ReuseState, call: Call) -> frozenset[Reason] | None:
    """Return every reason against a call with queries; None where that cannot be told."""
    reasons = before.query_reasons(call)
    if reasons is None:
        return None
    reasons |= before.read_reasons(call) or frozenset()
    if reasons or call.op == TOP_K:
        return reasons
    return before.position_reasons(call)


def _attend_found(before: ReuseState, call: Call, answer: Answer) -> Found:
    """Return what is wrong with the attention of a call, by kind; laws of one answer look once."""
    view = before.view(call)
    if not isinstance(answer, Ok) or view is None or _reasons(before, call) != frozenset():
        return {}
    if before.memo is None or before.memo[0] is not answer:
        before.memo = answer, _attend_judged(before, view, call, answer.value)
    found: Found = before.memo[1]
    return found


def _attend_judged(before: ReuseState, view: KnownView, call: Call, value: Sequence[bytes]) -> Found:
    """Sort faults: rows whose positions are all there first; where these are right, the others show what -1 does."""
    found: dict[str, str] = {}
    wrong: dict[bool, list[str]] = {True: [], False: []}
    whole = 0
    row_bytes = 4 * before.pool.heads * LATENT_VALUES
    for rank, given in enumerate(call.queries):
        places, shown = before.places(view.batch, given.domain), before.shown(view, "latent", rank)
        if places is None or shown is None:
            continue
        kept = [row for row, place in enumerate(places[rank]) if place]
        data = value[rank] if rank < len(value) else b""
        if len(data) != len(kept) * row_bytes:
            found["rows"] = f"rank {rank}: {len(data)} bytes for {len(kept)} valid rows, expected {row_bytes} each"
            continue
        for at, row in enumerate(kept):
            selected = call.indices[rank].indices[row]
            whole += -1 not in selected
            if text := _unlike(before, given.query, row, selected, shown, data[at * row_bytes : (at + 1) * row_bytes]):
                wrong[-1 not in selected].append(f"rank {rank}, row {row}: {text}")
    if wrong[True]:
        found["value"] = wrong[True][0]
    elif wrong[False] and whole:
        found.setdefault("rows", wrong[False][0])
    return found


def _unlike(
    before: ReuseState, query: bytes, row: int, selected: Sequence[int], shown: Sequence[bytes], found: bytes
) -> str:
    """Say where the attention of a row is further from the exact one than is allowed."""
    rows = [shown[position] for position in selected if position != -1]
    values = struct.unpack(f"<{len(found) // 4}f", found)
    for head, head_query in enumerate(heads_of(query, row, before.pool.heads, QUERY_BYTES["attend"])):
        wanted = attention(head_query, rows)
        got = values[head * LATENT_VALUES : (head + 1) * LATENT_VALUES]
        if all(map(isfinite, wanted)) and (at := _far(wanted, got)) is not None:
            return f"head {head}, value {at} is {got[at]}, expected {wanted[at]} of positions {list(selected)}"
    return ""


def _far(wanted: Sequence[float], found: Sequence[float]) -> int | None:
    """Return the first value that is further off than is allowed; what is no number is far."""
    pairs = enumerate(zip(wanted, found, strict=True))
    return next((at for at, (a, b) in pairs if not abs(a - b) <= TOLERANCE * (1 + abs(a))), None)


@law("RFC-0004:C-ATTENTION#S1", on=ATTEND)
def attention_is_that_of_a_single_rank(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Softmax of query and row over the selected rows, times their latents, as one rank that holds all has it."""
    if text := _attend_found(before, call, answer).get("value"):
        yield text


@law("RFC-0004:C-ATTENTION#S2", on=ATTEND)
def what_is_not_there_has_no_share(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """A position of -1 is nobody, and a dummy row has no attention."""
    if text := _attend_found(before, call, answer).get("rows"):
        yield text


@law("RFC-0004:C-SECOND-PASS#S1", on=TOP_K)
def a_second_pass_selects_alike(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """A token that is computed again, behind a cached prefix, selects what it selected when all was new."""
    if isinstance(answer, Ok) and before.view(call) and before.query_reasons(call) == frozenset():
        for asked, seen in before.rows_of_top_k(call, answer.value):
            for earlier in _earlier(before.rows_seen.get(asked, []), seen):
                if _merit(before, asked, earlier) != _merit(before, asked, seen):
                    yield _otherwise("selects", asked[2], earlier, seen)


@law("RFC-0004:C-SECOND-PASS#S1", on=ATTEND)
def a_second_pass_attends_alike(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """A token that is computed again, behind a cached prefix, has the attention that it had when all was new."""
    if isinstance(answer, Ok) and before.view(call) and _reasons(before, call) == frozenset():
        for asked, seen in before.rows_of_attend(call, answer.value):
            for earlier in _earlier(before.rows_seen.get(asked, []), seen):
                if not _near(earlier.answer, seen.answer):
                    yield f"position {asked[2]}, prefix {earlier.prefix_tokens}, {seen.prefix_tokens}: attention moved"


def _merit(before: ReuseState, asked: Asked, seen: SeenRow) -> tuple[float, ...]:
    """Return the scores of a selection, so that equal scores may change places; a position that is none has none."""
    heads = before.pool.index_heads
    query = heads_of(asked[3], 0, heads, QUERY_BYTES["top_k"])
    chosen = [seen.visible[at] if at in range(len(seen.visible)) else None for at in seen.answer]
    weights = weights_of(asked[4], 0, heads)
    return tuple(sorted(-inf if row is None else score(query, weights, row) for row in chosen))


def _earlier(rows: Sequence[SeenRow], now: SeenRow) -> Iterator[SeenRow]:
    """Yield how the same row was answered when the prefix was another and the visible rows were the same."""
    return (row for row in rows if row.prefix_tokens != now.prefix_tokens and row.visible == now.visible)


def _near(one: object, other: object) -> bool:
    if not isinstance(one, bytes) or not isinstance(other, bytes) or len(one) != len(other):
        return False
    return one == other or _far(*(struct.unpack(f"<{len(data) // 4}f", data) for data in (one, other))) is None


def _otherwise(verb: str, position: int, earlier: SeenRow, now: SeenRow) -> str:
    return (
        f"position {position}, prefix {earlier.prefix_tokens}: {verb} {earlier.answer!r}, "
        f"with prefix {now.prefix_tokens} it is {now.answer!r}"
    )
