"""Probes: optional features that make inner state observable. Each is named `probe.<method>` and claimed alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Event:
    """A choice of path that the implementation reports.

    Kinds: `rejected` (a batch was refused; `reason` is the rejection's), `legacy_allocation` (a batch went
    through paged allocation without lanes) and `fallback` (a path was left; `reason` says why). Of the data plane, with
    the `layer`: `written` (rows of the buffer `reason` are enqueued), `layer_end` (every buffer of the layer is),
    `materialized` (prefix pages of the buffer `reason` were gathered). Reasons of `fallback` from prefetch:
    `prefetch_skip`, `prefetch_miss`. Of copies: `backup_submitted`, `load_submitted` (one set of descriptors of the
    `layer` is enqueued; `reason` is `target` or `draft`). Of overlap: `boundary` (a device event was recorded at the
    end of the `layer`), and `fallback` with the reason `overlap_declined`.
    """

    kind: str
    reason: str
    layer: int = -1


@dataclass(frozen=True, kw_only=True)
class PageSets:
    """The logical pages of each lane by state; order within a lane means nothing."""

    free: tuple[tuple[int, ...], ...]
    evictable: tuple[tuple[int, ...], ...]
    in_use: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class PoolBuffer:
    """The bytes of one buffer of one layer on one rank: physical pages from the dummy on, as they are stored."""

    rank: int
    buffer: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Span:
    """Tokens [start, end) of a dense view."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Collective:
    """One collective among the ranks: its `kind` (`all_reduce`, `all_gather`, ...), what for, and what it carried."""

    kind: str
    layer: int
    buffer: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True)
class TreeNode:
    """One node of the prefix tree of `host_tier`.

    `node` is its number, unique; `parent` the number of the node above, -1 below the root. `tokens` are its own.
    `pages` are its device pages, none where it is not resident; `host_lanes` and `host_pages` say where its host pages
    are, none where it has none; `device_counts` and `host_counts` are the counts a lane that are kept of them. `locks`
    counts the locks that cover it, `readers` the loads, saves and fetches that use its host pages; `backup_pending` and
    `load_pending` say that one was not acknowledged. `hits` counts inserts, `last_tick` orders by recency.
    """

    node: int
    parent: int
    tokens: tuple[int, ...]
    pages: tuple[int, ...]
    host_lanes: tuple[int, ...]
    host_pages: tuple[int, ...]
    device_counts: tuple[int, ...]
    host_counts: tuple[int, ...]
    locks: int
    readers: int
    backup_pending: bool
    load_pending: bool
    hits: int
    last_tick: int


@dataclass(frozen=True, kw_only=True)
class CopyInFlight:
    """A copy that was not acknowledged: `kind` is `backup`, `load` or `save`; `sources` are those not finished."""

    copy: int
    kind: str
    sources: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class HostBuffer:
    """The host pages of one lane for one buffer of one layer: page after page, each as its device page is stored."""

    lane: int
    buffer: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class StoredObject:
    """One object of the storage tier: the key and part of its page, the lane kept with it, and who wrote it."""

    key: str
    part: str
    lane: int
    writer: int


@dataclass(frozen=True, kw_only=True)
class Flight:
    """Writes of one rank to one decode rank that have not settled.

    `part` is `kv`, `index` or `aux`, `layers` those that it carries, ascending (none of `aux`), `pages` the pages of
    decode in the order of positions (none of `aux`). It is `is_in_doubt` once it has failed, or was given up, and its
    bytes may still land.
    """

    flight: int
    room: int
    epoch: int
    source: int
    destination: int
    part: str
    layers: tuple[int, ...]
    pages: tuple[int, ...]
    is_in_doubt: bool


@dataclass(frozen=True, kw_only=True)
class ControlMessage:
    """One message between a prefill rank (`source`) and a decode rank (`destination`); see `sending` for the kinds.

    `part`, `chunk` and `is_last` are those of an `arrived`, elsewhere empty, 0 and false. Chunks of `kv` count from 0
    in a room; `index` and `aux` are one chunk each.
    """

    message: int
    kind: str
    room: int
    epoch: int
    source: int
    destination: int
    part: str
    chunk: int
    is_last: bool


class Probe(Protocol):
    """Views of inner state. A probe never changes what it shows."""

    def cost(self) -> int:
        """Return how many elements of allocator state the last call of the facet read or wrote.

        An element is an entry of the implementation's own bookkeeping: a list entry, a run, a tree node, a
        bitmap word. What was merely copied into the answer does not count. After a call of `eviction` it is an entry of
        the `owners` of a node, counted each time that it is read. After a call of `host_tier` it is an entry of the
        bookkeeping of host pages.
        """

    def events(self) -> tuple[Event, ...]:
        """Return every event since the session was opened, oldest first."""

    def pages(self) -> PageSets:
        """Return the state of every page."""

    def pool(self, layer: int) -> tuple[PoolBuffer, ...]:
        """Return every buffer of a layer, rank by rank, as whoever is ordered after every write sees it."""

    def collectives(self) -> tuple[Collective, ...]:
        """Return every collective since the session was opened, oldest first."""

    def inject(self, fault: str) -> None:
        """Bring about a fault or a disorder, from now on.

        `late_writes`: rows that `direct_write.write` enqueues reach the pool only when something that is ordered after
        them runs. `late_copies`: a prefetch fills its buffer only when a reader waits for it. `prefetch_lost`: the next
        prefetch that is started never finishes. `no_kernels`: the fast kernels are not there. `late_backups`: rows
        reach the host only when something that is ordered after the copy runs (its acknowledgement, a load or a save of
        the host page). `late_loads`: rows of a layer reach the device only when somebody waits for them.
        `worker_crash`: the next job that a worker of the sender picks up (a chunk or a group of layers of one rank)
        raises an exception that nobody expects; once.
        """

    def tree(self) -> tuple[TreeNode, ...]:
        """Return every node, in any order."""

    def host_pool(self, layer: int) -> tuple[HostBuffer, ...]:
        """Return the host pages of a layer, lane by lane, as whoever is ordered after every copy sees them."""

    def copies(self) -> tuple[CopyInFlight, ...]:
        """Return every copy that was not acknowledged, in the order of submission."""

    def hold(self) -> None:
        """Let no copy and no fetch that is submitted from now on finish before `finish` or `arrive` says so.

        What is held is that the host hears of it: device work keeps its order, and readers get their rows.
        """

    def finish(self, copy: int, source: str, rank: int) -> None:
        """Let one source of a held copy (`target`, `draft`) finish on one rank, on all ranks where it is -1.

        Nothing changes where it is finished already; a source that the copy does not have, and a rank that is none, is
        `copy_unknown`. Of a held fetch the source `query`, on all ranks, makes known what is planned. `Rejected`
        (`copy_unknown`) where there is none.
        """

    def arrive(self, fetch: int, part: str, pages: int) -> None:
        """Let so many more pages of one part of a held fetch arrive. `Rejected` (`fetch_unknown`) like `finish`."""

    def advance(self, ticks: int) -> None:
        """Let the clock of the session go on, tick by tick.

        At each tick what is due happens in this order: flights past their deadline are given up, chunks past theirs
        fail their rooms, rooms past the patience of decode fail, quarantines and pins of flights in doubt end.
        """

    def objects(self) -> tuple[StoredObject, ...]:
        """Return every object that the session's store holds whole and as it was written, in any order."""

    def spoil(self, key: str, part: str, how: str) -> None:
        """Spoil one object of the store: it is `lost`, `truncated`, `flipped` (one bit), or `foreign` (another's).

        `Rejected` (`object_unknown`) where there is none of this key and part.
        """

    def stall(self, what: str) -> None:
        """Let nothing go on by itself from now on: `workers`, `writes` or `messages`; another word is `fault_unknown`.

        Workers pick no job up; flights that are submitted stay in flight; messages stay on the way.
        """

    def resume(self, what: str) -> None:
        """Let go on what was stalled, and all that waits for it, oldest first; flights in doubt stay as they are."""

    def flights(self) -> tuple[Flight, ...]:
        """Return the flights that have not settled, oldest first; a number is never used twice."""

    def land(self, flight: int) -> None:
        """Let all bytes of a flight land, and the sender learn it; of one in doubt the bytes only, and it stays so.

        `Rejected` (`flight_unknown`) where there is none.
        """

    def fail(self, flight: int, pages: int, is_definite: bool) -> None:  # noqa: FBT001 - as it crosses
        """Let the first `pages` of a flight land and the rest fail; unless definite, it is in doubt from then on.

        A flight of `aux` lands nothing. `Rejected` (`flight_unknown`) for one in doubt too.
        """

    def messages(self) -> tuple[ControlMessage, ...]:
        """Return the messages on the way, oldest first; a number is never used twice."""

    def deliver(self, message: int) -> None:
        """Deliver a message, also one that was delivered before. `Rejected` (`message_unknown`) where there is none."""

    def garble(self, message: int, how: str) -> None:
        """Deliver a spoiled copy of a message: `empty`, `truncated` or `noise`. It stays where it is."""

    def scribble(self, rank: int, slot: int, room: int, epoch: int, data: bytes) -> None:
        """Let metadata of a room and an epoch land in a slot of a decode rank. `Rejected` (`slot_unknown`)."""

    def decode_pool(self, rank: int, layer: int) -> tuple[PoolBuffer, ...]:
        """Return every buffer of a layer of one decode rank: its pages from the dummy on, as they are stored.

        `Rejected`: a layer outside the pool (`layer_outside_pool`), a rank that there is not (`room_invalid`).
        """
