"""Every reason against a call that may have several: which of them is told is open."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.model.allocation import AllocationModel, misnamed
from sharedkv_conformance.model.implementation import ModelSession
from sharedkv_conformance.model.lane_pages import EVICTABLE, IN_USE
from sharedkv_conformance.model.sending_parts import Chunk
from sharedkv_conformance.step import Call


def reasons_against(session: ModelSession, call: Call) -> frozenset[Reason]:
    """Return the reasons against a call of a session, as far as there may be several."""
    if call.op == "transfer.send":
        return send_reasons(session, call)
    if call.op == "transfer.reserve":
        opened = {Reason.ROOM_IN_USE} if call.room in session.transfer.mapping.rooms else frozenset[Reason]()
        return session.sending.reserve_faults(call.room, call.num_pages, call.ranks) | opened
    if call.op in ("allocation.release", "allocation.retain"):
        allocation: AllocationModel = session.made("allocation")
        allowed = (IN_USE,) if call.op == "allocation.retain" else (IN_USE, EVICTABLE)
        return misnamed(session.plane.geometry, call.pages, allocation.state_of, allowed)
    return frozenset()


def send_reasons(session: ModelSession, call: Call) -> frozenset[Reason]:
    """Return every reason why a chunk cannot be sent, those too that need no room."""
    sending = session.sending
    wrong = sending.page_faults(call.pages) | sending.page_faults(call.state)
    if len(call.aux) > session.config.transfer.aux_bytes:
        wrong |= {Reason.AUX_TOO_LONG}
    room = sending.rooms.get(call.room)
    if room is None:
        return wrong | {Reason.ROOM_UNKNOWN}
    asked = Chunk(room=room, first=call.first_position, pages=tuple(call.pages), is_last=call.is_last)
    asked.state = tuple(call.state)
    return wrong | sending.send_faults(asked)
