"""The laws of stored rows: where they stand once written, in which form, and what else did not change.

Each look at a layer sorts what differs by kind; every law speaks of one kind and is silent where another explains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sharedkv_conformance.marks import law
from sharedkv_conformance.model.direct_write_state import DirectWriteState
from sharedkv_conformance.model.latent_rows import latent_fault, unusable
from sharedkv_conformance.model.pool_findings import Findings, WrongRow
from sharedkv_conformance.step import Answer, Call, Ok

POOL = "probe.pool"
FEW = 3


def _found(before: DirectWriteState, call: Call, answer: Answer) -> Findings:
    """Return what differs in a layer that was shown."""
    return before.findings(call, answer) if isinstance(answer, Ok) else Findings()


def _few(found: Iterable[object]) -> Iterator[str]:
    for count, one in enumerate(found):
        if count < FEW:
            yield str(one)


def _malformed(found: Findings, *, fp8: bool, before: DirectWriteState) -> list[WrongRow]:
    """Return malformed rows that are fp8 latents, or those that are stored as they were computed."""
    of_fp8 = before.pool.layout == "mla_fp8"
    rows = found.rows("malformed")
    return [row for row in rows if row.buffer != "index" and (of_fp8 and row.buffer == "latent") is fp8]


@law("RFC-0003:C-VALID-ROWS#S1", on=POOL)
def every_valid_row_is_at_its_location(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """After a write the row of each new token stands in the slot of its location, on the rank that computed it."""
    found = _found(before, call, answer)
    missing = found.rows("missing") or (() if found.rows("disordered") else found.rows("unclear"))
    if not found.misplaced_index:
        yield from _few(missing)


@law("RFC-0003:C-VALID-ROWS#S2", on=POOL)
def no_other_byte_changes(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Dummies, padding and copies of rows leave no trace: not in the dummy page or in spare slots, on no other rank."""
    found = _found(before, call, answer)
    if found.wrong or call.layer in before.refused:
        return
    yield from _few(found.strays)


@law("RFC-0003:C-VALID-ROWS#S3", on=POOL)
def rows_keep_the_order_of_their_rank(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """A row is that of the token at its place in the rank's own order, not another row of that rank."""
    found = _found(before, call, answer)
    if not found.misplaced_index and not found.rows("missing"):
        yield from _few(found.rows("disordered"))


@law("RFC-0003:C-VALID-ROWS#S4", on=POOL)
def equal_rows_are_stored_equally(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """What is stored for a row depends on the row alone: not on its batch, its neighbours or padding."""
    if not isinstance(answer, Ok) or before.pool.layout != "mla_fp8" or before.findings(call, answer).shape:
        return
    shown = {(found.rank, found.buffer): found.data for found in answer.value}
    for location, due in before.due.get(call.layer, {}).items():
        earlier, computed = before.stored.get(due.rows["latent"]), due.rows["latent"]
        stored = before.cut(shown[due.rank, "latent"], "latent", before.slot(location)[1])
        if earlier is not None and stored != earlier and not latent_fault(computed, stored):
            yield f"location {location}: a row that was stored before is stored in other bytes"
            return


@law("RFC-0003:C-LAYOUTS#S1", on=POOL)
def pools_have_the_size_of_their_layout(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Each rank has every buffer of the layout, with stored rows for every token of its physical pages."""
    if isinstance(answer, Ok):
        if shape := before.findings(call, answer).shape:
            yield shape
    elif call.layer in range(before.pool.all_layers):
        yield f"layer {call.layer} is not shown: {answer.error}"


@law("RFC-0003:C-LAYOUTS#S2", on=POOL)
def rows_are_stored_as_computed(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Rows of layouts without quantization are bytes, whatever numbers they are."""
    yield from _few(_malformed(_found(before, call, answer), fp8=False, before=before))


@law("RFC-0003:C-LAYOUTS#S3", on=POOL)
def index_rows_lie_in_the_page_of_their_token(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """A page of the index is all its keys, then all its scales, and it is the page that holds the latents."""
    found = _found(before, call, answer)
    if found.misplaced_index:
        yield from _few((*found.wrong, *found.strays))


@law("RFC-0003:C-LAYOUTS#S4", on=POOL)
def fp8_rows_are_numbers(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Scales are finite and positive and no value is NaN, also where a tile is all zeros."""
    for row in _malformed(_found(before, call, answer), fp8=True, before=before)[:FEW]:
        if problem := unusable(row.found):
            yield f"rank {row.rank}, location {row.location}: {problem}"


@law("RFC-0003:C-LAYOUTS#S5", on=POOL)
def fp8_rows_are_near_what_was_computed(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Codes times scales are the latents to half a step, and the rope is as it was."""
    for row in _malformed(_found(before, call, answer), fp8=True, before=before)[:FEW]:
        if not unusable(row.found):
            yield f"rank {row.rank}, location {row.location}: {latent_fault(row.computed, row.found)}"
