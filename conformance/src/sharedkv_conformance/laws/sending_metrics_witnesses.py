"""The witnesses of reports: what must have happened before a law's silence proves anything."""

from __future__ import annotations

from sharedkv_conformance.laws.sending_metrics import REPORT, is_timed, reports
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.sending_parts import ABORT, AUX, INDEX, FlightModel, PrefillRoom
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.step import Answer, Call


def landed(before: SendingState, call: Call, answer: Answer) -> list[FlightModel]:
    """Return the completed flights of a room of which a report was asked for."""
    room = before.sending.rooms.get(call.room)
    if room is None or reports(before, call, answer) is None:
        return []
    return [flight for flight in room.flights if flight.is_completed]


def failed_for(before: SendingState, call: Call, answer: Answer) -> PrefillRoom | None:
    """Return the room of a report if it has failed."""
    room = before.sending.rooms.get(call.room)
    return room if room is not None and room.reason and reports(before, call, answer) is not None else None


# -- bytes and pages -------------------------------------------------------------------------------------------------


@witness(on=REPORT, history="sending")
def reported_in_part(before: SendingState, call: Call, answer: Answer) -> bool:
    """Some flights have completed, and others not."""
    done = landed(before, call, answer)
    return bool(done) and len(done) < len(before.sending.rooms[call.room].flights)


@witness(on=REPORT, history="sending")
def reported_before_the_last_chunk(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk has landed that is not the last."""
    done = landed(before, call, answer)
    return bool(done) and not any(chunk.is_last for chunk in before.sending.rooms[call.room].sent)


@witness(on=REPORT, history="sending")
def reported_with_index(before: SendingState, call: Call, answer: Answer) -> bool:
    """The part `index` has landed."""
    return any(flight.part == INDEX for flight in landed(before, call, answer))


@witness(on=REPORT, history="sending")
def reported_with_metadata(before: SendingState, call: Call, answer: Answer) -> bool:
    """Metadata has landed that does not fill its slot."""
    size = before.config.transfer.aux_bytes
    return any(each.part == AUX and len(each.chunk.aux) < size for each in landed(before, call, answer))


@witness(on=REPORT, history="sending")
def reported_with_draft_layers(before: SendingState, call: Call, answer: Answer) -> bool:
    """Layers of the draft have landed."""
    first = before.config.pool.layers
    return any(layer >= first for flight in landed(before, call, answer) for layer in flight.layers)


@witness(on=REPORT, history="sending")
def reported_with_two_destinations(before: SendingState, call: Call, answer: Answer) -> bool:
    """Pages have landed at two destinations."""
    return len({flight.destination for flight in landed(before, call, answer) if flight.pages}) > 1


@witness(on=REPORT, history="sending")
def reported_between_layers(before: SendingState, call: Call, answer: Answer) -> bool:
    """Some layers of a page have landed, and not all."""
    every = before.config.pool.all_layers
    return any(
        0 < before.sending.num_layers_there(each.chunk, each.source, each.destination) < every
        for each in landed(before, call, answer)
    )


# -- time ------------------------------------------------------------------------------------------------------------


@witness(on=REPORT, history="sending")
def reported_before_a_submission(before: SendingState, call: Call, answer: Answer) -> bool:
    """A report was asked for, a while after the beginning, when nothing was submitted."""
    found = reports(before, call, answer)
    return found is not None and not found[0].submitted and before.sending.clock > 0


@witness(on=REPORT, history="sending")
def reported_before_a_completion(before: SendingState, call: Call, answer: Answer) -> bool:
    """A report was asked for, a while after the beginning, when flights were submitted and none had completed."""
    found = reports(before, call, answer)
    return found is not None and found[0].submitted > 0 and not found[0].completed and before.sending.clock > 0


@witness(on=REPORT, history="sending")
def reported_after_a_while(before: SendingState, call: Call, answer: Answer) -> bool:
    """Flights took time, several began at different times, and time has gone on since the last one."""
    found, room = reports(before, call, answer), before.sending.rooms.get(call.room)
    if found is None or room is None or room.ended is None or not is_timed(found[0]) or not found[0].ticks:
        return False
    return before.sending.clock > room.ended and len({flight.began for flight in room.flights}) > 1


# -- why it failed ---------------------------------------------------------------------------------------------------


@witness(on=REPORT, history="abort")
def reported_with_a_failed_flight(before: SendingState, call: Call, answer: Answer) -> bool:
    """A flight has failed for good, and is not in flight any more."""
    room = failed_for(before, call, answer)
    if room is None:
        return False
    return any(not flight.is_completed and flight not in before.sending.flying for flight in room.flights)


@witness(on=REPORT, history="abort")
def reported_as_aborted(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill gave the room up."""
    room = failed_for(before, call, answer)
    return room is not None and room.reason == "aborted"


@witness(on=REPORT, history="abort")
def reported_as_given_up_by_the_peer(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode gave the room up."""
    room = failed_for(before, call, answer)
    return room is not None and room.reason == "peer"


@witness(on=REPORT, history="abort")
def reported_as_a_fault_of_the_engine(before: SendingState, call: Call, answer: Answer) -> bool:
    """A flight failed."""
    room = failed_for(before, call, answer)
    return room is not None and room.reason == "engine"


@witness(on=REPORT, history="abort")
def reported_as_a_fault_of_a_worker(before: SendingState, call: Call, answer: Answer) -> bool:
    """A worker raised an exception."""
    room = failed_for(before, call, answer)
    return room is not None and room.reason == "worker"


@witness(on=REPORT, history="abort")
def reported_as_late(before: SendingState, call: Call, answer: Answer) -> bool:
    """A flight was given up at its deadline."""
    room = failed_for(before, call, answer)
    return room is not None and room.reason == "deadline" and bool(room.flights)


@witness(on=REPORT, history="abort")
def reported_with_a_later_notice(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room failed at prefill, and the notice of decode came after that."""
    room = failed_for(before, call, answer)
    if room is None or room.reason == "peer":
        return False
    return any(
        (notice.kind, notice.room, notice.epoch) == (ABORT, room.room, room.epoch) and notice not in before.sending.way
        for notice in before.sending.posted.values()
    )
