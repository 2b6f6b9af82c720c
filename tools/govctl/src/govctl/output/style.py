"""Colour on a terminal, and none elsewhere.

Knows escape sequences. Knows nothing of what is coloured. Whether there is a terminal is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass(frozen=True, kw_only=True)
class Style:
    """Paint words, if there is colour at all."""

    has_colour: bool

    def paint(self, text: str, *names: str) -> str:
        """Return the text in these colours."""
        if not self.has_colour or not text:
            return text
        return f"\x1b[{';'.join(_CODES[name] for name in names)}m{text}\x1b[0m"
