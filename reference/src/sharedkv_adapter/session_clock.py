"""The clock of one session: it stands still until a probe moves it.

Knows ticks. Does not know what is due when.
"""

from __future__ import annotations


class SessionClock:
    """Ticks since the session was opened."""

    def __init__(self) -> None:
        self.ticks = 0
