from typing import Any

import pytest

from sharedkv_conformance.known.entry import KnownError
from sharedkv_conformance.known.reading import parse_known
from sharedkv_conformance.known.updating import updated
from sharedkv_conformance.report_form import ReportForm
from sharedkv_conformance.selection import Selection
from sharedkv_conformance.status import Status
from tests.conformance.small_world import PLANNING, Scripted
from tests.conformance.test_report import reported

ISSUE = "https://example.org/9"
FILE = """\
# Our failures, looked at every Monday.
schema = 1

[[known]]
check = "planning.count"  # the tail page
expect = "fail"
message = "scripted"
issue = "https://example.org/1"

# Since the rewrite.
[[known]]
check = "planning.owners"
expect = "fail"
message = "scripted"
issue = "https://example.org/2"
"""


def report(**statuses: Status) -> ReportForm:
    return reported(Scripted(PLANNING, "scripted failure\nmore", **statuses))


def test_what_is_as_listed_stays_as_it_was_written() -> None:
    first = report(planning_count=Status.FAIL)
    file = FILE.partition("\n# Since")[0]

    update = updated(file, first, issue="")

    assert (update.text, update.changes) == (file, ())


def test_a_stale_entry_goes_and_comments_stay() -> None:
    update = updated(FILE, report(planning_owners=Status.FAIL), issue="")

    assert update.changes == ("removed planning.count: it passes",)
    assert [entry.check for entry in parse_known(update.text).entries] == ["planning.owners"]
    assert update.text.startswith("# Our failures, looked at every Monday.\n")


def test_a_changed_entry_follows_and_its_comment_stays() -> None:
    file = FILE.partition("\n# Since")[0]
    update = updated(file, report(planning_count=Status.CRASH), issue="")

    assert parse_known(update.text).entries[0].expect == "crash"
    assert 'check = "planning.count"  # the tail page' in update.text


def test_a_new_failure_comes_in_with_its_issue() -> None:
    update = updated("", report(planning_advice=Status.FAIL), issue=ISSUE)
    (entry,) = parse_known(update.text).entries

    assert (entry.check, entry.expect, entry.message, entry.issue) == (
        "planning.advice",
        "fail",
        "scripted failure",
        ISSUE,
    )


def test_a_new_failure_without_an_issue_is_refused() -> None:
    with pytest.raises(KnownError, match="advice is new"):
        updated("schema = 1\n", report(planning_advice=Status.FAIL), issue="")


def test_a_filtered_run_is_refused() -> None:
    filtered = reported(Scripted(), selection=Selection(checks=("planning.count",)))

    with pytest.raises(KnownError, match="filtered"):
        updated(FILE, filtered, issue=ISSUE)


def test_an_entry_for_another_machine_is_left_alone() -> None:
    file = FILE.partition("\n# Since")[0] + 'when = { machine = "another" }\n'

    assert updated(file, report(), issue="").changes == ()


def test_an_updated_file_expects_what_was_reported() -> None:
    found = report(planning_count=Status.FAIL, planning_advice=Status.ERROR)
    text = updated(FILE, found, issue=ISSUE).text

    assert updated(text, found, issue="").changes == ()


def test_a_check_that_the_report_does_not_have_is_told() -> None:
    with pytest.raises(KnownError, match="has no check of that name"):
        updated(FILE.replace("planning.owners", "planning.nothing"), report(), issue="")


def test_a_flaky_entry_stays_flaky() -> None:
    file = FILE.partition("\n# Since")[0].replace('"fail"', '"flaky"')
    found: Any = report(planning_count=Status.ERROR)

    assert updated(file, found, issue="").changes == ()
