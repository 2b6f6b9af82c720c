"""The benchmark `wire`: what a call costs over the wire, one at a time and in pipelined batches.

The program at the other end is this suite's own, on the descriptors that programs get: what is timed is both ends,
two processes and the pipes between them.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import closing

from benchmarks.result import Cell, Column, Goal, Result, Table
from benchmarks.settings import Settings
from benchmarks.timing import in_turn
from sharedkv_conformance.contract import OpenConfig
from sharedkv_conformance.wire.client import Budgets, Connection, Request
from sharedkv_conformance.wire.implementation import WireImplementation
from sharedkv_conformance.wire.names import wire_implementation

NAME = "wire"
IMPLEMENTATION = "sharedkv_adapter:cpu"
BATCH = 100
BLOCKS = 5
ROUNDS = 40
GOAL_US = 20.0
CONFIG = OpenConfig(cp_size=4, page_size=16, pages=256)
CALLS: Mapping[str, Mapping[str, int]] = {
    "probe.cost": {},
    "allocation.lanes": {},
    "planning.split": {"prefix_tokens": 64, "extend_tokens": 200},
}
COLUMNS = (
    Column(name="call"),
    Column(name=f"in a pipelined batch of {BATCH}", unit="us"),
    Column(name="one at a time", unit="us"),
    Column(name="ratio"),
)
ABOUT = (
    f"`{IMPLEMENTATION}` behind `kvconform serve`, in a process of its own on two pipes. A batch is {BATCH} requests "
    "before the first answer is awaited, answered one by one; the time of a call is the batch's divided by its calls, "
    "both ends and the reference's own work included. One at a time, each call waits for its answer: most of it is "
    "waking two processes."
)


def measure(settings: Settings) -> Result:
    """Time each call both ways."""
    command = shlex.join([sys.executable, "-m", "sharedkv_conformance", "serve", "--impl", IMPLEMENTATION])
    reached = wire_implementation(f"cmd:{command}", folder=settings.root, budgets=Budgets())
    rows: list[tuple[Cell, ...]] = []
    best: dict[str, float] = {}
    with closing(reached):
        for op in CALLS:
            settings.progress.step(f"{NAME}: {op}")
            batched, single = _times(reached, op, settings)
            best[op] = batched
            rows.append((f"`{op}`", batched, single, single / batched))
    return Result(
        name=NAME,
        title="The wire",
        about=ABOUT,
        tables=(Table(title="Median time of a call", columns=COLUMNS, rows=tuple(rows)),),
        goals=(
            Goal(
                text=f"`allocation.lanes` in a pipelined batch of {BATCH}",
                measured=best["allocation.lanes"],
                limit=GOAL_US,
                unit="us",
            ),
        ),
    )


def _times(reached: WireImplementation, op: str, settings: Settings) -> tuple[float, float]:
    """Return the microseconds of one call in a batch, and of one that is waited for."""
    connection = reached.connection()
    session = reached.open(CONFIG)
    request = Request(op=op, args=CALLS[op], session=session.number)
    taken = in_turn(
        {"batch": {"calls": _batch(connection, request)}, "single": {"calls": _single(connection, request)}},
        blocks=1 if settings.quick else BLOCKS,
        rounds=settings.rounds(ROUNDS),
    )
    session.close()
    return taken["batch"]["calls"].median_us / BATCH, taken["single"]["calls"].median_us


def _batch(connection: Connection, request: Request) -> Callable[[], None]:
    def call() -> None:
        for number in connection.post([request] * BATCH):
            connection.result(number)

    return call


def _single(connection: Connection, request: Request) -> Callable[[], None]:
    def call() -> None:
        (number,) = connection.post([request])
        connection.result(number)

    return call
