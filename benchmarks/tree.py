"""The benchmark `tree`: `govctl check` on generated trees and on this repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.programs import ProcessTimes, timed
from benchmarks.result import Cell, Column, Goal, Result, Table
from benchmarks.settings import Settings
from benchmarks.trees import CHECKS_A_FILE, CLAUSES_AN_RFC, num_statements, rfc_ids, write_tree

NAME = "tree"
SIZES = (100, 1_000, 10_000)
QUICK_SIZES = (100, 1_000)
RUNS = 5
GOAL_S = {10_000: 1.2}
OWN_GOAL_S = 0.4
ABOUT = (
    f"`govctl check`, whole process, default dependencies, warm page cache. Generated trees have {CLAUSES_AN_RFC} "
    "clauses an RFC, about one kilobyte and eight references each, three statements for two clauses, one check a "
    "clause, a lock of all statements, and no finding."
)

COLUMNS = (
    Column(name="tree"),
    Column(name="clauses"),
    Column(name="statements"),
    Column(name="check files"),
    Column(name="minimum", unit="s"),
    Column(name="median", unit="s"),
    Column(name="processor, median", unit="s"),
)


def measure(settings: Settings) -> Result:
    """Time the whole process on each tree; a generated tree has to be clean."""
    runs = 3 if settings.quick else RUNS
    rows: list[tuple[Cell, ...]] = []
    goals: list[Goal] = []
    for num_clauses in QUICK_SIZES if settings.quick else SIZES:
        settings.progress.step(f"{NAME}: {num_clauses:,} clauses")
        times = _generated(num_clauses, runs)
        statements = sum(map(num_statements, range(num_clauses)))
        shape = (num_clauses, statements, -(-num_clauses // CHECKS_A_FILE))
        rows.append(("generated", *shape, times.minimum, times.median, times.median_processor))
        goals += _goals(f"{num_clauses:,} clauses", times, GOAL_S.get(num_clauses))
    settings.progress.step(f"{NAME}: this repository")
    # What is found in a tree that is being worked on is not this benchmark's business.
    own = timed("govctl", "check", folder=settings.root, runs=runs, expected=(0, 1))
    rows.append(("this repository", *_own_shape(settings.root), own.minimum, own.median, own.median_processor))
    goals += _goals("this repository", own, OWN_GOAL_S)
    return Result(
        name=NAME,
        title="Checking a tree of specifications",
        about=ABOUT,
        tables=(Table(title=f"{runs} runs each", columns=COLUMNS, rows=tuple(rows)),),
        goals=tuple(goals),
    )


def _generated(num_clauses: int, runs: int) -> ProcessTimes:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write_tree(root, num_clauses)
        timed("govctl", "lock", "--new", folder=root)
        timed("govctl", "lock", *(f"--seal={rfc}" for rfc in rfc_ids(num_clauses)), folder=root)
        return timed("govctl", "check", "--fail-on", "note", folder=root, runs=runs)


def _own_shape(root: Path) -> tuple[Cell, ...]:
    lock = (root / "gov" / "statements.lock").read_text(encoding="utf-8")
    return (
        len(list(root.glob("gov/clauses/*/*.toml"))),
        sum("#S" in line for line in lock.splitlines()),
        len(list(root.glob("conformance/src/sharedkv_conformance/suite/test_*.py"))),
    )


def _goals(what: str, times: ProcessTimes, limit: float | None) -> Iterator[Goal]:
    if limit is not None:
        yield Goal(text=f"`govctl check` of {what}", measured=times.median, limit=limit, unit="s")
