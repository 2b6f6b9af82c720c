from typing import Any

import pytest

from sharedkv_conformance.known.entry import KnownError
from sharedkv_conformance.known.reading import parse_known
from sharedkv_conformance.known.updating import prefix, updated
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


@pytest.mark.parametrize(
    ("message", "begins"),
    [
        (
            "RFC-0001:C-RELEASE#S3: allocation.release of [6]: it succeeded",
            "RFC-0001:C-RELEASE#S3: allocation.release of",
        ),
        ("RFC-0002:C-SPLIT#S1: 1 tokens are 1 new pages, found 2 owners", "RFC-0002:C-SPLIT#S1:"),
        ("it was killed by signal 9 (SIGKILL); the end of its log:\nmore", "it was killed by signal"),
        ("7 dwarfs", "7 dwarfs"),
        ("never occurred: two_requests", "never occurred: two_requests"),
        ("", "-"),
    ],
)
def test_a_listed_message_ends_before_the_first_value_that_another_history_would_change(
    message: str, begins: str
) -> None:
    assert prefix(message) == begins


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


LAST = """\
# Our failures, looked at every Monday.
schema = 1

# The tail page.
[[known]]
check = "planning.count"
expect = "fail"
message = "scripted"
issue = "https://example.org/1"
"""


def test_the_last_entry_goes_without_a_trace_of_it() -> None:
    update = updated(LAST, report(), issue="")

    assert update.text == LAST.partition("[[known]]")[0]


@pytest.mark.parametrize("file", [LAST, "schema = 1\nknown = []\n", LAST.replace("count", "advice")])
def test_an_entry_that_comes_after_the_last_one_went_is_a_table_below_the_head(file: str) -> None:
    text = updated(updated(file, report(), issue="").text, report(planning_count=Status.FAIL), issue=ISSUE).text

    assert [entry.check for entry in parse_known(text).entries] == ["planning.count"]
    assert text.startswith(file.partition("[[known]]")[0].partition("known = [")[0])


def test_an_entry_comes_into_a_list_as_the_others_are_written() -> None:
    first, second, third = (f"planning.{name}" for name in ("count", "owners", "advice"))
    inline = ", ".join(
        f'{{check = "{slug}", expect = "fail", message = "scripted", issue = "{ISSUE}"}}' for slug in (first, second)
    )
    file = f"schema = 1\nknown = [{inline}]\n"
    now = report(planning_owners=Status.FAIL, planning_advice=Status.FAIL)
    text = updated(file, now, issue=ISSUE).text

    assert [entry.check for entry in parse_known(text).entries] == [second, third]
    assert updated(text, now, issue="").changes == ()
