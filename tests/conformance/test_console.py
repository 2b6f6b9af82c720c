import io

from sharedkv_conformance.console import Paint, failure_lines, table
from sharedkv_conformance.progress import Line, Silent, progress_on
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status
from tests.conformance.small_world import COUNT, small_catalogue


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_columns_are_aligned() -> None:
    assert list(table(("a", "long name"), [("xyz", "1")])) == ["a    long name", "xyz  1"]


def test_paint_is_left_off_where_nobody_looks() -> None:
    assert Paint()("x", "31") == "x"
    assert Paint(enabled=True)("x", "31") == "\x1b[31mx\x1b[0m"


def test_a_failure_names_sentence_message_cases_trace_and_the_next_command() -> None:
    result = CheckResult(check="planning.count", status=Status.FAIL, message="2 pages", statement=COUNT, law="a_law")

    assert list(failure_lines(small_catalogue(), result, "t.jsonl", "kvconform replay t.jsonl", Paint())) == [
        "fail  planning.count: A page without an owner is written by nobody.",
        f"  {COUNT}  The answer MUST follow S1.",
        "  law      a_law",
        "  message  2 pages",
        "  cases    KV-01 (an/engine#1)",
        "  trace    t.jsonl",
        "  replay   kvconform replay t.jsonl",
    ]


def test_progress_is_shown_on_a_terminal_alone() -> None:
    assert isinstance(progress_on(io.StringIO(), 80), Silent)
    assert isinstance(progress_on(Screen(), 80), Line)


def test_a_line_of_progress_is_rewritten_and_cleared() -> None:
    screen = Screen()
    line = progress_on(screen, 12)
    line.started(small_catalogue().checks[0], 1, 10)
    line.finished(CheckResult(check="planning.count", status=Status.PASS))

    assert screen.getvalue() == "\r\x1b[K[ 1/10] pla\r\x1b[K"
