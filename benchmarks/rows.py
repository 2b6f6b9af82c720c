"""The benchmark `rows`: rows into a pool and out of it, beside memcpy of as many bytes and plain torch on bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from benchmarks.errors import DisagreementError
from benchmarks.result import Cell, Column, Goal, Result, Table
from benchmarks.settings import Settings
from benchmarks.timing import Operation, Timing, in_turn
from sharedkv.layouts import FP8_ROW_BYTES, LATENT_ROW_BYTES
from sharedkv.memory import zeroed
from sharedkv.rows import gather_rows, write_rows

NAME = "rows"
POOL_ROWS = 65_536
ROWS = 8_192
PAGE_SIZE = 64
SEED = 5
BLOCKS = 30
ROUNDS = 10
MEMCPY, OURS, BYTES = "memcpy", "reference", "torch on bytes"
RUN, PAGES, SINGLES = "one run", "whole pages", "single rows"
# At least these shares of the rate of memcpy, as times: 0.7 and 0.5.
TIME_GOALS = {PAGES: 1 / 0.7, SINGLES: 1 / 0.5}
WRITE, GATHER = "write", "gather"
CALL = "call"
ABOUT = (
    f"{ROWS:,} rows into and out of a pool of {POOL_ROWS:,} rows, on one processor thread: pages of {PAGE_SIZE} rows "
    "in random order, and single rows in random order. memcpy moves as many bytes between one place of the pool and an "
    "array; torch on bytes is `index_copy_` and `index_select` of uint8. What each variant wrote and gathered is "
    "compared first. All checks of the reference are in its time. Each variant has its rows and slots to itself for a "
    "block of calls; the first call of a block finds the caches full of another variant's data."
)

COLUMNS = (
    Column(name="row", unit="B"),
    Column(name="operation"),
    Column(name="slots"),
    Column(name="variant"),
    Column(name="minimum", unit="us"),
    Column(name="median", unit="us"),
    Column(name="first of a block", unit="us"),
    Column(name="rate, median", unit="GB/s"),
    Column(name="time / memcpy, minimum"),
    Column(name="time / memcpy, median"),
)


def measure(settings: Settings) -> Result:
    """Time every variant on both row sizes, after comparing what they do."""
    torch.set_num_threads(1)
    rows: list[tuple[Cell, ...]] = []
    goals: list[Goal] = []
    for row_bytes in (FP8_ROW_BYTES, LATENT_ROW_BYTES):
        settings.progress.step(f"{NAME}: rows of {row_bytes:,} bytes")
        shape = Shape.of(row_bytes)
        for slots in shape.slots.values():
            require_agreement(shape, slots)
        timed = in_turn(shape.operations(), blocks=settings.rounds(BLOCKS), rounds=ROUNDS)
        timings = {name: parts[CALL] for name, parts in timed.items()}
        rows += _table_rows(row_bytes, timings)
        goals += _goals(row_bytes, timings)
    title = f"{settings.rounds(BLOCKS)} blocks of {ROUNDS} calls for each variant in turn"
    return Result(
        name=NAME,
        title="Rows of a pool against memcpy",
        about=ABOUT,
        tables=(Table(title=title, columns=COLUMNS, rows=tuple(rows)),),
        goals=tuple(goals),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Shape:
    """A pool and rows of one size: uint8 (pool rows, row bytes), twice (rows, row bytes), and slots (rows,) by kind."""

    pool: torch.Tensor
    rows: torch.Tensor
    out: torch.Tensor
    slots: Mapping[str, torch.Tensor]

    @classmethod
    def of(cls, row_bytes: int, *, pool_rows: int = POOL_ROWS, num_rows: int = ROWS) -> Shape:
        """Return a pool whose every page is in memory, with random rows and slots; equal arguments, equal bytes."""
        random = np.random.default_rng(SEED)
        pages = random.permutation(pool_rows // PAGE_SIZE)[: num_rows // PAGE_SIZE]
        rows = torch.from_numpy(random.integers(0, 256, (num_rows, row_bytes), dtype=np.uint8))
        slots = {
            PAGES: (pages[:, None] * PAGE_SIZE + np.arange(PAGE_SIZE)).ravel(),
            SINGLES: random.permutation(pool_rows)[:num_rows],
        }
        return cls(
            pool=zeroed((pool_rows, row_bytes), torch.device("cpu")).fill_(1),
            rows=rows,
            out=torch.ones_like(rows),
            slots={kind: torch.from_numpy(at) for kind, at in slots.items()},
        )

    def operations(self) -> dict[str, dict[str, Operation]]:
        """Return what is timed, each a variant of its own: what is written does not drive out what is gathered."""
        place, rows, out = self.pool.numpy()[: len(self.rows)], self.rows.numpy(), self.out.numpy()
        timed: dict[str, Operation] = {
            _name(WRITE, RUN, MEMCPY): lambda: np.copyto(place, rows),
            _name(GATHER, RUN, MEMCPY): lambda: np.copyto(out, place),
        }
        for kind, slots in self.slots.items():
            timed[_name(WRITE, kind, OURS)] = _write(self, slots)
            timed[_name(WRITE, kind, BYTES)] = _write_bytes(self, slots)
            timed[_name(GATHER, kind, OURS)] = _gather(self, slots)
            timed[_name(GATHER, kind, BYTES)] = _gather_bytes(self, slots)
        return {name: {CALL: operation} for name, operation in sorted(timed.items(), reverse=True)}


def _name(operation: str, kind: str, variant: str) -> str:
    return f"{operation}, {kind}, {variant}"


def _write(shape: Shape, slots: torch.Tensor) -> Operation:
    return lambda: write_rows(shape.pool, shape.rows, slots)


def _gather(shape: Shape, slots: torch.Tensor) -> Operation:
    return lambda: gather_rows(shape.pool, slots, shape.out)


def _write_bytes(shape: Shape, slots: torch.Tensor) -> Operation:
    return lambda: shape.pool.index_copy_(0, slots, shape.rows)


def _gather_bytes(shape: Shape, slots: torch.Tensor) -> Operation:
    return lambda: torch.index_select(shape.pool, 0, slots, out=shape.out)


def require_agreement(shape: Shape, slots: torch.Tensor) -> None:
    """Write and gather with each variant from the same start, and raise unless all bytes are equal."""
    found = {}
    for variant, write, gather in (
        (OURS, _write(shape, slots), _gather(shape, slots)),
        (BYTES, _write_bytes(shape, slots), _gather_bytes(shape, slots)),
    ):
        shape.pool.fill_(1)
        shape.out.fill_(1)
        write()
        gather()
        if not torch.equal(shape.out, shape.rows):
            raise DisagreementError(f"rows gathered by {variant}", "the rows that were written", "others")
        found[variant] = shape.pool.clone()
    if not torch.equal(found[OURS], found[BYTES]):
        raise DisagreementError("bytes of the pool", f"those of {BYTES}", "others")


def _table_rows(row_bytes: int, timings: Mapping[str, Timing]) -> Iterator[tuple[Cell, ...]]:
    for name, timing in timings.items():
        operation, kind, variant = name.split(", ")
        memcpy = timings[_name(operation, RUN, MEMCPY)]
        yield (
            row_bytes,
            operation,
            kind,
            variant,
            timing.minimum_us,
            timing.median_us,
            timing.first_of_each(ROUNDS).median_us,
            ROWS * row_bytes / timing.median_us / 1_000,
            timing.minimum_us / memcpy.minimum_us,
            timing.median_us / memcpy.median_us,
        )


def _goals(row_bytes: int, timings: Mapping[str, Timing]) -> Iterator[Goal]:
    for operation in (WRITE, GATHER):
        memcpy = timings[_name(operation, RUN, MEMCPY)]
        for kind, limit in TIME_GOALS.items():
            yield Goal(
                text=f"{operation} {kind} of {row_bytes:,} B: median time / that of memcpy",
                measured=timings[_name(operation, kind, OURS)].median_us / memcpy.median_us,
                limit=limit,
            )
