"""Which writes may still land, whose they are, and of which nobody can say any more whether they will.

Knows batches by the memory that they move. Does not know senders, nor what any of them says: it hears from the network
what was begun, what landed, failed and was lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.transfer.held_carrier import HeldBatch, Row
from tests.transfer.page_ledger import PageBrokenError, Pool

_AUX_SOURCE = 0

Way = tuple[int, int, int]
"""Request, prefill rank, decode rank."""


@dataclass(eq=False, kw_only=True)
class Write:
    """A batch from its beginning to its end; `since` is when it began, or came into doubt."""

    batch: HeldBatch
    way: Way
    since: float
    is_doubtful: bool = False


class WriteLedger:
    """The writes between the pools of some prefill ranks and of some decode ranks."""

    def __init__(self, sources: Sequence[Pool], pools: Sequence[Pool], deadline: float) -> None:
        self._sources = sources
        self._pools = pools
        self._deadline = deadline
        self._live: dict[int, Write] = {}
        self._doubted: set[Way] = set()

    def begun(self, batch: HeldBatch, serial: int, slot_rank: int, now: float) -> None:
        """Hear of a batch for a request; one that is not for pages goes to a slot of a decode rank.

        `PageBrokenError` for a slot's that begins before all else of its rank has landed there.
        """
        row = batch.rows[0]
        destination = _holder(self._pools, row.destination)
        source = _AUX_SOURCE if destination is None else _holder(self._sources, row.source)
        if source is None:
            raise PageBrokenError(f"a write of request {serial} reads what is no page")
        way = (serial, source, slot_rank if destination is None else destination)
        if destination is None and any(write.way == way for write in self._live.values()):
            raise PageBrokenError(f"metadata of request {serial} is on its way before its pages are there")
        self._live[batch.number] = Write(batch=batch, way=way, since=now)

    def serial(self, batch: HeldBatch) -> int:
        """Return the request of a batch that may land."""
        return self._live[batch.number].way[0]

    def is_late(self, batch: HeldBatch, now: float) -> bool:
        """Say whether its sender has taken a batch for doubtful."""
        write = self._live[batch.number]
        return write.is_doubtful or now >= write.since + self._deadline

    def is_lost_at(self, batch: HeldBatch) -> float:
        """Return when a batch became doubtful, or will."""
        write = self._live[batch.number]
        return write.since if write.is_doubtful else write.since + self._deadline

    def doubtful(self, batch: HeldBatch, now: float) -> None:
        """Hear that a batch has failed, and may land all the same."""
        write = self._live[batch.number]
        write.since, write.is_doubtful = now, True
        self._doubted.add(write.way)

    def ended(self, batch: HeldBatch, *, is_known: bool) -> None:
        """Hear that nothing of a batch lands any more, and whether its sender knows."""
        write = self._live.pop(batch.number)
        if not is_known:
            self._doubted.add(write.way)

    def require_drained(self, serial: int, source: int, destination: int) -> None:
        """Raise `PageBrokenError` where a write of a way may land, or nobody can say that none does."""
        way = (serial, source, destination)
        if way in self._doubted or any(write.way == way for write in self._live.values()):
            raise PageBrokenError(f"rank {source} says that it has drained of request {serial}, and may write")

    def require_unread(self, source: int, page: int) -> None:
        """Raise `PageBrokenError` where a write reads a page of a prefill rank."""
        pool = self._sources[source]
        for row in self._rows():
            if pool.holds(row.source) and page in {read for _, read in pool.places(row.source, row.num_bytes)}:
                raise PageBrokenError(f"page {page} of rank {source} was given away while it is read")

    def require_unwritten(self, address: int, num_bytes: int) -> None:
        """Raise `PageBrokenError` where a write goes to a range of memory."""
        if any(address <= row.destination < address + num_bytes for row in self._rows()):
            raise PageBrokenError("a slot was given away while a write to it is under way")

    def written_pages(self, rank: int) -> set[int]:
        """Return the pages of a decode rank that writes go to."""
        pool = self._pools[rank]
        return {
            page
            for row in self._rows()
            if pool.holds(row.destination)
            for _, page in pool.places(row.destination, row.num_bytes)
        }

    def _rows(self) -> Iterator[Row]:
        for write in self._live.values():
            yield from write.batch.rows


def _holder(pools: Sequence[Pool], address: int) -> int | None:
    return next((rank for rank, pool in enumerate(pools) if pool.holds(address)), None)
