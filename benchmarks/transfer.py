"""The benchmark `transfer`: layers sent while the forward that computes them runs, or all of them behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec

import torch

from benchmarks.result import Cell, Column, Goal, Result, Table
from benchmarks.settings import Settings
from benchmarks.transfer_engines import MEMORY, MOONCAKE, NIXL, NIXL_TCP
from benchmarks.transfer_points import ALONE, ENGINE, MONOLITHIC, OVERLAPPED, Plan, Point, points_of
from benchmarks.transfer_prefill import COMMITTED, FORWARD, HEARD, LANDED
from benchmarks.transfer_shape import LAYOUT, PAGE_SIZE, RANKS, TransferShape
from sharedkv.transfer.ports import AUX, INDEX, KV

NAME = "transfer"
LAYERS = 79
ONE = TransferShape(layers=LAYERS, requests=1, tokens=8_192)
TEN = TransferShape(layers=LAYERS, requests=10, tokens=51_200)
ENGINES = {MEMORY: "", NIXL: "nixl_cu12", NIXL_TCP: "nixl_cu12", MOONCAKE: "mooncake"}
LENGTHS = (0.5, 1.1, 2.0)
AS_LONG = 1.1
GROUPS = (1, 4, 8, 16)
GROUP = 8
GROUPED = OVERLAPPED.format(GROUP)
ROUNDS, TEN_ROUNDS = 20, 3
MOST_ADDED, MOST_TOLD_US, MOST_TIMES_ENGINE, MOST_SUBMITS = 0.1, 20.0, 1 / 0.9, 10
LEAST_LEFT = 1 - (1 - ONE.index_share) * (1 - (LAYERS % GROUP) / LAYERS)
US_PER_MS = 1_000
MB = 1_000_000
BYTES_PER_US_OF_A_GB = 1_000

LENGTH_COLUMNS = (
    Column(name="engine"),
    Column(name="variant"),
    Column(name="forward alone", unit="ms"),
    Column(name="forward", unit="ms"),
    Column(name="decode has heard", unit="ms"),
    Column(name="over the forward alone", unit="ms"),
    Column(name="hidden, kv"),
    Column(name="hidden, all"),
    Column(name="submits of kv a request"),
    Column(name="forward's thread, a layer", unit="us"),
)
FINISH_COLUMNS = (
    Column(name="engine"),
    Column(name="requests"),
    Column(name="variant"),
    *(Column(name=what, unit="ms") for what in ("kv is there", "index", "metadata", "decode has heard", "committed")),
)
RATE_COLUMNS = (
    Column(name="engine"),
    Column(name="requests"),
    Column(name="bytes"),
    Column(name="writes"),
    Column(name="engine alone", unit="ms"),
    Column(name="engine alone", unit="GB/s"),
    Column(name="all at the end, bytes are there", unit="ms"),
    Column(name="decode has heard", unit="ms"),
    Column(name="engine alone / bytes are there"),
    Column(name="engine alone / heard"),
)


def about() -> str:
    """Return what is measured, and what it cannot reach."""
    return (
        f"One prefill rank of {RANKS} sends what it owns to one decode rank: {LAYERS - 1} layers and one of the draft, "
        f"`{LAYOUT.name}` with its index, pages of {PAGE_SIZE} tokens, one request of {ONE.tokens:,} tokens "
        f"({ONE.sent_bytes / MB:,.0f} MB on the rank). Its pages are in random order: each is a write of its own. The "
        "forward is a product of matrices, as long as is wanted, and the rows of each layer, on a thread of its own; "
        "the thread that called it enqueues, tells of ends of layers, and then takes turns, as a scheduler does beside "
        "a GPU. Layers that were told go in groups, from another thread, once they are computed. Decode is another "
        "process, on the loopback address; with the memory engine it is a thread. Variants take turns in one run. "
        "Every byte at decode is compared in every round, with bytes that differ by layer and round. A "
        "forward that is not timed comes before each run, so that all find the caches alike.\n\n"
        "*Over the forward alone* is what decode waits beyond it, the time that a forward was slowed down included. "
        "*Hidden* is the share of what *all at the end* waits that a variant does not: until `kv` is there, and until "
        "decode has heard of everything. Two things cannot hide: the last group, which ends with the forward (7 of 79 "
        "layers in groups of 8, 9% of `kv`), and the index, which goes as one flight behind the last chunk "
        f"({ONE.index_share:.0%} of the bytes). Of everything, groups of 8 hide {1 - LEAST_LEFT:.0%} at best, and the "
        "goal of 90% is that of `kv`. Here the processor cores are few, and who moves the bytes takes them from the "
        "forward.\n\n"
        f"Ten requests of long context in one batch have {TEN.tokens:,} tokens each: of 131,072 tokens they would be "
        f"10 GB on the rank, and the bytes are capped at 4 GB ({TEN.sent_bytes / MB:,.0f} MB)."
    )


def measure(settings: Settings) -> Result:
    """Measure each engine that is installed with one request, and one between processes with ten."""
    torch.set_num_threads(1)

    def step(text: str) -> None:
        settings.progress.step(f"{NAME}: {text}")

    one, ten = plans(settings)
    points = [point for plan in one for point in points_of(plan, step)]
    long = [point for plan in ten for point in points_of(plan, step)]
    return result(points, long, one[0].rounds, ten[0].rounds if ten else 0)


def plans(settings: Settings) -> tuple[list[Plan], list[Plan]]:
    """Return what is measured with one request, and with ten."""
    engines = [MEMORY] if settings.quick else [name for name, package in ENGINES.items() if is_installed(package)]
    one = TransferShape(layers=LAYERS, requests=1, tokens=1_024) if settings.quick else ONE
    lengths = (AS_LONG,) if settings.quick else LENGTHS
    few = [
        Plan(engine=engine, shape=one, groups=GROUPS, lengths=lengths, rounds=settings.rounds(ROUNDS))
        for engine in engines
    ]
    if settings.quick or NIXL not in engines:
        return few, []
    return few, [Plan(engine=NIXL, shape=TEN, groups=(GROUP,), lengths=(AS_LONG,), rounds=TEN_ROUNDS)]


def is_installed(package: str) -> bool:
    """Say whether a package is there; nothing is needed where it is empty."""
    return not package or find_spec(package) is not None


def result(one: Sequence[Point], ten: Sequence[Point], rounds: int, ten_rounds: int) -> Result:
    """Return the tables of both batches."""
    tables = [
        Table(
            title=f"One request, medians of {rounds} rounds",
            columns=LENGTH_COLUMNS,
            rows=tuple(row for point in one for row in length_rows(point)),
        ),
        Table(
            title=f"What comes after the forward, {AS_LONG} times as long as the transfer",
            columns=FINISH_COLUMNS,
            rows=tuple(row for point in (*one, *ten) if point.length == AS_LONG for row in finish_rows(point)),
        ),
        Table(
            title="All at the end beside the engine alone, which makes the same writes and tells nobody",
            columns=RATE_COLUMNS,
            rows=tuple(rate_row(point) for point in (*one, *ten) if point.length == AS_LONG),
        ),
    ]
    if ten:
        rows = tuple(row for point in ten for row in length_rows(point))
        title = f"Ten requests in one batch, medians of {ten_rounds} rounds"
        tables.insert(1, Table(title=title, columns=LENGTH_COLUMNS, rows=rows))
    return Result(
        name=NAME,
        title="Sending behind a forward, and beside it",
        about=about(),
        tables=tuple(tables),
        goals=tuple(goal for point in (*one, *ten) for goal in goals_of(point)),
    )


def length_rows(point: Point) -> Iterator[tuple[Cell, ...]]:
    """Return a row for each variant that sends behind or beside a forward."""
    alone_us = point.runs[ALONE].moments_us[FORWARD]
    for name, run in point.runs.items():
        if name in {ALONE, ENGINE}:
            continue
        times_us = (alone_us, run.moments_us[FORWARD], run.moments_us[HEARD], point.added_us(name))
        submits = run.submits / point.shape.requests
        shares: tuple[Cell, ...] = (point.hidden(name, KV), point.hidden(name), submits, point.told_us(name))
        cells = ("", "", submits, "") if name == MONOLITHIC else shares
        yield (point.name, name, *(each / US_PER_MS for each in times_us), *cells)


def finish_rows(point: Point) -> Iterator[tuple[Cell, ...]]:
    """Return when what was there after the end of the forward of its run."""
    for name in (MONOLITHIC, GROUPED):
        after_us = point.runs[name].after_us
        after_ms = (after_us[moment] / US_PER_MS for moment in (KV, INDEX, AUX, HEARD, COMMITTED))
        yield (point.name, point.shape.requests, name, *after_ms)


def rate_row(point: Point) -> tuple[Cell, ...]:
    """Return the row of one engine."""
    engine_us = point.runs[ENGINE].after_us[LANDED]
    at_end_us = point.runs[MONOLITHIC].after_us
    return (
        point.name,
        point.shape.requests,
        point.shape.sent_bytes,
        point.runs[ENGINE].num_writes,
        engine_us / US_PER_MS,
        point.shape.sent_bytes / engine_us / BYTES_PER_US_OF_A_GB,
        at_end_us[LANDED] / US_PER_MS,
        at_end_us[HEARD] / US_PER_MS,
        engine_us / at_end_us[LANDED],
        engine_us / at_end_us[HEARD],
    )


def goals_of(point: Point) -> Iterator[Goal]:
    """Return what was hoped for of groups of 8, where the forward is as long as the transfer or longer."""
    head = f"{point.name}, {point.shape.requests} of {point.shape.tokens:,} tokens"
    if point.length >= 1:
        for what, moment in (("kv", KV), ("all", HEARD)):
            yield Goal(
                text=f"{head}, forward {point.length} times the transfer: share of {what} that does not hide",
                measured=1 - point.hidden(GROUPED, moment),
                limit=MOST_ADDED,
            )
    if point.length == AS_LONG:
        yield Goal(
            text=f"{head}: forward's thread, a layer", measured=point.told_us(GROUPED), limit=MOST_TOLD_US, unit="us"
        )
        submits = point.runs[GROUPED].submits / point.shape.requests
        yield Goal(text=f"{head}: submits of kv a request", measured=submits, limit=MOST_SUBMITS)
        ratio = point.runs[MONOLITHIC].after_us[LANDED] / point.runs[ENGINE].after_us[LANDED]
        yield Goal(text=f"{head}: time of all at the end / engine alone", measured=ratio, limit=MOST_TIMES_ENGINE)
