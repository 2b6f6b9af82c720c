"""What a test has the engine of one process do wrong.

Knows requests and their order. Does not know whose they are. Everything is exact: no chance, and no time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

Row = tuple[int, int, int]
"""Destination, source, and bytes."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What a failing write says."""

    what: str = "a fault was asked for"
    is_definite: bool = True


class Faults:
    """Faults of all engines that share a `Memory`. Nothing is wrong until a method is called."""

    def __init__(self) -> None:
        self.is_reversed = False
        self.failure = Failure()
        self._are_all_held = False
        self._stuck: set[str] = set()
        self._num_before_failure: int | None = None
        self._late: list[Row] = []

    def hold(self) -> None:
        """Move no bytes until `release`."""
        self._are_all_held = True

    def release(self) -> None:
        """Move bytes again, also to peers that were stuck."""
        self._are_all_held = False
        self._stuck.clear()

    def stick(self, peer: str) -> None:
        """Move no bytes to one peer until `release`."""
        self._stuck.add(peer)

    def reverse(self) -> None:
        """Write each batch from its last write to its first, from now on."""
        self.is_reversed = True

    def fail_at(self, num_right: int, *, is_definite: bool) -> None:
        """Fail the write that comes after `num_right` more; what is left of its batch is dropped.

        If the failure is not definite, what is left lands at `land_late`, and has not been given up.
        """
        self._num_before_failure = num_right
        self.failure = Failure(is_definite=is_definite)

    def land_late(self) -> int:
        """Write what failing batches left, from memory that has to be there still; return how many writes that was."""
        late, self._late = self._late, []
        for row in late:
            ctypes.memmove(*row)
        return len(late)

    def holds(self, peer: str) -> bool:
        """Say whether bytes to a peer are held back."""
        return self._are_all_held or peer in self._stuck

    def take(self, num_requests: int) -> int:
        """Count writes of a batch towards the failure, and return how many of them go right."""
        if self._num_before_failure is None:
            return num_requests
        num_right = min(num_requests, self._num_before_failure)
        self._num_before_failure = None if num_right < num_requests else self._num_before_failure - num_right
        return num_right

    def keep_late(self, rows: Sequence[Row]) -> None:
        """Keep writes that `land_late` makes."""
        self._late.extend(rows)
