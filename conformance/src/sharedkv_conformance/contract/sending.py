"""Sending: requests whose pages prefill ranks write into pages that decode set aside, and what becomes of both.

A session plays all prefill ranks (they are the *sources*, as many as `cp_size`) and all decode ranks, each with a pool
and metadata slots of its own. Decode *reserves* a room; every prefill rank hears of it; prefill *sends* chunks; decode
hears what has arrived, *commits* the first token and *closes* the room.

    decode    reserve ──opened──────────────┐                    ┌─> status: success ──> commit ──> close_room
    prefill                                 └─> send, send, last ┘arrived
    engine                                       flights: kv … index, then aux

What moves is cut into *flights*. A chunk is one flight of part `kv` for each rank that has a page of it and each
destination: all buffers but `index` of all layers (of target and draft). With `overlap`, it is one a group of layers
instead. The last chunk adds one flight of part `index`, where the layout has that buffer: `index` of all layers, for
the pages of the whole request; and, from rank 0 alone, one of part `aux`, submitted once everything else that this rank
sends to this destination has landed. A rank without pages has no flight and arrives all the same.

Unless a probe says otherwise everything that can happen has happened when a call returns: jobs are picked up, flights
land, messages are delivered. Flights read the pool when they land, ordered after all that was enqueued for these rows
before they were submitted: writes (`direct_write.write`) and loads (`copies`).

Control messages have a `kind`: `opened` (decode to prefill: room, epoch, destinations), `arrived` (a chunk of a part
has landed), `failed` (prefill gave up), `abort` (decode gave up), `drained` (nothing of the room goes on to land).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class DecodePlace:
    """What one decode rank set aside for a room: a page for each position, and the slot of its metadata."""

    rank: int
    pages: tuple[int, ...]
    slot: int


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """A room that was reserved: its epoch, and one place for each decode rank, in the order that was asked for."""

    epoch: int
    places: tuple[DecodePlace, ...]


@dataclass(frozen=True, kw_only=True)
class DecodeStatistics:
    """The pages and slots of one decode rank.

    `reserved` pages belong to rooms that are open, `quarantined` ones to rooms that were closed and into which bytes
    may still land. `free_slots` counts slots that the next room may have.
    """

    rank: int
    free: int
    reserved: int
    quarantined: int
    free_slots: int


@dataclass(frozen=True, kw_only=True)
class SendReport:
    """What prefill sent of a room, over all ranks and destinations.

    `bytes` counts those of flights that completed, `pages` the pages of their part `kv` (each layer of which completed)
    once a destination. `submitted` and `completed` count flights. `ticks` lie between the first submission and the last
    completion; 0 where one of them is missing. `reason` is empty, or why the room failed: `aborted` (prefill gave up),
    `peer` (decode did), `engine`, `worker`, `deadline`.
    """

    bytes: int
    pages: int
    submitted: int
    completed: int
    ticks: int
    reason: str


class Sending(Protocol):
    """Further calls of `transfer`. Feature `transfer.requests`; a call that raises changes nothing.

    Rooms of `reserve` and of `open_room` share their numbers. `Transfer.status` and `Transfer.close_room` know both:
    `status` of a reserved room is `success` once all parts of all prefill ranks have arrived at every destination,
    and each slot names the room and the epoch; a slot that names others by then makes it `failed`.
    """

    def reserve(self, room: int, num_pages: int, ranks: Sequence[int]) -> Reservation:
        """Set aside pages and a cleared slot on each of some decode ranks, and tell every prefill rank.

        `Rejected`: a room that is open (`room_in_use`); no page, no rank, a rank twice or one that there is not
        (`room_invalid`). `CapacityWait`: a rank is short; one count for each of `ranks`, in pages, or in slots where
        no page is missing. An epoch is never used twice, and grows.
        """

    def send(
        self,
        room: int,
        pages: Sequence[int],
        first_position: int,
        is_last: bool,  # noqa: FBT001 - as it crosses
        state: Sequence[int],
        aux: bytes,
    ) -> None:
        """Send one chunk from all prefill ranks to all destinations of a room.

        `pages` are logical; they are *pinned* until nothing of the chunk is queued, in flight or in doubt: what is
        asked of `allocation` for a pinned page (`release`, `retain`, eviction) happens when it is not pinned any more,
        and until then it is in use. `state` has on the last chunk the logical pages of all positions where the layout
        has an index, and is empty otherwise; they are pinned alike. `aux` is what decode gets at `commit`; only that of
        the last chunk is sent.

        A room that has failed is sent nothing: the call returns, no page is read. `Rejected`: no prefill room
        (`room_unknown`), or not every destination heard of (`room_not_ready`); a chunk that does not begin where the
        last one ended, or follows the last (`chunk_backwards`); one that ends behind the reserved pages, a last one
        that does not end with them, `state` of another length (`page_counts_differ`); `page_outside_pool`,
        `page_named_twice`; a page of either list that is free (`page_not_allocated`); more than `aux_bytes`
        (`aux_too_long`); another range or other pages than the `overlap` context of this chunk has (`context_differs`).
        """

    def send_status(self, room: int) -> str:
        """Return how far prefill is, the least of its ranks; `Rejected` (`room_unknown`) where no rank has the room.

        In ascending order: `failed`, `bootstrapping` (not every destination was heard of), `waiting` (nothing was sent
        nor registered), `transferring`, `success` (the last chunk was sent and every flight has completed). A room that
        has ended stays as it is. It is known until `forget`, or until a later epoch of it is heard of after its end.
        """

    def forget(self, room: int) -> None:
        """Have all prefill ranks forget a room that has ended; what is in flight stays in flight, and pinned.

        `Rejected`: no rank has the room (`room_unknown`), not ended (`room_in_use`).
        """

    def report(self, room: int) -> SendReport:
        """Return what was sent, also of a room that failed; `Rejected` (`room_unknown`) like `send_status`."""

    def commit(self, room: int) -> tuple[bytes, ...]:
        """Return the `aux` of each place, by copy, and give the slots back.

        `Rejected`: `room_unknown`; a room that has not succeeded, or was committed (`room_not_ready`).
        """

    def decode_pools(self) -> tuple[DecodeStatistics, ...]:
        """Count pages and slots of each decode rank."""
