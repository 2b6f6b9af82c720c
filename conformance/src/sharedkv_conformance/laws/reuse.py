"""The laws of the dense view: what it holds, in which order, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.marks import law
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.reuse_findings import Found, dense_findings, same
from sharedkv_conformance.model.reuse_state import ReuseState
from sharedkv_conformance.step import Answer, Call, Err, Ok

COMPOSE, DENSE, TOP_K, ATTEND = "reuse.compose", "reuse.dense", "reuse.top_k", "reuse.attend"
READ = "direct_write.read"
OF_BATCH = frozenset(
    {
        Reason.BATCH_EMPTY,
        Reason.PREFIX_NEGATIVE,
        Reason.PREFIX_NOT_PAGE_ALIGNED,
        Reason.EXTEND_EMPTY,
        Reason.TABLE_TOO_SHORT,
        Reason.PAGE_OUTSIDE_POOL,
    }
)
OF_ROWS = frozenset(
    {
        Reason.LAYER_OUTSIDE_POOL,
        Reason.ROWS_MISMATCH,
        Reason.ROW_BYTES_MISMATCH,
        Reason.DOMAIN_UNKNOWN,
        Reason.BUFFER_UNKNOWN,
    }
)
OF_QUERIES = frozenset({Reason.ROWS_MISMATCH, Reason.ROW_BYTES_MISMATCH, Reason.DOMAIN_UNKNOWN})
NO_INDEX = frozenset({Reason.BUFFER_UNKNOWN})
OUTSIDE = frozenset({Reason.POSITION_OUTSIDE_REQUEST})
NOT_THERE = frozenset({Reason.VIEW_NOT_COMPOSED, Reason.EPOCH_STALE})
OWNED = {
    COMPOSE: OF_BATCH | OF_ROWS | {Reason.EPOCH_STALE, Reason.EPOCH_OF_ANOTHER_BATCH},
    DENSE: NOT_THERE,
    TOP_K: NOT_THERE | OF_QUERIES | NO_INDEX,
    ATTEND: NOT_THERE | OF_QUERIES | NO_INDEX | OUTSIDE,
}
"""The reasons of each call that some law speaks of."""


def refusals(
    before: ReuseState,
    call: Call,
    answer: Answer,
    reasons: frozenset[Reason] | None,
    own: frozenset[Reason],
    *,
    is_default: bool = False,
) -> Iterator[str]:
    """Yield what is wrong with an answer as far as it concerns a law's own reasons.

    A law speaks where its own reasons are wanted and there is an answer, and where one of them is given and not wanted.
    An error that no law owns is for the law whose reasons are wanted, or for the default one where none are. Without
    its fast kernels an implementation may refuse whatever it is asked.
    """
    if reasons is None or (isinstance(answer, Err) and "no_kernels" in before.faults):
        return
    given = answer.error.reason if isinstance(answer, Err) and isinstance(answer.error, Rejected) else None
    is_wanted, is_mine = bool(reasons & own), bool(reasons & own) or (is_default and not reasons)
    if isinstance(answer, Ok):
        is_wrong = is_wanted
    elif given in OWNED[call.op]:
        is_wrong = given in own and given not in reasons
    else:
        is_wrong = is_mine and given not in reasons
    if is_wrong:
        wanted = f"a rejection for {' or '.join(sorted(reasons))}" if reasons else "an answer"
        yield f"expected {wanted}, got {_shown(answer)}"


def _shown(answer: Answer) -> str:
    return str(answer.error) if isinstance(answer, Err) else "an answer"


def _found(before: ReuseState, call: Call, answer: Answer) -> Found:
    """Return how the dense view that was shown is wrong; laws of one answer look once."""
    if not isinstance(answer, Ok) or before.read_reasons(call):
        return {}
    if before.memo is None or before.memo[0] is not answer:
        before.memo = answer, dense_findings(before, call.layer, call.buffer, answer.value)
    found: Found = before.memo[1]
    return found


def told(before: ReuseState, call: Call, answer: Answer, kind: str) -> Iterator[str]:
    """Yield the difference of a kind, if there is one."""
    if text := _found(before, call, answer).get(kind):
        yield text


@law("RFC-0004:C-DENSE-VIEW#S1", on=COMPOSE)
def bases_and_tokens_count_prefixes_and_new_tokens(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """The base of a request is the number of all tokens, cached and new, of the requests before it."""
    if not isinstance(answer, Ok) or before.compose_reasons(call) != frozenset():
        return
    bases, tokens = reuse_batch.bases(call.batch), reuse_batch.tokens(call.batch)
    if (answer.value.bases, answer.value.tokens) != (bases, tokens):
        yield f"bases {answer.value.bases}, tokens {answer.value.tokens}, expected {bases} and {tokens}"


@law("RFC-0004:C-DENSE-VIEW#S1", on=DENSE)
def every_buffer_has_a_row_for_each_token(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Latent and index rows reach equally far, and no tail is padded."""
    yield from told(before, call, answer, "length")


@law("RFC-0004:C-DENSE-VIEW#S2", on=DENSE)
def prefix_rows_are_those_of_the_pools(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """A cached token has the bytes that its page holds on the rank that owns the page."""
    yield from told(before, call, answer, "prefix")


@law("RFC-0004:C-DENSE-VIEW#S2", on=READ)
def prefix_rows_are_read_alike(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """What a pool read gives for a cached token is what the view holds, bit by bit, whatever forms are allowed."""
    slots = {where: at for at, where in reuse_batch.prefix_slots(before.geometry, before.batch)}
    yield from _read_otherwise(before, call, answer, slots)


@law("RFC-0004:C-DENSE-VIEW#S3", on=DENSE)
def new_rows_are_those_that_ranks_computed(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """A new token has the bytes of the row of the rank that computes it, counted in that rank's own order."""
    yield from told(before, call, answer, "current")


@law("RFC-0004:C-DENSE-VIEW#S3", on=READ)
def new_rows_are_read_alike(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Once written, a new token is read from the pool as the view had it, bit by bit."""
    if call.layer not in before.persisted:
        return
    slots: dict[int, int] = {}
    for base, request in zip(reuse_batch.bases(before.batch), before.batch, strict=True):
        new = reuse_batch.own_pages(before.geometry, request)[request.prefix_tokens // before.geometry.page_size :]
        first = base + request.prefix_tokens
        slots |= {where: first + at for at, where in enumerate(before.geometry.locations(new, request.extend_tokens))}
    yield from _read_otherwise(before, call, answer, slots)


def _read_otherwise(before: ReuseState, call: Call, answer: Answer, slots: dict[int, int]) -> Iterator[str]:
    """Yield each location whose row is right in pool and view, and differs where the layout leaves bits open."""
    view, size = before.views.get(call.layer), before.row_bytes(call.buffer)
    shown = before.shown(view, call.buffer, 0) if view else None
    if not isinstance(answer, Ok) or view is None or not view.expected or shown is None:
        return
    for index, where in enumerate(call.locations):
        found, at = answer.value[index * size : (index + 1) * size], slots.get(where)
        if at is None or found == shown[at]:
            continue
        expected = view.expected[call.buffer].rows[at]
        if all(same(before.pool, call.buffer, row, expected) for row in (found, shown[at])):
            yield f"{call.buffer}, location {where}: the pool has {found[:8].hex()}..., row {at} of the view not"


@law("RFC-0004:C-DENSE-VIEW#S4", on=DENSE)
def prefix_rows_stand_in_the_order_of_the_table(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """What ranks send one after another is not yet the order of tokens."""
    yield from told(before, call, answer, "order")


@law("RFC-0004:C-DENSE-VIEW#S5", on=DENSE)
def what_is_stale_behind_a_table_is_not_shown(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """A table is as wide as the longest request; what stands behind the pages of the others is of an earlier batch."""
    yield from told(before, call, answer, "stale")


@law("RFC-0004:C-DENSE-VIEW#S6", on=DENSE)
def index_keys_cross_as_bytes(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """A key that is converted as a number has other bits."""
    yield from told(before, call, answer, "cast")


@law("RFC-0004:C-DENSE-VIEW#S7", on=DENSE)
def every_rank_has_the_same_view(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Rows that one rank computed are there on all of them."""
    yield from told(before, call, answer, "unequal")


@law("RFC-0004:C-DENSE-VIEW#S8", on=COMPOSE)
def a_batch_without_a_view_is_refused_by_name(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """An unaligned prefix, an empty extend, a table that is too short and a page that is none are refused."""
    yield from refusals(before, call, answer, before.compose_reasons(call), OF_BATCH)


@law("RFC-0004:C-DENSE-VIEW#S9", on=COMPOSE)
def rows_that_are_not_of_the_batch_are_refused_by_name(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Rows are counted and measured before they are used; what is right is never refused."""
    yield from refusals(before, call, answer, before.compose_reasons(call), OF_ROWS, is_default=True)


@law("RFC-0004:C-EPOCHS#S1", on=COMPOSE)
def an_epoch_that_has_passed_is_refused(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Nobody composes for a batch that a later one has replaced."""
    yield from refusals(before, call, answer, before.compose_reasons(call), frozenset({Reason.EPOCH_STALE}))


@law("RFC-0004:C-EPOCHS#S2", on=COMPOSE)
def an_epoch_belongs_to_one_batch(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """Another batch under the same epoch would be given the rows of the first."""
    yield from refusals(before, call, answer, before.compose_reasons(call), frozenset({Reason.EPOCH_OF_ANOTHER_BATCH}))


@law("RFC-0004:C-EPOCHS#S3", on=(DENSE, TOP_K, ATTEND))
def a_view_that_is_not_there_is_refused(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """What was never composed, or is replaced, is not read; what was composed is."""
    if not _is_disturbed(before, call):
        yield from refusals(before, call, answer, before.read_reasons(call), NOT_THERE, is_default=call.op == DENSE)


@law("RFC-0004:C-EPOCHS#S4", on=DENSE)
def a_view_is_made_of_what_the_pools_hold_now(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """A buffer that was filled for another layer or an earlier epoch is filled again before it is read."""
    yield from told(before, call, answer, "old")


@law("RFC-0004:C-EPOCHS#S5", on=(DENSE, TOP_K, ATTEND))
def a_refused_composition_leaves_the_views(before: ReuseState, call: Call, answer: Answer) -> Iterator[str]:
    """What could be read before a composition was refused can be read after it."""
    if _is_disturbed(before, call):
        yield from refusals(before, call, answer, before.read_reasons(call), NOT_THERE, is_default=call.op == DENSE)


def _is_disturbed(before: ReuseState, call: Call) -> bool:
    view = before.view(call)
    return view is not None and view.refused_since
