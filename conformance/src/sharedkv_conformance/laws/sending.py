"""The laws of what is in flight: which flights a chunk has, what they bring, and which chunks are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.probe import Flight
from sharedkv_conformance.laws.sending_answers import expects, got, unrefused
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_memory import page_bytes
from sharedkv_conformance.model.sending_parts import AUX, INDEX, KV, Chunk, FlightModel, PrefillRoom
from sharedkv_conformance.model.sending_state import DECODE_POOL, FLIGHTS, SendingState
from sharedkv_conformance.step import Answer, Call, Err, Ok

SEND = "transfer.send"
LATE_WRITES, LATE_LOADS = "late_writes", "late_loads"
NOT_SENDABLE = frozenset(
    {Reason.PAGE_OUTSIDE_POOL, Reason.PAGE_NAMED_TWICE, Reason.PAGE_NOT_ALLOCATED, Reason.AUX_TOO_LONG}
)


# -- bytes -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class OtherPage:
    """A page of decode in a buffer of a layer that has other bytes than it has to have."""

    rank: int
    layer: int
    buffer: str
    page: int

    def __str__(self) -> str:
        return f"decode rank {self.rank}, layer {self.layer}, {self.buffer}, page {self.page}"


def other_pages(before: SendingState, call: Call, answer: Answer) -> Iterator[OtherPage]:
    """Yield the pages of a layer that have other bytes than they have to have, where anything is promised of them."""
    step = before.judged(call, answer)
    if step is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return
    config = before.config
    for want, found in zip(step.expected.value, answer.value, strict=False):
        if want.data == found.data:
            continue
        size = page_bytes(config.pool, config.page_size, want.buffer)
        for page in range(1 + config.transfer.decode_pages):
            span = slice(page * size, (page + 1) * size)
            if want.data[span] != found.data[span] and (call.rank, page) not in before.freed_by_timeout:
                yield OtherPage(rank=call.rank, layer=call.layer, buffer=want.buffer, page=page)


def writers(before: SendingState, other: OtherPage) -> list[FlightModel] | None:
    """Return the flights so far of the room of a page that bring this buffer of it; None where they are forgotten."""
    owner = before.owner_of(other.rank, other.page)
    if owner is None:
        return []
    room = before.sending.rooms.get(owner.room)
    if room is None or room.epoch != owner.epoch:
        was_heard = before.sending.latest.get(owner.room, owner.epoch - 1) >= owner.epoch
        return None if was_heard else []
    part = INDEX if other.buffer == INDEX else KV
    return [
        flight
        for flight in room.flights
        if flight.part == part
        and flight.destination == other.rank
        and other.layer in flight.layers
        and other.page in flight.pages
    ]


def has_landed(before: SendingState, other: OtherPage) -> bool:
    """Say whether a flight has landed that brings the page."""
    found = writers(before, other)
    return found is None or any(flight.is_completed for flight in found)


@law("RFC-0012:C-SEND#S1", on=DECODE_POOL, history="sending")
def what_has_landed_is_what_was_computed(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A page at another position is an answer that is a little wrong, and no error anywhere."""
    for other in other_pages(before, call, answer):
        if has_landed(before, other):
            yield f"{other}: has not the bytes of the page at its position"


@law("RFC-0012:C-SEND#S2", on=DECODE_POOL, history="sending")
def pages_change_by_flights_of_their_room(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Neighbours, the dummy page, and pages of others stay as they are."""
    for other in other_pages(before, call, answer):
        if writers(before, other) == []:
            yield f"{other}: was written, and no flight of its room brings it"


def is_lone(chunk: Chunk) -> bool:
    """Say whether a chunk is one page, the first and so far all of its room, so that its place is beyond doubt."""
    return len(chunk.pages) == 1 and chunk.room.sent == [chunk] and chunk.room.destinations == (0,)


def lone_chunk(before: SendingState, other: OtherPage) -> bool:
    """Say whether a page has landed whose place is beyond doubt."""
    return any(is_lone(flight.chunk) for flight in writers(before, other) or [] if flight.is_completed)


def _late(before: SendingState, call: Call, answer: Answer, fault: str, what: str) -> Iterator[str]:
    if before.session.plane.faults & {LATE_WRITES, LATE_LOADS} == {fault}:
        for other in other_pages(before, call, answer):
            if lone_chunk(before, other):
                yield f"{other}: has not the rows that were being {what} when its chunk was sent"


@law("RFC-0012:C-SEND#S5", on=DECODE_POOL, history="sending")
def rows_that_are_written_late_are_sent(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """The forward of a chunk is under way on the device when the chunk is sent."""
    yield from _late(before, call, answer, LATE_WRITES, "written")


@law("RFC-0012:C-SEND#S6", on=DECODE_POOL, history="sending")
def rows_that_are_loaded_late_are_sent(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A cached prefix comes from the host while the rest of the prompt is computed."""
    yield from _late(before, call, answer, LATE_LOADS, "loaded")


# -- flights ---------------------------------------------------------------------------------------------------------

Shape = tuple[int, int, int, int, str, tuple[int, ...], tuple[int, ...]]


def shape(flight: Flight) -> Shape:
    """Return all of a flight but its number and how it stands."""
    return (
        flight.room,
        flight.epoch,
        flight.source,
        flight.destination,
        flight.part,
        flight.layers,
        flight.pages,
    )


@dataclass(frozen=True, kw_only=True)
class Differing:
    """The flights of one part that are missing, and those that are there and must not be."""

    missing: tuple[Shape, ...]
    extra: tuple[Shape, ...]

    def messages(self) -> Iterator[str]:
        """Yield each in words."""
        for kind, shapes in (("no flight of", self.missing), ("a flight too many of", self.extra)):
            for room, _, source, destination, part, layers, pages in shapes:
                what = f"layers {list(layers)} of pages {list(pages)}" if part != AUX else "the metadata"
                yield f"room {room}, {part} from rank {source} to {destination}: {kind} {what}"


def differing(before: SendingState, call: Call, answer: Answer, part: str) -> Differing:
    """Return in what the flights of a part differ from those that have to be there."""
    step = before.judged(call, answer)
    if step is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return Differing(missing=(), extra=())
    due = Counter(shape(each) for each in step.expected.value if each.part == part)
    found = Counter(shape(each) for each in answer.value if each.part == part)
    return Differing(missing=tuple((due - found).elements()), extra=tuple((found - due).elements()))


def ends_without_pages(before: SendingState, room: int) -> bool:
    """Say whether the last chunk of a room was sent, and had no page."""
    known: PrefillRoom | None = before.sending.rooms.get(room)
    return known is not None and bool(known.sent) and known.sent[-1].is_last and not known.sent[-1].pages


@law("RFC-0012:C-SEND#S3", on=FLIGHTS, history="sending")
def a_chunk_is_a_flight_for_each_rank_and_destination(
    before: SendingState, call: Call, answer: Answer
) -> Iterator[str]:
    """With the pages that lie on the rank, in order, and every layer of them."""
    yield from differing(before, call, answer, KV).messages()


@law("RFC-0012:C-SEND#S4", on=FLIGHTS, history="sending")
def the_index_goes_with_the_last_chunk(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Of all pages of the request, each beside its own place."""
    found = differing(before, call, answer, INDEX)
    missing = tuple(each for each in found.missing if not ends_without_pages(before, each[0]) or found.extra)
    yield from Differing(missing=missing, extra=found.extra).messages()


# -- what is refused -------------------------------------------------------------------------------------------------


@law("RFC-0012:C-SEND#S7", on=SEND, history="sending")
def counts_agree_or_nothing_is_sent(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A list that is cut to the shorter one loses pages, and nobody notices."""
    yield from unrefused(before.judged(call, answer), answer, frozenset({Reason.PAGE_COUNTS_DIFFER}))


@law("RFC-0012:C-SEND#S8", on=SEND, history="sending")
def chunks_follow_one_another(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A gap is never filled, and a page that is sent twice races with itself."""
    yield from unrefused(before.judged(call, answer), answer, frozenset({Reason.CHUNK_BACKWARDS}))


@law("RFC-0012:C-SEND#S9", on=SEND, history="sending")
def what_cannot_be_sent_is_refused(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Pages of nobody, a page twice, and metadata that runs over its slot."""
    yield from unrefused(before.judged(call, answer), answer, NOT_SENDABLE)


@law("RFC-0012:C-SEND#S10", on=SEND, history="sending")
def a_room_has_to_be_known_and_ready(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Nobody knows yet where the pages go."""
    own = frozenset({Reason.ROOM_UNKNOWN, Reason.ROOM_NOT_READY})
    yield from unrefused(before.judged(call, answer), answer, own)


@law("RFC-0012:C-SEND#S11", on=SEND, history="sending")
def a_chunk_that_is_right_is_sent(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """However its pages lie in the pool, and whether they are in use or cached."""
    if expects(before, call, answer) and isinstance(answer, Err):
        yield f"{len(call.pages)} pages from position {call.first_position} of room {call.room}: {got(answer)}"
