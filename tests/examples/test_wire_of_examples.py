# ruff: noqa: ANN401 - a message is any JSON value

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.examples.engines import engine

CONFIG = {"cp_size": 2, "page_size": 4, "pages": 16, "rank": 0, "split": "in_sequence"}
BATCH = [
    {"request": "a", "prefix_tokens": 8, "extend_tokens": 13},
    {"request": "b", "prefix_tokens": 0, "extend_tokens": 5},
]


class Conversation:
    """An engine on its standard input and output, which it falls back to."""

    def __init__(self, name: str) -> None:
        self.program = subprocess.Popen(
            name.removeprefix("cmd:").split(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            errors="surrogateescape",
        )

    def __call__(self, *lines: Any) -> list[dict[str, Any]]:
        """Send lines in one write and read as many answers."""
        assert self.program.stdin is not None
        assert self.program.stdout is not None
        self.program.stdin.write("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines))
        self.program.stdin.flush()
        return [json.loads(self.program.stdout.readline()) for _ in lines]

    def end(self) -> int:
        """Close the input and return how the program leaves."""
        self.program.communicate(timeout=10)
        return self.program.returncode


@pytest.fixture(scope="module", params=["cpp", "js"])
def name(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return engine(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture
def say(name: str) -> Iterator[Conversation]:
    conversation = Conversation(name)
    yield conversation
    conversation.end()


def test_pipelined_requests_are_answered_one_by_one(say: Conversation) -> None:
    hello, opened, extended, closed = say(
        {"id": 1, "op": "hello", "args": {"wire": [1], "contract": "1.0"}},
        {"id": 2, "op": "open", "args": {"config": CONFIG}},
        {"id": 3, "session": 1, "op": "allocation.extend", "args": {"batch": BATCH}},
        {"id": 4, "session": 1, "op": "close"},
    )

    assert hello["ok"]["wire"] == 1
    assert opened == {"id": 2, "ok": {"session": 1}}
    assert extended["ok"]["owners"] == [0, 1, 1, 0, 0, 1]
    assert closed == {"id": 4, "ok": None}


def test_sessions_do_not_know_one_another(say: Conversation) -> None:
    opening = {"op": "open", "args": {"config": CONFIG}}
    extend = {"op": "allocation.extend", "args": {"batch": BATCH}}
    answers = say({"id": 1, **opening}, {"id": 2, **opening}, {"id": 3, "session": 1, **extend})
    lanes = say({"id": 4, "session": 2, "op": "allocation.lanes"})[0]["ok"]

    assert [answer["ok"]["session"] for answer in answers[:2]] == [1, 2]
    assert lanes["in_use"] == [0, 0]


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        '{"id": 9, "op": "nonsense"}',
        '{"id": 9, "op": "allocation.lanes", "session": 77}',
        '{"id": 9, "op": "open", "args": {}}',
        "[]",
        "\udcff\udc80",
    ],
)
def test_a_message_that_is_none_is_told_and_the_next_one_is_answered(say: Conversation, line: str) -> None:
    told, opened = say(line, {"id": 10, "op": "open", "args": {"config": CONFIG}})

    assert told["error"]["kind"] == "protocol"
    assert opened["id"] == 10
    assert "ok" in opened


def test_what_is_not_claimed_is_unsupported(say: Conversation) -> None:
    say({"id": 1, "op": "open", "args": {"config": CONFIG}})
    (told,) = say({"id": 2, "session": 1, "op": "allocation.snapshot"})

    assert told == {"id": 2, "unsupported": "allocation.snapshot"}


def test_shutdown_is_answered_and_ends_the_program(name: str) -> None:
    conversation = Conversation(name)

    assert conversation({"id": 1, "op": "shutdown"}) == [{"id": 1, "ok": None}]
    assert conversation.end() == 0
