# ruff: noqa: PT017 - reading and refusing are both right, a traceback is not

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.known.conditions import applies, applying, facts
from sharedkv_conformance.known.entry import KnownError, KnownFailure
from sharedkv_conformance.known.linting import known_problems, trace_problems
from sharedkv_conformance.known.reading import parse_known

ENTRY = """
schema = 1
[[known]]
check = "planning.count"
expect = "fail"
message = "S1: 2 pages"
issue = "https://example.org/1"
"""
SLUGS = ["planning.count", "planning.owners"]
FACTS = facts(
    name="engine",
    version="0.8",
    environment={"device": "cuda"},
    effort="standard",
    versions={"python": "3.11.7"},
    platform={"system": "linux", "machine": "x86_64"},
)


def when(condition: str) -> str:
    return f"{ENTRY}when = {condition}\n"


def test_an_entry_is_read_with_all_that_it_says() -> None:
    text = when('{ version = "<0.9" }') + "expires = 2027-03-31\ntrace = 'traces/x.jsonl'\n"
    (entry,) = parse_known(text).entries

    assert entry == KnownFailure(
        check="planning.count",
        expect="fail",
        message="S1: 2 pages",
        issue="https://example.org/1",
        when={"version": "<0.9"},
        expires=date(2027, 3, 31),
        trace="traces/x.jsonl",
    )


def test_a_file_without_entries_is_one() -> None:
    assert parse_known("schema = 1\n").entries == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "'schema' is a required property"),
        ("schema = 2", "$.schema"),
        ("schema = ", "not TOML"),
        ("a = " + "[" * 5000, "not TOML"),
        (ENTRY.replace("issue", "isue"), "'isue' was unexpected"),
        (ENTRY.replace('message = "S1: 2 pages"', ""), "'message' is a required property"),
        (ENTRY.replace("https://example.org/1", "later"), "$.known[0].issue"),
        (ENTRY.replace('"fail"', '"pass"'), "$.known[0].expect"),
        (ENTRY.replace("planning.count", "planning.*"), "$.known[0].check"),
        (f"{ENTRY}expires = 2027-02-30", "not TOML"),
        (f'{ENTRY}expires = "2027-02-30"', "no day"),
        (f"{ENTRY}expires = 12:00:00", "$.known[0].expires"),
        (f"{ENTRY}trace = '/home/me/trace.jsonl'", "$.known[0].trace"),
        (when('{ vesion = "<0.9" }'), "did you mean version?"),
        (when('{ device = "cuda" }'), "environment.NAME"),
        (when('{ version = "<<0.9" }'), "no range of versions"),
        (ENTRY + ENTRY.replace("schema = 1", ""), "several entries that apply at the same time"),
        (ENTRY + when('{ effort = "deep" }').replace("schema = 1", ""), "several entries"),
    ],
)
def test_a_broken_file_is_told(text: str, told: str) -> None:
    with pytest.raises(KnownError) as caught:
        parse_known(text)

    assert told in str(caught.value)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(KnownError) as caught:
        parse_known(ENTRY.replace('"fail"', '"pass"').replace("https://example.org/1", "later"))

    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ('{ version = "<0.9" }', True),
        ('{ version = ">=0.9" }', False),
        ('{ version = "0.8" }', True),
        ('{ python = ">=3.11, <4" }', True),
        ('{ "environment.device" = "cuda" }', True),
        ('{ "environment.device" = "cpu" }', False),
        ('{ "environment.driver" = "1" }', False),
        ('{ effort = "standard", machine = "x86_64" }', True),
        ('{ effort = "standard", machine = "arm64" }', False),
    ],
)
def test_a_condition_is_equality_or_a_range_of_versions(condition: str, *, holds: bool) -> None:
    (entry,) = parse_known(when(condition)).entries

    assert applies(entry, FACTS) is holds


def test_a_version_that_is_none_is_in_no_range() -> None:
    (entry,) = parse_known(when('{ version = "<0.9" }')).entries

    assert not applies(entry, {**FACTS, "version": "main"})


def test_two_entries_that_apply_here_are_told() -> None:
    text = when('{ effort = "standard" }') + when('{ version = "<1" }').replace("schema = 1", "")

    with pytest.raises(KnownError, match="several entries that apply here"):
        applying(parse_known(text).entries, FACTS)


def test_lint_tells_an_entry_that_matches_no_check() -> None:
    known = parse_known(ENTRY.replace("planning.count", "planning.cont"))

    assert list(known_problems(known, SLUGS, date(2026, 1, 1))) == [
        "entry 1 (planning.cont): no check of that name; did you mean planning.count?"
    ]


def test_an_entry_holds_on_its_last_day_and_not_after_it() -> None:
    known = parse_known(f"{ENTRY}expires = 2027-03-31")

    assert not list(known_problems(known, SLUGS, date(2027, 3, 31)))
    assert "expired on 2027-03-31" in next(known_problems(known, SLUGS, date(2027, 4, 1)))


@pytest.mark.parametrize(("text", "told"), [(None, "no such file"), ("", "line"), ("{", "line 1")])
def test_lint_tells_a_trace_that_is_none(text: str | None, told: str) -> None:
    known = parse_known(f"{ENTRY}trace = 'x.jsonl'")

    assert told in next(trace_problems(known, lambda _name: text))


@given(st.text() | st.text(alphabet='[]{}="#\n.knowexpcts1', max_size=80))
def test_any_text_is_read_or_told(text: str) -> None:
    try:
        parse_known(text)
    except KnownError as error:
        assert error.problems


@given(st.sampled_from(["check", "expect", "message", "issue", "when", "expires", "trace"]), st.data())
def test_any_value_in_an_entry_is_read_or_told(key: str, data: st.DataObject) -> None:
    value = data.draw(
        st.sampled_from(["1", "1.5", "nan", "true", "[]", "{}", "{ version = 1 }", "''", "2027-01-01", "'a\\b'"])
    )
    lines = [line for line in ENTRY.splitlines() if not line.startswith(f"{key} =")]
    try:
        parse_known("\n".join([*lines, f"{key} = {value}"]))
    except KnownError as error:
        assert error.problems
