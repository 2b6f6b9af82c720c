"""In what the flights, messages and contexts that were shown differ from those that there have to be.

Knows what lies apart, and which chunk it is of. Knows no statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sharedkv_conformance.contract.probe import Flight
from sharedkv_conformance.model.sending_parts import KV, Chunk, PrefillRoom
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.step import Answer, Call, Ok


@dataclass(frozen=True, kw_only=True)
class Apart:
    """What had to be shown and was not, and what was shown and must not be. Both are empty where the order differs."""

    missing: tuple[Any, ...]
    extra: tuple[Any, ...]

    def __bool__(self) -> bool:
        """Say whether something lies apart."""
        return bool(self.missing or self.extra)

    def __str__(self) -> str:
        parts = (("missing", self.missing), ("not expected", self.extra))
        return "; ".join(f"{word}: {', '.join(map(str, found))}" for word, found in parts if found) or "another order"


def apart(before: SendingState, call: Call, answer: Answer) -> Apart | None:
    """Return what lies apart in an answer that is wrong; None where it is right, open or an error."""
    if not before.wrong(call, answer) or not isinstance(answer, Ok):
        return None
    expected = before.step(call, answer).expected
    due = expected.value if isinstance(expected, Ok) else ()
    return Apart(
        missing=tuple(each for each in due if each not in answer.value),
        extra=tuple(each for each in answer.value if each not in due),
    )


def cause_of(before: SendingState) -> Call:
    """Return the last call that was no observation."""
    return before.last[0] if before.last is not None else Call(op="")


def room_of(before: SendingState, room: int, epoch: int) -> PrefillRoom | None:
    """Return a room that prefill knows under an epoch, or knew and still has in flight."""
    known = before.sending.rooms.get(room)
    rooms = [*([known] if known is not None else []), *(flight.room for flight in before.sending.flying)]
    return next((each for each in rooms if (each.room, each.epoch) == (room, epoch)), None)


def chunks_of(before: SendingState, room: PrefillRoom) -> list[Chunk]:
    """Return the chunks of a room that were sent or registered."""
    return [*room.sent, *before.sending.contexts_of(room)]


def chunk_of(before: SendingState, flight: Flight) -> Chunk | None:
    """Return the chunk that a flight brings pages of."""
    room = room_of(before, flight.room, flight.epoch)
    place = room.places.get(flight.destination) if room is not None else None
    if room is None or place is None:
        return None
    for chunk in chunks_of(before, room):
        if flight.pages and set(flight.pages) <= set(place.pages[chunk.first : chunk.end]):
            return chunk
    return None


def is_early(room: PrefillRoom | None, *contexts: Chunk) -> bool:
    """Say whether layers of a room were told."""
    return room is not None and any(chunk.told for chunk in (*room.sent, *contexts))


def layers_made(chunk: Chunk, flight: Flight, missing: Iterable[Flight]) -> set[int]:
    """Return the layers of a chunk that the rank and the way of a flight have had, but for flights that are missing."""
    lost = {(each.source, each.layers) for each in missing}
    own = chunk.flights(KV, flight.source, flight.destination)
    return {layer for made in own if (made.source, made.layers) not in lost for layer in made.layers}


def is_double(before: SendingState, flight: Flight, missing: Iterable[Flight]) -> bool:
    """Say whether a flight carries a layer that was submitted already."""
    chunk = chunk_of(before, flight)
    return chunk is not None and not layers_made(chunk, flight, missing).isdisjoint(flight.layers)


def is_misled(found: Apart) -> bool:
    """Say whether flights carry what they have to, and go to the wrong place."""
    wanted, given = (sorted((each.source, each.layers) for each in side) for side in (found.missing, found.extra))
    return bool(wanted) and wanted == given


def of_part(found: Apart | None, *parts: str) -> Apart | None:
    """Return what lies apart of some parts."""
    if found is None:
        return None
    missing, extra = (tuple(each for each in side if each.part in parts) for side in (found.missing, found.extra))
    return Apart(missing=missing, extra=extra) if missing or extra else None
