"""The laws of places and order: where pages lie, what a read returns, and what comes before the end of a layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.probe import Event
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.direct_write_state import DirectWriteState
from sharedkv_conformance.model.pool import buffers_of, stored_row_bytes
from sharedkv_conformance.model.pool_findings import is_stored
from sharedkv_conformance.step import Answer, Call, Err, Ok

POOL = "probe.pool"
PLACE, PAGE_AT, READ, EVENTS = "direct_write.place", "direct_write.page_at", "direct_write.read", "probe.events"


def is_placed(before: DirectWriteState, page: int) -> bool:
    """Say whether a page has a place: it is one of the pool, or the dummy."""
    return page == 0 or before.geometry.holds(page)


def is_place(before: DirectWriteState, lane: int, physical: int) -> bool:
    """Say whether a page of the pool lies at a place."""
    return lane in range(before.geometry.cp_size) and physical in range(1, 1 + before.geometry.lane_pages)


def is_readable(before: DirectWriteState, call: Call) -> bool:
    """Say whether a read names a layer, a buffer and pages that are there."""
    return _is_named(before, call) and all(
        before.geometry.holds(location // before.geometry.page_size) for location in call.locations
    )


def _is_named(before: DirectWriteState, call: Call) -> bool:
    return call.layer in range(before.pool.all_layers) and call.buffer in buffers_of(before.pool)


@law("RFC-0003:C-PLACEMENT#S1", on=PLACE)
def pages_lie_on_their_lanes(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Lane and physical page are those of the page's number, exactly, however large it is."""
    if not all(is_placed(before, page) for page in call.pages):
        return
    if not isinstance(answer, Ok):
        yield f"pages {list(call.pages)} are of the pool, got {answer.error}"
        return
    if len(answer.value) != len(call.pages):
        yield f"{len(call.pages)} pages, got {len(answer.value)} places"
        return
    for page, found in zip(call.pages, answer.value, strict=True):
        wanted = (before.geometry.lane(page), before.geometry.physical(page))
        if page != 0 and (found.lane, found.page) != wanted:
            yield f"page {page} lies at lane {found.lane}, page {found.page}, expected {wanted[0]}, {wanted[1]}"


@law("RFC-0003:C-PLACEMENT#S2", on=PLACE)
def the_dummy_page_lies_on_no_lane(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Page 0 is physical page 0 of every rank and of no lane."""
    if not isinstance(answer, Ok) or len(answer.value) != len(call.pages):
        return
    for page, found in zip(call.pages, answer.value, strict=True):
        if page == 0 and (found.lane, found.page) != (-1, 0):
            yield f"the dummy page lies at lane {found.lane}, page {found.page}, expected lane -1, page 0"


@law("RFC-0003:C-PLACEMENT#S3", on=PAGE_AT)
def the_page_at_a_place_is_the_one_placed_there(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Asking for the page undoes asking for the place."""
    if (call.lane, call.physical) == (-1, 0):
        wanted = 0
    elif is_place(before, call.lane, call.physical):
        wanted = before.geometry.logical(call.lane, call.physical)
    else:
        return
    found = answer.value if isinstance(answer, Ok) else answer.error
    if found != wanted:
        yield f"physical page {call.physical} of lane {call.lane} is page {found}, expected {wanted}"


@law("RFC-0003:C-PLACEMENT#S4", on=(PLACE, PAGE_AT, READ))
def what_is_not_of_the_pool_is_refused(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """A page, a place or a location that is not of the pool neither wraps nor is clamped."""
    if call.op == PLACE:
        outside = not all(is_placed(before, page) for page in call.pages)
    elif call.op == PAGE_AT:  # physical page 0 of a lane is the dummy to some, and to others nothing
        outside = call.physical != 0 and not is_place(before, call.lane, call.physical)
    else:
        outside = _is_named(before, call) and not is_readable(before, call)
    if outside and not _refused(answer, Reason.PAGE_OUTSIDE_POOL):
        found = "it was answered" if isinstance(answer, Ok) else str(answer.error)
        yield f"{call.op} of {dict(call.args)}: expected {Reason.PAGE_OUTSIDE_POOL}, got: {found}"


@law("RFC-0003:C-PLACEMENT#S5", on=READ)
def a_read_returns_the_rows_of_its_locations(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Each row comes from the owner of its page, in the order in which locations are named."""
    if not is_readable(before, call):
        return
    if not isinstance(answer, Ok):
        yield f"{len(call.locations)} locations of the pool, got {answer.error}"
        return
    size = stored_row_bytes(before.pool, call.buffer)
    if len(answer.value) != size * len(call.locations):
        yield f"{len(call.locations)} rows of {size} bytes, got {len(answer.value)} bytes"
        return
    for number, location in enumerate(call.locations):
        found = answer.value[number * size : (number + 1) * size]
        if not _is_right(before, call, location, found):
            yield f"location {location}: found {found[:8].hex()}..., which is not what stands there"
            return


def _is_right(before: DirectWriteState, call: Call, location: int, found: bytes) -> bool:
    """Say whether a row that was read is the one that stands there, as far as that is known."""
    if (known := before.known_row(call.layer, call.buffer, location)) is not None:
        return known == found
    due = before.due[call.layer].get(location)
    if due is None or "late_writes" in before.faults:
        return True
    return is_stored(before.pool, call.buffer, due.rows[call.buffer], found)


@law("RFC-0003:C-ORDER#S1", on=EVENTS)
def a_layer_ends_after_its_rows(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """Whoever is told that a layer ended finds every buffer of it enqueued."""
    if not isinstance(answer, Ok):
        return
    new = [event for event in answer.value[before.events_seen :] if event.kind in ("written", "layer_end")]
    for layer in dict.fromkeys(before.untold):
        ends = [at for at, event in enumerate(new) if (event.kind, event.layer) == ("layer_end", layer)]
        if len(ends) < before.untold.count(layer):
            yield f"layer {layer} was written, and its end was not told"
        elif problem := _unordered(buffers_of(before.pool), layer, new):
            yield problem


def _unordered(buffers: Sequence[str], layer: int, events: Sequence[Event]) -> str:
    """Say what is told too late, or never, of the buffers of a layer."""
    told: list[str] = []
    for event in (event for event in events if event.layer == layer):
        if event.kind == "written":
            told.append(event.reason)
        elif missing := [buffer for buffer in buffers if buffer not in told]:
            return f"layer {layer} ended before its rows of {', '.join(missing)} were enqueued"
        else:
            told = []
    return f"rows of {', '.join(told)} were enqueued after layer {layer} ended" if told else ""


@law("RFC-0003:C-ORDER#S2", on=(POOL, READ))
def a_read_sees_what_was_written_before_it(before: DirectWriteState, call: Call, answer: Answer) -> Iterator[str]:
    """A read that returned nothing but old rows, where the new ones are found later, did not wait for them."""
    for read in before.stale_reads:
        if not isinstance(answer, Ok) or read.layer != call.layer:
            continue
        found = [_row_now(before, call, answer, read.buffer, location) for location in read.locations]
        if all(
            row is not None
            and is_stored(before.pool, read.buffer, before.due[read.layer][location].rows[read.buffer], row)
            for location, row in zip(read.locations, found, strict=True)
        ):
            rows = f"{len(read.locations)} rows just written"
            yield f"layer {read.layer}, {read.buffer}: {rows} were read as they were before, and were there later"
            return


def _row_now(before: DirectWriteState, call: Call, answer: Ok, buffer: str, location: int) -> bytes | None:
    """Return the stored row of a location out of a layer that is shown, or out of what is read."""
    lane, slot = before.slot(location)
    if call.op == POOL:
        if before.findings(call, answer).shape:
            return None
        return before.cut(next(b.data for b in answer.value if (b.rank, b.buffer) == (lane, buffer)), buffer, slot)
    if call.buffer != buffer or location not in call.locations:
        return None
    at = call.locations.index(location) * (size := stored_row_bytes(before.pool, buffer))
    return bytes(answer.value[at : at + size])


def _refused(answer: Answer, reason: Reason) -> bool:
    return isinstance(answer, Err) and isinstance(answer.error, Rejected) and answer.error.reason == reason
