"""The witnesses of direct write: what must have happened before a law's silence proves anything."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.laws.direct_write import POOL
from sharedkv_conformance.laws.direct_write_places import EVENTS, PAGE_AT, PLACE, READ, is_place, is_placed, is_readable
from sharedkv_conformance.laws.direct_write_refusals import NAMES, PAGES, TAIL, UNPLANNABLE, WRITE
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.direct_write_refusals import Write, dealt, miscounted_ranks
from sharedkv_conformance.model.direct_write_state import DirectWriteState
from sharedkv_conformance.model.pool import LAYOUTS, computed_row_bytes
from sharedkv_conformance.step import Answer, Call, Ok
from sharedkv_conformance.trace import OPEN

# -- places ----------------------------------------------------------------------------------------------------------


@witness(on=PLACE)
def last_page_placed(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """The place of the last page of the pool was asked for: the largest number that there is."""
    return before.geometry.cp_size * before.geometry.lane_pages in call.pages


@witness(on=PLACE)
def dummy_page_placed(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """The place of the dummy page was asked for, together with that of others."""
    return isinstance(answer, Ok) and 0 in call.pages and len(set(call.pages)) > 1


@witness(on=PAGE_AT)
def page_asked_back(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """The page at a place beyond the first row of lanes was asked for."""
    return is_place(before, call.lane, call.physical) and call.physical > 1


@witness(on=PLACE)
def page_outside_asked(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """The place of a page was asked for that is not of the pool, among others that are."""
    return not all(is_placed(before, page) for page in call.pages) and len(call.pages) > 1


@witness(on=PAGE_AT)
def place_outside_asked(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """The page at a place was asked for at which none lies."""
    return call.physical != 0 and not is_place(before, call.lane, call.physical)


@witness(on=READ)
def location_outside_read(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A location was read that is not of the pool."""
    return call.layer in range(before.pool.all_layers) and any(location < 0 for location in call.locations)


@witness(on=READ)
def rows_read_across_lanes(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """Rows of several lanes that had been written were read at once."""
    if not is_readable(before, call) or call.layer not in before.seen:
        return False
    known = [location for location in call.locations if any(before.old_row(call.layer, call.buffer, location) or b"")]
    return len({before.slot(location)[0] for location in known}) > 1


# -- what is written -------------------------------------------------------------------------------------------------


@witness(on=WRITE)
def several_requests_written(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A faultless batch of several requests of different lengths was to be written."""
    return before.reasons(call) == frozenset() and len({request.extend_tokens for request in call.batch}) > 1


@witness(on=WRITE)
def one_request_written(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A faultless batch of one request was to be written."""
    return before.reasons(call) == frozenset() and len(call.batch) == 1


@witness(on=WRITE)
def both_parts_written(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A rank had rows of the early and of the late block of one request, and rows of another request."""
    size = before.geometry.page_size
    long = [r for r in call.batch if before.geometry.pages_for(r.extend_tokens) > before.geometry.cp_size]
    return before.reasons(call) == frozenset() and bool(long) and len(call.batch) > 1 and size > 1


@witness(on=WRITE)
def tail_page_written(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A request was to be written whose last page is not filled."""
    size = before.geometry.page_size
    return before.reasons(call) == frozenset() and any(r.extend_tokens % size for r in call.batch)


@witness(on=WRITE)
def rank_without_rows(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A batch was to be written of which some rank computes no valid row."""
    return before.reasons(call) == frozenset() and not all(dealt(before.geometry, call.batch))


@witness(on=WRITE)
def static_tail_given(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """Locations came with a static tail that is proven."""
    tokens = sum(request.extend_tokens for request in call.batch)
    return before.reasons(call) == frozenset() and len(call.locations) > tokens


@witness(on=WRITE)
def dummy_rows_given(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A rank gave dummy rows that nobody should keep."""
    return _extra_rows(before, call, "compute")


@witness(on=WRITE)
def padding_rows_given(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A rank gave rows of static padding that nobody should keep."""
    return _extra_rows(before, call, "static")


@witness(on=WRITE)
def own_static_rows_given(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A rank gave the rows that it computes as static ones, while another rank computes more."""
    compute = before.compute_rows(call.batch) if before.reasons(call) == frozenset() else None
    static = [(rows.rows, own) for rows, own in zip(call.rows, compute or (), strict=False) if rows.domain == "static"]
    return any(given == own < max(compute or (0,)) for given, own in static)


def _extra_rows(before: DirectWriteState, call: Call, domain: str) -> bool:
    if before.reasons(call) != frozenset() or not any(rows.domain == domain for rows in call.rows):
        return False
    owned = dealt(before.geometry, call.batch)
    return any(rows.rows > len(own) for rows, own in zip(call.rows, owned, strict=True))


# -- what is looked at -----------------------------------------------------------------------------------------------


@witness(on=POOL)
def written_rows_looked_at(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A layer that had been looked at was looked at again after rows were written on several ranks."""
    due = before.due.get(call.layer, {})
    return call.layer in before.seen and len({row.rank for row in due.values()}) > 1


@witness(on=POOL)
def rows_written_anew(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A layer was looked at whose new rows took the place of others."""
    due = before.due.get(call.layer, {})
    return (
        any(any(before.old_row(call.layer, "latent", location) or b"") for location in due) if _mla(before) else False
    )


@witness(on=POOL)
def other_layer_looked_at(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A layer was looked at again that the last write did not name."""
    last = before.last_write
    return call.layer in before.seen and last is not None and last.layer != call.layer


@witness(on=POOL)
def index_rows_looked_at(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A layer was looked at after several index rows of one page were written."""
    due = before.due.get(call.layer, {})
    pages = [location // before.geometry.page_size for location in due]
    return _mla(before) and call.layer in before.seen and len(set(pages)) < len(pages)


@witness(on=POOL)
def plain_rows_looked_at(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A layer was looked at after rows were written that are kept as they are."""
    return before.pool.layout != "mla_fp8" and bool(before.due.get(call.layer))


@witness(on=POOL)
def head_rows_looked_at(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A layer was looked at after keys and values were written."""
    return before.pool.layout == "mha_bf16" and bool(before.due.get(call.layer))


@witness(on=POOL)
def fp8_rows_looked_at(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A layer was looked at after several fp8 rows were written."""
    return before.pool.layout == "mla_fp8" and len(before.due.get(call.layer, {})) > 1


@witness(on=POOL)
def tile_of_zeros_looked_at(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A layer was looked at after an fp8 row was written that has a tile of zeros."""
    rows = before.due.get(call.layer, {}).values() if before.pool.layout == "mla_fp8" else ()
    return any(not any(row.rows["latent"][at : at + 256]) for row in rows for at in range(0, 1024, 256))


@witness(on=POOL)
def fp8_row_written_twice(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """An fp8 row was written that had been written before, in another batch."""
    rows = before.due.get(call.layer, {}).values() if before.pool.layout == "mla_fp8" else ()
    return any(row.rows["latent"] in before.stored for row in rows)


def _mla(before: DirectWriteState) -> bool:
    return before.pool.layout != "mha_bf16"


# -- refusals --------------------------------------------------------------------------------------------------------


@witness(on=WRITE)
def rows_miscounted(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A rank gave more or fewer rows than it computes."""
    return before.reasons(call) == frozenset({Reason.ROWS_MISMATCH})


@witness(on=WRITE)
def rows_of_the_last_rank_miscounted(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """The same of the last rank alone."""
    if not rows_miscounted.occurred(before, call, answer) or len(call.rows) != before.geometry.cp_size:
        return False
    return _miscounted(before, call) == [False] * (len(call.rows) - 1) + [True]


def _miscounted(before: DirectWriteState, call: Call) -> list[bool]:
    compute = before.compute_rows(call.batch)
    valid = [len(tokens) for tokens in dealt(before.geometry, call.batch)]
    return miscounted_ranks(Write(**call.args), {"valid": valid, "compute": compute, "static": compute})


@witness(on=WRITE)
def rows_of_one_request_miscounted(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """The same in a batch of one request."""
    return rows_miscounted.occurred(before, call, answer) and len(call.batch) == 1


@witness(on=WRITE)
def row_bytes_miscounted(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A buffer had bytes that are no whole rows."""
    return before.reasons(call) == frozenset({Reason.ROW_BYTES_MISMATCH})


@witness(on=WRITE)
def whole_rows_miscounted(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A buffer had whole rows, and more or fewer than were said."""
    if before.reasons(call) != frozenset({Reason.ROW_BYTES_MISMATCH}):
        return False
    given = [(len(each.data), each.buffer, rows.rows) for rows in call.rows for each in rows.buffers]
    sizes = [(found, computed_row_bytes(before.pool, buffer), rows) for found, buffer, rows in given]
    return any(found != rows * size for found, size, rows in sizes) and not any(
        found % size for found, size, _ in sizes
    )


@witness(on=WRITE)
def too_few_locations(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """There were fewer locations than tokens."""
    tokens = sum(request.extend_tokens for request in call.batch)
    return bool(before.reasons(call)) and (before.reasons(call) or TAIL) <= TAIL and len(call.locations) < tokens


@witness(on=WRITE)
def tail_unproven(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """There were more locations than tokens, and no proof of a static tail."""
    return Reason.STATIC_TAIL_UNPROVEN in (before.reasons(call) or ())


@witness(on=WRITE)
def page_of_another_lane(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """Tokens were to be written to a page of another lane than the rank that computes them."""
    return before.reasons(call) == frozenset({Reason.LANE_MISMATCH})


@witness(on=WRITE)
def page_not_of_the_pool(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """Tokens were to be written outside the pool."""
    return Reason.PAGE_OUTSIDE_POOL in (before.reasons(call) or ())


@witness(on=WRITE)
def page_out_of_order(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """The tokens of a new page were not in order in it, from its start."""
    fits = not before.has_other_count(call)
    return fits and before.reasons(call) == frozenset({Reason.LOCATIONS_MISMATCH})


@witness(on=WRITE)
def page_written_twice(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """Two pages of new tokens were to be one."""
    reasons = before.reasons(call) or frozenset()
    return Reason.PAGE_NAMED_TWICE in reasons and reasons <= PAGES


@witness(on=WRITE)
def unknown_name_written(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A write named a layer, a buffer or a domain that is not there."""
    reasons = before.reasons(call)
    return bool(reasons) and (reasons or NAMES) <= NAMES


@witness(on=READ)
def unknown_name_read(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A read named a layer that is not there."""
    return call.layer not in range(before.pool.all_layers)


@witness(on=WRITE)
def unplannable_write(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A batch without a page-aligned plan was to be written."""
    reasons = before.reasons(call)
    return bool(reasons) and (reasons or UNPLANNABLE) <= UNPLANNABLE


@witness(on=POOL)
def looked_at_after_a_refusal(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A layer that had been looked at was looked at again after a write was refused."""
    return call.layer in before.seen and call.layer in before.refused


@witness(on=OPEN)
def unknown_layout_opened(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A session was asked for with a layout that nobody knows."""
    return before.pool.layout not in LAYOUTS


@witness(on=OPEN)
def known_layout_opened(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """A session was asked for with a layout that is known: the positive control of refusing others."""
    return before.pool.layout in LAYOUTS


# -- order -----------------------------------------------------------------------------------------------------------


@witness(on=EVENTS)
def layer_written_and_told(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """Events were asked for after a layer was written."""
    return bool(before.untold) and isinstance(answer, Ok)


@witness(on=READ)
def late_rows_read(before: DirectWriteState, call: Call, answer: Answer) -> bool:
    """Rows were read right after they were written, while writes are late."""
    due = before.due.get(call.layer, {})
    late = "late_writes" in before.faults and is_readable(before, call)
    return late and any(location in due for location in call.locations)
