"""Fetches in flight: what each is to bring, how far it is, and when its policy lets it end."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

from sharedkv_conformance.model.host_tier_tree import HostPage, Tokens

BEST_EFFORT, WAIT_COMPLETE, TIMEOUT = "best_effort", "wait_complete", "timeout"
POLICIES = (BEST_EFFORT, WAIT_COMPLETE, TIMEOUT)


@dataclass(frozen=True, kw_only=True)
class PlannedPage:
    """A page that a fetch is to bring: its key, and the lane that is kept with its objects."""

    key: str
    lane: int


@dataclass(kw_only=True)
class Fetch:
    """One fetch: its prefix, the position of its first page, and for each page where it goes.

    `unlooked` are the ranks that have not looked at their objects; `arrived` counts the pages of each part.
    """

    tokens: Tokens
    first: int
    plan: Sequence[PlannedPage]
    hosts: Sequence[HostPage]
    policy: str
    timeout: int
    began: int
    unlooked: set[int]
    arrived: dict[str, int]

    def twin(self) -> Fetch:
        """Return an independent copy."""
        other = copy(self)
        other.unlooked, other.arrived = set(self.unlooked), dict(self.arrived)
        return other
