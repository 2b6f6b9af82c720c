# ruff: noqa: PT017 - reading and refusing are both right, a traceback is not

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.report import ReportError, render_json, report_of
from sharedkv_conformance.runner import run
from sharedkv_conformance.selection import Selection
from sharedkv_conformance.stream import Stream, is_stream, parse_any, parse_stream
from tests.conformance.small_world import PLANNING, Scripted, small_catalogue
from tests.conformance.test_report import circumstances

CATALOGUE = small_catalogue()


def streamed(selection: Selection | None = None, message: str = "scripted") -> tuple[str, Any]:
    lines: list[str] = []
    chosen = selection or Selection()
    around = circumstances("2026-01-01T00:00:00Z")
    executor = Scripted(PLANNING | {"probe.cost"}, message)
    stream = Stream(CATALOGUE, around, lines.append)
    stream.begin(executor.description, chosen)
    finished = run(CATALOGUE, executor, selection=chosen, progress=stream, clock=float)
    report = report_of(finished, CATALOGUE, around)
    stream.end(report)
    return "".join(lines), report


TEXT, REPORT = streamed()


def test_a_whole_stream_is_the_report() -> None:
    assert parse_stream(TEXT) == REPORT


def test_a_filtered_stream_has_every_check_too() -> None:
    text, report = streamed(Selection(checks=("planning.owners",)))
    found = parse_stream(text)

    assert sorted(check["check"] for check in found["checks"]) == sorted(check["check"] for check in report["checks"])


def test_every_line_stands_before_the_next_check_begins() -> None:
    lines: list[str] = []
    stream = Stream(CATALOGUE, circumstances("2026-01-01T00:00:00Z"), lines.append)
    stream.begin(Scripted().description, Selection())
    stream.finished(Scripted().execute(CATALOGUE.checks[0]))

    assert len(lines) == 2
    assert all(line.endswith("\n") for line in lines)


@pytest.mark.parametrize("kept", range(1, len(TEXT.splitlines())))
def test_a_stream_that_was_cut_off_is_told(kept: int) -> None:
    with pytest.raises(ReportError, match="cut off"):
        parse_stream("\n".join(TEXT.splitlines()[:kept]))


@pytest.mark.parametrize("missing", range(1, len(TEXT.splitlines()) - 1))
def test_a_stream_that_lacks_a_line_is_told(missing: int) -> None:
    lines = TEXT.splitlines()

    with pytest.raises(ReportError, match="the footer counts"):
        parse_stream("\n".join([*lines[:missing], *lines[missing + 1 :]]))


def test_a_report_is_no_stream_and_both_are_read() -> None:
    assert (is_stream(TEXT), is_stream(render_json(REPORT))) == (True, False)
    assert parse_any(TEXT) == parse_any(render_json(REPORT))


@given(st.integers(0, len(TEXT)), st.text(max_size=5))
def test_a_stream_with_anything_in_it_is_read_or_told(at: int, what: str) -> None:
    try:
        parse_any(TEXT[:at] + what + TEXT[at:])
    except ReportError as error:
        assert error.problems


@given(st.text(alphabet='{}[]":,\n1streamfoot', max_size=60))
def test_any_text_is_read_or_told(text: str) -> None:
    with pytest.raises(ReportError):
        parse_any('{"stream":1}' + text)


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
def test_no_character_in_a_text_ends_a_line_of_a_stream(end: str) -> None:
    text, report = streamed(message=f"it{end}fell over")

    assert parse_stream(text) == report


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ('"stream":1', '"stream":true'),
        ('"stream":1', '"stream":1.0'),
        ('"stream":1', '"more":1,"stream":1'),
        ('"footer":{', '"more":{},"footer":{'),
    ],
)
def test_a_header_or_a_footer_of_another_shape_is_told(was: str, becomes: str) -> None:
    with pytest.raises(ReportError, match=r"wanted (a header|no 'more')"):
        parse_stream(TEXT.replace(was, becomes))
