"""How a test plays one rank: commands as JSON in, answers as JSON out, and a step of the rank in between.

Knows lines. Does not know what they mean. The rank runs as a process, or as a thread where its engine meets others of
one process only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any, Protocol

ROOT = Path(__file__).resolve().parents[2]
ANSWER_WITHIN_S = 60.0
_PAUSE_S = 0.001
# Libraries print what they like, some of them to standard output.
_ANSWER = "answer: "


class Actor(Protocol):
    """One rank."""

    def step(self) -> None:
        """Hear messages, and do what is due. Does not wait."""

    def answer(self, do: str, **arguments: Any) -> object:  # noqa: ANN401 - whatever JSON says
        """Carry out a command."""

    def close(self) -> None:
        """Give up what it holds."""


def serve(actor: Actor, lines: Queue[str], say: Callable[[str], None]) -> None:
    """Serve until an empty line."""
    try:
        while True:
            actor.step()
            try:
                line = lines.get(timeout=_PAUSE_S)
            except Empty:
                continue
            if not line:
                return
            say(json.dumps(actor.answer(**json.loads(line))))
    finally:
        actor.close()


def serve_process(actor: Actor) -> None:
    """Serve the standard input and output of this process."""
    lines: Queue[str] = Queue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        lines.put("")

    Thread(target=read, daemon=True).start()
    serve(actor, lines, lambda line: print(f"{_ANSWER}{line}", flush=True))  # noqa: T201 - the answer


class Remote(ABC):
    """A rank that a test plays."""

    @abstractmethod
    def tell(self, do: str, **arguments: object) -> None:
        """Give a command; its answer has to be heard before the next one."""

    @abstractmethod
    def hear(self) -> Any:  # noqa: ANN401 - whatever JSON says
        """Return the answer to the last command."""

    @abstractmethod
    def close(self) -> None:
        """End the rank."""

    def ask(self, do: str, **arguments: object) -> Any:  # noqa: ANN401 - whatever JSON says
        """Give a command and return its answer."""
        self.tell(do, **arguments)
        return self.hear()


class RemoteThread(Remote):
    """A rank as a thread of this process."""

    def __init__(self, make: Callable[[], Actor]) -> None:
        self._lines: Queue[str] = Queue()
        self._answers: Queue[str] = Queue()
        self._thread = Thread(target=lambda: serve(make(), self._lines, self._answers.put), daemon=True)
        self._thread.start()

    def tell(self, do: str, **arguments: object) -> None:
        self._lines.put(json.dumps({"do": do, **arguments}))

    def hear(self) -> Any:  # noqa: ANN401 - whatever JSON says
        return json.loads(self._answers.get(timeout=ANSWER_WITHIN_S))

    def close(self) -> None:
        """End the thread."""
        self._lines.put("")
        self._thread.join(ANSWER_WITHIN_S)


class RemoteProcess(Remote):
    """A rank as a process."""

    def __init__(self, module: str, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"tests.transfer.{module}", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "GLOG_minloglevel": "3"},
            text=True,
        )

    def tell(self, do: str, **arguments: object) -> None:
        assert self.process.stdin is not None

        print(json.dumps({"do": do, **arguments}), file=self.process.stdin, flush=True)

    def hear(self) -> Any:  # noqa: ANN401 - whatever JSON says
        assert self.process.stdout is not None

        for line in self.process.stdout:
            if line.startswith(_ANSWER):
                return json.loads(line.removeprefix(_ANSWER))
        raise EOFError(f"process {self.process.pid} has ended")

    def stop(self) -> None:
        """Make the process stand still."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it run again."""
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """End the process, and the pipes to it."""
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
