"""The adapter of the host tier answers as the executable model does, call after call, up to what is free to choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sharedkv_adapter import cpu
from sharedkv_conformance import contract
from sharedkv_conformance.draws.host_tier_tree import held, kinds, tokens
from sharedkv_conformance.draws.host_tree import opening
from sharedkv_conformance.model.host_tier_tree_state import HostTreeState
from sharedkv_conformance.step import Answer, Call, Err, Ok

Draw = Callable[..., Any]
OBSERVED = ("probe.tree", "probe.copies", "host_tier.statistics", "allocation.lanes")
POOL = contract.PoolConfig(layout="mha_bf16", layers=1, head_dim=2)


def answer_of(session: Any, call: Call) -> Answer:  # noqa: ANN401 - the facet is looked up by its word
    facet, _, method = call.op.partition(".")
    try:
        return Ok(getattr(getattr(session, facet), method)(*call.args.values()))
    except contract.ContractError as error:
        return Err(error)


def admit(draw: Draw, state: HostTreeState) -> Call:
    """Ask for host pages behind pages that are held."""
    spare, batch = held(state), []
    for number in range(draw(st.integers(1, 2))):
        pages = tuple(spare.pop() for _ in range(min(len(spare), draw(st.integers(0, 3)))))
        given = max(0, len(pages) * state.config.page_size - draw(st.integers(0, 1)))
        batch.append(
            contract.BackupRequest(request=draw(st.sampled_from(("r", f"s{number}"))), extend_tokens=given, pages=pages)
        )
    return Call(op="host_tier.admit", args={"batch": tuple(batch)})


def cancel(draw: Draw, state: HostTreeState) -> Call:
    return Call(op="host_tier.cancel", args={"request": draw(st.sampled_from((*state.model.reservations, "nobody")))})


def room(draw: Draw, state: HostTreeState) -> Call:
    op = draw(st.sampled_from(("host_tier.make_room", "host_tier.make_host_room")))
    return Call(op=op, args={"required": tuple(draw(st.integers(0, 2)) for _ in range(state.config.cp_size))})


def load_back(draw: Draw, state: HostTreeState) -> Call:
    return Call(op="host_tier.load_back", args={"tokens": tokens(draw, state, most=1)})


def finish(draw: Draw, state: HostTreeState) -> Call:
    copy = draw(st.sampled_from((*state.model.ledger.copies, 99)))
    args = {"copy": copy, "source": draw(st.sampled_from(("target", "draft"))), "rank": draw(st.integers(-1, 1))}
    return Call(op="probe.finish", args=args)


def drawn(draw: Draw, state: HostTreeState) -> Call:
    """Draw the next call: one of the tree's, or one around it."""
    if draw(st.integers(0, 99)) == 41:  # drawn as seldom as any other number
        return Call(op=draw(st.sampled_from(("host_tier.reset", "probe.hold", "probe.hold"))))
    kind = draw(st.sampled_from([*kinds(state), admit, cancel, room, load_back, *[finish] * 2]))
    call: Call = kind(draw, state)
    return call


@settings(max_examples=60)
@given(st.data())
def test_the_reference_answers_as_the_model(data: st.DataObject) -> None:
    config = replace(opening(data.draw, {}), pool=replace(POOL, draft_layers=data.draw(st.integers(0, 1))))
    session, state = cpu().open(config), HostTreeState(config)
    for _ in range(40):
        for call in (drawn(data.draw, state), *(Call(op=op) for op in OBSERVED)):
            answer = answer_of(session, call)

            assert not state.deviates(call, answer), (call, answer, state.step(call, answer).expected)
            state.adopt(call, answer)
        assert session.host_cache.invariants() == []
