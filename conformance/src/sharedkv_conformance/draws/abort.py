"""How histories of abort are drawn: requests that are given up at any time, and messages in any order."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.draws.overlap import may_tell, register, registrable, resume_workers, stall_workers
from sharedkv_conformance.draws.sending import (
    STALL_WRITES,
    another,
    ends,
    forced_call,
    geometry,
    resume_writes,
    stall_writes,
)
from sharedkv_conformance.draws.sending_kinds import (
    NO_ROOM,
    Draw,
    Kind,
    advance,
    ask_all,
    close,
    deliver,
    fail,
    garble,
    give_back,
    land,
    reserve,
    send,
    take,
)
from sharedkv_conformance.draws.sending_view import (
    called,
    delivered,
    ended,
    landable,
    may_resume,
    on_the_way,
    sendable,
    spare,
)
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.step import Call

STALL_MESSAGES = called("probe.stall", what="messages")


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw a pool of one or two layers."""
    pool = PoolConfig(layout="mha_bf16", layers=draw(st.sampled_from((1, 1, 2))), kv_heads=1, head_dim=4)
    return geometry(draw, limits, pool)


def next_call(draw: Draw, state: SendingState) -> Call:
    """Draw the next call: what is due, else what goes on with a request or ends it."""
    if (forced := forced_call(state)) is not None:
        return forced
    if state.last is None:
        openings = (STALL_MESSAGES, STALL_MESSAGES, STALL_WRITES, STALL_WRITES, reserve(draw, state))
        first: Call = draw(st.sampled_from(openings))
        return first
    if len(state.sending.stalled) == 1 and len(state.sending.posted) == 0 and draw(st.booleans()):
        return STALL_WRITES if "messages" in state.sending.stalled else STALL_MESSAGES
    kinds = [*messages(state), *through(state), *aborts(state), *flights(state), *time(state), *ends(state)]
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)


def through(state: SendingState) -> list[Kind]:
    """Offer what goes on with a request."""
    if not sendable(state):
        return another(state)
    if not spare(state):
        return [take] * 6
    return [*[send] * 8, *([register] if registrable(state) else [])]


def aborts(state: SendingState) -> list[Kind]:
    """Offer to give up, and what follows on it."""
    offered: list[Kind] = [close] * 4 if ended(state) else []
    offered += [abort_decode] * 2 if state.sending.reserved else []
    offered += [abort_prefill] if state.sending.rooms else []
    return [*offered, ask_all, ask_all, give_back]


def messages(state: SendingState) -> list[Kind]:
    """Offer what becomes of messages."""
    waiting, gone = on_the_way(state), delivered(state)
    offered: list[Kind] = [deliver] * (8 if len(waiting) > 1 else 3) if waiting else []
    offered += [deliver] if gone else []
    offered += [garble] if waiting or gone else []
    if "messages" not in state.sending.stalled:
        return [*offered, stall_messages, stall_messages]
    return [*offered, *([resume_messages] if waiting else [])]


def flights(state: SendingState) -> list[Kind]:
    """Offer what becomes of flights and jobs."""
    there, stalled = landable(state), state.sending.stalled
    offered: list[Kind] = [land] * 3 if there else []
    offered += [fail, fail] if any(not flight.is_in_doubt for flight in there) else []
    for what, stall, resume in (("writes", stall_writes, resume_writes), ("workers", stall_workers, resume_workers)):
        if what not in stalled:
            offered.append(stall)
        elif may_resume(state, what) and may_tell(state):
            offered.append(resume)
    return offered


def time(state: SendingState) -> list[Kind]:
    """Offer to let time go on, more so where something waits for it."""
    return [advance] * (3 if state.sending.lingering or state.sending.flying else 1)


def abort_decode(draw: Draw, state: SendingState) -> Call:
    """Have decode give a room up, rarely one that there is not, and ask how far it is."""
    room = draw(st.sampled_from((*sorted(state.sending.reserved) * 4, NO_ROOM)))
    state.due.append(called("transfer.status", room=room))
    return called("abort.decode", room=room)


def abort_prefill(draw: Draw, state: SendingState) -> Call:
    """Have prefill give a room up, rarely one that there is not, and ask how far it is."""
    room = draw(st.sampled_from((*sorted(state.sending.rooms) * 4, NO_ROOM)))
    state.due.append(called("transfer.send_status", room=room))
    return called("abort.prefill", room=room)


def stall_messages(draw: Draw, state: SendingState) -> Call:
    """Hold messages."""
    return STALL_MESSAGES


def resume_messages(draw: Draw, state: SendingState) -> Call:
    """Deliver what is held."""
    return called("probe.resume", what="messages")
