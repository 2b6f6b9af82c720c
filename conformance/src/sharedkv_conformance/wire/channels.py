"""Lines in and out over descriptors, each within a time: never blocks on a peer that neither reads nor writes.

Knows nothing of what the lines mean, or of who is at the other end.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from pathlib import Path

LONGEST_LINE = 64 << 20
CHUNK = 1 << 16


class Closed(Exception):
    """The other end is gone."""


class Late(Exception):
    """Nothing came in time."""


class TooLong(Exception):
    """A line does not end."""

    def __init__(self, begin: bytes) -> None:
        super().__init__(begin)
        self.begin = begin


class Channel:
    """One descriptor to read from and one to write to; owns both."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._lines: deque[bytes] = deque()
        self._rest: list[bytes] = []
        self._rest_bytes = 0
        self._unsent = memoryview(b"")
        for descriptor in {reading, writing}:
            os.set_blocking(descriptor, False)
        self._readable = select.poll()
        self._readable.register(reading, select.POLLIN)
        self._either = select.poll()
        self._either.register(reading, select.POLLIN)
        self._either.register(writing, select.POLLOUT | (select.POLLIN if writing == reading else 0))
        self._end = -1

    def end_with(self, descriptor: int) -> None:
        """Take it that nobody is there once a descriptor is readable, which is owned from now on.

        The descriptors alone do not tell: what a program has started may hold them when it is gone.
        """
        self._end = descriptor
        for poll in (self._readable, self._either):
            poll.register(descriptor, select.POLLIN)

    def send(self, lines: bytes) -> None:
        """Hand over lines; what the other end does not take now is sent while lines are awaited.

        A peer that is gone is noticed by who reads: it may have answered before it went.
        """
        self._unsent = memoryview(bytes(self._unsent) + lines) if self._unsent else memoryview(lines)
        self._push()

    def line(self, within_s: float) -> bytes:
        """Return the next line without its end.

        Raises:
            Late: there is none in time.
            Closed: there will be none.
            TooLong: it is longer than any message.

        """
        if not self._lines:
            self._await(time.monotonic() + within_s)
        return self._lines.popleft()

    def close(self) -> None:
        """Give up both descriptors."""
        for descriptor in {self._reading, self._writing, self._end} - {-1}:
            os.close(descriptor)
        self._reading = self._writing = self._end = -1

    def _await(self, deadline: float) -> None:
        while not self._lines:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Late
            poll = self._either if self._unsent else self._readable
            events = poll.poll(None if left == float("inf") else left * 1000)
            if self._unsent:
                self._push()
            if self._is_readable(events):
                self._pull()
            elif any(descriptor == self._end for descriptor, _ in events):
                self._pull_the_last()

    def _is_readable(self, events: list[tuple[int, int]]) -> bool:
        return any(descriptor == self._reading and event & ~select.POLLOUT for descriptor, event in events)

    def _pull_the_last(self) -> None:
        """Read what was written before the end: it may have come after we looked, and before we saw the end."""
        if not self._is_readable(self._readable.poll(0)):
            raise Closed
        self._pull()

    def _push(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._writing, self._unsent[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = memoryview(b"")

    def _pull(self) -> None:
        try:
            chunk = os.read(self._reading, CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            raise Closed from error
        if not chunk:
            raise Closed
        head, found, tail = chunk.rpartition(b"\n")
        if not found:
            self._keep(chunk)
            return
        self._lines.extend(b"".join((*self._rest, head)).split(b"\n"))
        self._rest, self._rest_bytes = [], 0
        self._keep(tail)

    def _keep(self, part: bytes) -> None:
        if part:
            self._rest.append(part)
            self._rest_bytes += len(part)
        if self._rest_bytes > LONGEST_LINE:
            raise TooLong(self._rest[0])


def pipes() -> tuple[Channel, int, int]:
    """Return our channel, and the descriptors that a program is to read from and to write to."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    return Channel(ours_in, ours_out), theirs_in, theirs_out


def attached(path: Path, within_s: float) -> Channel:
    """Return a channel to a listening UNIX stream socket; raises OSError."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(None if within_s == float("inf") else within_s)
        made.connect(str(path))
    except OSError:
        made.close()
        raise
    descriptor = made.detach()
    return Channel(descriptor, descriptor)
