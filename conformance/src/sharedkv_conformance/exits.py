"""Exit codes of `kvconform`, and the errors that stand for them."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What the exit code of a command means."""

    AS_EXPECTED = 0
    UNEXPECTED = 1
    USAGE = 2
    HARNESS = 3  # also: nothing was executed
    NOT_CONFORMANT = 4


class CommandError(Exception):
    """A command cannot do what was asked: the exit code says whose fault it is, the message what to do."""

    def __init__(self, code: Exit, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message
