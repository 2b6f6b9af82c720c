"""Wrong, and odd but right, variants of direct write: which rows are kept, where, and in which bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import (
    FP8_ROW_BYTES,
    INDEX_ROW_BYTES,
    INDEX_VALUES,
    LATENT_VALUES,
    SCALE_TILE,
)
from sharedkv_conformance.contract.probe import PoolBuffer
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.direct_write import DirectWriteModel, Kept
from sharedkv_conformance.model.direct_write_refusals import Write, dealt
from sharedkv_conformance.model.numbers import LARGEST_FP8, bf16_bytes, bf16_values, fp8_code, fp8_table, fp32
from sharedkv_conformance.model.planning_batch import listed
from sharedkv_conformance.model.pool import SMALLEST_SCALE, Pools, quantized

Tokens = Sequence[Sequence[int]]


# -- which rows, and where -------------------------------------------------------------------------------------------


@mutant("direct_write.last-row-dropped", kills="RFC-0003:C-VALID-ROWS#S1")
class LastRowDropped(DirectWriteModel):
    """Leaves the last row of each rank for the next batch."""

    def kept(self, write: Write) -> Iterator[Kept]:
        last = [len(tokens) - 1 for tokens in self.order(write)]
        return (kept for kept in super().kept(write) if kept.row != last[kept.rank] or last[kept.rank] == 0)


@mutant("direct_write.first-request-only", kills="RFC-0003:C-VALID-ROWS#S1")
class FirstRequestOnly(DirectWriteModel):
    """Writes the rows of the first request of a batch and forgets the others."""

    def kept(self, write: Write) -> Iterator[Kept]:
        first = set(write.locations[: write.batch[0].extend_tokens])
        return (kept for kept in super().kept(write) if kept.location in first)


@mutant("direct_write.logical-page-used-raw", kills="RFC-0003:C-VALID-ROWS#S1")
class LogicalPageUsedRaw(DirectWriteModel):
    """Uses the location of the whole pool on the buffer of one rank, as far as that has room."""

    def slot(self, buffer: str, location: int) -> int:
        rows = (1 + self.geometry.lane_pages) * self.geometry.page_size
        return location if location < rows else super().slot(buffer, location)


@mutant("direct_write.page-without-minus-one", kills="RFC-0003:C-VALID-ROWS#S1")
class PageWithoutMinusOne(DirectWriteModel):
    """Writes to physical page l // C: off by one page for the last lane alone."""

    def slot(self, buffer: str, location: int) -> int:
        page, offset = divmod(location, self.geometry.page_size)
        physical = page // self.geometry.cp_size + 1
        return min(physical, self.geometry.lane_pages) * self.geometry.page_size + offset


@mutant("direct_write.dummy-rows-persisted", kills="RFC-0003:C-VALID-ROWS#S2")
class DummyRowsPersisted(DirectWriteModel):
    """Writes dummy and padding rows to the dummy page, as engines do that pad locations with zero."""

    def persist_buffer(self, write: Write, buffer: str, kept: Sequence[Kept]) -> None:
        super().persist_buffer(write, buffer, kept)
        owned = dealt(self.geometry, write.batch)
        for rank, rows in enumerate(write.rows):
            for row in range(len(owned[rank]), min(rows.rows, len(owned[rank]) + self.geometry.page_size)):
                extra = Kept(rank=rank, row=row, location=0)
                self.put(rank, write.layer, buffer, row - len(owned[rank]), self.stored(write, buffer, extra))


@mutant("direct_write.padding-in-spare-slots", kills="RFC-0003:C-VALID-ROWS#S2")
class PaddingInSpareSlots(DirectWriteModel):
    """Fills the slots behind the last token of a tail page with copies of its row."""

    def kept(self, write: Write) -> Iterator[Kept]:
        size = self.geometry.page_size
        own = set(write.locations)
        for kept in super().kept(write):
            yield kept
            if kept.location + 1 not in own and (kept.location + 1) % size:
                spare = range(kept.location + 1, (kept.location // size + 1) * size)
                yield from (Kept(rank=kept.rank, row=kept.row, location=location) for location in spare)


@mutant("direct_write.every-rank-keeps-all", kills="RFC-0003:C-VALID-ROWS#S2")
class EveryRankKeepsAll(DirectWriteModel):
    """Replicates every row on every rank."""

    def put_rows(self, write: Write, buffer: str, kept: Sequence[Kept]) -> None:
        for row in kept:
            slot, stored = self.slot(buffer, row.location), self.stored(write, buffer, row)
            for every in range(self.geometry.cp_size):
                self.put(every, write.layer, buffer, slot, stored)
        super().put_rows(write, buffer, kept)


@mutant("direct_write.next-layer-too", kills="RFC-0003:C-VALID-ROWS#S2")
class NextLayerToo(DirectWriteModel):
    """Writes a layer into the next one as well."""

    def put(self, rank: int, layer: int, buffer: str, slot: int, stored: bytes) -> None:
        super().put(rank, layer, buffer, slot, stored)
        if layer + 1 < self.pool.all_layers:
            super().put(rank, layer + 1, buffer, slot, stored)


@mutant("direct_write.all-prev-then-all-next", kills="RFC-0003:C-VALID-ROWS#S3")
class AllPrevThenAllNext(DirectWriteModel):
    """Takes the early segments of all requests for the first rows, then the late ones, as other engines order them."""

    def order(self, write: Write) -> Tokens:
        ranks: list[list[int]] = [[] for _ in range(self.geometry.cp_size)]
        first = [sum(r.extend_tokens for r in write.batch[:index]) for index in range(len(write.batch))]
        for part in ("prev", "next"):
            for request, segment in listed(self.geometry, write.batch):
                if segment.part == part:
                    ranks[segment.rank] += range(first[request] + segment.start, first[request] + segment.end)
        return ranks


@mutant("direct_write.next-before-prev", kills="RFC-0003:C-VALID-ROWS#S3")
class NextBeforePrev(DirectWriteModel):
    """Takes the late segment of each request before the early one."""

    def order(self, write: Write) -> Tokens:
        ranks: list[list[int]] = [[] for _ in range(self.geometry.cp_size)]
        first = [sum(r.extend_tokens for r in write.batch[:index]) for index in range(len(write.batch))]
        for request, segment in sorted(listed(self.geometry, write.batch), key=lambda item: (item[0], item[1].part)):
            ranks[segment.rank] += range(first[request] + segment.start, first[request] + segment.end)
        return ranks


@mutant("direct_write.padded-to-the-longest", kills="RFC-0003:C-VALID-ROWS#S3")
class PaddedToTheLongest(DirectWriteModel):
    """Looks for the rows of each request at a multiple of the longest request's rows."""

    def kept(self, write: Write) -> Iterator[Kept]:
        for kept, place in zip(super().kept(write), self._padded(write), strict=True):
            rows = write.rows[kept.rank].rows
            yield Kept(rank=kept.rank, row=min(place, rows - 1), location=kept.location)

    def _padded(self, write: Write) -> Iterator[int]:
        first = [sum(r.extend_tokens for r in write.batch[:index]) for index in range(len(write.batch) + 1)]
        for tokens in self.order(write):
            by_request = [[t for t in tokens if first[i] <= t < first[i + 1]] for i in range(len(write.batch))]
            longest = max(map(len, by_request))
            yield from (i * longest + row for i, own in enumerate(by_request) for row in range(len(own)))


# -- in which bytes --------------------------------------------------------------------------------------------------


@mutant("direct_write.scale-rounded-in-batches", kills="RFC-0003:C-VALID-ROWS#S4")
class ScaleRoundedInBatches(DirectWriteModel):
    """Rounds scales up to powers of two where several requests are written at once."""

    def stored(self, write: Write, buffer: str, row: Kept) -> bytes:
        if buffer == "latent" and self.pool.layout == "mla_fp8" and len(write.batch) > 1:
            return _quantized(self.computed(write, buffer, row), _power_of_two)
        return super().stored(write, buffer, row)


@mutant("direct_write.scale-rounded-with-padding", kills="RFC-0003:C-VALID-ROWS#S4")
class ScaleRoundedWithPadding(DirectWriteModel):
    """Takes another quantization kernel where rows come with padding."""

    def stored(self, write: Write, buffer: str, row: Kept) -> bytes:
        if buffer == "latent" and self.pool.layout == "mla_fp8" and write.rows[row.rank].domain != "valid":
            return _quantized(self.computed(write, buffer, row), _power_of_two)
        return super().stored(write, buffer, row)


class _OtherPools(DirectWriteModel):
    """A direct write whose pools are shown in another size."""

    def __init__(self, config: OpenConfig, plane: DataPlane) -> None:
        super().__init__(config, plane)
        shown = plane.pool
        plane.pool = lambda layer: tuple(map(self.resized, shown(layer)))  # type: ignore[method-assign]

    def resized(self, buffer: PoolBuffer) -> PoolBuffer:
        """Return a buffer as this variant has it."""
        return buffer


@mutant("direct_write.no-dummy-page", kills="RFC-0003:C-LAYOUTS#S1")
class NoDummyPage(_OtherPools):
    """Has no room for the dummy page, so that padded writes go to the first page of a request."""

    def resized(self, buffer: PoolBuffer) -> PoolBuffer:
        page = len(buffer.data) // (1 + self.geometry.lane_pages)
        return PoolBuffer(rank=buffer.rank, buffer=buffer.buffer, data=buffer.data[page:])


@mutant("direct_write.row-width-derived-twice", kills="RFC-0003:C-LAYOUTS#S1")
class RowWidthDerivedTwice(_OtherPools):
    """Has pools of 576 bytes a token for rows of 656."""

    def resized(self, buffer: PoolBuffer) -> PoolBuffer:
        if buffer.buffer != "latent" or self.pool.layout != "mla_fp8":
            return buffer
        return PoolBuffer(rank=buffer.rank, buffer=buffer.buffer, data=buffer.data[: len(buffer.data) // 656 * 576])


@mutant("direct_write.values-forgotten", kills="RFC-0003:C-LAYOUTS#S1")
class ValuesForgotten(DirectWriteModel):
    """Counts the keys of a page and not its values."""

    def __init__(self, config: OpenConfig, plane: DataPlane) -> None:
        super().__init__(config, plane)
        shown = plane.pool
        plane.pool = lambda layer: tuple(b for b in shown(layer) if b.buffer != "value")  # type: ignore[method-assign]


@mutant("direct_write.rows-cast", kills="RFC-0003:C-LAYOUTS#S2")
class RowsCast(DirectWriteModel):
    """Casts rows to numbers on their way into the pool, so that what stands for no number changes."""

    def stored(self, write: Write, buffer: str, row: Kept) -> bytes:
        stored = super().stored(write, buffer, row)
        if buffer == "index" or len(stored) == FP8_ROW_BYTES:
            return stored
        return bf16_bytes([abs(value) for value in bf16_values(stored)])


@mutant("direct_write.values-stored-as-keys", kills="RFC-0003:C-LAYOUTS#S2")
class HalfARowStored(DirectWriteModel):
    """Stores the first half of a row twice."""

    def stored(self, write: Write, buffer: str, row: Kept) -> bytes:
        stored = super().stored(write, buffer, row)
        return stored[: len(stored) // 2] * 2 if buffer == "value" else stored


@mutant("direct_write.index-by-token", kills="RFC-0003:C-LAYOUTS#S3")
class IndexByToken(DirectWriteModel):
    """Addresses the index like latents, one row of 132 bytes after another."""

    def put(self, rank: int, layer: int, buffer: str, slot: int, stored: bytes) -> None:
        if buffer != "index":
            super().put(rank, layer, buffer, slot, stored)
            return
        target = self.plane.unordered_pools.buffers[rank, layer, buffer]
        target[slot * INDEX_ROW_BYTES : (slot + 1) * INDEX_ROW_BYTES] = stored


@mutant("direct_write.scales-before-keys", kills="RFC-0003:C-LAYOUTS#S3")
class ScalesBeforeKeys(DirectWriteModel):
    """Puts the scales of a page of the index before its keys."""

    def put(self, rank: int, layer: int, buffer: str, slot: int, stored: bytes) -> None:
        if buffer != "index":
            super().put(rank, layer, buffer, slot, stored)
            return
        target = self.plane.unordered_pools.buffers[rank, layer, buffer]
        page, offset = divmod(slot, self.geometry.page_size)
        start = page * self.geometry.page_size * INDEX_ROW_BYTES
        target[start + 4 * offset : start + 4 * offset + 4] = stored[INDEX_VALUES:]
        keys = start + 4 * self.geometry.page_size + offset * INDEX_VALUES
        target[keys : keys + INDEX_VALUES] = stored[:INDEX_VALUES]


class _OtherQuantization(DirectWriteModel):
    """A direct write with another way to make fp8 of latents."""

    def stored(self, write: Write, buffer: str, row: Kept) -> bytes:
        if buffer != "latent" or self.pool.layout != "mla_fp8":
            return super().stored(write, buffer, row)
        return self.requantized(self.computed(write, buffer, row))

    def requantized(self, row: bytes) -> bytes:
        """Return a row as this variant stores it."""
        return quantized(row)


@mutant("direct_write.zero-tile-is-nan", kills="RFC-0003:C-LAYOUTS#S4")
class ZeroTileIsNan(_OtherQuantization):
    """Divides by a scale of zero where all values of a tile are zero."""

    def requantized(self, row: bytes) -> bytes:
        stored = bytearray(quantized(row))
        for tile in range(LATENT_VALUES // SCALE_TILE):
            if not any(row[2 * tile * SCALE_TILE : 2 * (tile + 1) * SCALE_TILE]):
                stored[tile * SCALE_TILE : (tile + 1) * SCALE_TILE] = b"\x7f" * SCALE_TILE
        return bytes(stored)


@mutant("direct_write.zero-tile-has-no-scale", kills="RFC-0003:C-LAYOUTS#S4")
class ZeroTileHasNoScale(_OtherQuantization):
    """Keeps a scale of zero for a tile of zeros."""

    def requantized(self, row: bytes) -> bytes:
        return _quantized(row, lambda scale: 0.0 if scale == SMALLEST_SCALE else scale)


@mutant("direct_write.one-scale-a-row", kills="RFC-0003:C-LAYOUTS#S5")
class OneScaleARow(_OtherQuantization):
    """Has one scale for all tiles of a row."""

    def requantized(self, row: bytes) -> bytes:
        largest = max(map(abs, bf16_values(row[: 2 * LATENT_VALUES])))
        return _quantized(row, lambda _: max(fp32(largest / LARGEST_FP8), SMALLEST_SCALE))


@mutant("direct_write.tiny-tile-is-zero", kills="RFC-0003:C-LAYOUTS#S5")
class TinyTileIsZero(_OtherQuantization):
    """Takes a tile for one of zeros where its scale would be small."""

    def requantized(self, row: bytes) -> bytes:
        return _quantized(row, lambda scale: max(scale, fp32(1e-9)))


@mutant("direct_write.values-cut-off", kills="RFC-0003:C-LAYOUTS#S5")
class ValuesCutOff(_OtherQuantization):
    """Cuts values to the next smaller fp8 in place of the nearest."""

    def requantized(self, row: bytes) -> bytes:
        stored = bytearray(quantized(row))
        latent, table = bf16_values(row[: 2 * LATENT_VALUES]), fp8_table()
        scales = struct.unpack("<4f", stored[LATENT_VALUES : LATENT_VALUES + 16])
        for value in range(LATENT_VALUES):
            if abs(table[stored[value]] * scales[value // SCALE_TILE]) > abs(latent[value]) and stored[value] & 0x7F:
                stored[value] -= 1
        return bytes(stored)


@mutant("direct_write.scales-of-other-tiles", kills="RFC-0003:C-LAYOUTS#S5")
class ScalesOfOtherTiles(_OtherQuantization):
    """Stores the scales of a row in the reverse order."""

    def requantized(self, row: bytes) -> bytes:
        stored = quantized(row)
        scales = [stored[at : at + 4] for at in range(LATENT_VALUES, LATENT_VALUES + 16, 4)]
        return stored[:LATENT_VALUES] + b"".join(scales[::-1]) + stored[LATENT_VALUES + 16 :]


@mutant("direct_write.rope-rounded", kills="RFC-0003:C-LAYOUTS#S5")
class RopeRounded(_OtherQuantization):
    """Rounds the rope to fp8 on its way."""

    def requantized(self, row: bytes) -> bytes:
        stored, table = quantized(row), fp8_table()
        rope = [table[fp8_code(value)] for value in bf16_values(row[2 * LATENT_VALUES :])]
        return stored[: LATENT_VALUES + 16] + bf16_bytes(rope)


# -- odd but right ---------------------------------------------------------------------------------------------------


@benign("direct_write.scales-are-powers-of-two")
class ScalesArePowersOfTwo(_OtherQuantization):
    """Rounds every scale up to a power of two, as some tensor cores want it."""

    def requantized(self, row: bytes) -> bytes:
        return _quantized(row, _power_of_two)


@benign("direct_write.last-buffer-first")
class LastBufferFirst(DirectWriteModel):
    """Writes the last buffer of a layer first."""

    def buffers(self) -> tuple[str, ...]:
        return super().buffers()[::-1]


@benign("direct_write.pools-of-ones")
class PoolsOfOnes(DirectWriteModel):
    """Finds its pools full of what was there before: memory that nobody has cleared."""

    def __init__(self, config: OpenConfig, plane: DataPlane) -> None:
        super().__init__(config, plane)
        plane.make_pools = _pools_of_ones


def _pools_of_ones(config: OpenConfig) -> Pools:
    pools = Pools(config)
    for data in pools.buffers.values():
        data[:] = b"\xff" * len(data)
    return pools


def _power_of_two(scale: float) -> float:
    power = 2.0**-39
    while power < scale:
        power *= 2
    return power


def _quantized(row: bytes, scale_of: Callable[[float], float]) -> bytes:
    """Return an fp8 row whose scales are those of the model after a function."""
    latent = bf16_values(row[: 2 * LATENT_VALUES])
    model = struct.unpack("<4f", quantized(row)[LATENT_VALUES : LATENT_VALUES + 16])
    codes, scales = bytearray(), []
    for tile, right in enumerate(model):
        scale = fp32(scale_of(right))
        values = latent[tile * SCALE_TILE : (tile + 1) * SCALE_TILE]
        codes += bytes(fp8_code(fp32(value / scale)) if scale else 0 for value in values)
        scales.append(scale)
    return bytes(codes) + struct.pack("<4f", *scales) + row[2 * LATENT_VALUES :]
