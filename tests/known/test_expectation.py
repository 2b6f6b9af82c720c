from dataclasses import replace
from datetime import date

import pytest

from sharedkv_conformance.known.entry import Expectation, KnownFailure
from sharedkv_conformance.known.expectation import Expectations
from sharedkv_conformance.marks import Check
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status
from tests.conformance.small_world import COUNT

FIRST = Check(slug="planning.count", statements=(COUNT,), function=print)
NEXT = Check(slug="planning.owners", statements=(COUNT,), function=print, depends_on=("planning.count",))
ENTRY = KnownFailure(check="planning.count", expect="fail", message="S1: 2", issue="https://example.org/1")
FLAKY = replace(ENTRY, expect="flaky")


def result(status: Status, message: str = "S1: 2 pages", check: str = "planning.count") -> CheckResult:
    return CheckResult(check=check, status=status, message=message)


def expected(entry: KnownFailure | None, found: CheckResult, *, filtered: bool = False) -> Expectation:
    entries = {} if entry is None else {entry.check: entry}
    return Expectations(entries=entries, filtered=filtered).of(FIRST, {FIRST.slug: found})


@pytest.mark.parametrize(
    ("status", "expectation"),
    [
        (Status.PASS, Expectation.AS_EXPECTED),
        (Status.INAPPLICABLE, Expectation.AS_EXPECTED),
        (Status.NOT_RUN, Expectation.AS_EXPECTED),
        (Status.FAIL, Expectation.UNEXPECTED),
        (Status.VACUOUS, Expectation.UNEXPECTED),
        (Status.UNMET, Expectation.UNEXPECTED),
        (Status.HARNESS_ERROR, Expectation.UNEXPECTED),
    ],
)
def test_of_a_check_that_is_not_listed_a_pass_is_expected(status: Status, expectation: Expectation) -> None:
    assert expected(None, result(status)) is expectation


@pytest.mark.parametrize(
    ("found", "listed", "flaky"),
    [
        (result(Status.PASS), Expectation.STALE, Expectation.AS_EXPECTED),
        (result(Status.FAIL), Expectation.AS_EXPECTED, Expectation.AS_EXPECTED),
        (result(Status.FAIL, "S1: 3 pages"), Expectation.CHANGED, Expectation.CHANGED),
        (result(Status.CRASH), Expectation.CHANGED, Expectation.AS_EXPECTED),
        (result(Status.HARNESS_ERROR), Expectation.CHANGED, Expectation.CHANGED),
        (result(Status.INAPPLICABLE), Expectation.SKIPPED, Expectation.SKIPPED),
        (result(Status.BLOCKED), Expectation.SKIPPED, Expectation.SKIPPED),
        (result(Status.NOT_RUN), Expectation.SKIPPED, Expectation.SKIPPED),
    ],
)
def test_a_listed_check_has_to_end_as_listed(found: CheckResult, listed: Expectation, flaky: Expectation) -> None:
    assert (expected(ENTRY, found), expected(FLAKY, found)) == (listed, flaky)


def test_a_filter_may_leave_out_a_listed_check() -> None:
    assert expected(ENTRY, result(Status.NOT_RUN), filtered=True) is Expectation.AS_EXPECTED


@pytest.mark.parametrize("status", [Status.PASS, Status.FAIL])
def test_an_entry_whose_day_has_passed_fails_the_run(status: Status) -> None:
    entry = replace(ENTRY, expires=date(2026, 1, 1))
    expectations = Expectations(entries={entry.check: entry}, today=date(2026, 1, 2))

    assert expectations.of(FIRST, {FIRST.slug: result(status)}) is Expectation.EXPIRED


def test_a_check_that_a_known_failure_blocks_is_as_expected() -> None:
    results = {FIRST.slug: result(Status.FAIL), NEXT.slug: result(Status.BLOCKED, check=NEXT.slug)}

    assert Expectations(entries={ENTRY.check: ENTRY}).of(NEXT, results) is Expectation.AS_EXPECTED
    assert Expectations().of(NEXT, results) is Expectation.UNEXPECTED


def test_a_check_that_a_changed_failure_blocks_is_unexpected() -> None:
    results = {FIRST.slug: result(Status.ERROR), NEXT.slug: result(Status.BLOCKED, check=NEXT.slug)}

    assert Expectations(entries={ENTRY.check: ENTRY}).of(NEXT, results) is Expectation.UNEXPECTED
