"""Programs as implementations: started in a group of their own, drained, and ended with all that they started.

Knows how a program lives and dies. Does not know what is said on the wire.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Protocol

from sharedkv_conformance.wire.channels import Channel, Closed, Late, TooLong, attached, pipes
from sharedkv_conformance.wire.interruption import uninterrupted
from sharedkv_conformance.wire.lifeline import Lifeline
from sharedkv_conformance.wire.messages import READ_VARIABLE, SHUTDOWN, WRITE_VARIABLE, request_line

TAIL_BYTES = 2_000
CHUNK = 1 << 16
END_S = 1.0
LONGEST_WAIT_S = 1e6
LAST_REQUEST = 1 << 53


class Peer(Protocol):
    """Who is at the other end of a channel."""

    @property
    def channel(self) -> Channel:
        """Return the way to it."""

    @property
    def is_ours(self) -> bool:
        """Say whether it was started for us, and has to end when we are done."""

    @property
    def close(self) -> Callable[[], object]:
        """Leave it in peace: a program that was started for us is asked to end, and made to."""

    def end(self) -> str:
        """Make an end of it at once and say how it stood before."""

    def autopsy(self) -> str:
        """Say how it ended, now that it no longer answers; an end is made of what still runs."""

    def left(self, within_s: float) -> str:
        """Wait for the end that it has promised, and say what is wrong with it; what still runs is ended."""

    def tail(self) -> str:
        """Return the end of what it logged."""


class Drain:
    """Reads a stream to its end so that the writer never waits, and keeps the last part."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._kept = b""
        self._dropped = 0
        self._lock = Lock()
        self._thread = Thread(target=self._run, args=(stream,), daemon=True, name="kvconform-drain")
        self._thread.start()

    def tail(self) -> bytes:
        """Return the last part of what was read so far."""
        with self._lock:
            return self._kept

    def join(self, within_s: float) -> None:
        """Wait for the end of the stream."""
        self._thread.join(within_s)

    def _run(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), CHUNK):
                with self._lock:
                    self._kept = (self._kept + chunk)[-TAIL_BYTES:]


class Program:
    """A started program. It is ended when it is closed, forgotten, or when this process ends, even by a kill."""

    is_ours = True

    def __init__(
        self, arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], over_stdio: bool = False
    ) -> None:
        self.channel, reading, writing = pipes()
        named = {} if over_stdio else {READ_VARIABLE: str(reading), WRITE_VARIABLE: str(writing)}
        with uninterrupted():
            self._lifeline = Lifeline()
            try:
                self._process = subprocess.Popen(  # noqa: S603 - the user names the program
                    arguments,
                    cwd=folder,
                    env={**environment, **named},
                    stdin=reading if over_stdio else subprocess.DEVNULL,
                    stdout=writing if over_stdio else subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=() if over_stdio else (reading, writing),
                    start_new_session=True,
                )
            except (OSError, ValueError):
                self._lifeline.cut()
                self.channel.close()
                raise
            finally:
                os.close(reading)
                os.close(writing)
            self.close = weakref.finalize(self, _leave, self._process, self._lifeline, self.channel)
            self._lifeline.tie(self._process.pid)
            _tell_end(self._process, self.channel)
        streams = (self._process.stderr, self._process.stdout)
        self._drains = [Drain(stream) for stream in streams if stream is not None]

    def end(self) -> str:
        """Kill the whole group and say how the program stood."""
        how = _how(self._process.poll())
        self._kill()
        return how

    def autopsy(self) -> str:
        """Say how the program ended; one that only closed its side is killed."""
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            return f"it closed the wire, and then {self.end()}"
        return self.end()

    def left(self, within_s: float) -> str:
        """Wait for the end of the program and say what is wrong with it."""
        try:
            code = self._process.wait(min(within_s, LONGEST_WAIT_S))
        except subprocess.TimeoutExpired:
            return f"it answered, and within {within_s:g} s it did not end; {self.end()}"
        how = self.end()
        return "" if code == 0 else f"wanted exit code 0; {how}"

    def tail(self) -> str:
        """Return the end of stderr, or of stdout where stderr is empty."""
        for drain in self._drains:
            if self._process.poll() is not None:
                drain.join(END_S)
            if kept := drain.tail().strip():
                return kept.decode("utf-8", "replace")
        return ""

    def _kill(self) -> None:
        _kill_group(self._process, self._lifeline)
        self.close.detach()
        self.channel.close()


class Attached:
    """A program that somebody else runs, reached over its socket; it is left alone at the end."""

    is_ours = False

    def __init__(self, path: Path, *, within_s: float) -> None:
        self.channel = attached(path, within_s)
        self.close = weakref.finalize(self, Channel.close, self.channel)

    def end(self) -> str:
        """Leave the connection."""
        self.close()
        return "it is left as it is"

    def autopsy(self) -> str:
        """Leave the connection that the other end closed."""
        self.close()
        return "it closed the connection"

    def left(self, within_s: float) -> str:
        """Find nothing wrong: it may stay."""
        del within_s
        return ""

    def tail(self) -> str:
        """Return nothing: who runs it has its log."""
        return ""


def _tell_end(process: subprocess.Popen[bytes], channel: Channel) -> None:
    """Let a channel notice the end of its program at once, where the system can tell it."""
    if sys.platform == "linux":
        with suppress(OSError):  # an old kernel: then the end is noticed when the time is over
            channel.end_with(os.pidfd_open(process.pid))


def _how(code: int | None) -> str:
    if code is None:
        return "it still ran and was killed"
    if code >= 0:
        return f"it exited with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unknown"
    return f"it was killed by signal {-code} ({name})"


def _leave(process: subprocess.Popen[bytes], lifeline: Lifeline, channel: Channel) -> None:
    """Ask a program to end, and end it: one that does not answer, or does not end, by force."""
    if process.poll() is None:
        channel.send(request_line(LAST_REQUEST, SHUTDOWN))
        with suppress(Late, Closed, TooLong, subprocess.TimeoutExpired):
            channel.line(END_S)
            process.wait(END_S)
    channel.close()
    _kill_group(process, lifeline)


def _kill_group(process: subprocess.Popen[bytes], lifeline: Lifeline) -> None:
    """Kill what is left of a program's group, the program and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    lifeline.cut()  # before the group's number can be another's
    process.wait()
