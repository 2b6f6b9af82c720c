"""Wrong, and odd but right, variants of prefetch; each a few lines with one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.pool import buffers_of, stored_row_bytes
from sharedkv_conformance.model.prefetch import Batch, Filling, Key, PrefetchModel, View

# -- what is under a lease -------------------------------------------------------------------------------------------


@mutant("prefetch.off-is-a-miss", kills="RFC-0005:C-SYNCHRONOUS#S1")
class OffIsAMiss(PrefetchModel):
    """Reports a missing prefetcher as a fallback."""

    def tell_miss(self, layer: int) -> None:
        if layer > 0:
            self.tell("prefetch_miss", layer)


@mutant("prefetch.pages-sorted", kills="RFC-0005:C-SYNCHRONOUS#S2")
class PagesSorted(PrefetchModel):
    """Gathers pages in the order of their numbers."""

    def pages(self, request: ReuseRequest) -> Sequence[int]:
        return sorted(super().pages(request))


@mutant("prefetch.pages-by-lane", kills="RFC-0005:C-SYNCHRONOUS#S2")
class PagesByLane(PrefetchModel):
    """Leaves the pages as ranks send them: all of the first rank, then all of the next."""

    def pages(self, request: ReuseRequest) -> Sequence[int]:
        return sorted(super().pages(request), key=self.geometry.lane)


@mutant("prefetch.requests-reversed", kills="RFC-0005:C-SYNCHRONOUS#S2")
class RequestsReversed(PrefetchModel):
    """Puts the prefix of the last request first."""

    def locations(self, batch: Batch) -> Iterator[int]:
        return super().locations(batch[::-1])


@mutant("prefetch.own-rows-only", kills="RFC-0005:C-SYNCHRONOUS#S2")
class OwnRowsOnly(PrefetchModel):
    """Has on each rank the rows of that rank, and zeros for all others."""

    def copies(self, layer: int, buffer: str, locations: Sequence[int]) -> tuple[bytes, ...]:
        none = bytes(stored_row_bytes(self.pool, buffer))
        lanes = [self.geometry.lane(where // self.geometry.page_size) for where in locations]
        return tuple(
            b"".join(
                self.row(layer, buffer, where) if lane == rank else none
                for lane, where in zip(lanes, locations, strict=True)
            )
            for rank in range(self.geometry.cp_size)
        )


@mutant("prefetch.stale-table-entries", kills="RFC-0005:C-SYNCHRONOUS#S2")
class StaleTableEntries(PrefetchModel):
    """Gathers a page more than the prefix has, from whatever the table holds there."""

    def pages(self, request: ReuseRequest) -> Sequence[int]:
        return request.table[: len(super().pages(request)) + 1]


@mutant("prefetch.last-page-not-copied", kills="RFC-0005:C-SYNCHRONOUS#S3")
class LastPageNotCopied(PrefetchModel):
    """Leaves the last row out of what it copies ahead."""

    def made_ahead(self, layer: int, batch: Batch) -> View:
        view = super().made_ahead(layer, batch)
        return {
            buffer: tuple(
                data[: -stored_row_bytes(self.pool, buffer)]
                + bytes(min(len(data), stored_row_bytes(self.pool, buffer)))
                for data in ranks
            )
            for buffer, ranks in view.items()
        }


@mutant("prefetch.side-buffer-not-copied", kills="RFC-0005:C-SYNCHRONOUS#S3")
class SideBufferNotCopied(PrefetchModel):
    """Copies latents or keys ahead and leaves the buffer beside them empty."""

    def made_ahead(self, layer: int, batch: Batch) -> View:
        view, last = super().made_ahead(layer, batch), buffers_of(self.pool)[-1]
        return {**view, last: tuple(bytes(len(data)) for data in view[last])}


@mutant("prefetch.layer-before", kills="RFC-0005:C-SYNCHRONOUS#S3")
class LayerBefore(PrefetchModel):
    """Copies the layer ahead that computes now."""

    def made_ahead(self, layer: int, batch: Batch) -> View:
        return self.made(max(0, layer - 1), batch)


class _Lenient(PrefetchModel):
    """A prefetch that does not mind some faults: it leaves out what is not there."""

    ignored: frozenset[Reason] = frozenset()

    def reasons(self, layer: int, batch: Sequence[ReuseRequest]) -> frozenset[Reason]:
        return super().reasons(layer, batch) - self.ignored

    def row(self, layer: int, buffer: str, location: int) -> bytes:
        if layer in range(self.pool.all_layers) and self.geometry.holds(location // self.geometry.page_size):
            return super().row(layer, buffer, location)
        return bytes(stored_row_bytes(self.pool, buffer))


@mutant("prefetch.short-table", kills="RFC-0005:C-SYNCHRONOUS#S4")
class ShortTable(_Lenient):
    """Makes a prefix of as many pages as the table has."""

    ignored = frozenset({Reason.TABLE_TOO_SHORT})


@mutant("prefetch.unknown-layer", kills="RFC-0005:C-SYNCHRONOUS#S4")
class UnknownLayer(_Lenient):
    """Makes an empty prefix of a layer that is not there."""

    ignored = frozenset({Reason.LAYER_OUTSIDE_POOL})


@mutant("prefetch.page-outside", kills="RFC-0005:C-SYNCHRONOUS#S4")
class PageOutside(_Lenient):
    """Takes zeros for a page that is not of the pool."""

    ignored = frozenset({Reason.PAGE_OUTSIDE_POOL})


@mutant("prefetch.unaligned-prefix", kills="RFC-0005:C-SYNCHRONOUS#S4")
class UnalignedPrefix(_Lenient):
    """Rounds a prefix down to whole pages."""

    ignored = frozenset({Reason.PREFIX_NOT_PAGE_ALIGNED, Reason.PREFIX_NEGATIVE})


# -- what is told ----------------------------------------------------------------------------------------------------


@mutant("prefetch.miss-not-told", kills="RFC-0005:C-MISSES#S1")
class MissNotTold(PrefetchModel):
    """Makes what was not prefetched and says nothing."""

    def tell_miss(self, layer: int) -> None:
        del layer


@mutant("prefetch.loss-not-told", kills="RFC-0005:C-MISSES#S1")
class LossNotTold(PrefetchModel):
    """Makes what was lost again and says nothing."""

    def arrived(self, key: Key, filling: Filling | None) -> View | None:
        if filling is not None and filling.is_lost:
            return self.made(key[0], key[2])
        return super().arrived(key, filling)


@mutant("prefetch.first-layer-warns", kills="RFC-0005:C-MISSES#S2")
class FirstLayerWarns(PrefetchModel):
    """Tells a miss of the first layer in every step."""

    def tell_miss(self, layer: int) -> None:
        if self.config.prefetch:
            self.tell("prefetch_miss", layer)


@mutant("prefetch.skip-not-told", kills="RFC-0005:C-MISSES#S3")
class SkipNotTold(PrefetchModel):
    """Skips batches of several requests and says nothing."""

    def tell_skip(self, layer: int) -> None:
        del layer


@mutant("prefetch.skip-of-another-layer", kills="RFC-0005:C-MISSES#S3")
class SkipOfAnotherLayer(PrefetchModel):
    """Tells a skip of the layer that computes now."""

    def tell_skip(self, layer: int) -> None:
        super().tell_skip(layer - 1)


@mutant("prefetch.always-a-miss", kills="RFC-0005:C-MISSES#S4")
class AlwaysAMiss(PrefetchModel):
    """Looks for what was prefetched under another key than it was put."""

    def arrived(self, key: Key, filling: Filling | None) -> View | None:
        return None


@mutant("prefetch.lost-is-empty", kills="RFC-0005:C-MISSES#S5")
class LostIsEmpty(PrefetchModel):
    """Gives out a buffer that was never filled, and says that it was missed."""

    def arrived(self, key: Key, filling: Filling | None) -> View | None:
        if filling is not None and filling.is_lost:
            self.tell_miss(key[0])
            return {
                buffer: tuple(bytes(len(data)) for data in ranks) for buffer, ranks in self.made(key[0], key[2]).items()
            }
        return super().arrived(key, filling)


# -- order and buffers -----------------------------------------------------------------------------------------------


@mutant(
    "prefetch.copies-without-waiting",
    kills="RFC-0005:C-ORDER#S1",
    also={"RFC-0005:C-ORDER#S2": "what waits for no write does not wait for those since the start either"},
)
class CopiesWithoutWaiting(PrefetchModel):
    """Copies what is in the pools by now."""

    def row(self, layer: int, buffer: str, location: int) -> bytes:
        return self.plane.unordered_pools.read(layer, buffer, location)


@mutant("prefetch.started-is-done", kills="RFC-0005:C-ORDER#S2")
class StartedIsDone(PrefetchModel):
    """Gives out what it copied, whatever was written since."""

    def is_fresh(self, filling: Filling) -> bool:
        return True


@mutant("prefetch.one-buffer", kills="RFC-0005:C-BUFFERS#S1")
class OneBuffer(PrefetchModel):
    """Has one buffer, and fills it anew for whoever asks."""

    def lease(self, key: Key, view: View) -> int:
        lease = super().lease(key, view)
        self.leases = {name: (held, self._cut(view, shown)) for name, (held, shown) in self.leases.items()}
        return lease

    def _cut(self, view: View, shown: View) -> View:
        return {
            buffer: tuple((new + old[len(new) :])[: len(old)] for new, old in zip(view[buffer], ranks, strict=True))
            for buffer, ranks in shown.items()
        }


@mutant("prefetch.lease-on-the-pools", kills="RFC-0005:C-BUFFERS#S1")
class LeaseOnThePools(PrefetchModel):
    """Reads the pools whenever a lease is read."""

    def under(self, lease: int) -> View:
        key = self.leases[lease][0]
        return self.made(key[0], key[2])


@mutant("prefetch.fillings-not-counted", kills="RFC-0005:C-BUFFERS#S2")
class FillingsNotCounted(PrefetchModel):
    """Counts the buffers that are leased, and not those that are being filled."""

    def live(self) -> Iterator[Key]:
        return (key for key, _ in self.leases.values())


@mutant("prefetch.leases-not-counted", kills="RFC-0005:C-BUFFERS#S2")
class LeasesNotCounted(PrefetchModel):
    """Counts a buffer no more once it is given out."""

    def live(self) -> Iterator[Key]:
        return iter(self.fillings)


@mutant("prefetch.one-rank-counted", kills="RFC-0005:C-BUFFERS#S2")
class OneRankCounted(PrefetchModel):
    """Counts the buffers of its own rank."""

    def buffer_bytes(self, key: Key) -> int:
        return super().buffer_bytes(key) // self.geometry.cp_size


@mutant("prefetch.released-still-counted", kills="RFC-0005:C-BUFFERS#S3")
class ReleasedStillCounted(PrefetchModel):
    """Keeps buffers on the books after their release."""

    kept = 0

    def release(self, lease: int) -> None:
        if lease in self.leases:
            self.kept += self.buffer_bytes(self.leases[lease][0])
        super().release(lease)

    def live_bytes(self) -> int:
        return super().live_bytes() + self.kept


@mutant("prefetch.released-twice", kills="RFC-0005:C-BUFFERS#S4")
class ReleasedTwice(PrefetchModel):
    """Has nothing against giving up what is not held."""

    def release(self, lease: int) -> None:
        self.leases.pop(lease, None)


@mutant("prefetch.released-is-readable", kills="RFC-0005:C-BUFFERS#S4")
class ReleasedIsReadable(PrefetchModel):
    """Lets a buffer be read after its release, with whatever is in it."""

    last: View | None = None

    def lease(self, key: Key, view: View) -> int:
        self.last = view
        return super().lease(key, view)

    def read(self, lease: int, buffer: str) -> tuple[bytes, ...]:
        if lease not in self.leases and self.last is not None and buffer in self.last:
            return self.last[buffer]
        return super().read(lease, buffer)


# -- odd but right ---------------------------------------------------------------------------------------------------


@benign("prefetch.batches-too")
class BatchesToo(PrefetchModel):
    """Prefetches batches of several requests as well."""

    def is_skipped(self, layer: int, batch: Batch) -> bool:
        return False


@benign("prefetch.two-buffers")
class TwoBuffers(PrefetchModel):
    """Has two buffers, and skips a start while both are in use."""

    def is_skipped(self, layer: int, batch: Batch) -> bool:
        return super().is_skipped(layer, batch) or len(self.fillings) + len(self.leases) > 1


@benign("prefetch.copies-at-the-end")
class CopiesAtTheEnd(PrefetchModel):
    """Copies when a reader waits, and not before."""

    def filling(self, layer: int, batch: Batch) -> Filling:
        return replace(super().filling(layer, batch), view=None)


@benign("prefetch.buffers-in-powers-of-two")
class BuffersInPowersOfTwo(PrefetchModel):
    """Has buffers of the next power of two bytes, and counts them as they are."""

    def buffer_bytes(self, key: Key) -> int:
        size = super().buffer_bytes(key)
        return 1 << (size - 1).bit_length() if size else 0
