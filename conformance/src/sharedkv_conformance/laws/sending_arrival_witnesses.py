"""The witnesses of arrival: states that were asked for at the right moment, and what had happened by then."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.laws.sending_answers import STATUS, expects, reasons
from sharedkv_conformance.laws.sending_arrival import FORGET, REPORT, SEND_STATUS, others_failed
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.sending_parts import AUX, AUX_RANK, INDEX, KV, DecodeRoom, FlightModel, PrefillRoom
from sharedkv_conformance.model.sending_state import FLIGHTS, SendingState
from sharedkv_conformance.step import Answer, Call, Ok

# -- what decode is told ---------------------------------------------------------------------------------------------


def _told(before: SendingState, call: Call, answer: Answer) -> str:
    step = before.judged(call, answer)
    return step.expected.value if step is not None and isinstance(step.expected, Ok) else ""


def _rooms(before: SendingState, call: Call) -> tuple[DecodeRoom, PrefillRoom] | None:
    decode, prefill = before.sending.reserved.get(call.room), before.sending.rooms.get(call.room)
    is_same = decode is not None and prefill is not None and decode.epoch == prefill.epoch
    return (decode, prefill) if is_same and decode is not None and prefill is not None else None


def _missing(before: SendingState, call: Call, answer: Answer) -> list[tuple[int, int, str]]:
    """Return what is missing of a room that is under way: destination, rank and part."""
    decode = before.sending.reserved.get(call.room)
    if decode is None or _told(before, call, answer) != "transferring":
        return []
    return [(rank, *pair) for rank, arrivals in decode.arrivals.items() for pair in arrivals.missing()]


def _sent_all(found: tuple[DecodeRoom, PrefillRoom] | None) -> bool:
    return found is not None and bool(found[1].sent) and found[1].sent[-1].is_last


@witness(on=STATUS, history="sending")
def asked_while_the_last_flies(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was asked for when all was sent and submitted, and one rank's pages were still in flight."""
    missing, found = _missing(before, call, answer), _rooms(before, call)
    ranks = {(source, part) for _, source, part in missing if part != AUX}
    flying = {flight.source for flight in before.sending.flying if flight.room.room == call.room}
    return len(ranks) == 1 and _sent_all(found) and len(flying) == 1 and before.config.cp_size > 1


@witness(on=STATUS, history="sending")
def asked_while_the_metadata_flies(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was asked for when nothing but the metadata was missing."""
    return {part for _, _, part in _missing(before, call, answer)} == {AUX}


@witness(on=STATUS, history="sending")
def asked_while_pages_fly_and_metadata_has_landed(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was asked for when the metadata had come, and pages of another rank had not."""
    missing = _missing(before, call, answer)
    return bool(missing) and AUX not in {part for _, _, part in missing}


@witness(on=STATUS, history="sending")
def asked_while_one_destination_waits(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was asked for when one of its destinations had everything, and another had not."""
    decode, missing = before.sending.reserved.get(call.room), _missing(before, call, answer)
    return decode is not None and 0 < len({rank for rank, _, _ in missing}) < len(decode.places)


@witness(on=STATUS, history="sending")
def succeeded_in_chunks(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room of several chunks with pages had succeeded."""
    found = _rooms(before, call)
    sent = [chunk for chunk in found[1].sent if chunk.pages] if found else []
    return _told(before, call, answer) == "success" and len(sent) > 1


@witness(on=STATUS, history="sending")
def succeeded_with_a_rank_without_pages(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room had succeeded, of whose last chunk a rank had no page."""
    found = _rooms(before, call)
    last = found[1].sent[-1] if found and found[1].sent else None
    lanes = {before.geometry.lane(page) for page in last.pages} if last is not None else set()
    return _told(before, call, answer) == "success" and 0 < len(lanes) < before.config.cp_size


@witness(on=STATUS, history="sending")
def succeeded_on_two_destinations(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room with two destinations had succeeded."""
    found = _rooms(before, call)
    return _told(before, call, answer) == "success" and found is not None and len(found[0].places) > 1


# -- the last chunk --------------------------------------------------------------------------------------------------


@witness(on=STATUS, history="sending")
def succeeded_behind_an_empty_chunk(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room had succeeded whose last chunk had no page."""
    found = _rooms(before, call)
    is_empty = _sent_all(found) and found is not None and not found[1].sent[-1].pages
    return is_empty and _told(before, call, answer) == "success"


def _flying(before: SendingState, call: Call, answer: Answer, part: str) -> list[FlightModel]:
    if before.judged(call, answer) is None:
        return []
    return [flight for flight in before.sending.flying if flight.part == part]


@witness(on=FLIGHTS, history="sending")
def index_of_an_empty_chunk_flies(before: SendingState, call: Call, answer: Answer) -> bool:
    """The index was in flight behind a last chunk without pages."""
    return any(not flight.chunk.pages for flight in _flying(before, call, answer, INDEX))


@witness(on=FLIGHTS, history="sending")
def metadata_of_an_empty_chunk_flies(before: SendingState, call: Call, answer: Answer) -> bool:
    """Metadata was in flight behind a last chunk without pages."""
    return any(not flight.chunk.pages for flight in _flying(before, call, answer, AUX))


@witness(on=FLIGHTS, history="sending")
def metadata_flies_to_two(before: SendingState, call: Call, answer: Answer) -> bool:
    """Metadata was in flight to two destinations of a room of several prefill ranks."""
    flying = _flying(before, call, answer, AUX)
    rooms = [flight.room for flight in flying]
    return before.config.cp_size > 1 and any(rooms.count(room) > 1 for room in rooms)


@witness(on=FLIGHTS, history="sending")
def metadata_waits_for_pages(before: SendingState, call: Call, answer: Answer) -> bool:
    """The last chunk was sent, and pages of rank 0 were in flight."""
    return any(flight.chunk.is_last and flight.source == AUX_RANK for flight in _flying(before, call, answer, KV))


@witness(on=FLIGHTS, history="sending")
def metadata_waits_for_an_index(before: SendingState, call: Call, answer: Answer) -> bool:
    """Of rank 0 the index was in flight, and nothing else."""
    flying = [flight for flight in before.sending.flying if flight.source == AUX_RANK]
    index = [flight for flight in _flying(before, call, answer, INDEX) if flight.source == AUX_RANK]
    return bool(index) and len(index) == len(flying)


@witness(on=FLIGHTS, history="sending")
def metadata_waits_for_an_earlier_chunk(before: SendingState, call: Call, answer: Answer) -> bool:
    """Of rank 0 an earlier chunk was in flight, and nothing of the last one, which was sent."""
    rooms = {flight.room.room: flight.room for flight in _flying(before, call, answer, KV)}
    return any(
        room.sent[-1].is_last
        and any(flight.source == AUX_RANK for flight in before.sending.flying if flight.room is room)
        and not any(flight.chunk is room.sent[-1] for flight in before.sending.flying)
        for room in rooms.values()
        if room.sent
    )


# -- failures --------------------------------------------------------------------------------------------------------


def _failed_flight(before: SendingState, call: Call, answer: Answer, part: str) -> bool:
    room = before.sending.rooms.get(call.room)
    if room is None or room.reason != "engine" or _told(before, call, answer) != "failed":
        return False
    return any(flight.part == part and not flight.is_completed for flight in room.flights)


@witness(on=(STATUS, SEND_STATUS), history="sending")
def pages_have_failed(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was asked for of which a flight of pages had failed."""
    return _failed_flight(before, call, answer, KV)


@witness(on=(STATUS, SEND_STATUS), history="sending")
def an_index_has_failed(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was asked for of which the index had failed, and its pages had landed."""
    room = before.sending.rooms.get(call.room)
    pages = [flight for flight in room.flights if flight.part == KV] if room is not None else []
    return all(flight.is_completed for flight in pages) and _failed_flight(before, call, answer, INDEX)


@witness(on=(STATUS, SEND_STATUS), history="sending")
def metadata_has_failed(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was asked for of which the metadata had failed."""
    return _failed_flight(before, call, answer, AUX)


@witness(on=(STATUS, SEND_STATUS), history="sending")
def asked_beside_a_failed_room(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was asked for that had not failed, while another had."""
    return _told(before, call, answer) in ("transferring", "success") and others_failed(before, call.room)


# -- what prefill is told --------------------------------------------------------------------------------------------


@witness(on=SEND_STATUS, history="sending")
def prefill_has_heard_of_some(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked for a room of which one rank had heard, and another had not."""
    return _told(before, call, answer) == "bootstrapping"


@witness(on=SEND_STATUS, history="sending")
def prefill_waits(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked for a room of which nothing was sent."""
    return _told(before, call, answer) == "waiting"


@witness(on=SEND_STATUS, history="sending")
def prefill_sends(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked for a room whose last chunk was sent, and of which something was in flight."""
    room = before.sending.rooms.get(call.room)
    is_flying = any(flight.room is room for flight in before.sending.flying)
    return (
        is_flying
        and room is not None
        and bool(room.sent)
        and room.sent[-1].is_last
        and _is_under_way(before, call, answer)
    )


@witness(on=SEND_STATUS, history="sending")
def prefill_sends_metadata(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked for a room of which nothing but metadata was in flight."""
    room = before.sending.rooms.get(call.room)
    parts = {flight.part for flight in before.sending.flying if flight.room is room}
    return parts == {AUX} and _is_under_way(before, call, answer)


def _is_under_way(before: SendingState, call: Call, answer: Answer) -> bool:
    return _told(before, call, answer) == "transferring"


@witness(on=SEND_STATUS, history="sending")
def prefill_is_between_chunks(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked for a room of which all that was sent had landed, and the last chunk was not sent."""
    room = before.sending.rooms.get(call.room)
    is_idle = room is not None and all(flight.is_completed for flight in room.flights) and bool(room.flights)
    return is_idle and room is not None and not room.sent[-1].is_last and _is_under_way(before, call, answer)


@witness(on=SEND_STATUS, history="sending")
def prefill_has_sent_all(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked for a room that it had sent."""
    return _told(before, call, answer) == "success"


@witness(on=FORGET, history="sending")
def forgotten_after_the_end(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was forgotten that had ended."""
    return expects(before, call, answer)


@witness(on=FORGET, history="sending")
def forgotten_before_the_end(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was to be forgotten that had not ended."""
    return reasons(before, call, answer) == {Reason.ROOM_IN_USE}


@witness(on=(FORGET, SEND_STATUS, REPORT), history="sending")
def prefill_asked_for_a_stranger(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked for a room that it had forgotten."""
    return call.room in before.sending.latest and reasons(before, call, answer) == {Reason.ROOM_UNKNOWN}
