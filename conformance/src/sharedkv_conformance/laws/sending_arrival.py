"""The laws of arrival: when decode may begin, what travels last, what a failure does, how far prefill says it is."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.laws.sending import differing, ends_without_pages
from sharedkv_conformance.laws.sending_answers import STATUS, expects, got, reasons, states, unrefused
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.sending_parts import AUX, AUX_RANK, INDEX, KV
from sharedkv_conformance.model.sending_state import FLIGHTS, SendingState
from sharedkv_conformance.step import Answer, Call, Err

SEND_STATUS = "transfer.send_status"
FORGET, REPORT = "transfer.forget", "transfer.report"
UNFINISHED = ("waiting", "transferring")
UNKNOWN = frozenset({Reason.ROOM_UNKNOWN})


def _told(call: Call, found: tuple[str, str]) -> str:
    return f"room {call.room} is {found[1]}, expected {found[0]}"


@law("RFC-0012:C-ARRIVAL#S1", on=STATUS, history="sending")
def decode_does_not_begin_before_all_has_landed(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Whoever begins on pages that are on their way reads what was there before."""
    found = states(before, call, answer)
    if found and found[0] in UNFINISHED and found[1] == "success":
        yield _told(call, found)


@law("RFC-0012:C-ARRIVAL#S2", on=STATUS, history="sending")
def decode_begins_once_all_has_landed(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Also where a rank had no page, and sent nothing; and for good once its metadata was taken."""
    found, known = states(before, call, answer), before.sending.reserved.get(call.room)
    wrong = (*UNFINISHED, *(["failed"] if known is not None and known.is_committed else []))
    if found and found[0] == "success" and found[1] in wrong:
        yield _told(call, found)


@law("RFC-0012:C-ARRIVAL#S3", on=FLIGHTS, history="sending")
def a_last_chunk_without_pages_is_sent(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Chunk borders fall on page borders: all pages were sent, and the first token was not."""
    for part in (INDEX, AUX):
        found = differing(before, call, answer, part)
        if any(ends_without_pages(before, each[0]) for each in found.missing) and not found.extra:
            yield from found.messages()


@law("RFC-0012:C-ARRIVAL#S4", on=FLIGHTS, history="sending")
def the_metadata_is_one_flight_from_rank_0(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """To each destination; two that write one slot race."""
    found = differing(before, call, answer, AUX)
    for room, _, source, destination, *_ in found.extra:
        if source != AUX_RANK or _has_sent_aux(before, room, destination):
            yield f"room {room}: metadata from rank {source} to {destination} beside that of rank {AUX_RANK}"
    for room, _, _, destination, *_ in found.missing:
        if not ends_without_pages(before, room):
            yield f"room {room}: no metadata for destination {destination}"


@law("RFC-0012:C-ARRIVAL#S5", on=FLIGHTS, history="sending")
def the_metadata_comes_last(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Who finds it believes that all the rest is there."""
    lacking = {each[0] for part in (KV, INDEX) for each in differing(before, call, answer, part).missing}
    for room, _, source, destination, *_ in differing(before, call, answer, AUX).extra:
        if source == AUX_RANK and room not in lacking and not _has_sent_aux(before, room, destination):
            yield f"room {room}: metadata to {destination} before the rest of rank {source} has landed"


def _has_sent_aux(before: SendingState, room: int, destination: int) -> bool:
    known = before.sending.rooms.get(room)
    flights = known.flights if known is not None else ()
    return any(flight.part == AUX and flight.destination == destination for flight in flights)


@law("RFC-0012:C-ARRIVAL#S6", on=(STATUS, SEND_STATUS), history="sending")
def a_flight_that_fails_fails_its_room(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Whatever it carried: a request without its index finds the wrong tokens."""
    found, known = states(before, call, answer), before.sending.rooms.get(call.room)
    if found and found[0] == "failed" and known is not None and known.reason == "engine":
        yield f"{_told(call, found)}: a flight has failed"


@law("RFC-0012:C-ARRIVAL#S7", on=(STATUS, SEND_STATUS), history="sending")
def what_becomes_of_one_room_is_nothing_to_others(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """One client that goes away does not end the requests of all."""
    found = states(before, call, answer)
    if found and found[1] == "failed" and others_failed(before, call.room):
        yield f"{_told(call, found)}: another room has failed"


def others_failed(before: SendingState, room: int) -> bool:
    """Say whether a room beside this one has failed, on either side."""
    model = before.sending
    at_prefill = any(known.reason for known in model.rooms.values() if known.room != room)
    at_decode = (*model.reserved.values(), *model.lingering)
    return at_prefill or any(known.has_failed for known in at_decode if known.room != room)


@law("RFC-0012:C-ARRIVAL#S8", on=SEND_STATUS, history="sending")
def prefill_says_how_far_it_is(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Who believes that all was sent gives the pages back."""
    found = states(before, call, answer)
    if found and "failed" not in found:
        yield _told(call, found)


@law("RFC-0012:C-ARRIVAL#S9", on=(FORGET, SEND_STATUS, REPORT), history="sending")
def prefill_forgets_what_has_ended(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """And nothing else; a room of yesterday is none of today."""
    if call.op == FORGET and expects(before, call, answer) and isinstance(answer, Err):
        yield f"forget room {call.room}: {got(answer)}"
    own = UNKNOWN | (frozenset({Reason.ROOM_IN_USE}) if call.op == FORGET else frozenset())
    if reasons(before, call, answer):
        yield from unrefused(before.judged(call, answer), answer, own)
