"""Probes: optional features that make inner state observable. Each is named `probe.<method>` and claimed alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Event:
    """A choice of path that the implementation reports.

    Kinds: `rejected` (a batch was refused; `reason` is the rejection's), `legacy_allocation` (a batch went
    through paged allocation without lanes) and `fallback` (a path was left; `reason` says why).
    """

    kind: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PageSets:
    """The logical pages of each lane by state; order within a lane means nothing."""

    free: tuple[tuple[int, ...], ...]
    evictable: tuple[tuple[int, ...], ...]
    in_use: tuple[tuple[int, ...], ...]


class Probe(Protocol):
    """Views of inner state. A probe never changes what it shows."""

    def cost(self) -> int:
        """Return how many elements of allocator state the last call of the facet read or wrote.

        An element is an entry of the implementation's own bookkeeping: a list entry, a run, a tree node, a
        bitmap word. What was merely copied into the answer does not count.
        """

    def events(self) -> tuple[Event, ...]:
        """Return every event since the session was opened, oldest first."""

    def pages(self) -> PageSets:
        """Return the state of every page."""
