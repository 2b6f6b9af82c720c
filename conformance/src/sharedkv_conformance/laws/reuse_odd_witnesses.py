"""The witnesses of what is rarely offered to a view: other batches, odd queries, static rows, scores below zero."""

from __future__ import annotations

from collections.abc import Iterable

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.laws.reuse import ATTEND, COMPOSE, DENSE, TOP_K
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.reuse_scores import QUERY_BYTES, heads_of, score, weights_of
from sharedkv_conformance.model.reuse_state import ReuseState
from sharedkv_conformance.step import Answer, Call, Ok

OTHER_BATCH = frozenset({Reason.EPOCH_OF_ANOTHER_BATCH})
MISCOUNTED = frozenset({Reason.ROWS_MISMATCH})
MISMEASURED = frozenset({Reason.ROW_BYTES_MISMATCH})
STATIC = frozenset({Reason.DOMAIN_UNKNOWN})


@witness(on=COMPOSE)
def pages_of_a_later_request_differ(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A batch was offered under the epoch of another, and some page of a request that is not the first is all it is."""
    if before.compose_reasons(call) != OTHER_BATCH or reuse_batch.lengths(call.batch) != (
        reuse_batch.lengths(before.batch)
    ):
        return False
    pages, known = ([reuse_batch.own_pages(before.geometry, r) for r in b] for b in (call.batch, before.batch))
    return pages[0] == known[0] and pages != known


@witness(on=COMPOSE)
def another_split_of_the_same_tokens(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A batch was offered under the epoch of another with as many tokens and the same pages, fewer of them cached."""
    if before.compose_reasons(call) != OTHER_BATCH:
        return False
    return _unsplit(call.batch) == _unsplit(before.batch)


def _unsplit(batch: Iterable[ReuseRequest]) -> list[tuple[str, int, tuple[int, ...]]]:
    return [(r.request, reuse_batch.request_tokens(r), r.table) for r in batch]


@witness(on=COMPOSE)
def static_rows_without_padding(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A layer was composed from static rows of which some rank gave no more than it computes."""
    compute = before.counts(call.batch).get("compute", [])
    static = [rank for rank, given in enumerate(call.rows) if given.domain == "static"]
    return isinstance(answer, Ok) and any(call.rows[rank].rows == compute[rank] for rank in static)


@witness(on=(TOP_K, ATTEND))
def static_queries_offered(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Queries were offered whose only fault is that they name the static rows, as many as are computed."""
    compute = before.counts(before.batch).get("compute")
    if before.view(call) is None or before.query_reasons(call) != STATIC:
        return False
    return all(given.domain == "static" for given in call.queries) and [given.rows for given in call.queries] == compute


@witness(on=(TOP_K, ATTEND))
def queries_miscounted(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Queries were offered whose only fault is their number."""
    return before.view(call) is not None and before.query_reasons(call) == MISCOUNTED


@witness(on=(TOP_K, ATTEND))
def queries_mismeasured(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Queries were offered whose only fault is the number of their bytes."""
    return before.view(call) is not None and before.query_reasons(call) == MISMEASURED


@witness(on=TOP_K)
def scores_below_zero_told_apart(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Some row had to select between tokens of different scores below zero."""
    view, bases = before.view(call), reuse_batch.bases(before.batch)
    if not isinstance(answer, Ok) or view is None or before.query_reasons(call) != frozenset():
        return False
    for rank, given in enumerate(call.queries):
        shown, places = before.shown(view, "index", rank), before.places(before.batch, given.domain)
        for row, place in enumerate(places[rank] if places and shown else ()):
            weights = weights_of(given.weights, row, before.pool.index_heads)
            if place is None or shown is None or place[1] < call.count or min(weights) >= 0:
                continue
            query = heads_of(given.query, row, before.pool.index_heads, QUERY_BYTES["top_k"])
            first = bases[place[0]]
            scores = sorted((score(query, weights, key) for key in shown[first : first + place[1] + 1]), reverse=True)
            if scores[call.count] < scores[call.count - 1] < 0:
                return True
    return False


@witness(on=ATTEND)
def nothing_selected_attended(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A valid row attended that had selected nothing."""
    if not isinstance(answer, Ok) or before.view(call) is None:
        return False
    found = [(before.places(before.batch, given.domain), rank) for rank, given in enumerate(call.queries)]
    return any(
        place is not None and set(selected) <= {-1}
        for places, rank in found
        for place, selected in zip(places[rank] if places else (), call.indices[rank].indices, strict=False)
    )


@witness(on=DENSE)
def late_prefix_shown(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view was shown some prefix of which had been written while writes were late."""
    view = before.view(call) if isinstance(answer, Ok) else None
    pages = [page for r in view.batch for page in reuse_batch.prefix_pages(before.geometry, r)] if view else []
    return any(page in before.late_pages for page in pages)
