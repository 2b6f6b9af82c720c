# ruff: noqa: ANN401 - JSON values are of any type

"""Lines are put together by hand where that is faster, and are the lines that JSON would have given."""

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.codec import encode, one_level
from sharedkv_conformance.contract import Event, LaneStatistics, PageSets
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.wire.messages import Answer, Kind, Unreadable, answer_of, encoder, parsed, request_line
from sharedkv_conformance.wire.server import Server

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.none() | st.dictionaries(st.text(max_size=8), JSON, max_size=3)
SPACE = st.text(" \t\r", max_size=3)
INTS = st.lists(st.integers(), max_size=4).map(tuple)
ANSWERS = (
    st.builds(LaneStatistics, capacity=INTS, free=INTS, evictable=INTS, in_use=INTS)
    | st.builds(PageSets, free=st.tuples(INTS), evictable=st.tuples(INTS, INTS), in_use=st.just(()))
    | st.lists(st.builds(Event, kind=st.text(), reason=st.text()), max_size=3).map(tuple)
    | st.frozensets(st.integers())
    | st.binary()
    | st.integers()
    | st.none()
)


@given(number=st.integers(), op=st.text(), args=ARGUMENTS, session=st.none() | st.integers())
def test_a_request_is_the_object_that_was_meant(number: int, op: str, args: Any, session: int | None) -> None:
    meant = {"id": number, "session": session, "op": op, "args": args}

    assert parsed(request_line(number, op, args, session)) == {k: v for k, v in meant.items() if v is not None}


@given(answer=ANSWERS)
def test_an_answer_is_written_at_once_as_it_was_written_in_two_steps(answer: Any) -> None:
    assert json.loads(encoder(one_level)(answer)) == json.loads(encoder(repr)(encode(answer)))


@given(value=JSON, before=SPACE, after=SPACE)
def test_white_space_around_a_message_is_none_of_it(value: Any, before: str, after: str) -> None:
    assert parsed(f"{before}{json.dumps(value)}{after}".encode()) == value


@pytest.mark.parametrize(
    "line", [b"{} {}", b"1 x", b"", b" ", b"\xff", "{}\N{NO-BREAK SPACE}".encode(), b"[" * 100_000]
)
def test_a_line_with_anything_else_is_unreadable(line: bytes) -> None:
    with pytest.raises(Unreadable, match="a line of JSON in UTF-8"):
        parsed(line)


@pytest.mark.parametrize(
    "line", [b'{"id":true,"ok":1}', b'{"id":1.0,"ok":1}', b'{"id":1,"ok":1,"err":{}}', b'{"ok":1,"op":2}', b'{"ok":1}']
)
def test_an_answer_needs_an_integer_and_one_outcome(line: bytes) -> None:
    with pytest.raises(Unreadable, match="wanted"):
        answer_of(line)


def test_an_answer_is_read_as_what_it_is() -> None:
    assert answer_of(b'{"ok":[1],"id":7}') == Answer(7, Kind.OK, [1])
    assert answer_of(b'{"id":7,"unsupported":"planning"}') == Answer(7, Kind.UNSUPPORTED, "planning")


class Odd(ModelImplementation):
    """The model, but for what one probe says."""

    def __init__(self, said: Any) -> None:
        super().__init__()
        self._said = said

    def open(self, config: Any) -> Any:
        session: Any = super().open(config)
        session.probe = self
        return session

    def cost(self) -> Any:
        return self._said


CIRCULAR: list[Any] = []
CIRCULAR.append(CIRCULAR)


@pytest.mark.parametrize("said", [{(1, 2): 3}, {1: 2, "a": 3}, CIRCULAR, object(), float("nan")])
def test_what_json_cannot_hold_crosses_as_something_that_no_operation_wants(said: Any) -> None:
    server = Server(Odd(said))
    for request in (
        {"id": 1, "op": "hello", "args": {"wire": [1], "contract": "1.0"}},
        {"id": 2, "op": "open", "args": {"config": {"cp_size": 2, "page_size": 4, "pages": 8}}},
    ):
        server.answer(json.dumps(request).encode())
    told = answer_of(server.answer(b'{"id":3,"session":1,"op":"probe.cost","args":{}}'))

    assert told.kind is Kind.OK
    assert type(told.value) is not int


def test_bytes_in_an_answer_are_what_stands_for_them() -> None:
    assert encoder(partial(one_level, of_bytes=len))([b"abc"]) == "[3]"
