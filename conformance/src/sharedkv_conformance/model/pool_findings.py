"""How the pools of a layer differ from what they have to hold, sorted by kind, so that each law speaks of its own.

For each row that was written since the last look: it is there, or it is *missing* (the old bytes still stand), or
*disordered* (another row of the same rank stands there), or *malformed* (neither). What changed and was not written is
*stray*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.contract.probe import PoolBuffer
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.latent_rows import latent_fault
from sharedkv_conformance.model.pool import buffers_of, row_spans


@dataclass(frozen=True, kw_only=True)
class Due:
    """A row that has to be in the pool of a rank: what was computed, by buffer."""

    rank: int
    rows: Mapping[str, bytes]


@dataclass(frozen=True, kw_only=True)
class WrongRow:
    """A row that is not what was written: `kind` is `missing`, `disordered`, `unclear` (either) or `malformed`."""

    kind: str
    rank: int
    buffer: str
    location: int
    computed: bytes
    found: bytes

    def __str__(self) -> str:
        where = f"rank {self.rank}, {self.buffer}, location {self.location}"
        return f"{where}: expected {self.computed[:8].hex()}..., found {self.found[:8].hex()}... ({self.kind})"


@dataclass(frozen=True, kw_only=True)
class Stray:
    """The first byte of a buffer that changed though no row was written there."""

    rank: int
    buffer: str
    byte: int
    page: int

    def __str__(self) -> str:
        return f"rank {self.rank}, {self.buffer}: byte {self.byte}, in physical page {self.page}, changed"


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All differences of one layer; `shape` is a text where the buffers themselves are not those of the layout."""

    shape: str = ""
    wrong: tuple[WrongRow, ...] = ()
    strays: tuple[Stray, ...] = ()
    written: int = 0

    def rows(self, kind: str) -> tuple[WrongRow, ...]:
        """Return the wrong rows of a kind."""
        return tuple(row for row in self.wrong if row.kind == kind)

    @property
    def misplaced_index(self) -> bool:
        """Say whether index rows, and they alone, are torn or stand elsewhere."""
        differing = {row.buffer for row in self.wrong} | {stray.buffer for stray in self.strays}
        torn = self.rows("malformed") or (self.strays and self.wrong)
        return differing == {"index"} and bool(torn)


class Known(Protocol):
    """What findings are made from."""

    pool: PoolConfig
    geometry: Geometry
    seen: dict[int, Mapping[tuple[int, str], bytes]]
    due: dict[int, dict[int, Due]]
    given: dict[tuple[int, int, str], set[bytes]]
    torn: set[tuple[int, str]]

    def slot(self, location: int) -> tuple[int, int]:
        """Return the lane and the physical token slot of a logical location."""

    def cut(self, data: bytes, buffer: str, slot: int) -> bytes:
        """Return a stored row out of the bytes of its buffer."""

    def buffer_bytes(self, buffer: str) -> int:
        """Return the size of a buffer of one layer of one rank."""


def findings(known: Known, layer: int, shown: Sequence[PoolBuffer]) -> Findings:
    """Compare what a layer shows with what was seen before and written since."""
    if shape := misshapen(known, shown):
        return Findings(shape=shape)
    wrong: list[WrongRow] = []
    strays: list[Stray] = []
    due = known.due.get(layer, {})
    for buffer in shown:
        before = known.seen.get(layer, {}).get((buffer.rank, buffer.buffer))
        expected = bytearray(buffer.data if before is None else before)
        mine = [(location, row) for location, row in due.items() if row.rank == buffer.rank]
        wrong += _wrong_rows(known, layer, buffer, before, mine, expected)
        if expected != buffer.data:
            strays.append(_stray(known, buffer, expected))
    return Findings(wrong=tuple(wrong), strays=tuple(strays), written=len(due))


def _wrong_rows(
    known: Known,
    layer: int,
    buffer: PoolBuffer,
    before: bytes | None,
    mine: Sequence[tuple[int, Due]],
    expected: bytearray,
) -> Iterator[WrongRow]:
    """Yield the wrong rows of a buffer, and take over what stands in the place of every row."""
    for location, due in mine:
        _, slot = known.slot(location)
        found, computed = known.cut(buffer.data, buffer.buffer, slot), due.rows[buffer.buffer]
        if not is_stored(known.pool, buffer.buffer, computed, found):
            tells = before is not None and (layer, buffer.buffer) not in known.torn
            old = known.cut(before or b"", buffer.buffer, slot) if tells else None
            others = known.given.get((layer, buffer.rank, buffer.buffer), set())
            yield WrongRow(
                kind=_kind(known.pool, buffer.buffer, found, old, others),
                rank=buffer.rank,
                buffer=buffer.buffer,
                location=location,
                computed=computed,
                found=found,
            )
        at = 0
        for start, length in row_spans(known.pool, known.geometry.page_size, buffer.buffer, slot):
            expected[start : start + length] = found[at : at + length]
            at += length


def is_stored(pool: PoolConfig, buffer: str, computed: bytes, found: bytes) -> bool:
    """Say whether stored bytes are those of a computed row, in whatever of the forms that are allowed."""
    if buffer == "latent" and pool.layout == "mla_fp8":
        return not latent_fault(computed, found)
    return computed == found


def _kind(pool: PoolConfig, buffer: str, found: bytes, old: bytes | None, others: set[bytes]) -> str:
    is_another = any(is_stored(pool, buffer, other, found) for other in others)
    if found == old:
        return "unclear" if is_another else "missing"
    return "disordered" if is_another else "malformed"


def _stray(known: Known, buffer: PoolBuffer, expected: bytearray) -> Stray:
    byte = next(at for at, (a, b) in enumerate(zip(buffer.data, expected, strict=True)) if a != b)
    page = byte // (len(buffer.data) // (1 + known.geometry.lane_pages))
    return Stray(rank=buffer.rank, buffer=buffer.buffer, byte=byte, page=page)


def misshapen(known: Known, shown: Sequence[PoolBuffer]) -> str:
    """Say how the buffers that a layer shows differ in number or size from those of the layout."""
    wanted = [(rank, buffer) for rank in range(known.geometry.cp_size) for buffer in buffers_of(known.pool)]
    if (found := sorted((buffer.rank, buffer.buffer) for buffer in shown)) != sorted(wanted):
        return f"buffers by rank {found}, expected {sorted(wanted)}"
    for buffer in shown:
        if len(buffer.data) != (size := known.buffer_bytes(buffer.buffer)):
            return f"rank {buffer.rank}, {buffer.buffer}: {len(buffer.data)} bytes, expected {size}"
    return ""
