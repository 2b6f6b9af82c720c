# ruff: noqa: ANN401 - laws, fakes and JSON values are of any type
# ruff: noqa: PT017 - reading and refusing are both right, a traceback is not

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.contract.operations import OPERATION_BY_NAME
from sharedkv_conformance.replay import ReplayError, replay
from sharedkv_conformance.states import STATES
from sharedkv_conformance.trace import TraceError, parse_trace, read_trace
from tests.conformance.small_world import LAWS, PlanningOnly
from tests.conformance.test_report import FAILED
from tests.conformance.test_schemas import schema

CONFIG = {"cp_size": 2, "page_size": 4, "pages": 16}
HEADER = {"trace": 1, "statement": "", "law": "", "facet": "planning", "config": CONFIG}
OPENED = {"call": 0, "op": "session.open", "ok": None}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.fixed_dictionaries({"$": inner})
    ),
    max_leaves=8,
)
LINES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "trace": st.just(1) | JSON,
            "statement": st.just("") | JSON,
            "law": st.just("") | JSON,
            "facet": st.sampled_from(("planning", "allocation")) | JSON,
            "config": st.just(CONFIG) | st.fixed_dictionaries({key: st.integers(-3, 9) for key in CONFIG}) | JSON,
            "ranks": st.integers(0, 3) | JSON,
            "call": st.integers(0, 4) | JSON,
            "op": st.sampled_from((*OPERATION_BY_NAME, "session.open")) | JSON,
            "args": st.fixed_dictionaries({"prefix_tokens": JSON, "extend_tokens": JSON}) | JSON,
            "violation": JSON,
        },
    ),
    max_size=5,
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(sorted(OPERATION_BY_NAME)),
            "args": st.fixed_dictionaries(
                {},
                optional={
                    name: JSON | st.integers(-2, 9) | st.lists(st.integers(-2, 9), max_size=3)
                    for name in (
                        "prefix_tokens",
                        "extend_tokens",
                        "batch",
                        "pages",
                        "locations",
                        "num_pages",
                        "snapshot",
                    )
                },
            ),
        }
    ),
    max_size=4,
)


def text_of(lines: list[Any]) -> str:
    return "\n".join(json.dumps(line) for line in lines)


def told(*lines: Any) -> str:
    with pytest.raises(TraceError) as caught:
        parse_trace(text_of(list(lines)))
    return str(caught.value)


@pytest.mark.parametrize("check", [check for check in FAILED["checks"] if check["trace"]], ids=lambda c: c["check"])
def test_every_line_of_a_written_trace_is_what_the_schema_promises(check: Any) -> None:
    for line in check["trace"]["lines"]:
        jsonschema.validate(line, schema("trace"), jsonschema.Draft7Validator)


def test_a_trace_is_header_calls_and_violations() -> None:
    trace = parse_trace(text_of([HEADER, OPENED, {"violation": "wrong"}]))

    assert trace.header.facet == "planning"
    assert [call.op for call in trace.calls] == ["session.open"]
    assert trace.violations == ("wrong",)


def test_a_wrong_line_is_told_with_its_number() -> None:
    assert told(HEADER, OPENED, {"call": 2, "op": "planning.split"}) == "line 3: wanted call 1 here, found call 2"
    assert told({**HEADER, "trace": 2}).startswith("line 1: wanted a header with trace version 1")
    assert "unknown operation" in told(HEADER, {"call": 0, "op": "planning.splits"})
    assert "rank: wanted 0 to 0" in told(HEADER, {**OPENED, "rank": 1})


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"\n")

    with pytest.raises(TraceError, match="empty"):
        read_trace(tmp_path / "x.jsonl")


@given(st.binary(max_size=60))
def test_any_bytes_are_a_trace_or_told(data: bytes) -> None:
    try:
        trace = parse_trace(data.decode("utf-8", "surrogateescape"))
    except TraceError as error:
        assert error.line >= 1
    else:
        assert trace.header.ranks >= 1


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe")

    with pytest.raises(TraceError, match="not UTF-8 text"):
        read_trace(tmp_path / "x.jsonl")


@given(LINES)
def test_any_lines_are_a_trace_or_told(lines: list[Any]) -> None:
    try:
        trace = parse_trace(text_of(lines))
    except TraceError as error:
        assert 1 <= error.line <= max(1, len(lines))
    else:
        assert len(trace.calls) + len(trace.violations) + 1 == len(lines)


@given(st.fixed_dictionaries({key: st.integers(-3, 9) for key in CONFIG}), CALLS)
def test_any_trace_can_be_replayed_or_is_told(config: dict[str, int], calls: list[dict[str, Any]]) -> None:
    lines = [{**HEADER, "config": config}, OPENED, *({"call": n, **call} for n, call in enumerate(calls, 1))]
    try:
        result = replay(parse_trace(text_of(lines)), PlanningOnly(), LAWS, STATES)
    except ReplayError as error:
        assert error.problem
    else:
        assert result.call <= len(calls)
