"""The benchmark `backup`: a forward's pages backed up layer by layer behind it, or all at the end."""

from __future__ import annotations

import torch

from benchmarks.result import Cell, Column, Goal, Result, Table
from benchmarks.settings import Settings
from gpu.backup_overlap import (
    ALONE,
    BACKED_UP,
    LAYERED,
    PAGE_SIZE,
    RANKS,
    Overlap,
    OverlapScale,
    overlap_of,
)
from sharedkv.host_memory import LAYER_FIRST, PAGE_FIRST_DIRECT
from sharedkv.layouts import MLA_BF16
from sharedkv.thread_streams import ThreadBackend

NAME = "backup"
EXTENDS = (64, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
QUICK_EXTENDS = (64, 4_096)
ORDERS = (LAYER_FIRST, PAGE_FIRST_DIRECT)
LAYERS, DRAFT_LAYERS = 8, 1
VALUES = 256
ROUNDS = 15
KIB = 1_024
MOST_SUBMIT_US = 100
ABOUT = (
    f"One rank of {RANKS} backs up the pages of an extend, of which it owns one in {RANKS}: {LAYERS} layers and "
    f"{DRAFT_LAYERS} of the draft, `{MLA_BF16}`, pages of {PAGE_SIZE} tokens. On the CPU: streams are threads, and a "
    f"layer's computing is a product of the tokens with a matrix of {VALUES} by {VALUES} in fp32 and the write of its "
    "rows. A real model has ten times the layers and hundreds of times the computing, and a GPU copies beside it: "
    "`make gpu` measures the same there. Each variant backs up into host pages of its own, whose bytes are compared "
    "with those of the device, every buffer of every layer, before anything is timed. *Over the forward* is the total "
    "less that of the forward alone; *submit* is what the thread of the forward spends to enqueue one layer, for which "
    "upstream was reported to take 2,400 us."
)

COLUMNS = (
    Column(name="extend", unit="tokens"),
    Column(name="pages of the rank"),
    Column(name="bytes", unit="KiB"),
    Column(name="variant"),
    Column(name="forward done", unit="us"),
    Column(name="backup done", unit="us"),
    Column(name="over the forward", unit="us"),
    Column(name="submit a layer", unit="us"),
    Column(name="first to be done"),
)


def measure(settings: Settings) -> Result:
    """Measure every extend in each order of host memory that is compared."""
    torch.set_num_threads(1)
    tables: list[Table] = []
    goals: list[Goal] = []
    for order in ORDERS:
        scale = OverlapScale(
            layout=MLA_BF16,
            order=order,
            layers=LAYERS,
            draft_layers=DRAFT_LAYERS,
            values=VALUES,
            extends=QUICK_EXTENDS if settings.quick else EXTENDS,
            rounds=settings.rounds(ROUNDS),
        )
        overlaps = _measured(settings, scale)
        title = f"Host memory in the order `{order}`, medians of {scale.rounds} rounds"
        rows = tuple(row for overlap in overlaps for row in table_rows(overlap))
        tables.append(Table(title=title, columns=COLUMNS, rows=rows))
        goals.append(
            Goal(
                text=f"`{order}`: most that an extend takes to submit one layer",
                measured=max(overlap.submit_us_a_layer(LAYERED) for overlap in overlaps),
                limit=MOST_SUBMIT_US,
                unit="us",
            )
        )
    return Result(name=NAME, title="Backup behind a forward", about=ABOUT, tables=tuple(tables), goals=tuple(goals))


def _measured(settings: Settings, scale: OverlapScale) -> list[Overlap]:
    backend = ThreadBackend()
    overlaps = []
    for tokens in scale.extends:
        settings.progress.step(f"{NAME}: {scale.order}, {tokens:,} tokens")
        overlaps.append(overlap_of(scale, tokens, backend, torch.device("cpu")))
    backend.close()
    return overlaps


def table_rows(overlap: Overlap) -> list[tuple[Cell, ...]]:
    """Return the rows of one extend: the forward alone, then both variants."""
    alone = overlap.runs[ALONE]
    head: tuple[Cell, ...] = (overlap.tokens, overlap.pages, overlap.pages * overlap.page_bytes / KIB)
    rows: list[tuple[Cell, ...]] = [(*head, ALONE, alone.forward_us, "", "", "", "")]
    for variant in BACKED_UP:
        run = overlap.runs[variant]
        over, submit = overlap.over_forward_us(variant), overlap.submit_us_a_layer(variant)
        winner = variant if overlap.winner == variant else ""
        rows.append((*head, variant, run.forward_us, run.total_us, over, submit, winner))
    return rows
