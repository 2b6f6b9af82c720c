"""Abort: either side gives a request up, in any state, and nothing is used again while somebody may still write it.

A room fails on all ranks of a side at once. Prefill that gives up drops what it has not submitted, and each of its
ranks tells each destination, once (`failed`). Decode that gives up, hears of it or loses patience sends each prefill
rank one notice a destination (`abort`), which names the epoch. A prefill rank that hears it gives up too, unless the
room has ended there, and answers (`drained`) to that destination when nothing goes on to land there: at once where it
knows nothing of the epoch, never while a flight of it is in doubt. Once every prefill rank has drained, and at the
latest `TransferConfig.quarantine` ticks after decode took the room for failed, its pages and slots are free for others,
if the room was closed.
"""

from __future__ import annotations

from typing import Protocol


class Abort(Protocol):
    """Giving up. A room that has ended, or is not there, is no error: nothing happens."""

    def decode(self, room: int) -> None:
        """Have decode give a room up that has not ended."""

    def prefill(self, room: int) -> None:
        """Have prefill give a room up that has not ended; contexts of the room are dropped."""
