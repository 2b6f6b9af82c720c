"""The witnesses of metadata slots: what must have happened before a law's silence proves anything."""

from __future__ import annotations

from sharedkv_conformance.laws.sending_slots import COMMIT, STATUS, foreign_slots, room_of
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.sending_parts import OPENED
from sharedkv_conformance.model.sending_state import POOLS, SendingState
from sharedkv_conformance.step import Answer, Call, Ok


def has_foreign_slot(before: SendingState, call: Call, *, has_arrived: bool) -> bool:
    """Say whether a slot of a room that did or did not arrive names others, and nobody has failed it."""
    room = room_of(before, call)
    if before.diverged or room is None or room.has_failed or room.has_arrived != has_arrived:
        return False
    return bool(foreign_slots(before, room))


def _metadata(before: SendingState, call: Call, answer: Answer) -> list[bytes]:
    """Return what the chunks of a committed room came with."""
    room = before.sending.rooms.get(call.room)
    if before.diverged or room is None or not isinstance(answer, Ok):
        return []
    return [chunk.aux for chunk in room.sent]


# -- commits ---------------------------------------------------------------------------------------------------------


@witness(on=COMMIT, history="sending")
def committed_with_two_destinations(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room with several destinations was committed."""
    room = room_of(before, call)
    return not before.diverged and isinstance(answer, Ok) and room is not None and len(room.places) > 1


@witness(on=COMMIT, history="sending")
def committed_after_several_chunks(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was committed whose chunks came with different metadata."""
    return len(set(_metadata(before, call, answer))) > 1


@witness(on=COMMIT, history="sending")
def committed_less_than_a_slot(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was committed whose metadata does not fill its slot."""
    return any(len(aux) < before.config.transfer.aux_bytes for aux in _metadata(before, call, answer)[-1:])


@witness(on=COMMIT, history="sending")
def commit_of_an_unknown_room(before: SendingState, call: Call, answer: Answer) -> bool:
    """A commit was asked for where there is no such room."""
    return not before.diverged and room_of(before, call) is None


@witness(on=COMMIT, history="sending")
def commit_before_the_end(before: SendingState, call: Call, answer: Answer) -> bool:
    """A commit was asked for before all has arrived."""
    room = room_of(before, call)
    return not before.diverged and room is not None and not room.has_failed and not room.has_arrived


@witness(on=COMMIT, history="sending")
def commit_after_a_commit(before: SendingState, call: Call, answer: Answer) -> bool:
    """A commit was asked for again."""
    room = room_of(before, call)
    return not before.diverged and room is not None and room.is_committed


@witness(on=COMMIT, history="sending")
def commit_of_a_failed_room(before: SendingState, call: Call, answer: Answer) -> bool:
    """A commit of a failed room was asked for."""
    room = room_of(before, call)
    return not before.diverged and room is not None and room.has_failed


@witness(on=POOLS, history="sending")
def slots_counted_after_a_commit(before: SendingState, call: Call, answer: Answer) -> bool:
    """Slots were counted right after a commit, while the room was open."""
    if before.diverged or before.last is None or before.cause() != COMMIT or not isinstance(before.last[1], Ok):
        return False
    return before.last[0].room in before.sending.reserved


# -- whose slot it is ------------------------------------------------------------------------------------------------


@witness(on=STATUS, history="sending")
def slot_of_another_room(before: SendingState, call: Call, answer: Answer) -> bool:
    """All had arrived of a room whose slot named another one."""
    room = room_of(before, call)
    if room is None or not has_foreign_slot(before, call, has_arrived=True):
        return False
    return any(slot.room != room.room for slot in foreign_slots(before, room))


@witness(on=STATUS, history="sending")
def slot_of_another_epoch(before: SendingState, call: Call, answer: Answer) -> bool:
    """All had arrived of a room whose slot named another epoch of it."""
    room = room_of(before, call)
    if room is None or not has_foreign_slot(before, call, has_arrived=True):
        return False
    return any(slot.room == room.room for slot in foreign_slots(before, room))


@witness(on=STATUS, history="sending")
def slot_of_another_at_the_second_destination(before: SendingState, call: Call, answer: Answer) -> bool:
    """The slot of the first destination was right, and that of another one was not."""
    room = room_of(before, call)
    if room is None or not has_foreign_slot(before, call, has_arrived=True):
        return False
    place = room.places[0]
    return before.sending.is_own_slot(room, before.sending.memory.slots[place.rank, place.slot])


@witness(on=STATUS, history="sending")
def slot_of_another_too_early(before: SendingState, call: Call, answer: Answer) -> bool:
    """A slot named another room before all had arrived."""
    return has_foreign_slot(before, call, has_arrived=False)


@witness(on=STATUS, history="sending")
def slot_that_was_used_before(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was asked for whose slot another room had before, and whose own metadata has not landed."""
    room = room_of(before, call)
    if before.diverged or room is None or room.has_arrived or room.has_failed:
        return False
    opened = [
        notice for notice in before.sending.posted.values() if notice.kind == OPENED and notice.epoch < room.epoch
    ]
    used = {(notice.destination, notice.place.slot) for notice in opened if notice.place is not None}
    return any((place.rank, place.slot) in used for place in room.places)
