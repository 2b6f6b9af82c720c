"""`kvconform serve`: any Python implementation on the wire."""

from __future__ import annotations

import os
import socket
import stat
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from sharedkv_conformance.commands.terminal import Terminal, opened
from sharedkv_conformance.contract.implementation import Implementation
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.wire.messages import READ_VARIABLE, WRITE_VARIABLE
from sharedkv_conformance.wire.server import Server

CHUNK = 1 << 16
# Fewer requests than this in one go are answered one by one: a call and all that is observed after it.
BURST = 16


def serve_command(options: Namespace, terminal: Terminal) -> Exit:
    """Serve on the descriptors that the environment names, on a socket, or on stdin and stdout."""
    if options.unix is not None:
        return _on_socket(options, terminal)
    reading, writing = _descriptors(os.environ)
    implementation = opened(options.impl, terminal).implementation
    try:
        stream = _Stream(reading, writing)
        Server(implementation).serve(stream.lines(), stream.send)
    except BrokenPipeError:
        terminal.note("the other end is gone")
    return Exit.AS_EXPECTED


def _descriptors(environment: Mapping[str, str]) -> tuple[int, int]:
    """Return where to read and write; on stdin and stdout, what the implementation prints goes to stderr."""
    named = (environment.get(READ_VARIABLE), environment.get(WRITE_VARIABLE))
    if named == (None, None):
        reading, writing = os.dup(0), os.dup(1)
        os.dup2(sys.stderr.fileno(), 1)
        return reading, writing
    try:
        reading, writing = (int(number or "") for number in named)
        os.fstat(reading), os.fstat(writing)
    except (ValueError, OSError) as error:
        wanted = f"{READ_VARIABLE} and {WRITE_VARIABLE} have to name two open descriptors"
        raise CommandError(Exit.USAGE, f"{wanted}, found {named[0]} and {named[1]}") from error
    for descriptor in (reading, writing):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - the signature of os
    return reading, writing


class _Stream:
    """Lines in and out. An answer leaves before the next call begins, so that a crash is told of the right one.

    In a burst of many requests several answers leave together, which is what makes a burst fast.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._waiting = 0
        self._answers: list[bytes] = []

    def lines(self) -> Iterator[bytes]:
        """Yield every line; whoever takes one has answered the one before."""
        rest = b""
        while chunk := os.read(self._reading, CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            for left, line in zip(range(len(lines) - 1, -1, -1), lines, strict=True):
                self._waiting = left
                yield line
        if rest:
            yield rest

    def send(self, line: bytes) -> None:
        """Send an answer, now or with the next few."""
        self._answers.append(line)
        if self._waiting < BURST or len(self._answers) >= BURST:
            _write(self._writing, b"".join(self._answers))
            self._answers.clear()


def _write(descriptor: int, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[os.write(descriptor, left) :]


def _on_socket(options: Namespace, terminal: Terminal) -> Exit:
    """Serve one connection after the other, until one of them asks for the end."""
    implementation = opened(options.impl, terminal).implementation
    with _listening(terminal.folder / options.unix) as listener:
        terminal.note(f"listening on {options.unix}")
        terminal.err.flush()
        while not _one_connection(implementation, listener, terminal):
            terminal.note("the connection is closed; listening")
    return Exit.AS_EXPECTED


def _one_connection(implementation: Implementation, listener: socket.socket, terminal: Terminal) -> bool:
    accepted, _ = listener.accept()
    server = Server(implementation)
    with accepted:
        try:
            stream = _Stream(accepted.fileno(), accepted.fileno())
            server.serve(stream.lines(), stream.send)
        except ConnectionError as error:
            terminal.note(f"the connection broke: {error}")
    return server.is_done


@contextmanager
def _listening(path: Path) -> Iterator[socket.socket]:
    """Listen on a path; a socket that nobody listens on any more is replaced, and ours is removed at the end."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listener:
        try:
            _remove_stale(path)
            listener.bind(str(path))
            listener.listen(1)
        except OSError as error:
            raise CommandError(Exit.USAGE, f"cannot listen on {path}: {error.strerror or error}") from error
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


def _remove_stale(path: Path) -> None:
    if not path.exists() or not stat.S_ISSOCK(path.stat().st_mode):
        return
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
