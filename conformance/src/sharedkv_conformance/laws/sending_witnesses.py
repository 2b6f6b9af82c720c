"""The witnesses of sending: what must have happened before the silence of its laws proves anything."""

from __future__ import annotations

from itertools import pairwise

from sharedkv_conformance.contract.errors import CapacityWait, Reason
from sharedkv_conformance.laws.sending import LATE_LOADS, LATE_WRITES, NOT_SENDABLE, SEND, is_lone
from sharedkv_conformance.laws.sending_answers import expects, reasons
from sharedkv_conformance.laws.sending_reserve import CLOSE, POOLS, RESERVE
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.lane_pages import EVICTABLE
from sharedkv_conformance.model.sending_parts import INDEX, KV, Chunk, DecodeRoom, FlightModel
from sharedkv_conformance.model.sending_state import DECODE_POOL, FLIGHTS, SendingState
from sharedkv_conformance.step import Answer, Call, Err

# -- what decode sets aside ------------------------------------------------------------------------------------------


def _others(before: SendingState, ranks: tuple[int, ...]) -> list[DecodeRoom]:
    return [room for room in before.sending.reserved.values() if any(place.rank in ranks for place in room.places)]


@witness(on=RESERVE, history="sending")
def reserved_on_several_ranks(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room of several pages was reserved on two decode ranks."""
    return expects(before, call, answer) and len(call.ranks) > 1 and call.num_pages > 1


@witness(on=RESERVE, history="sending")
def reserved_beside_another(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was reserved on a rank that has pages of another room, which is open."""
    return expects(before, call, answer) and bool(_others(before, call.ranks))


@witness(on=RESERVE, history="sending")
def reserved_beside_quarantine(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was reserved on a rank of which pages are in quarantine."""
    ranks = {place.rank for room in before.sending.lingering for place in room.places}
    return expects(before, call, answer) and not ranks.isdisjoint(call.ranks)


@witness(on=RESERVE, history="sending")
def reserved_what_was_used(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was reserved in a session that has closed another."""
    reserved = len(before.sending.reserved) + len(before.sending.lingering)
    return expects(before, call, answer) and before.sending.epochs > reserved


@witness(on=RESERVE, history="sending")
def reserved_the_last_pages(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was given every free page of a rank."""
    free = before.sending.free_pages
    return expects(before, call, answer) and any(len(free[rank]) == call.num_pages for rank in call.ranks)


@witness(on=RESERVE, history="sending")
def short_of_pages(before: SendingState, call: Call, answer: Answer) -> bool:
    """A rank was short of pages, and had some."""
    wait = _wait(before, call, answer)
    return wait is not None and wait.required[0] == call.num_pages > 1 and any(wait.available)


@witness(on=RESERVE, history="sending")
def short_of_slots(before: SendingState, call: Call, answer: Answer) -> bool:
    """No page was missing, and a slot was."""
    if _wait(before, call, answer) is None:
        return False
    return all(len(before.sending.free_pages[rank]) >= call.num_pages for rank in call.ranks)


def _wait(before: SendingState, call: Call, answer: Answer) -> CapacityWait | None:
    step = before.judged(call, answer)
    expected = step.expected if step is not None else None
    return expected.error if isinstance(expected, Err) and isinstance(expected.error, CapacityWait) else None


def _has_reason(before: SendingState, call: Call, answer: Answer, reason: Reason) -> bool:
    return reasons(before, call, answer) == {reason}


@witness(on=RESERVE, history="sending")
def reserved_twice(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was to be reserved that is open."""
    return _has_reason(before, call, answer, Reason.ROOM_IN_USE)


@witness(on=RESERVE, history="sending")
def reserved_for_nothing(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was to be reserved without a page, on ranks that there are."""
    return _has_reason(before, call, answer, Reason.ROOM_INVALID) and call.num_pages < 1 and bool(call.ranks)


@witness(on=RESERVE, history="sending")
def reserved_on_no_such_ranks(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was to be reserved on a rank twice, or on one that there is not."""
    return _has_reason(before, call, answer, Reason.ROOM_INVALID) and call.num_pages > 0 and bool(call.ranks)


@witness(on=RESERVE, history="sending")
def number_used_again(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was reserved whose number prefill had heard of before."""
    return expects(before, call, answer) and call.room in before.sending.latest


def _open(before: SendingState, call: Call) -> DecodeRoom | None:
    return None if before.diverged else before.sending.reserved.get(call.room)


@witness(on=CLOSE, history="sending")
def closed_after_success(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was closed that had succeeded and was committed."""
    room = _open(before, call)
    return expects(before, call, answer) and room is not None and room.is_committed


@witness(on=CLOSE, history="sending")
def closed_without_commit(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was closed that had succeeded, and nobody had asked for its metadata."""
    room = _open(before, call)
    return expects(before, call, answer) and room is not None and not room.is_committed and room.has_arrived


@witness(on=CLOSE, history="sending")
def closed_before_the_end(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was to be closed of which something had arrived, and not all."""
    room = _open(before, call)
    heard = room is not None and any(arrivals.heard for arrivals in room.arrivals.values())
    return heard and _has_reason(before, call, answer, Reason.ROOM_IN_USE)


@witness(on=POOLS, history="sending")
def pages_of_decode_counted(before: SendingState, call: Call, answer: Answer) -> bool:
    """Pages of decode were counted while a room had some of them and others were free."""
    free = before.sending.free_pages
    return before.judged(call, answer) is not None and bool(before.sending.reserved) and any(free.values())


@witness(on=POOLS, history="sending")
def quarantined_pages_counted(before: SendingState, call: Call, answer: Answer) -> bool:
    """Pages of decode were counted while some were in quarantine."""
    return before.judged(call, answer) is not None and bool(before.sending.lingering)


# -- what is in flight -----------------------------------------------------------------------------------------------


def _chunks(before: SendingState) -> list[Chunk]:
    return [] if before.diverged else [chunk for room in before.sending.rooms.values() for chunk in room.sent]


def landed(before: SendingState, call: Call, answer: Answer, part: str) -> list[FlightModel]:
    """Return the flights of a part that have landed in the layer and on the rank that are looked at."""
    if before.judged(call, answer) is None:
        return []
    return [
        flight
        for room in before.sending.rooms.values()
        for flight in room.flights
        if flight.is_completed
        and (flight.part, flight.destination) == (part, call.rank)
        and call.layer in flight.layers
    ]


@witness(on=DECODE_POOL, history="sending")
def looked_at_a_later_chunk(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was looked at when a chunk had landed that does not begin its request."""
    return any(flight.chunk.first > 0 for flight in landed(before, call, answer, KV))


@witness(on=DECODE_POOL, history="sending")
def looked_at_scattered_pages(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was looked at when a flight had landed whose pages do not follow one another at the source."""
    step = before.config.cp_size
    return any(
        after - own != step for flight in landed(before, call, answer, KV) for own, after in pairwise(flight.sources)
    )


@witness(on=DECODE_POOL, history="sending")
def looked_at_two_destinations(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was looked at when a room with different pages on two ranks had landed."""
    return any(
        len({place.pages for place in flight.room.places.values()}) > 1 for flight in landed(before, call, answer, KV)
    )


@witness(on=DECODE_POOL, history="sending")
def looked_at_an_index(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was looked at when the index had landed of pages that are not the first of their request."""
    return any(
        flight.pages != flight.room.places[call.rank].pages[: len(flight.pages)]
        for flight in landed(before, call, answer, INDEX)
    )


@witness(on=DECODE_POOL, history="sending")
def looked_at_a_draft_layer(before: SendingState, call: Call, answer: Answer) -> bool:
    """A layer of the draft was looked at when pages had landed."""
    return call.layer >= before.config.pool.layers and bool(landed(before, call, answer, KV))


@witness(on=DECODE_POOL, history="sending")
def looked_at_pages_of_nobody(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was looked at when pages had landed, and others were free or of a room that nothing was sent of."""
    return bool(landed(before, call, answer, KV)) and bool(before.sending.free_pages[call.rank])


@witness(on=DECODE_POOL, history="sending")
def looked_after_late_writes(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was looked at when a lone page had landed that is not the last, while writes are late."""
    return LATE_WRITES in before.session.plane.faults and any(
        is_lone(flight.chunk) and not flight.chunk.is_last for flight in landed(before, call, answer, KV)
    )


@witness(on=DECODE_POOL, history="sending")
def looked_after_late_loads(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was looked at when a lone page had landed, while loads are late."""
    return LATE_LOADS in before.session.plane.faults and any(
        is_lone(flight.chunk) for flight in landed(before, call, answer, KV)
    )


def _shown(before: SendingState, call: Call, answer: Answer, part: str) -> list[FlightModel]:
    if before.judged(call, answer) is None:
        return []
    return [flight for flight in before.sending.flying if flight.part == part]


@witness(on=FLIGHTS, history="sending")
def several_ranks_fly(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was in flight from two ranks, with two pages of one of them."""
    flying = _shown(before, call, answer, KV)
    chunks = {flight.chunk for flight in flying if len(flight.pages) > 1}
    return any(len({flight.source for flight in flying if flight.chunk is chunk}) > 1 for chunk in chunks)


@witness(on=FLIGHTS, history="sending")
def pages_fly_out_of_order(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was in flight whose pages do not ascend on a rank."""
    return any(list(flight.sources) != sorted(flight.sources) for flight in _shown(before, call, answer, KV))


@witness(on=FLIGHTS, history="sending")
def rank_without_pages_flies_not(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was in flight of which a rank has no page."""
    flying = _shown(before, call, answer, KV)
    return any(
        len({flight.source for flight in flying if flight.chunk is each.chunk}) < before.config.cp_size
        and each.chunk.picked >= set(range(before.config.cp_size))
        and any(not before.sending.own(rank, each.chunk.pages) for rank in range(before.config.cp_size))
        for each in flying
    )


@witness(on=FLIGHTS, history="sending")
def index_of_several_chunks_flies(before: SendingState, call: Call, answer: Answer) -> bool:
    """The index of a request of several chunks was in flight, of pages that are not its first."""
    return any(
        flight.chunk.first > 0 and flight.pages != flight.room.places[flight.destination].pages[: len(flight.pages)]
        for flight in _shown(before, call, answer, INDEX)
    )


# -- what is refused -------------------------------------------------------------------------------------------------


@witness(on=SEND, history="sending")
def chunk_behind_the_reserved_pages(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk ended behind the pages that decode has, and nothing else was wrong."""
    room = before.sending.rooms.get(call.room)
    is_long = room is not None and call.first_position + len(call.pages) > room.num_pages
    return is_long and _has_reason(before, call, answer, Reason.PAGE_COUNTS_DIFFER)


@witness(on=SEND, history="sending")
def last_chunk_too_short(before: SendingState, call: Call, answer: Answer) -> bool:
    """The last chunk ended before the pages that decode has, and nothing else was wrong."""
    room = before.sending.rooms.get(call.room)
    is_short = room is not None and call.first_position + len(call.pages) < room.num_pages
    return is_short and call.is_last and _has_reason(before, call, answer, Reason.PAGE_COUNTS_DIFFER)


@witness(on=SEND, history="sending")
def index_of_other_length(before: SendingState, call: Call, answer: Answer) -> bool:
    """A last chunk ended where it has to, with a list of another length for the index."""
    room = before.sending.rooms.get(call.room)
    ends = room is not None and call.first_position + len(call.pages) == room.num_pages
    return ends and call.is_last and _has_reason(before, call, answer, Reason.PAGE_COUNTS_DIFFER)


@witness(on=SEND, history="sending")
def chunk_with_a_gap(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk began behind the end of the last one, and nothing else was wrong."""
    return _goes_on(before, call) > 0 and _has_reason(before, call, answer, Reason.CHUNK_BACKWARDS)


@witness(on=SEND, history="sending")
def chunk_sent_again(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk began before the end of the last one, and nothing else was wrong."""
    return _goes_on(before, call) < 0 and _has_reason(before, call, answer, Reason.CHUNK_BACKWARDS)


def _goes_on(before: SendingState, call: Call) -> int:
    room = before.sending.rooms.get(call.room)
    sent = room.sent if room is not None else []
    end: int = call.first_position - (sent[-1].end if sent else 0)
    return end


@witness(on=SEND, history="sending")
def chunk_after_the_last(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk without pages followed the last one."""
    room = before.sending.rooms.get(call.room)
    is_over = room is not None and bool(room.sent) and room.sent[-1].is_last
    return is_over and Reason.CHUNK_BACKWARDS in reasons(before, call, answer)


def _sends_wrong(before: SendingState, call: Call, answer: Answer, reason: Reason) -> bool:
    own = reasons(before, call, answer) & NOT_SENDABLE
    return own == {reason} and own == reasons(before, call, answer)


@witness(on=SEND, history="sending")
def sent_a_page_of_nobody(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk named a page that is free, and nothing else was wrong."""
    return _sends_wrong(before, call, answer, Reason.PAGE_NOT_ALLOCATED)


@witness(on=SEND, history="sending")
def sent_the_dummy(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk named a page outside the pool, and nothing else was wrong."""
    return _sends_wrong(before, call, answer, Reason.PAGE_OUTSIDE_POOL)


@witness(on=SEND, history="sending")
def sent_a_page_twice(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk named a page twice, and nothing else was wrong."""
    return _sends_wrong(before, call, answer, Reason.PAGE_NAMED_TWICE)


@witness(on=SEND, history="sending")
def sent_too_much_metadata(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk came with more metadata than a slot takes, and nothing else was wrong."""
    return _sends_wrong(before, call, answer, Reason.AUX_TOO_LONG)


@witness(on=SEND, history="sending")
def sent_to_nobody(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was sent of a room that prefill has not heard of."""
    return _has_reason(before, call, answer, Reason.ROOM_UNKNOWN)


@witness(on=SEND, history="sending")
def sent_before_it_was_ready(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was sent of a room of which a rank had not heard of a destination, and another had."""
    room = before.sending.rooms.get(call.room)
    is_placed = room is not None and len(room.places) == len(room.destinations)
    return is_placed and _has_reason(before, call, answer, Reason.ROOM_NOT_READY)


@witness(on=SEND, history="sending")
def sent_out_of_order(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was sent whose pages do not ascend."""
    return expects(before, call, answer) and list(call.pages) != sorted(call.pages)


@witness(on=SEND, history="sending")
def sent_from_the_cache(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was sent with a page that was evictable."""
    return expects(before, call, answer) and any(
        before.allocation.pages.state(page) == EVICTABLE for page in call.pages
    )
