"""Wrong variants of dense views: what they hold."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import INDEX_VALUES, LATENT_VALUES, SCALE_TILE, RankRows
from sharedkv_conformance.contract.reuse import Composed
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.numbers import LARGEST_FP8, bf16_values, fp8_code, fp8_table, fp32
from sharedkv_conformance.model.planning_split import page_owners
from sharedkv_conformance.model.pool import SMALLEST_SCALE, buffers_of, stored_row_bytes
from sharedkv_conformance.model.reuse import ReuseModel, Rows, View, byte_sum
from sharedkv_conformance.model.reuse_batch import Place

Slots = list[tuple[int, int]]


@mutant("reuse.bases-of-new-tokens", kills="RFC-0004:C-DENSE-VIEW#S1")
class BasesOfNewTokens(ReuseModel):
    """Counts the new tokens of earlier requests and not their prefixes in the base of a request."""

    def answered(self) -> Composed:
        ends = [0, *accumulate(request.extend_tokens for request in self.batch)]
        return Composed(bases=tuple(ends[:-1]), tokens=reuse_batch.tokens(self.batch))


@mutant("reuse.view-padded-to-pages", kills="RFC-0004:C-DENSE-VIEW#S1")
class ViewPaddedToPages(ReuseModel):
    """Gives the view whole pages, so that rows of zeros follow the last token."""

    def made(self, layer: int, rows: Sequence[RankRows]) -> View:
        view, size = super().made(layer, rows), self.geometry.page_size
        return View(tokens=-(-view.tokens // size) * size, rows=view.rows)


@mutant("reuse.index-one-row-short", kills="RFC-0004:C-DENSE-VIEW#S1")
class IndexOneRowShort(ReuseModel):
    """Leaves the last row out of every buffer but the first."""

    def dense(self, layer: int, epoch: int, buffer: str) -> tuple[bytes, ...]:
        size = stored_row_bytes(self.pool, buffer) if buffer != buffers_of(self.pool)[0] else 0
        return tuple(data[: len(data) - size] for data in super().dense(layer, epoch, buffer))


@mutant("reuse.logical-location-on-a-rank", kills="RFC-0004:C-DENSE-VIEW#S2")
class LogicalLocationOnARank(ReuseModel):
    """Uses the location of the whole pool in the buffer of one rank, and the dummy page where it is beyond."""

    def place(self, location: int) -> tuple[int, int]:
        rank, _ = super().place(location)
        size = self.geometry.page_size
        return rank, location if location < (1 + self.geometry.lane_pages) * size else location % size


@mutant("reuse.physical-page-without-minus-one", kills="RFC-0004:C-DENSE-VIEW#S2")
class PhysicalPageWithoutMinusOne(ReuseModel):
    """Takes the physical page of a logical one as page // cp_size."""

    def place(self, location: int) -> tuple[int, int]:
        rank, _ = super().place(location)
        page, offset = divmod(location, self.geometry.page_size)
        return rank, page // self.geometry.cp_size * self.geometry.page_size + offset


@mutant("reuse.late-rows-missed", kills="RFC-0004:C-DENSE-VIEW#S2")
class LateRowsMissed(ReuseModel):
    """Gathers prefixes without waiting for the rows that were enqueued before."""

    def prefix_parts(self, layer: int, buffer: str) -> list[Rows]:
        parts: list[Rows] = [{} for _ in self.ranks]
        pools = self.plane.unordered_pools
        for position, location in self.prefix_slots():
            rank, physical = pools.place(location)
            parts[rank][position] = pools.read_row(rank, layer, buffer, physical)
        return parts


@mutant("reuse.prefix-summed-twice", kills="RFC-0004:C-DENSE-VIEW#S2")
class PrefixSummedTwice(ReuseModel):
    """Sums prefix rows that are complete once more with the new ones: every byte times the number of ranks."""

    def combined_prefix(self, buffer: str, parts: Sequence[Rows]) -> Sequence[Rows]:
        found = super().combined_prefix(buffer, parts)[0]
        times = dict(found)
        for _ in range(1, len(parts)):
            times = {position: byte_sum(row, found[position]) for position, row in times.items()}
        return [times] * len(parts)


class _Reused(ReuseModel):
    """Keeps what each rank contributed to a buffer last."""

    def __init__(self, config: OpenConfig, plane: DataPlane) -> None:
        super().__init__(config, plane)
        self.left: dict[str, Sequence[Rows]] = {}

    def over_what_is_left(self, buffer: str, parts: Sequence[Rows]) -> list[Rows]:
        """Return the contributions with what is left from last time where a rank contributes nothing."""
        positions = {position for part in parts for position in part}
        old = self.left.get(buffer, [{}] * len(parts))
        left = [{at: row for at, row in rows.items() if at in positions} for rows in old]
        self.left[buffer] = parts
        return [{**was, **part} for was, part in zip(left, parts, strict=True)]


@mutant("reuse.prefix-buffer-not-zeroed", kills="RFC-0004:C-DENSE-VIEW#S2")
class PrefixBufferNotZeroed(_Reused):
    """Sums prefixes in a buffer that still holds those of the last batch, in the rows that a rank does not own."""

    def combined_prefix(self, buffer: str, parts: Sequence[Rows]) -> Sequence[Rows]:
        return super().combined_prefix(buffer, self.over_what_is_left(buffer, parts))


@mutant("reuse.new-row-buffer-not-zeroed", kills="RFC-0004:C-DENSE-VIEW#S3")
class NewRowBufferNotZeroed(_Reused):
    """Sums new rows in a buffer that still holds those of the last batch, in the rows that a rank does not compute."""

    def combined_current(self, buffer: str, parts: Sequence[Rows]) -> Sequence[Rows]:
        return super().combined_current(buffer, self.over_what_is_left(buffer, parts))


@mutant("reuse.global-offsets", kills="RFC-0004:C-DENSE-VIEW#S3")
class GlobalOffsets(ReuseModel):
    """Looks a new row up by its place in the whole batch, as if every rank had computed all of it."""

    def row_of(self, rank: int, row: int, place: Place) -> int:
        firsts = [0, *accumulate(request.extend_tokens for request in self.batch)]
        new = firsts[place[0]] + place[1] - self.batch[place[0]].prefix_tokens
        return new % len(self.places("valid")[rank])


@mutant("reuse.sliced-by-location", kills="RFC-0004:C-DENSE-VIEW#S3")
class SlicedByLocation(ReuseModel):
    """Looks a new row up by the location where it will be written."""

    def row_of(self, rank: int, row: int, place: Place) -> int:
        size, request = self.geometry.page_size, self.batch[place[0]]
        location = request.table[place[1] // size] * size + place[1] % size
        return location % len(self.places("valid")[rank])


@mutant("reuse.dummy-row-shown", kills="RFC-0004:C-DENSE-VIEW#S3")
class DummyRowShown(ReuseModel):
    """Takes the row that a dummy row stands in for one of the first request's."""

    def combined_current(self, buffer: str, parts: Sequence[Rows]) -> Sequence[Rows]:
        found = dict(super().combined_current(buffer, parts)[0])
        if any(None in rows for rows in self.places("compute")):
            last = self.batch[0].prefix_tokens + self.batch[0].extend_tokens - 1
            found[last] = byte_sum(found[last], bytes([0x55]) * len(found[last]))
        return [found] * len(parts)


@mutant("reuse.new-rows-in-scales-of-two", kills="RFC-0004:C-DENSE-VIEW#S3")
class NewRowsInScalesOfTwo(ReuseModel):
    """Quantizes new rows with scales that are powers of two, near enough, and not what the pool will have."""

    def stored(self, buffer: str, row: bytes) -> bytes:
        if buffer != "latent" or self.pool.layout != "mla_fp8":
            return super().stored(buffer, row)
        latent, codes, scales = bf16_values(row[: 2 * LATENT_VALUES]), bytearray(), []
        for start in range(0, LATENT_VALUES, SCALE_TILE):
            tile = latent[start : start + SCALE_TILE]
            scale, wanted = 2.0**-20, max(max(map(abs, tile)) / LARGEST_FP8, SMALLEST_SCALE)
            while scale < wanted:
                scale *= 2
            codes += bytes(fp8_code(fp32(value / scale)) for value in tile)
            scales.append(scale)
        return bytes(codes) + struct.pack(f"<{len(scales)}f", *scales) + row[2 * LATENT_VALUES :]


@mutant("reuse.rank-major-view", kills="RFC-0004:C-DENSE-VIEW#S4")
class RankMajorView(ReuseModel):
    """Takes what came from rank 0, then rank 1, and so on, for the order of tokens."""

    def prefix_slots(self) -> Slots:
        slots = super().prefix_slots()
        by_rank = sorted((location for _, location in slots), key=lambda location: self.place(location)[0])
        return [(position, location) for (position, _), location in zip(slots, by_rank, strict=True)]


@mutant("reuse.prefix-of-one-extent", kills="RFC-0004:C-DENSE-VIEW#S4")
class PrefixOfOneExtent(ReuseModel):
    """Puts the pages of each rank where they would stand if one extend had allocated the whole prefix."""

    def prefix_slots(self) -> Slots:
        return [slot for request in range(len(self.batch)) for slot in self.of_request(request)]

    def of_request(self, request: int) -> Slots:
        """Return the slots of one request: page after page from the lane that the split of a fresh extend names."""
        size, base = self.geometry.page_size, reuse_batch.bases(self.batch)[request]
        left = list(reuse_batch.prefix_pages(self.geometry, self.batch[request]))
        pages = []
        for lane in page_owners(self.geometry, self.batch[request].prefix_tokens):
            page = next((page for page in left if self.geometry.lane(page) == lane), left[0])
            left.remove(page)
            pages.append(page)
        return [(base + at, page * size + at % size) for index, page in enumerate(pages) for at in _page(index, size)]


def _page(index: int, size: int) -> range:
    return range(index * size, (index + 1) * size)


@mutant("reuse.stale-tail-shown", kills="RFC-0004:C-DENSE-VIEW#S5")
class StaleTailShown(ReuseModel):
    """Gathers tables as wide as they are, so that stale pages lie over the tokens of the next request."""

    def made_buffer(self, layer: int, buffer: str, rows: Sequence[RankRows]) -> list[Rows]:
        made = super().made_buffer(layer, buffer, rows)
        size = self.geometry.page_size
        for base, request in zip(reuse_batch.bases(self.batch), self.batch, strict=True):
            first = base + size * len(reuse_batch.own_pages(self.geometry, request))
            for index, page in enumerate(reuse_batch.stale_pages(self.geometry, request)):
                for offset in range(size):
                    stale = self.plane.pools.read(layer, buffer, page * size + offset)
                    at = first + index * size + offset
                    if at < reuse_batch.tokens(self.batch) and any(stale):
                        made = [{**found, at: stale} for found in made]
        return made


@mutant("reuse.index-keys-as-numbers", kills="RFC-0004:C-DENSE-VIEW#S6")
class IndexKeysAsNumbers(ReuseModel):
    """Copies new index keys into the view by their values, which are cut to whole bytes."""

    def stored(self, buffer: str, row: bytes) -> bytes:
        if buffer != "index":
            return super().stored(buffer, row)
        table = fp8_table()
        return bytes(int(table[code]) & 0xFF for code in row[:INDEX_VALUES]) + row[INDEX_VALUES:]


@mutant("reuse.new-rows-of-the-own-rank", kills="RFC-0004:C-DENSE-VIEW#S7")
class NewRowsOfTheOwnRank(ReuseModel):
    """Fills in the new rows of the own rank and leaves those of others at zero."""

    def combined_current(self, buffer: str, parts: Sequence[Rows]) -> Sequence[Rows]:
        return parts


@mutant("reuse.prefix-of-the-own-rank", kills="RFC-0004:C-DENSE-VIEW#S7")
class PrefixOfTheOwnRank(ReuseModel):
    """Gathers the pages of the own rank and leaves those of others at zero."""

    def combined_prefix(self, buffer: str, parts: Sequence[Rows]) -> Sequence[Rows]:
        return parts
