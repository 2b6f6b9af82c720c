"""The witnesses of reuse: what must have happened before a law's silence proves anything."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.laws.reuse import (
    ATTEND,
    COMPOSE,
    DENSE,
    NO_INDEX,
    OF_BATCH,
    OF_QUERIES,
    OF_ROWS,
    OUTSIDE,
    READ,
    TOP_K,
)
from sharedkv_conformance.laws.reuse_probes import COLLECTIVES, EVENTS
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.reuse_state import KnownView, ReuseState
from sharedkv_conformance.step import Answer, Call, Ok


def _view(before: ReuseState, call: Call, answer: Answer) -> KnownView | None:
    return before.view(call) if isinstance(answer, Ok) else None


def _lanes(before: ReuseState, view: KnownView) -> list[list[int]]:
    """Return the lanes of each request's prefix pages."""
    return [[before.geometry.lane(p) for p in reuse_batch.prefix_pages(before.geometry, r)] for r in view.batch]


def _holds(before: ReuseState, view: KnownView, buffer: str) -> bool:
    """Say whether some prefix row of a buffer was ever written."""
    rows = view.expected[buffer].rows if view.expected else ()
    return any(
        rows[at] is not None for span in reuse_batch.prefix_spans(view.batch) for at in range(span.start, span.end)
    )


@witness(on=DENSE)
def cached_prefix_shown(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view with a written prefix was shown."""
    view = _view(before, call, answer)
    return view is not None and _holds(before, view, call.buffer)


@witness(on=DENSE)
def several_prefixes_shown(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view of several requests with cached prefixes was shown."""
    view = _view(before, call, answer)
    return view is not None and len(reuse_batch.prefix_spans(view.batch)) > 1 and _holds(before, view, call.buffer)


@witness(on=DENSE)
def prefix_of_several_extents(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A prefix was shown whose pages lie on lanes in another order than one fresh extend would have them."""
    view = _view(before, call, answer)
    if view is None or not _holds(before, view, call.buffer):
        return False
    return any(lanes != sorted(lanes) for lanes in _lanes(before, view))


@witness(on=DENSE)
def view_of_several_requests(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view of several requests was shown."""
    view = _view(before, call, answer)
    return view is not None and len(view.batch) > 1


@witness(on=DENSE)
def view_of_one_request(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view of one request was shown."""
    view = _view(before, call, answer)
    return view is not None and len(view.batch) == 1


@witness(on=DENSE)
def rows_of_two_segments(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view was shown for which some rank computed rows of two requests, or of both ends of one."""
    view = _view(before, call, answer)
    places = before.places(view.batch, "valid") if view else None
    jumps = [{at - place[1] for at, place in enumerate(rows) if place} for rows in places or ()]
    return any(len(offsets) > 1 for offsets in jumps)


@witness(on=DENSE)
def stale_tail_shown(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view of several requests was shown, one of whose tables ends in written pages of others."""
    view = _view(before, call, answer)
    return view is not None and len(view.batch) > 1 and bool(view.expected and _over(view, call.buffer))


def _over(view: KnownView, buffer: str) -> bool:
    """Say whether something stale would stand where a token stands."""
    expected = view.expected[buffer] if view.expected else None
    return expected is not None and any(at < len(expected.rows) for at in expected.stale)


@witness(on=DENSE)
def index_shown(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Index rows were shown, some key byte of which has its highest bit set."""
    view = _view(before, call, answer)
    rows = view.expected["index"].rows if view and view.expected and call.buffer == "index" else ()
    return any(byte > 0x7F for row in rows if row for byte in row[:128])  # noqa: PLR2004 - the sign of fp8


@witness(on=DENSE)
def fp8_latents_shown(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Quantized latents were shown."""
    return _view(before, call, answer) is not None and before.pool.layout == "mla_fp8" and call.buffer == "latent"


@witness(on=READ)
def prefix_read_from_the_pool(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A cached token of the batch was read from the pool, after its view was shown."""
    slots = {where for _, where in reuse_batch.prefix_slots(before.geometry, before.batch)}
    return _is_read(before, call, answer) and bool(slots & set(call.locations))


@witness(on=READ)
def new_row_read_from_the_pool(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A new token of the batch was read from the pool once it was written, after its view was shown."""
    slots = {where for _, where in reuse_batch.prefix_slots(before.geometry, before.batch)}
    return _is_read(before, call, answer) and call.layer in before.persisted and bool(set(call.locations) - slots)


def _is_read(before: ReuseState, call: Call, answer: Answer) -> bool:
    view = before.views.get(call.layer)
    return isinstance(answer, Ok) and view is not None and call.buffer in view.seen


@witness(on=COMPOSE)
def composed_again(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A layer was composed a second time in its epoch."""
    return isinstance(answer, Ok) and call.epoch == before.epoch and call.layer in before.views


@witness(on=COMPOSE)
def second_layer_composed(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Another layer was composed in the same epoch."""
    return isinstance(answer, Ok) and call.epoch == before.epoch and bool(set(before.views) - {call.layer})


@witness(on=COMPOSE)
def all_tokens_new(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A batch without prefixes was composed."""
    return isinstance(answer, Ok) and not reuse_batch.prefix_spans(call.batch)


@witness(on=COMPOSE)
def compute_rows_composed(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A batch was composed from rows among which there were dummies."""
    places = [before.places(call.batch, "compute") for given in call.rows if given.domain != "valid"]
    return isinstance(answer, Ok) and any(None in rows for found in places for rows in found or ())


def _refused(before: ReuseState, call: Call, own: frozenset[Reason]) -> bool:
    return bool((before.compose_reasons(call) or frozenset()) & own)


@witness(on=COMPOSE)
def batch_without_a_view(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A batch was offered that has no dense view."""
    return _refused(before, call, OF_BATCH)


@witness(on=COMPOSE)
def table_too_short(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A table was offered with fewer pages than its request has."""
    return _refused(before, call, frozenset({Reason.TABLE_TOO_SHORT}))


@witness(on=COMPOSE)
def rows_of_another_batch(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Rows were offered that are not those of the batch."""
    return _refused(before, call, OF_ROWS)


@witness(on=COMPOSE)
def batch_composed(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A batch of several requests with a prefix was composed: the positive control of refusals."""
    return isinstance(answer, Ok) and len(call.batch) > 1 and bool(reuse_batch.prefix_spans(call.batch))


@witness(on=COMPOSE)
def passed_epoch(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A composition was asked for in an epoch before the latest."""
    return _refused(before, call, frozenset({Reason.EPOCH_STALE}))


@witness(on=COMPOSE)
def second_batch_of_an_epoch(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Another batch was offered under the latest epoch."""
    return _refused(before, call, frozenset({Reason.EPOCH_OF_ANOTHER_BATCH}))


@witness(on=(DENSE, TOP_K, ATTEND))
def view_that_is_not_there(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view was asked for that was not composed, or was replaced."""
    return bool(before.read_reasons(call))


@witness(on=(DENSE, TOP_K, ATTEND))
def view_read(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view was read: the positive control of refusals."""
    return isinstance(answer, Ok) and before.view(call) is not None


@witness(on=(DENSE, TOP_K, ATTEND))
def view_read_after_a_refusal(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view was asked for after a composition had been refused."""
    view = before.view(call)
    return view is not None and view.refused_since


@witness(on=DENSE)
def later_epoch_shown(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view was shown of an epoch that was not the first."""
    return _view(before, call, answer) is not None and bool(before.past)


@witness(on=DENSE)
def second_layer_shown(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A view was shown while that of another layer was there."""
    return _view(before, call, answer) is not None and len(before.views) > 1


@witness(on=EVENTS)
def prefix_gathered(before: ReuseState, call: Call, answer: Answer) -> bool:
    """The probe told of a gather: the positive control of its silence."""
    new = answer.value[before.events_seen :] if isinstance(answer, Ok) else ()
    return any(event.kind == "materialized" for event in new)


@witness(on=COMPOSE)
def several_requests_keep_the_fast_path(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A batch of several requests was composed while every kernel was there."""
    return isinstance(answer, Ok) and len(call.batch) > 1 and not before.faults


@witness(on=COLLECTIVES)
def collectives_of_several_prefixes(before: ReuseState, call: Call, answer: Answer) -> bool:
    """The probe told of collectives for a batch with several cached prefixes: the positive control of its silence."""
    new = answer.value[before.collectives_seen :] if isinstance(answer, Ok) else ()
    return bool(new) and len(reuse_batch.prefix_spans(before.batch)) > 1


@witness(on=EVENTS)
def answered_without_kernels(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Calls were answered, or refused, while the fast kernels were missing."""
    tried = before.last is not None and before.last[0].op in (COMPOSE, TOP_K, ATTEND)
    return "no_kernels" in before.faults and tried


@witness(on=TOP_K)
def some_left_out(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Some row of a later request saw more tokens than were asked for, behind a cached prefix."""
    if not isinstance(answer, Ok) or before.view(call) is None or not call.queries:
        return False
    return any(
        place is not None and place[0] > 0 and place[1] >= call.count and before.batch[0].prefix_tokens > 0
        for rows in before.places(before.batch, call.queries[0].domain) or ()
        for place in rows
    )


@witness(on=TOP_K)
def fewer_visible_than_asked_for(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Some row saw fewer tokens than were asked for."""
    if not isinstance(answer, Ok) or before.view(call) is None or not call.queries:
        return False
    places = before.places(before.batch, call.queries[0].domain) or ()
    return any(place is not None and place[1] + 1 < call.count for rows in places for place in rows)


@witness(on=TOP_K)
def one_request_selects(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A batch of one request was asked for its selection."""
    return isinstance(answer, Ok) and before.view(call) is not None and len(before.batch) == 1


@witness(on=TOP_K)
def dummy_rows_asked(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Queries had rows that nobody keeps."""
    return _has_dummies(before, call, answer)


@witness(on=ATTEND)
def dummy_rows_attended(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Attention was asked with rows that nobody keeps."""
    return _has_dummies(before, call, answer)


def _has_dummies(before: ReuseState, call: Call, answer: Answer) -> bool:
    places = [before.places(before.batch, given.domain) for given in call.queries]
    return isinstance(answer, Ok) and any(None in rows for found in places for rows in found or ())


@witness(on=(TOP_K, ATTEND))
def queries_of_no_domain(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Queries were offered that are neither the valid nor the compute rows."""
    return bool((before.query_reasons(call) or frozenset()) & OF_QUERIES)


@witness(on=(TOP_K, ATTEND))
def valid_queries_beside_dummies(before: ReuseState, call: Call, answer: Answer) -> bool:
    """Valid rows were put to a batch that has dummy rows as well."""
    places = before.places(before.batch, "compute") if before.view(call) else None
    return any(None in rows for rows in places or ()) and all(given.domain == "valid" for given in call.queries)


@witness(on=(TOP_K, ATTEND))
def layout_without_an_index(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A selection, or attention over one, was asked of pools of keys and values."""
    return bool((before.query_reasons(call) or frozenset()) & NO_INDEX) and before.view(call) is not None


@witness(on=ATTEND)
def several_positions_attended(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A row of a later request attended to several positions, none of them missing."""
    if not isinstance(answer, Ok) or before.view(call) is None or len(before.batch) < 2:  # noqa: PLR2004 - several
        return False
    return any(len(set(row)) > 1 and -1 not in row for given in call.indices for row in given.indices)


@witness(on=ATTEND)
def missing_positions_attended(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A valid row had fewer positions than were asked for."""
    if not isinstance(answer, Ok) or before.view(call) is None:
        return False
    return any(-1 in row and max(row) >= 0 for given in call.indices for row in given.indices)


@witness(on=ATTEND)
def position_of_another_request(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A row was given a position that is not of its request."""
    if before.view(call) is None or before.query_reasons(call) != frozenset():
        return False
    return bool((before.position_reasons(call) or frozenset()) & OUTSIDE)


@witness(on=(TOP_K, ATTEND))
def seen_in_an_earlier_pass(before: ReuseState, call: Call, answer: Answer) -> bool:
    """A row was answered that had been answered before, when less of its request was cached."""
    if not isinstance(answer, Ok) or before.view(call) is None:
        return False
    rows = before.rows_of_top_k if call.op == TOP_K else before.rows_of_attend
    return any(
        earlier.prefix_tokens < seen.prefix_tokens and earlier.visible == seen.visible
        for asked, seen in rows(call, answer.value)
        for earlier in before.rows_seen.get(asked, [])
    )
