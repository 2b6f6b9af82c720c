"""Tests of the laws of the tree's decisions: no wrong answer of the checks' own histories goes unnoticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sharedkv_conformance.catalogue import load_catalogue
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.description import described
from sharedkv_conformance.draws.host_tier_scripts import TreeScript, tree_config
from sharedkv_conformance.effort import GATE
from sharedkv_conformance.execution import execute
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.model.host_tier_tree_state import HostTreeState
from sharedkv_conformance.model.implementation import ModelImplementation, model
from sharedkv_conformance.status import Status
from sharedkv_conformance.step import Answer, Call
from sharedkv_conformance.suite.test_host_tier_acknowledge import reset
from sharedkv_conformance.suite.test_host_tier_admission import small_and_large_victims, taken, victims_in_vain
from sharedkv_conformance.suite.test_host_tier_backup import chain, gap_in_the_room, half_of_the_victims, way_is_kept
from sharedkv_conformance.suite.test_host_tier_load_back import LARGE, ROOMS, SPARING, rooms, short_of_a_lane, sparing
from tests.conformance.test_tree_histories import LAWS, is_of_the_tree, watching, wrong_answers

ROOMY = tree_config(host=4, pages=6)
WRITE_BACK = tree_config(host=3, write="write_back")
WRITTEN: tuple[tuple[OpenConfig, Callable[[TreeScript], None]], ...] = (
    (ROOMY, small_and_large_victims),
    (tree_config(host=2, pages=6), victims_in_vain),
    (WRITE_BACK, taken),
    (ROOMY, way_is_kept),
    (tree_config(host=1), gap_in_the_room),
    (WRITE_BACK, chain),
    (tree_config(host=1, write="write_back"), half_of_the_victims),
    (LARGE, short_of_a_lane),
    (SPARING, sparing),
    (ROOMS, rooms),
    (LARGE, reset),
)


def is_judged(before: HostTreeState, call: Call) -> bool:
    """Say whether laws of trees have to judge a call: what callers do with host pages of their own is of the pool."""
    return is_of_the_tree(before, call) and "host_tier.allocate" not in (call.op, before.cause())


@pytest.mark.parametrize("written", WRITTEN, ids=[script.__name__ for _, script in WRITTEN])
def test_every_wrong_answer_about_a_decision_breaks_a_law(
    written: tuple[OpenConfig, Callable[[TreeScript], None]],
) -> None:
    config, script = written
    unnoticed: list[str] = []

    def look(before: HostTreeState, call: Call, answer: Answer) -> tuple[()]:
        judges = [law for law in LAWS if call.op in law.on]
        unnoticed.extend(
            f"{call} after {before.cause()}: {other}, and was {answer}"
            for other in (wrong_answers(call, answer) if is_judged(before, call) else ())
            if before.deviates(call, other) and not any(list(law(before, call, other)) for law in judges)
        )
        return ()

    with Histories(model(), GATE).written("host_tree", config, laws=[watching(look)]) as call:
        script(TreeScript(call, config))

    assert not unnoticed[:3]


def test_a_failure_over_reservations_is_reduced_to_a_trace() -> None:
    """A batch of `admit` has no prefixes, unlike every other batch."""
    catalogue = load_catalogue()
    wrong = next(mutant for mutant in catalogue.mutants if mutant.kills == "RFC-0006:C-ADMISSION#S2")
    (check,) = catalogue.checks_of[wrong.kills]

    result = execute(check, described(ModelImplementation.with_variant(wrong.variant)), GATE, catalogue.witnesses)

    assert (result.status, result.statement) == (Status.FAIL, wrong.kills)
