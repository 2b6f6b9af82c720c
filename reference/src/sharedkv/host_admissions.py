"""Host pages that are reserved for the requests of a forward batch, before it runs.

Knows who has a reservation, and which host page is kept for which device page. Does not know what a node takes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from sharedkv.copy_engine import CopyEngine, PageMove
from sharedkv.errors import Refusal, RefusedError
from sharedkv.host_room import HostRoom
from sharedkv.tier_values import Counts
from sharedkv.tree_node import HostPage

Reservation: TypeAlias = dict[int, HostPage]
"""The host page of each device page."""


class HostAdmissions:
    """The reservations of one cache."""

    def __init__(self, room: HostRoom, engine: CopyEngine) -> None:
        self._room = room
        self._engine = engine
        self._reserved: dict[str, Reservation] = {}

    def reserve(self, needs: Sequence[tuple[str, Sequence[int], Sequence[int]]]) -> tuple[list[int], Counts]:
        """Reserve a host page for each device page of each request: of all of them, else of those that fit in order.

        `needs` are request, device pages and the lane of each. Returns the pages of each request and those that gave
        way by lane.
        """
        total = self._room.needed([lane for _, _, lanes in needs for lane in lanes])
        evicted = self._room.make_fit(total, ())
        reserved = [self._reserve(request, pages, lanes) for request, pages, lanes in needs]
        return reserved, evicted or (0,) * len(total)

    def require_none(self, requests: Sequence[str], pages: Sequence[int]) -> None:
        """Refuse requests of which one is named twice or has a reservation, and pages that are kept for another."""
        for page in pages:
            if any(page in reservation for reservation in self._reserved.values()):
                raise RefusedError(Refusal.PAGE_NAMED_TWICE, f"{page} is reserved for another request")
        seen = set(self._reserved)
        for request in requests:
            if request in seen:
                raise RefusedError(Refusal.REQUEST_NAMED_TWICE, request)
            seen.add(request)

    def cancel(self, request: str) -> None:
        """Give back what a request has; refuses one that has nothing."""
        if request not in self._reserved:
            raise RefusedError(Refusal.REQUEST_UNKNOWN, request)
        self.give_back(request, self._reserved.pop(request))

    def take(self, request: str) -> Reservation:
        """Return what a request has, which is the caller's from here on; nothing where it has none."""
        return self._reserved.pop(request, {})

    def give_back(self, request: str, reservation: Reservation) -> None:
        """Give up a reservation of which nothing was taken; none is fine."""
        if reservation:
            self._engine.cancelled(request)
            self._room.give(reservation.values())

    def give_rest_back(self, reservation: Reservation) -> None:
        """Give up what a backup did not take of a reservation."""
        self._room.give(reservation.values())

    def cancel_all(self) -> None:
        """Give every reservation up."""
        for request in list(self._reserved):
            self.cancel(request)

    def pages(self) -> list[HostPage]:
        """List every page that is reserved."""
        return [page for reservation in self._reserved.values() for page in reservation.values()]

    def _reserve(self, request: str, pages: Sequence[int], lanes: Sequence[int]) -> int:
        if not pages or not self._room.fits(self._room.needed(lanes)):
            return 0
        host = self._room.take(lanes)
        self._reserved[request] = dict(zip(pages, host, strict=True))
        moves = [PageMove(each.lane, page, each.page) for page, each in zip(pages, host, strict=True)]
        self._engine.admitted(request, moves)
        return len(pages)
