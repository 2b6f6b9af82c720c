"""What is being done, for those who wait: one line a step, or one line rewritten on a terminal."""

from __future__ import annotations

from typing import TextIO

CLEAR_LINE = "\r\x1b[K"


class Progress:
    """Writes the step to a stream that holds no results."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()

    def step(self, text: str) -> None:
        """Say what happens now."""
        self._stream.write(f"{CLEAR_LINE}{text} ..." if self._is_terminal else f"{text}\n")
        self._stream.flush()

    def done(self) -> None:
        """Take the line away."""
        if self._is_terminal:
            self._stream.write(CLEAR_LINE)
            self._stream.flush()
