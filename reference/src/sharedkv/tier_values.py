"""What the host cache is told and what it answers.

Knows the values alone. Counts are in pages and have one entry a lane.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from sharedkv.allocation import FreeRoom
from sharedkv.errors import Refusal, RefusedError

Counts: TypeAlias = tuple[int, ...]
NO_COPY = -1
HOST_ORDERS = ("layer_first", "page_first", "page_first_direct")
"""How host memory is laid out."""


class WritePolicy(StrEnum):
    """When nodes are backed up: on the first or the second insert, or before they are evicted."""

    WRITE_THROUGH = "write_through"
    WRITE_THROUGH_SELECTIVE = "write_through_selective"
    WRITE_BACK = "write_back"

    @property
    def least_hits(self) -> int | None:
        """Return how many inserts make a node worth a backup; None where no number does."""
        return _LEAST_HITS.get(self)


_LEAST_HITS = {WritePolicy.WRITE_THROUGH: 1, WritePolicy.WRITE_THROUGH_SELECTIVE: 2}


@dataclass(frozen=True, kw_only=True)
class CachePolicy:
    """How the host tier behaves; `load_back_most` counts pages in flight, 0 meaning no bound."""

    write: WritePolicy = WritePolicy.WRITE_THROUGH
    free_room: FreeRoom = field(default_factory=FreeRoom)
    host_free_room: FreeRoom = field(default_factory=FreeRoom)
    load_back_least: int = 1
    load_back_most: int = 0


def require_host_order(name: str) -> None:
    """Refuse an order of host memory that nobody knows."""
    if name not in HOST_ORDERS:
        raise RefusedError(Refusal.HOST_CONFIG_INVALID, f"layout {name!r}")


def write_policy(name: str) -> WritePolicy:
    """Return the policy of a name; refuses any other."""
    try:
        return WritePolicy(name)
    except ValueError as error:
        raise RefusedError(Refusal.HOST_CONFIG_INVALID, f"write policy {name!r}") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """Device pages of the leading resident nodes, and how many pages behind them can be loaded back."""

    device: tuple[int, ...]
    host: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Inserted:
    """Where each page of an insert went, and the backups that it submitted."""

    cached: int
    adopted: tuple[int, ...]
    freed: tuple[int, ...]
    left: tuple[int, ...]
    backups: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evicted:
    """Device pages that are free now, victim by victim; what was freed and what is missing still."""

    pages: tuple[int, ...]
    freed: Counts
    remaining: Counts


@dataclass(frozen=True, kw_only=True, slots=True)
class HostEvicted:
    """Host pages that are free now, and those that are missing still."""

    freed: Counts
    remaining: Counts


@dataclass(frozen=True, kw_only=True, slots=True)
class BackupRequest:
    """One request of a forward batch: its new tokens, and a page for each started page of them."""

    request: str
    extend_tokens: int
    pages: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class HostAdmission:
    """Pages that each request was given, and host pages that gave way by lane."""

    reserved: tuple[int, ...]
    evicted: Counts


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadBack:
    """The copy of a load and its device pages in order of position; `NO_COPY` and none where it was skipped."""

    copy: int
    pages: tuple[int, ...]
