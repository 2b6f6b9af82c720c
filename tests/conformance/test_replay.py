# ruff: noqa: ANN401 - laws, fakes and JSON values are of any type
# ruff: noqa: ARG002 - a fake takes what the contract gives it

from typing import Any

import pytest

from sharedkv_conformance.contract import OpenConfig, Rejected
from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.facets import FACETS
from sharedkv_conformance.model.implementation import ModelSession
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.replay import Outcome, ReplayError, ReplayResult, replay
from sharedkv_conformance.states import STATES
from sharedkv_conformance.trace import parse_trace
from tests.conformance.small_world import COUNT, LAWS, OnePageShort, PlanningOnly
from tests.conformance.test_trace_reading import CONFIG, HEADER, OPENED, text_of

SPLIT = {"call": 1, "op": "planning.split", "args": {"prefix_tokens": 0, "extend_tokens": 8}}
COUNTED = {**HEADER, "statement": COUNT, "law": "there_is_an_owner_a_page"}
BATCH = [{"request": "a", "prefix_tokens": 0, "extend_tokens": 8}]


def replayed(*lines: Any, on: Any = None) -> ReplayResult:
    return replay(parse_trace(text_of(list(lines))), on or PlanningOnly(), LAWS, STATES)


class Raising(PlanningModel):
    def split(self, prefix_tokens: int, extend_tokens: int) -> Any:
        raise RuntimeError("no device")


class Refusing(PlanningOnly):
    def open(self, config: OpenConfig) -> ModelSession:
        raise Rejected(Reason.PAGE_SIZE_TOO_SMALL)


def test_the_states_are_those_of_the_facets() -> None:
    assert {word: facet.state for word, facet in FACETS.items()} == STATES


def test_a_trace_is_violated_again_by_the_same_law() -> None:
    result = replayed(COUNTED, OPENED, SPLIT, on=PlanningOnly(OnePageShort))

    assert result == ReplayResult(
        outcome=Outcome.VIOLATED,
        statement=COUNT,
        messages=("2 pages, 1 owners",),
        call=1,
        law="there_is_an_owner_a_page",
    )


def test_a_trace_holds_where_the_fault_is_not() -> None:
    assert replayed(COUNTED, OPENED, SPLIT) == ReplayResult(outcome=Outcome.HOLDS, call=1)


def test_a_trace_that_names_a_statement_alone_is_judged_by_its_laws() -> None:
    result = replayed({**COUNTED, "law": ""}, OPENED, SPLIT, on=PlanningOnly(OnePageShort))

    assert result.outcome is Outcome.VIOLATED


def test_an_exception_outside_the_contract_is_told() -> None:
    result = replayed(HEADER, OPENED, SPLIT, on=PlanningOnly(Raising))

    assert result.outcome is Outcome.ESCAPED
    assert result.messages == ("planning.split raised RuntimeError: no device",)


def test_a_path_that_leads_nowhere_diverges_at_its_call() -> None:
    page = {"$": [1, "pages", 9]}
    released = {"call": 2, "op": "allocation.release", "args": {"pages": [page]}}
    extended = {"call": 1, "op": "allocation.extend", "args": {"batch": BATCH}}
    result = replayed({**HEADER, "facet": "allocation"}, OPENED, extended, released)

    assert (result.outcome, result.call) == (Outcome.DIVERGED, 2)
    assert "leads nowhere" in result.messages[0]


def test_a_path_is_followed_to_what_this_implementation_answered() -> None:
    page = {"$": [1, "pages", 0]}
    released = {"call": 2, "op": "allocation.release", "args": {"pages": [page]}}
    extended = {"call": 1, "op": "allocation.extend", "args": {"batch": BATCH}}

    assert replayed({**HEADER, "facet": "allocation"}, OPENED, extended, released).outcome is Outcome.HOLDS


def test_calls_diverge_where_no_session_can_be_opened() -> None:
    result = replayed(HEADER, OPENED, SPLIT, on=Refusing())

    assert (result.outcome, result.call) == (Outcome.DIVERGED, 1)
    assert "refused" in result.messages[0]


def test_every_rank_gets_every_call() -> None:
    opened = [{**OPENED, "rank": 0}, {"call": 1, "op": "session.open", "rank": 1}]
    split = [{**SPLIT, "call": 2, "rank": 0}, {**SPLIT, "call": 3, "rank": 1}]

    assert replayed({**COUNTED, "ranks": 2}, *opened, *split).outcome is Outcome.HOLDS


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"law": "no_such_law"}, "the suite has no law no_such_law"),
        ({"statement": "RFC-0002:C-SPLIT#S9", "law": ""}, "the suite has no law at all"),
        ({"facet": "no_such_facet"}, "unknown facet"),
        ({"config": {**CONFIG, "pages": 1 << 40}}, "config.pages"),
        ({"config": {**CONFIG, "page_size": 0}}, "config.page_size"),
        ({"config": {"cp_size": 2}}, "config"),
        ({"config": {**CONFIG, "colour": 1}}, "colour"),
    ],
)
def test_a_trace_about_something_else_is_told(change: dict[str, Any], told: str) -> None:
    with pytest.raises(ReplayError, match=told):
        replayed({**COUNTED, **change}, OPENED, SPLIT)
