# ruff: noqa: ANN401 - JSON values are of any type

"""What is answered to requests, right and wrong; and that each end can be fuzzed without an escape."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.contract.operation import Operation
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.wire.bulk import BulkFile
from sharedkv_conformance.wire.bulk import opened as opened_bulk
from sharedkv_conformance.wire.messages import Unreadable, answer_of
from sharedkv_conformance.wire.server import Server

HELLO = {"id": 1, "op": "hello", "args": {"wire": [1], "contract": "1.0"}}
OPEN = {"id": 2, "op": "open", "args": {"config": {"cp_size": 2, "page_size": 4, "pages": 8}}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def served() -> Server:
    server = Server(ModelImplementation())
    for request in (HELLO, OPEN):
        server.answer(json.dumps(request).encode())
    return server


def answered(request: Any, server: Server | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((server or served()).answer(json.dumps(request).encode()))
    return found


def test_hello_is_answered_with_a_version_and_a_description() -> None:
    said = answered(HELLO)["ok"]

    assert said["wire"] == 1
    assert said["description"]["name"] == "model"


def test_a_call_is_answered_with_its_result() -> None:
    request = {"id": 7, "session": 1, "op": "allocation.allocate_flat", "args": {"num_pages": 1}}

    assert answered(request).keys() == {"id", "ok"} or answered(request)["err"]["error"] == "Rejected"


def test_a_refusal_crosses_with_its_reason() -> None:
    request = {"id": 7, "session": 1, "op": "planning.split", "args": {"prefix_tokens": 0, "extend_tokens": 0}}

    assert answered(request)["err"]["reason"] == "extend_empty"


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ({"id": 3, "op": "nothing"}, "unknown operation 'nothing'"),
        ({"id": 3, "op": "close", "session": 9}, "unknown session 9"),
        ({"id": 3, "op": "allocation.lanes", "session": 9}, "unknown session 9"),
        ({"id": 3, "op": "allocation.lanes", "session": [1]}, "unknown session [1]"),
        ({"id": 3, "op": "planning.split", "session": 1, "args": {}}, "takes prefix_tokens, extend_tokens"),
        ({"id": 3, "op": "open", "args": {"config": 3}}, "config: wanted OpenConfig"),
        ({"id": 3, "op": "hello", "args": {"wire": [2]}}, "speaks wire version 1, asked for were [2]"),
        ({"id": 3, "op": "hello", "more": 1}, "unknown key 'more'"),
        ({"op": "hello"}, "an integer 'id'"),
        ([], "an integer 'id'"),
    ],
)
def test_misuse_is_told_and_is_no_verdict(request_: Any, told: str) -> None:
    error = answered(request_)["error"]

    assert error["kind"] == "protocol"
    assert told in error["message"]


def test_nothing_is_opened_before_hello() -> None:
    assert "hello" in answered(OPEN, Server(ModelImplementation()))["error"]["message"]


@given(line=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_line_has_an_answer(line: bytes) -> None:
    assert answer_or_protocol(served().answer(line))


@given(op=st.sampled_from(["hello", "open", "close", "allocation.extend", "probe.pages"]), args=JSON, session=JSON)
def test_any_arguments_have_an_answer(op: str, args: Any, session: Any) -> None:
    request = {"id": 3, "op": op, "args": args, "session": session}

    assert answer_or_protocol(served().answer(json.dumps(request).encode()))


def answer_or_protocol(line: bytes) -> bool:
    said = json.loads(line)
    return len(said) == 2 and bool(said.keys() & {"ok", "err", "unsupported", "error"})


@given(line=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_a_line_is_an_answer_or_unreadable(line: bytes) -> None:
    assert read_or_refused(line)


def read_or_refused(line: bytes) -> bool:
    try:
        return answer_of(line).kind in json.loads(line)
    except Unreadable as error:
        return "wanted" in str(error)


class Echo:
    """A session that gives bytes back in reverse."""

    def __init__(self) -> None:
        self.echo = self

    def back(self, data: bytes) -> bytes:
        return data[::-1]

    def close(self) -> None:
        """Hold nothing."""


class EchoImplementation(ModelImplementation):
    def open(self, config: Any) -> Any:
        del config
        return Echo()


BACK = Operation(name="echo.back", parameters={"data": bytes}, result=bytes, feature="echo")


@pytest.mark.parametrize("size", [0, 5, 100])
def test_bytes_cross_by_the_bulk_file_and_in_the_line_where_they_do_not_fit(size: int) -> None:
    ours = BulkFile.made(64)
    server = Server(EchoImplementation(), operations={"echo.back": BACK})
    bulk = {"path": str(ours.path), "bytes": 64}
    answered({**HELLO, "args": {"wire": [1], "contract": "1.0", "bulk": bulk}}, server)
    answered(OPEN, server)
    data = bytes(range(size))
    said = answered({"id": 3, "session": 1, "op": "echo.back", "args": {"data": ours.write(data)}}, server)["ok"]
    path = ours.path

    assert isinstance(said, str) == (size > 32)
    assert (bytes.fromhex(said) if isinstance(said, str) else ours.read(said["bulk"])) == data[::-1]
    ours.close()
    assert not path.exists()


@pytest.mark.parametrize("where", [None, {}, {"offset": 0}, {"offset": -1, "length": 2}, {"offset": 60, "length": 5}])
def test_bytes_outside_the_bulk_file_are_malformed(where: Any) -> None:
    file = BulkFile.made(64)
    with pytest.raises(ValueError, match="within 64 bytes"):
        file.read(where)
    file.close()


@pytest.mark.parametrize("form", [None, {}, {"path": "nowhere/to/be/found", "bytes": 3}])
def test_a_bulk_file_that_cannot_be_opened_is_malformed(form: Any) -> None:
    with pytest.raises(ValueError, match="wanted"):
        opened_bulk(form)
