"""Who moves the bytes of pages between the tiers, as the cache sees it.

Knows the words of that conversation. Does not know bytes, layers or streams: an engine does.

    admitted ── layers end ── submit_backups(request=...)     the layers that did not end before are copied here
        └────────────────── cancelled                         nothing of the reservation is copied any more
    submit_backups(request=None)                              all layers at once
    submit_load                                               all layers, each with an end of its own
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from sharedkv.copy_ledger import Progress

TARGET, DRAFT = "target", "draft"


class PageMove(NamedTuple):
    """One page on both tiers: its lane (that of the host page), the logical device page, and the host page's number."""

    lane: int
    device_page: int
    host_page: int


class CopyEngine(Protocol):
    """Copies for the ranks that this process plays, in the background; both pages of a move lie on the same lane."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Return what finishes apart: the target, and the draft where there is one."""

    def admitted(self, request: str, moves: Sequence[PageMove]) -> None:
        """Hear that host pages are reserved: layers that end from now on are copied for these moves."""

    def cancelled(self, request: str) -> None:
        """Hear that a reservation is gone; its host pages are free after this call, its device pages may be soon."""

    def submit_backups(self, copies: Sequence[Sequence[PageMove]], request: str | None) -> Sequence[Progress]:
        """Copy device pages to the host, with one set of descriptors a layer for all copies; answer for each.

        Where `request` is given there is one copy, and its moves are some of those that were admitted for it: layers
        that ended since are not copied again, and the reservation is gone with this call; the host pages of its other
        moves are free after it.
        """

    def submit_load(self, moves: Sequence[PageMove]) -> Progress:
        """Copy host pages to the device, layer by layer."""

    def drain(self) -> None:
        """Return when all that was enqueued is done, also for reservations that are gone."""


class Done:
    """The progress of work that is done."""

    def is_finished(self, source: str, rank: int) -> bool:
        """Say that it is."""
        del source, rank
        return True

    def settle(self) -> None:
        """Return at once."""


class InstantEngine:
    """Moves no bytes: for a cache of metadata alone. `sources` as given."""

    def __init__(self, sources: Sequence[str] = (TARGET,)) -> None:
        self.sources = tuple(sources)

    def admitted(self, request: str, moves: Sequence[PageMove]) -> None:
        """Remember nothing."""

    def cancelled(self, request: str) -> None:
        """Remember nothing."""

    def submit_backups(self, copies: Sequence[Sequence[PageMove]], request: str | None) -> Sequence[Progress]:
        """Be done at once."""
        del request
        return [Done() for _ in copies]

    def submit_load(self, moves: Sequence[PageMove]) -> Progress:
        """Be done at once."""
        del moves
        return Done()

    def drain(self) -> None:
        """Return at once."""
