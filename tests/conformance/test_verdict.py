import pytest

from sharedkv_conformance.contract import Description
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status, Verdict
from sharedkv_conformance.verdict import Conformance, ProfileVerdict, profile_verdict, statement_verdicts
from tests.conformance.small_world import (
    ADVICE,
    CHECKS,
    COUNT,
    HIDDEN,
    OWNERS,
    PLANNING,
    PROBED,
    Scripted,
    small_catalogue,
)

EVERYTHING = PLANNING | {"probe.cost"}


def results_of(features: frozenset[str], statuses: dict[str, Status]) -> dict[str, CheckResult]:
    """Return what a run of all checks with these statuses would give."""
    executor = Scripted(features)
    found = {}
    for check in small_catalogue().checks:
        missing = check.required_features - executor.description.features
        status = Status.INAPPLICABLE if missing else statuses.get(check.slug, Status.PASS)
        found[check.slug] = CheckResult(check=check.slug, status=status)
    return found


def verdicts(features: frozenset[str] = EVERYTHING, **statuses: Status) -> dict[str, Verdict]:
    named = {name.replace("_", "."): status for name, status in statuses.items()}
    described = Description(name="x", version="1", features=features)
    found = statement_verdicts(small_catalogue(), described, results_of(features, named))
    return {verdict.statement.id: verdict.verdict for verdict in found}


def profile(features: frozenset[str] = EVERYTHING, *, complete: bool = True, **statuses: Status) -> ProfileVerdict:
    named = {name.replace("_", "."): status for name, status in statuses.items()}
    described = Description(name="x", version="1", features=features)
    results = results_of(features, named)
    found = statement_verdicts(small_catalogue(), described, results)
    return profile_verdict(found, tuple(results.values()), complete=complete)


def test_a_statement_is_as_good_as_its_worst_check() -> None:
    assert verdicts(planning_count=Status.VACUOUS)[COUNT] is Verdict.VACUOUS


def test_a_statement_whose_checks_want_a_probe_is_unproven() -> None:
    assert verdicts(PLANNING)[PROBED] is Verdict.UNPROVEN


def test_a_statement_of_a_facet_that_is_not_claimed_is_inapplicable() -> None:
    assert set(verdicts(frozenset({"probe.cost"})).values()) == {Verdict.INAPPLICABLE}


def test_a_statement_that_no_check_can_show_is_excluded() -> None:
    assert verdicts()[HIDDEN] is Verdict.EXCLUDED


def test_a_statement_without_a_check_is_untested() -> None:
    catalogue = small_catalogue(checks=CHECKS[:1])
    described = Description(name="x", version="1", features=EVERYTHING)
    results = {"planning.count": CheckResult(check="planning.count", status=Status.PASS)}
    found = {v.statement.id: v.verdict for v in statement_verdicts(catalogue, described, results)}

    assert found[OWNERS] is Verdict.UNTESTED
    assert profile_verdict(statement_verdicts(catalogue, described, results), (), complete=True).conformance is (
        Conformance.INCOMPLETE
    )


def test_everything_passing_is_conformant() -> None:
    found = profile()

    assert found.conformance is Conformance.CONFORMANT
    assert found.headline() == "conformant, 3 of 3 MUST proven, 1 excluded, 0 debt"


def test_a_must_that_is_unproven_for_want_of_a_probe_is_counted_and_not_failed() -> None:
    found = profile(PLANNING)

    assert found.conformance is Conformance.CONFORMANT
    assert found.headline() == ("conformant, 2 of 3 MUST proven, 1 excluded, 0 debt, 1 unproven for want of a probe")


@pytest.mark.parametrize(
    "status",
    [
        Status.FAIL,
        Status.ERROR,
        Status.CRASH,
        Status.TIMEOUT,
        Status.VACUOUS,
        Status.BLOCKED,
        Status.UNMET,
        Status.HARNESS_ERROR,
    ],
)
def test_one_must_that_is_not_proven_is_not_conformant(status: Status) -> None:
    assert profile(planning_count=status).conformance is Conformance.NOT_CONFORMANT


def test_a_should_counts_in_the_strict_verdict_alone() -> None:
    found = profile(planning_advice=Status.FAIL)

    assert (found.conformance, found.strict) == (Conformance.CONFORMANT, Conformance.NOT_CONFORMANT)
    assert verdicts(planning_advice=Status.FAIL)[ADVICE] is Verdict.FAIL


def test_a_filtered_run_is_never_conformant() -> None:
    assert profile(complete=False).conformance is Conformance.INCOMPLETE


def test_a_failure_in_a_filtered_run_is_a_failure() -> None:
    assert profile(complete=False, planning_count=Status.FAIL).conformance is Conformance.NOT_CONFORMANT


def test_nothing_executed_is_incomplete_and_says_so() -> None:
    found = profile(frozenset())

    assert found.conformance is Conformance.INCOMPLETE
    assert found.headline().endswith("nothing executed")


def test_probes_alone_prove_nothing() -> None:
    assert profile(frozenset({"probe.cost"})).conformance is Conformance.INCOMPLETE
