"""The ledger of copies: which are in flight, which of their sources are finished on which ranks, and who is next.

Knows nothing of bytes: a mover makes the copies themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Protocol

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import CopyInFlight

BACKUP = "backup"
LOAD = "load"
SAVE = "save"
EVERY_RANK = -1

Pair = tuple[int, int, int]
"""A page of a copy: its lane, its logical device page, and its number among the host pages of the lane."""


class Mover(Protocol):
    """What moves the bytes of copies; the tree alone has none."""

    def backup(self, number: int, request: str, pairs: Sequence[Pair]) -> None:
        """Copy device pages to host pages as copy `number`; layers of what a request reserved may be there already."""

    def load(self, number: int, pairs: Sequence[Pair]) -> None:
        """Copy host pages to device pages as copy `number`."""

    def abandoned(self, request: str, pairs: Sequence[Pair]) -> None:
        """Take note that host pages which were reserved for a request are given back."""

    def settle(self, numbers: Sequence[int]) -> None:
        """Make sure that the bytes of these copies are where they belong."""


class NoMover:
    """Moves nothing."""

    def backup(self, number: int, request: str, pairs: Sequence[Pair]) -> None:
        """Move nothing."""

    def load(self, number: int, pairs: Sequence[Pair]) -> None:
        """Move nothing."""

    def abandoned(self, request: str, pairs: Sequence[Pair]) -> None:
        """Move nothing."""

    def settle(self, numbers: Sequence[int]) -> None:
        """Move nothing."""


def sources_of(config: OpenConfig) -> tuple[str, ...]:
    """Return who has to finish a copy of pages: the layers of the target, and those of the draft where there are."""
    return ("target", "draft") if config.pool.draft_layers else ("target",)


@dataclass(kw_only=True)
class InFlight:
    """A copy that was not acknowledged: so many pages, and the ranks on which each source is not finished."""

    number: int
    kind: str
    pages: int
    left: dict[str, set[int]] = field(default_factory=dict)

    @property
    def is_finished(self) -> bool:
        """Say whether every source is finished on every rank."""
        return not any(self.left.values())


class CopyLedger:
    """The copies in flight, in the order of submission."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.is_holding = False
        self.copies: dict[int, InFlight] = {}

    def twin(self) -> CopyLedger:
        """Return an independent copy."""
        other = copy(self)
        other.copies = {
            number: InFlight(
                number=number, kind=own.kind, pages=own.pages, left={s: set(ranks) for s, ranks in own.left.items()}
            )
            for number, own in self.copies.items()
        }
        return other

    def submit(self, number: int, kind: str, sources: Sequence[str], pages: int) -> None:
        """Put a copy in flight; unless copies are held, it is finished already, and only not acknowledged."""
        left = {source: set(range(self.ranks)) if self.is_holding else set() for source in sources}
        self.copies[number] = InFlight(number=number, kind=kind, pages=pages, left=left)

    def hold(self) -> None:
        """Let no copy that is submitted from now on finish by itself."""
        self.is_holding = True

    def finish(self, number: int, source: str, rank: int) -> None:
        """Let a source of a copy finish on a rank, or on all."""
        ranks = range(self.ranks) if rank == EVERY_RANK else (rank,)
        if number not in self.copies or source not in self.copies[number].left or not 0 <= ranks[0] < self.ranks:
            raise Rejected(Reason.COPY_UNKNOWN, f"copy {number}, source {source!r}, rank {rank}")
        self.copies[number].left[source].difference_update(ranks)

    def due(self) -> tuple[int, ...]:
        """Return the copies to acknowledge: of each kind those finished, up to the first that is not."""
        blocked: set[str] = set()
        due = []
        for number, own in self.copies.items():
            if not self.is_ready(own):
                blocked.add(own.kind)
            if own.kind not in blocked:
                due.append(number)
        return tuple(due)

    def is_ready(self, own: InFlight) -> bool:
        """Say whether a copy may be acknowledged when those before it are."""
        return own.is_finished

    def remove(self, number: int) -> None:
        """Forget a copy that was acknowledged."""
        self.copies.pop(number, None)

    def pages_of(self, kind: str) -> int:
        """Count the pages of the copies of a kind in flight."""
        return sum(own.pages for own in self.copies.values() if own.kind == kind)

    def view(self) -> tuple[CopyInFlight, ...]:
        """Return every copy in flight, in the order of submission."""
        return tuple(
            CopyInFlight(copy=own.number, kind=own.kind, sources=tuple(s for s, ranks in own.left.items() if ranks))
            for own in self.copies.values()
        )
