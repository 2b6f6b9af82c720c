"""The result of the kill matrix: what evidence is made of, and what is said when something is wrong."""

from __future__ import annotations

import json

from govctl.selftest import parse_selftest
from tests.governance.marks import Check, Mutant
from tests.governance.matrix import on_mutant, on_sound_tree
from tests.governance.selftest import problems_of, result
from tests.governance.small_tree import SmallTree
from tests.governance.sound import EVIDENCE

STABLE, FRESH = "RFC-0000:C-LIFE#S2", "RFC-0000:C-EVIDENCE#S1"


def has_evidence(tree: SmallTree) -> None:
    assert (tree.root / EVIDENCE).exists()


def has_nothing(tree: SmallTree) -> None:
    assert not tree.files()


def without_evidence(tree: SmallTree) -> None:
    tree.remove(EVIDENCE)


GOOD = Check(slug="governance.good", statements=(STABLE,), function=has_evidence)
BAD = Check(slug="governance.bad", statements=(FRESH,), function=has_nothing)
WRONG = Mutant(slug="governance.wrong", kills=STABLE, function=without_evidence)
HARMLESS = Mutant(slug="governance.harmless", kills=STABLE, function=has_evidence)
TALKATIVE = Mutant(slug="governance.talkative", kills=STABLE, function=without_evidence, also={FRESH: "it may"})


def test_a_result_is_one_that_evidence_can_be_made_of() -> None:
    outcomes = [on_mutant(WRONG, [GOOD])]
    parsed = parse_selftest(json.dumps(result([GOOD], on_sound_tree([GOOD]), outcomes)))

    assert parsed.is_full
    assert parsed.checks == {"RFC-0000": {"governance.good": "pass"}}
    assert parsed.mutants["RFC-0000"]["governance.wrong"].killed_by == ("governance.good",)


def test_a_check_that_fails_on_the_sound_tree_is_a_problem() -> None:
    assert problems_of(on_sound_tree([BAD]), []) == ["governance.bad is fail on the sound tree"]


def test_a_mutant_that_no_check_kills_is_a_problem() -> None:
    assert on_mutant(HARMLESS, [GOOD]).problems == (f"governance.harmless is alive: no check of {STABLE} fails on it",)


def test_a_statement_that_breaks_unsaid_is_a_problem() -> None:
    assert on_mutant(WRONG, [GOOD, BAD]).problems == (
        f"governance.wrong breaks {FRESH} too (governance.bad), and does not say so",
    )


def test_a_statement_that_was_to_break_and_holds_is_a_problem() -> None:
    assert on_mutant(TALKATIVE, [GOOD]).problems == (f"governance.talkative does not break {FRESH}, as it says",)
