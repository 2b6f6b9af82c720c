"""Decode as prefill asks it: a process, or a thread where the engine stays in one process.

Knows questions and answers. Does not know what they mean.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from queue import SimpleQueue
from threading import Thread
from typing import Protocol

from benchmarks.errors import CommandFailedError
from benchmarks.transfer_decode import Decode, serve
from benchmarks.transfer_engines import DEADLINE_S, QUIET
from benchmarks.transfer_shape import TransferShape

MODULE = "benchmarks.transfer_decode"


class DecodePeer(Protocol):
    """Answers questions, in order; several may be asked before the first answer is taken."""

    def ask(self, question: str) -> None:
        """Ask."""

    def answer(self) -> str:
        """Wait for the next answer."""

    def close(self) -> None:
        """End it."""


class DecodeProcess:
    """A process, started fresh."""

    def __init__(self, kind: str, shape: TransferShape) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-m", MODULE, kind, json.dumps(asdict(shape))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **QUIET},
            text=True,
        )

    def ask(self, question: str) -> None:
        """Ask."""
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        print(question, file=self._process.stdin, flush=True)

    def answer(self) -> str:
        """Wait for the next answer. `CommandFailedError` where the process has ended."""
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        line = self._process.stdout.readline()
        if not line:
            raise CommandFailedError(MODULE, self._process.wait(), "decode has ended")
        return line.rstrip("\n")

    def close(self) -> None:
        """End it at once, and the pipes to it."""
        self._process.kill()
        self._process.communicate()


class DecodeThread:
    """A thread of this process."""

    def __init__(self, decode: Decode) -> None:
        self._decode = decode
        self._questions: SimpleQueue[str | None] = SimpleQueue()
        self._answers: SimpleQueue[str] = SimpleQueue()
        self._thread = Thread(target=serve, args=(decode, self._asked(), self._answers.put), name="decode", daemon=True)
        self._thread.start()

    def ask(self, question: str) -> None:
        """Ask."""
        self._questions.put(question)

    def answer(self) -> str:
        """Wait for the next answer."""
        return self._answers.get(timeout=2 * DEADLINE_S)

    def close(self) -> None:
        """End it when it has answered, and its decode rank."""
        self._questions.put(None)
        self._thread.join()
        self._decode.close()

    def _asked(self) -> Iterator[str]:
        while (question := self._questions.get()) is not None:
            yield question
