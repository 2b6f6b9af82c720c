"""How histories of sending are drawn: a few small requests that get through, in chunks, over a network that dawdles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from sharedkv_conformance.contract.implementation import OpenConfig, TransferConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.draws.sending_faults import bad_reserve, bad_send, unknown
from sharedkv_conformance.draws.sending_kinds import (
    Draw,
    Kind,
    advance,
    ask,
    ask_all,
    close,
    commit,
    fail,
    forget,
    give_back,
    land,
    look,
    reserve,
    scribble,
    send,
    take,
    write_rows,
)
from sharedkv_conformance.draws.sending_view import (
    called,
    done,
    ended,
    landable,
    may_resume,
    sendable,
    spare,
    succeeded,
    unwritten,
)
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.step import Call

LAYOUTS = ("mha_bf16", "mha_bf16", "mha_bf16", "mla_bf16", "mla_bf16", "mla_fp8")


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw a small pool, one or two decode ranks, and little time."""
    layers = draw(st.sampled_from((1, 2, 1, 3)))
    return geometry(draw, limits, PoolConfig(layout=_layout(draw), layers=layers, kv_heads=1, head_dim=4))


def geometry(draw: Draw, limits: Mapping[str, int], pool: PoolConfig, ranks: tuple[int, ...] = (1, 1, 2)) -> OpenConfig:
    """Draw all but the layers of a session."""
    cp_size = draw(st.sampled_from([size for size in (2, 3) if size <= limits.get("max_cp_size", 3)]))
    lane_pages = min(draw(st.sampled_from((3, 4, 2))), limits.get("max_pages", 12) // cp_size)
    transfer = TransferConfig(
        decode_ranks=draw(st.sampled_from(ranks)),
        decode_pages=draw(st.sampled_from((6, 4, 8))),
        slots=draw(st.sampled_from((2, 1, 3))),
        aux_bytes=draw(st.sampled_from((4, 1))),
        group=draw(st.sampled_from((2, 1, 3, 8, 0))),
        deadline=draw(st.sampled_from((4, 2, 6))),
        patience=draw(st.sampled_from((9, 5, 20))),
        quarantine=draw(st.sampled_from((3, 5, 8))),
    )
    pool = PoolConfig(**{**vars(pool), "draft_layers": draw(st.sampled_from((0, 0, 1)))})
    return OpenConfig(cp_size=cp_size, page_size=2, pages=lane_pages * cp_size, pool=pool, transfer=transfer)


def _layout(draw: Draw) -> str:
    layout: str = draw(st.sampled_from(LAYOUTS))
    return layout


def next_call(draw: Draw, state: SendingState) -> Call:
    """Draw the next call: what is due, a look at a slot that names others, else what makes sense now."""
    if (forced := forced_call(state)) is not None:
        return forced
    if state.last is None:
        first: Call = draw(st.sampled_from((STALL_WRITES, STALL_WRITES, LATE_WRITES, reserve(draw, state))))
        return first
    kinds = [*ends(state), *through(state), *network(state), *odd(state), give_back, ask_all, ask]
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)


STALL_WRITES = called("probe.stall", what="writes")
LATE_WRITES = called("probe.inject", fault="late_writes")


def forced_call(state: SendingState) -> Call | None:
    """Return the call that has to come next."""
    unseen = state.room_to_look_at()
    if unseen is not None:
        state.due = [call for call in state.due if call.op != "transfer.status"]
        return called("transfer.status", room=unseen.room)
    return state.due.pop(0) if state.due else None


def through(state: SendingState) -> Sequence[Kind]:
    """Offer what brings a request through: mostly its next step."""
    rooms = sendable(state)
    if not rooms:
        return another(state)
    if not spare(state) and any(room.num_pages > sum(len(c.pages) for c in room.sent) for room in rooms):
        return [take] * 8
    offered: list[Kind] = [*([write_rows] * 6 if unwritten(state) else []), *[send] * 6, *another(state)[:1]]
    return [*offered, take]


def another(state: SendingState) -> list[Kind]:
    """Offer to reserve a room, more so where there is none, less where nothing is free for it."""
    if not state.sending.reserved:
        return [reserve] * 8
    has_room = all(all(free.values()) for free in (state.sending.free_slots, state.sending.free_pages))
    return [reserve, reserve] if has_room else [] if landable(state) else [reserve]


def ends(state: SendingState) -> list[Kind]:
    """Offer what follows on the end of a room."""
    offered: list[Kind] = [*[commit] * 3, ask_all, look, look] if succeeded(state) else []
    offered += [close, close, close, look] if ended(state) else []
    return [*offered, *([forget] * 2 if done(state) else [])]


def odd(state: SendingState) -> list[Kind]:
    """Offer calls that are refused, and metadata of others."""
    offered: list[Kind] = [bad_send]
    offered += [scribble] if state.sending.reserved else []
    return [*offered, *([bad_reserve, unknown] if not state.sending.rooms or len(state.forwards) > 1 else [])]


def network(state: SendingState) -> list[Kind]:
    """Offer what the network does."""
    flights = landable(state)
    offered: list[Kind] = [land] * 7 if flights else []
    offered += [advance, give_back, give_back] if flights else []
    offered += [fail] * 2 if any(not flight.is_in_doubt for flight in flights) else []
    if "writes" in state.sending.stalled:
        return [*offered, *([resume_writes] if may_resume(state, "writes") else [])]
    return [*offered, stall_writes, stall_writes]


def stall_writes(draw: Draw, state: SendingState) -> Call:
    """Hold flights."""
    return STALL_WRITES


def resume_writes(draw: Draw, state: SendingState) -> Call:
    """Land what is held."""
    return called("probe.resume", what="writes")
