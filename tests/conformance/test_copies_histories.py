"""The laws of copies on written histories of the model: silent on right answers, and one speaks of a wrong one."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from sharedkv_conformance.contract.errors import ContractError
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.operations import OPERATION_BY_NAME
from sharedkv_conformance.draws import copies_loads as loads
from sharedkv_conformance.draws import copies_written as written
from sharedkv_conformance.laws import copies, copies_calls
from sharedkv_conformance.marks import Law
from sharedkv_conformance.model.copies_state import HOST_POOL, READ, CopiesState
from sharedkv_conformance.model.implementation import ModelSession, model
from sharedkv_conformance.step import Answer, Call, Err, Ok

LAWS = [law for module in (copies, copies_calls) for law in vars(module).values() if isinstance(law, Law)]
SCRIPTS = {
    "once": (written.once, written.MLA),
    "three ranks": (written.once, written.EVERY[1]),
    "fp8": (written.once, written.EVERY[2]),
    "at the end": (written.at_the_end, written.PLAIN),
    "victims": (written.at_the_end, written.BACK),
    "hooks missed": (written.hooks_missed, written.PLAIN),
    "late writes": (written.late_writes, written.PLAIN),
    "overtaken": (written.overtaken, written.PLAIN),
    "late loads": (loads.late_loads, written.PLAIN),
    "twins": (written.twins, written.MLA),
    "several loads": (loads.several_loads, written.PLAIN),
    "acknowledged loads": (loads.acknowledged_loads, loads.DEEP[0]),
    "loaded since": (loads.loaded_since, loads.AHEAD[0]),
    "told after all": (written.told_after_all, written.PLAIN),
    "reused": (loads.reused, written.MLA),
    "prefetched": (loads.prefetched, loads.AHEAD[0]),
    "late backups": (written.late_backups, written.PLAIN),
    "given up": (written.given_up, written.TIGHT[0]),
    "given up at the insert": (written.given_up_at_the_insert, written.TIGHT[0]),
    "reset under a load": (loads.reset_under_a_load, written.PLAIN),
    "reset under a backup": (written.reset_under_a_backup, written.TIGHT[0]),
    "held sources": (written.held_sources, written.PLAIN),
    "kept under copies": (written.kept_under_copies, written.PLAIN),
    "split": (written.split_under_a_backup, written.PLAIN),
    "told over and over": (written.told_over_and_over, written.PLAIN),
}


def steps(name: str) -> Iterator[tuple[CopiesState, Call, Answer]]:
    """Yield each step of a written history on the model, with the state before it."""
    script, config = SCRIPTS[name]
    session, state, going = model().open(config), CopiesState(config), script(config)
    answer: Answer | None = None
    while (call := written.going_on(going, answer)) is not None:
        answer = answered(session, call)
        yield state, call, answer
        state.adopt(call, answer)
        events = Call(op="probe.events")
        yield state, events, answered(session, events)
        state.adopt(events, answered(session, events))


def answered(session: ModelSession, call: Call) -> Answer:
    try:
        return Ok(OPERATION_BY_NAME[call.op].of(session)(*call.args.values()))
    except ContractError as error:
        return Err(error)


def spoken(state: CopiesState, call: Call, answer: Answer) -> set[str]:
    """Return the statements of the laws that object."""
    return {law.statement for law in LAWS if call.op in law.on and list(law(state, call, answer))}


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]


def known_bytes(state: CopiesState, config: OpenConfig) -> Iterator[tuple[int, int]]:
    """Yield the lane and the first key or latent byte of each host copy that a law has to know."""
    for path, lane, page, told in state.host_copies():
        if path in state.origin and (told == "told" or state.is_copied):
            yield lane, page * config.page_size


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_law_objects_to_the_model(name: str) -> None:
    for state, call, answer in steps(name):
        assert spoken(state, call, answer) == set()
        assert not state.diverged


@pytest.mark.parametrize("name", SCRIPTS)
def test_one_law_objects_to_a_wrong_byte_of_a_host_copy(name: str) -> None:
    _, config = SCRIPTS[name]
    for state, call, answer in steps(name):
        if call.op == HOST_POOL and isinstance(answer, Ok):
            for lane, row in known_bytes(state, config):
                for at, buffer in enumerate(answer.value):
                    if buffer.lane == lane and buffer.buffer != "index":
                        size = len(buffer.data) // (config.host_pages * config.page_size)
                        wrong = replace(buffer, data=flipped(buffer.data, row * size + 1))
                        shown = (*answer.value[:at], wrong, *answer.value[at + 1 :])

                        assert len(spoken(state, call, Ok(shown))) == 1


@pytest.mark.parametrize("name", SCRIPTS)
def test_one_law_objects_to_a_wrong_byte_of_a_loaded_row(name: str) -> None:
    for state, call, answer in steps(name):
        if call.op == READ and isinstance(answer, Ok) and (state.loaded or state.was_reset):
            assert len(spoken(state, call, Ok(flipped(answer.value, 1)))) == 1


@pytest.mark.parametrize("name", ["held sources", "kept under copies", "split"])
def test_one_law_objects_to_an_early_acknowledgement(name: str) -> None:
    for state, call, _ in steps(name):
        unfinished = tuple(own.copy for own in state.model.ledger.view() if own.sources)
        if call.op == copies_calls.POLL and unfinished:
            assert spoken(state, call, Ok(unfinished)) == {"RFC-0009:C-ACKNOWLEDGEMENT#S1"}


@pytest.mark.parametrize("name", ["held sources"])
def test_one_law_objects_to_a_source_that_is_shown_wrongly(name: str) -> None:
    for state, call, answer in steps(name):
        if call.op == copies_calls.COPIES and isinstance(answer, Ok) and answer.value:
            first = answer.value[0]
            other = replace(first, sources=() if first.sources else ("draft",))

            assert spoken(state, call, Ok((other, *answer.value[1:]))) == {"RFC-0009:C-ACKNOWLEDGEMENT#S2"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_laws_do_not_raise_on_answers_of_a_wrong_size(name: str) -> None:
    for state, call, answer in steps(name):
        if isinstance(answer, Ok) and isinstance(answer.value, bytes | tuple):
            spoken(state, call, Ok(answer.value[:1]))
            spoken(state, call, Ok(answer.value[:0]))
            spoken(state, call, Ok((*answer.value, *answer.value) if isinstance(answer.value, tuple) else b"\0" * 999))
