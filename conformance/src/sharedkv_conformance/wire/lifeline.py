"""What ends a program when we are killed ourselves and can end nothing any more.

A small process waits at a pipe whose other end only we hold. The kernel closes that end however we go, and the process
then kills the program's group. The program is none the wiser: it is started as it is, without a stage before it, a
hook between fork and exec, or anything that it has to be written for; and it holds for whatever the program started.
"""

from __future__ import annotations

import subprocess
import sys

# Reads the group, then waits: for nothing but the end of the pipe. It exits at once where no group ever comes.
WATCHDOG = """
import os
group = os.read(0, 32)
if group and not os.read(0, 1):
    try:
        os.killpg(int(group), 9)
    except OSError:
        pass
"""


class Lifeline:
    """Holds what is tied to it as long as this process lives. Cut it once the program is ended."""

    def __init__(self) -> None:
        # In a session of its own, so that what is sent to our group does not end it before the program.
        self._process = subprocess.Popen(  # noqa: S603 - our own text
            [sys.executable, "-I", "-S", "-c", WATCHDOG],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )

    def tie(self, group: int) -> None:
        """Let a group of processes end when this process does, from now on."""
        if self._process.stdin is not None:
            self._process.stdin.write(str(group).encode())

    def cut(self) -> None:
        """Let go, and leave nothing behind."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
