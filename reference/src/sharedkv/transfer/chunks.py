"""Chunks of a request as prefill sends them: what each rank has of one, and what of it has arrived.

Knows pages, layers and counts. Does not know engines, messages, nor the chunks beside it.

    registered ──send──> queued ──picked up──> in flight ──> settled: its pages are nobody's business any more
        └── layers go one group after another, before `send` ──┘
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sharedkv.page_mapping import PageShare

Way = tuple[int, int]
"""A prefill rank, and the decode rank that it writes to."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Pages of one request from a position on, as a forward has made them.

    `state` are the logical pages of all positions, on the last chunk and where the layout has an index. `aux` is for
    decode; that of the last chunk alone is sent.
    """

    room: int
    pages: Sequence[int]
    first_position: int
    is_last: bool
    state: Sequence[int] = ()
    aux: bytes = b""

    @property
    def end_position(self) -> int:
        """Return the position behind its last page."""
        return self.first_position + len(self.pages)


@dataclass(kw_only=True, eq=False, slots=True)
class ChunkProgress:
    """One chunk on all ranks of this process.

    `holds` counts what needs its pages: an open context, jobs that wait or are under way, flights. `taken` are the
    layers that some job has; `has_context` says that it was registered and not sent.
    """

    chunk: Chunk
    number: int
    shares: dict[int, PageShare]
    state_shares: dict[int, PageShare] = field(default_factory=dict)
    pinned: list[Sequence[int]] = field(default_factory=list)
    holds: int = 0
    num_queued: int = 0
    has_context: bool = False
    sent_at: float | None = None
    told: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)
    submitted_by: set[int] = field(default_factory=set)
    submitted: dict[int, set[int]] = field(default_factory=dict)
    completed: dict[int, set[int]] = field(default_factory=dict)
    landed_layers: Counter[Way] = field(default_factory=Counter)
    landed_index: set[Way] = field(default_factory=set)
    announced: set[tuple[int, int, str]] = field(default_factory=set)

    def ranks_with_pages(self) -> tuple[int, ...]:
        """Return the ranks that have a page of it."""
        return tuple(rank for rank, share in self.shares.items() if len(share.sources))

    def without_job(self, layers: Iterable[int]) -> tuple[int, ...]:
        """Return those of some layers that no job has, ascending."""
        return tuple(sorted(set(layers) - self.taken))

    def all_submitted(self) -> bool:
        """Say whether every flight of its pages was made."""
        return self.submitted_by >= self.shares.keys()

    def are_pages_there(self, way: Way, num_layers: int) -> bool:
        """Say whether every layer of every page that a rank has of it was seen to land, and nothing more will go."""
        rank, _ = way
        return rank in self.submitted_by and (
            self.landed_layers[way] == num_layers or not len(self.shares[rank].sources)
        )

    def is_index_there(self, way: Way) -> bool:
        """Say whether the index of every page of the request that a rank has was seen to land."""
        rank, _ = way
        share = self.state_shares.get(rank)
        return rank in self.submitted_by and (way in self.landed_index or share is None or not len(share.sources))
