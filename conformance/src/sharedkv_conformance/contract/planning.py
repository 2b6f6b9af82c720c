"""Planning: the page-aligned in-sequence split of one request over the CP ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A run of new tokens that one rank computes; a rank has one `prev` and one `next` segment, either may be empty.

    `start` and `end` are token positions relative to the extend, half open. `kv_tokens` is the number of tokens
    that the segment's last row may see: the prefix and everything up to `end`.
    """

    rank: int
    part: str
    start: int
    end: int
    kv_tokens: int


@dataclass(frozen=True, kw_only=True)
class RequestSplit:
    """The split of one request.

    `owners` has one rank for each new page, in page order. `segments` are in rank order, `prev` before `next`,
    two a rank. `last_rank` computes the request's last token, in its local row `last_row`: rows of the rank's
    `prev` segment come first, then those of its `next` segment.
    """

    owners: tuple[int, ...]
    segments: tuple[Segment, ...]
    last_rank: int
    last_row: int


class Planning(Protocol):
    """A pure function of lengths and geometry."""

    def split(self, prefix_tokens: int, extend_tokens: int) -> RequestSplit:
        """Split one request, or raise `Rejected` when no page-aligned split exists."""
