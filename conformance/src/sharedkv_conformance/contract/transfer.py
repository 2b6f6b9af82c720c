"""Transfer: pages of all prefill ranks reach the pages that decode set aside for them, and decode knows when all did.

A request has one page at each *position*, from 0 on. Its pages lie on the lanes of prefill ranks; decode has one page
for each position, in one pool. A *chunk* is a range of positions that one forward made; chunks of a request are sent
in order, and the last one may be empty. A *room* is one request's transfer, as decode sees it; its number may be used
again once it is closed, under another *epoch*.

    request    position     0    1    2    3    4    5
    lanes      C = 2        0    1    1    0    0    1        page 2 l + lane + 1
    chunk 0                 [    0 .. 3   [
    chunk 1                                     [ 4, 5 ]      rank 0 sends position 4, rank 1 position 5
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class PageRange:
    """Positions [start, end) of the pages that one chunk sends."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class RankPages:
    """What one rank sends of a chunk, in the order of positions.

    `sources` are physical pages of the rank's pool, `positions` absolute in the request, `destinations` the pages that
    decode has at these positions. A rank that has no page of the chunk has empty lists.
    """

    rank: int
    sources: tuple[int, ...]
    positions: tuple[int, ...]
    destinations: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class LayerBuffers:
    """Where one buffer of one layer begins on both sides, in bytes, and how many bytes a page of it takes."""

    source: int
    destination: int
    source_page_bytes: int
    destination_page_bytes: int


@dataclass(frozen=True, kw_only=True)
class Block:
    """One write of consecutive bytes; `buffer` is the index of the buffer that was given."""

    buffer: int
    source: int
    destination: int
    length: int


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """What both sides have to have in common: names and values, each name once, in the order of names.

    The names are `protocol`, `page_size`, `layout`, `layers`, `draft_layers`, `page_bytes` (of each buffer of a layer),
    `cp_size`, `lane_rule` and `split`; there may be others.
    """

    fields: tuple[tuple[str, str], ...]


class Transfer(Protocol):
    """Both sides of one session: which bytes go where, and what has arrived. A call that raises changes nothing."""

    def chunk(self, sent_tokens: int, end_tokens: int, is_last: bool) -> PageRange:  # noqa: FBT001 - as it crosses
        """Return what a chunk sends when `sent_tokens` were sent and the forward has reached `end_tokens`.

        A page that is not full waits for a later chunk, unless this is the last. `Rejected`: tokens sent that do not
        end a page (`prefix_not_page_aligned`), or lie behind `end_tokens` or below 0 (`chunk_backwards`).
        """

    def deal(
        self,
        pages: Sequence[int],
        first_position: int,
        destinations: Sequence[int],
        is_last: bool,  # noqa: FBT001
    ) -> tuple[RankPages, ...]:
        """Deal the logical pages of a chunk to the ranks that hold them, one item a rank.

        `destinations` has the page of decode at each position of the request. `Rejected`: a chunk that ends behind
        them, or a last chunk that does not end with them (`page_counts_differ`); a first position below 0
        (`position_outside_request`); a page outside the pool (`page_outside_pool`) or named twice (`page_named_twice`).
        """

    def blocks(
        self, sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[LayerBuffers]
    ) -> tuple[Block, ...]:
        """Return the writes that move pages, buffer after buffer, in the order of the pages.

        Pages that follow one another on both sides are one write, and no others are. `Rejected`: lists of different
        length (`page_counts_differ`), a buffer whose pages differ in bytes (`page_bytes_differ`), a page below 0
        (`page_outside_pool`).
        """

    def fingerprint(self) -> Fingerprint:
        """Return what the other side has to have."""

    def shake_hands(self, peer: Fingerprint) -> None:
        """Accept a peer before anything is sent. `Rejected` (`fingerprint_differs`) unless every field is the same."""

    def open_room(self, room: int, sources: Sequence[int], parts: Sequence[str]) -> int:
        """Wait for parts of one request from prefill ranks, and return the room's epoch.

        `parts` are `kv`, `index`, `aux` or others. `Rejected`: a room that is open (`room_in_use`), no source or no
        part, or one named twice (`room_invalid`).
        """

    def arrived(self, room: int, epoch: int, source: int, part: str, chunk: int, is_last: bool) -> None:  # noqa: FBT001
        """Hear that one chunk of one part of one source has arrived; chunks count from 0, in any order.

        What is not waited for is ignored: another room or epoch, a source or part that was not named, a chunk that has
        arrived already, lies behind the last or below 0, a last one before a chunk that has arrived, a second last one,
        anything once the room has succeeded or failed.
        """

    def failed(self, room: int, epoch: int, source: int) -> None:
        """Hear that a source gave up; ignored like `arrived`, and after success."""

    def status(self, room: int) -> str:
        """Return `waiting` (nothing has arrived), `transferring`, `success` or `failed`.

        Success is every chunk of every part of every source, the last ones among them; a source that fails before
        fails the room for good. `Rejected` (`room_unknown`) for one that is not open.
        """

    def close_room(self, room: int) -> None:
        """Forget a room that has succeeded or failed.

        `Rejected`: not open (`room_unknown`), not ended (`room_in_use`).
        """
