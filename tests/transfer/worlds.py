"""One sender and two receivers of each kind of engine; receivers are processes, except where there is only one.

Where an engine cannot be made, its tests fail and say what is missing: `make engines` and `make venv` install it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np

from sharedkv.engines.engine import Engine, Peer, Timing
from sharedkv.engines.memory import Memory, memory_engine
from sharedkv.page_mapping import Writes
from tests.transfer.arena import Arena, writes_of
from tests.transfer.kinds import BETWEEN_PROCESSES, SENDERS

ROOT = Path(__file__).resolve().parents[2]
POOL_BYTES = 256 << 10
REGISTERED_BYTES = 192 << 10
KINDS = ("memory", *BETWEEN_PROCESSES)


class Receiver(Protocol):
    """An engine that peers write to, and what its pool holds."""

    pool: Arena
    address: int
    """Where the pool begins, as the receiver sees it."""

    def describe(self) -> bytes:
        """Return what a peer has to be given."""

    def register(self, first: int, end: int) -> None:
        """Register further bytes of the pool."""


class LocalReceiver:
    """A receiver of this process."""

    def __init__(self, engine: Engine) -> None:
        self.pool = Arena(POOL_BYTES)
        self.address = self.pool.address
        self._engine = engine
        engine.register(self.pool.region(0, REGISTERED_BYTES))

    def describe(self) -> bytes:
        return self._engine.describe()

    def register(self, first: int, end: int) -> None:
        self._engine.register(self.pool.region(first, end))

    def close(self) -> None:
        """Close its engine."""
        self._engine.close()


class RemoteReceiver:
    """A receiver that is a process, started fresh."""

    def __init__(self, kind: str, file: Path) -> None:
        self.pool = Arena(POOL_BYTES, file)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.transfer.receiver", kind, str(file), str(POOL_BYTES), str(REGISTERED_BYTES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "GLOG_minloglevel": "3"},
            text=True,
        )
        self.address = 0

    def start(self) -> None:
        """Wait until it has registered its pool."""
        self.address = int(self._line())

    def describe(self) -> bytes:
        return self._ask("describe")

    def register(self, first: int, end: int) -> None:
        self._ask(f"register {first} {end}")

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
            assert pipe is not None

            pipe.close()

    def _ask(self, question: str) -> bytes:
        assert self.process.stdin is not None

        print(question, file=self.process.stdin, flush=True)
        return bytes.fromhex(self._line())

    def _line(self) -> str:
        assert self.process.stdout is not None

        return self.process.stdout.readline()


class World:
    """A sender, its source memory with bytes that differ, and receivers that it has connected to."""

    def __init__(self, kind: str, sender: Engine, receivers: list[Receiver]) -> None:
        self.kind = kind
        self.sender = sender
        self.receivers = receivers
        self.source = Arena(POOL_BYTES)
        self.source.bytes[:] = np.random.default_rng(7).integers(1, 256, POOL_BYTES, dtype=np.uint8)
        sender.register(self.source.region(0, REGISTERED_BYTES))
        self.peers: list[Peer] = [sender.connect(receiver.describe()) for receiver in receivers]

    def clear(self) -> None:
        """Let all pools hold zeros."""
        for receiver in self.receivers:
            receiver.pool.bytes[:] = 0

    def writes(self, rows: list[tuple[int, int, int]], receiver: int = 0) -> Writes:
        """Make writes of offsets into the source, offsets into the pool of a receiver, and bytes."""
        there = self.receivers[receiver].address
        return writes_of([(self.source.address + source, there + place, size) for source, place, size in rows])

    def expected(self, rows: list[tuple[int, int, int]]) -> bytes:
        """Return what a pool of zeros holds after such writes."""
        pool = np.zeros(POOL_BYTES, dtype=np.uint8)
        for source, place, size in rows:
            pool[place : place + size] = self.source.bytes[source : source + size]
        return pool.tobytes()

    def found(self, receiver: int = 0) -> bytes:
        """Return what the pool of a receiver holds."""
        return self.receivers[receiver].pool.bytes.tobytes()


@contextmanager
def world_of(kind: str, folder: Path, timing: Timing | None = None) -> Iterator[World]:
    """Make a world; nothing of it is left afterwards."""
    timing = timing or Timing()
    with ExitStack() as stack:
        if kind == "memory":
            memory = Memory()
            engines = [memory_engine(memory, timing) for _ in range(3)]
            for engine in engines:
                stack.callback(engine.close)
            yield World(kind, engines[0], [LocalReceiver(engine) for engine in engines[1:]])
            return
        receivers = [RemoteReceiver(kind, folder / f"pool-{number}") for number in range(2)]
        for receiver in receivers:
            stack.callback(receiver.close)
        sender = SENDERS[kind](timing)
        stack.callback(sender.close)
        for receiver in receivers:
            receiver.start()
        yield World(kind, sender, [*receivers])
