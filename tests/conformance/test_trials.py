from collections.abc import Mapping
from dataclasses import replace

import pytest

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.consistency import inconsistencies
from sharedkv_conformance.marks import Benign, Mutant
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.naming import MODEL
from sharedkv_conformance.pathological import pathological
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.selftest import Task, perform, selftest, selftest_form
from sharedkv_conformance.status import Status
from sharedkv_conformance.trials import (
    trial_of_benign,
    trial_of_implementation,
    trial_of_mutant,
    trial_of_pathological,
)
from tests.conformance.small_world import ADVICE, CHECKS, COUNT, OWNERS, PROBED, OnePageShort, small_catalogue

CATALOGUE = small_catalogue()


class FirstPageOfRank1(PlanningModel):
    """Turns the ranks around."""

    def owners(self, extend_tokens: int) -> tuple[int, ...]:
        return tuple(1 - owner if owner < 2 else owner for owner in super().owners(extend_tokens))


class Raising(PlanningModel):
    """Has no answer."""

    def owners(self, extend_tokens: int) -> tuple[int, ...]:
        raise RuntimeError(extend_tokens)


def mutant(variant: type = OnePageShort, kills: str = COUNT, also: Mapping[str, str] | None = None) -> Mutant:
    return Mutant(
        slug="planning.wrong", kills=kills, variant=variant, also={PROBED: "the same law"} if also is None else also
    )


def test_a_mutant_is_killed_by_the_checks_of_its_statement() -> None:
    trial = trial_of_mutant(CATALOGUE, mutant(), full=False)

    assert (trial.killed_by, trial.problems, trial.breaks) == (("planning.count",), (), None)


def test_a_mutant_that_its_statement_does_not_see_survives() -> None:
    trial = trial_of_mutant(CATALOGUE, mutant(kills=OWNERS), full=False)

    assert trial.killed_by == ()
    assert trial.problems == (f"mutant planning.wrong survives {OWNERS}: planning.owners pass",)


def test_an_error_is_no_kill() -> None:
    assert trial_of_mutant(CATALOGUE, mutant(Raising), full=False).killed_by == ()


def test_in_full_a_mutant_says_everything_that_it_breaks() -> None:
    catalogue = small_catalogue(checks=tuple(check for check in CHECKS if "probed" not in check.__name__))

    assert trial_of_mutant(catalogue, mutant(also={}), full=True).problems == ()
    assert trial_of_mutant(catalogue, mutant(also={}), full=True).breaks == (COUNT,)


def test_in_full_the_checks_are_those_of_the_facet_that_a_slug_begins_with() -> None:
    trial = trial_of_mutant(CATALOGUE, replace(mutant(also={}), slug="allocation.wrong"), full=True)

    assert (trial.killed_by, trial.breaks) == (("planning.count",), ())


def test_in_full_what_a_mutant_breaks_unsaid_is_told() -> None:
    trial = trial_of_mutant(CATALOGUE, mutant(FirstPageOfRank1, kills=COUNT, also={}), full=True)

    assert f"mutant planning.wrong also breaks {ADVICE} (by planning.advice), and does not say so" in trial.problems


def test_in_full_what_a_mutant_says_and_does_not_break_is_told() -> None:
    trial = trial_of_mutant(CATALOGUE, mutant(also={OWNERS: "perhaps"}), full=True)

    assert f"mutant planning.wrong says that it also breaks {OWNERS}, and does not" in trial.problems


def test_in_full_an_exception_outside_the_contract_is_told() -> None:
    trial = trial_of_mutant(CATALOGUE, mutant(Raising), full=True)

    assert any("ends check planning.count with error" in problem for problem in trial.problems)


def benign(variant: type = PlanningModel, **declines: str) -> Benign:
    return Benign(
        slug="planning.odd",
        variant=variant,
        declines={f"RFC-0002:C-SPLIT#{name}": reason for name, reason in declines.items()},
    )


WITHOUT_PROBE = small_catalogue(checks=tuple(check for check in CHECKS if "probed" not in check.__name__))


def test_a_benign_variant_passes_what_it_does_not_decline() -> None:
    assert trial_of_benign(WITHOUT_PROBE, benign(FirstPageOfRank1, S4="rank 1 is as good")).status is Status.PASS


def test_a_benign_variant_that_fails_is_told() -> None:
    trial = trial_of_benign(WITHOUT_PROBE, benign(FirstPageOfRank1))

    assert trial.status is Status.FAIL
    assert "gets fail from planning.advice" in trial.problems[0]


def test_a_benign_variant_breaks_what_it_declines() -> None:
    trial = trial_of_benign(WITHOUT_PROBE, benign(S4="it may"))

    assert trial.problems == (f"benign variant planning.odd declines {ADVICE}, and does not break it",)


def test_nothing_but_a_should_can_be_declined() -> None:
    trial = trial_of_benign(WITHOUT_PROBE, benign(OnePageShort, S1="it may"))

    assert f"declines {COUNT}, which is MUST and no SHOULD" in trial.problems[0]


def test_a_dishonest_implementation_that_is_taken_for_another_is_told() -> None:
    silent = pathological()["silent"]
    changed = replace(silent, gets=frozenset({Status.FAIL}))
    trial = trial_of_pathological(CATALOGUE, changed)

    assert "silent: no check ends with fail" in trial.problems
    assert any("ends with inapplicable" in problem for problem in trial.problems)


@pytest.mark.parametrize("name", ["null", "raiser", "silent"])
def test_no_dishonest_implementation_is_conformant(name: str) -> None:
    assert trial_of_pathological(CATALOGUE, pathological()[name]).conformance != "conformant"


def gaps(catalogue: Catalogue, results: Mapping[str, CheckResult]) -> list[str]:
    return list(inconsistencies(catalogue, results))


def test_a_must_without_a_mutant_and_a_check_without_a_law_of_its_statement_are_told() -> None:
    found = gaps(CATALOGUE, trial_of_implementation(CATALOGUE, ModelImplementation()))

    assert f"{COUNT} has no mutant" in found
    assert f"check planning.probed speaks for {PROBED} and uses no law of it" in found


def test_a_law_that_no_check_uses_is_told() -> None:
    results = trial_of_implementation(CATALOGUE, ModelImplementation())
    unused = {**results, "planning.owners": CheckResult(check="planning.owners", status=Status.PASS)}

    assert f"law owners_are_ranks of {OWNERS} is used by no check" in gaps(CATALOGUE, unused)


def test_a_self_test_collects_every_problem_and_is_the_same_each_time() -> None:
    catalogue = replace(CATALOGUE, mutants=(mutant(), replace(mutant(kills=OWNERS), slug="planning.hardy")))
    description = ModelImplementation().describe()

    def one(task: Task) -> object:
        return perform(task, catalogue=catalogue, resolve=lambda _name: ModelImplementation())

    done = [selftest(catalogue, MODEL, description, performing=one) for _ in range(2)]
    form = selftest_form(done[0], catalogue)

    assert form == selftest_form(done[1], catalogue)
    assert done[0].killed == 1
    assert any("survives" in problem for problem in form["problems"])
    assert [entry["killed_by"] for entry in form["mutants"]] == [["planning.count"], []]
