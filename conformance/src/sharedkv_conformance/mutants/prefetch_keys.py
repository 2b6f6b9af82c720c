"""Wrong variants of prefetch: whom a prefix is for, in which order it is given out, and which writes are seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.pool import stored_row_bytes
from sharedkv_conformance.model.prefetch import Batch, Filling, Key, PrefetchModel, View


class _KeyedOtherwise(PrefetchModel):
    """A prefetch that tells batches apart by less than what makes them differ."""

    def consume(self, layer: int, epoch: int, batch: Sequence[ReuseRequest]) -> int:
        self.refuse(layer, batch)
        mine = self.told_by(tuple(batch))
        alike = [key for key in self.fillings if key[:2] == (layer, epoch) and self.told_by(key[2]) == mine]
        return super().consume(layer, epoch, alike[0][2] if alike else batch)

    def told_by(self, batch: Batch) -> object:
        """Choose what a batch is told by."""
        return batch


@mutant(
    "prefetch.batch-told-by-its-tokens",
    kills="RFC-0005:C-SYNCHRONOUS#S2",
    also={"RFC-0005:C-MISSES#S1": "who takes the prefix of another batch misses nothing"},
)
class BatchToldByItsTokens(_KeyedOtherwise):
    """Takes what was prefetched in an epoch for any batch with as many prefix tokens."""

    def told_by(self, batch: Batch) -> object:
        return sum(request.prefix_tokens for request in batch)


@mutant(
    "prefetch.batch-told-by-its-set-of-pages",
    kills="RFC-0005:C-SYNCHRONOUS#S2",
    also={"RFC-0005:C-MISSES#S1": "who takes the prefix of another batch misses nothing"},
)
class BatchToldByItsSetOfPages(_KeyedOtherwise):
    """Takes what was prefetched in an epoch for any batch on the same pages, in whatever order."""

    def told_by(self, batch: Batch) -> object:
        return frozenset(page for request in batch for page in self.pages(request))


@mutant("prefetch.consumed-in-order-of-starts", kills="RFC-0005:C-SYNCHRONOUS#S4")
class ConsumedInOrderOfStarts(PrefetchModel):
    """Refuses to give out what was started before something that was consumed already."""

    def consume(self, layer: int, epoch: int, batch: Sequence[ReuseRequest]) -> int:
        filling = self.fillings.get((layer, epoch, tuple(batch)))
        if filling is not None and filling.number < self.consumed:
            raise Rejected(Reason.LEASE_UNKNOWN, "a later start was consumed")
        self.consumed = max(self.consumed, filling.number if filling is not None else 0)
        return super().consume(layer, epoch, batch)

    consumed = 0


@mutant("prefetch.writes-of-the-first-lanes-seen", kills="RFC-0005:C-ORDER#S2")
class WritesOfTheFirstLanesSeen(PrefetchModel):
    """Makes a prefix again where it was written on any lane but the last."""

    def arrived(self, key: Key, filling: Filling | None) -> View | None:
        if filling is None or filling.view is None or self.is_fresh(filling):
            return super().arrived(key, filling)
        now, size = self.made(key[0], key[2]), self.geometry.page_size
        lanes = [self.geometry.lane(where // size) for where in self.locations(key[2])]
        for buffer, ranks in now.items():
            row = stored_row_bytes(self.pool, buffer)
            for token, lane in enumerate(lanes):
                part = slice(token * row, (token + 1) * row)
                if lane < self.geometry.cp_size - 1 and ranks[0][part] != filling.view[buffer][0][part]:
                    return super().arrived(key, filling)
        return filling.view


@mutant("prefetch.unknown-buffer-is-empty", kills="RFC-0005:C-BUFFERS#S4")
class UnknownBufferIsEmpty(PrefetchModel):
    """Has nothing under a lease of a buffer that it does not know."""

    def under(self, lease: int) -> View:
        return defaultdict(lambda: (b"",) * self.geometry.cp_size, super().under(lease))

    def refuse_buffer(self, buffer: str) -> None:
        del buffer
