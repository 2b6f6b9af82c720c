"""Four prefill ranks and one decode process, all of them fresh processes, over each engine that works between them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.transfer import story
from tests.transfer.kinds import BETWEEN_PROCESSES
from tests.transfer.worlds import ROOT

RANKS = story.GEOMETRY.cp_size
FAILING_RANK, FAILING_ROOM = 2, 8


@contextmanager
def program(module: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Start a process; it does not outlive the test."""
    with subprocess.Popen(
        [sys.executable, "-m", f"tests.transfer.{module}", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "GLOG_minloglevel": "3"},
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def answer(process: subprocess.Popen[str], question: str = "") -> str:
    """Return the next line of a process, after a line to it."""
    assert process.stdin is not None
    assert process.stdout is not None

    if question:
        print(question, file=process.stdin, flush=True)
    return process.stdout.readline().strip()


@pytest.mark.parametrize("kind", BETWEEN_PROCESSES)
def test_all_bytes_of_all_rooms_are_right_at_the_moment_of_success(kind: str) -> None:
    with ExitStack() as stack:
        ranks = [
            stack.enter_context(program("prefill_rank", kind, rank, FAILING_ROOM if rank == FAILING_RANK else -1))
            for rank in range(RANKS)
        ]
        decode = stack.enter_context(program("decode_process", kind))
        told = json.loads(answer(decode, " ".join(answer(rank) for rank in ranks)))
        codes = [rank.wait(60) for rank in ranks]
        is_clean, num_malformed = json.loads(answer(decode, "go on"))

        assert decode.wait(60) == 0
    rooms = {int(room): ending for room, ending in told.items()}

    assert rooms.pop(FAILING_ROOM)[0] == "failed"
    assert rooms == {request.room: ["success", True] for request in story.requests() if request.room != FAILING_ROOM}
    assert (codes, is_clean, num_malformed) == ([0] * RANKS, True, RANKS)
