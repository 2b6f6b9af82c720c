"""The command line: choose benchmarks, run them, print tables, keep results.

The one place that knows files, streams and the date.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from benchmarks import (
    allocation,
    backup,
    eviction,
    growth,
    host_pool,
    planning,
    rows,
    storage,
    suite,
    transfer,
    tree,
    wire,
)
from benchmarks.errors import BenchmarkError
from benchmarks.machine import this_machine
from benchmarks.page import page
from benchmarks.progress import Progress
from benchmarks.record import Record, read_json, render_json
from benchmarks.settings import Benchmark, Settings
from benchmarks.show import draw, plain

BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {
        allocation.NAME: allocation.measure,
        growth.NAME: growth.measure,
        eviction.NAME: eviction.measure,
        host_pool.NAME: host_pool.measure,
        planning.NAME: planning.measure,
        rows.NAME: rows.measure,
        backup.NAME: backup.measure,
        storage.NAME: storage.measure,
        transfer.NAME: transfer.measure,
        tree.NAME: tree.measure,
        suite.NAME: suite.measure,
        wire.NAME: wire.measure,
    }
)
ROOT = Path(__file__).resolve().parents[1]
EVIDENCE = Path("evidence", "bench")
PAGE = Path("docs", "benchmarks.md")

EPILOG = """\
examples:
  python -m benchmarks                      run all and print tables
  python -m benchmarks allocation --quick   see that it works
  python -m benchmarks --write              run all, keep results, write the page
  python -m benchmarks --page               write the page from what is kept

exit: 0 measured (a missed goal is a result), 1 a benchmark is worthless, 2 usage"""


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run the benchmarks that are named, all without a name, and return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.write and options.quick:
        parser.error("quick results are not kept: --write needs full ones")
    if options.page and (options.names or options.write or options.quick or options.json):
        parser.error("--page runs nothing: it takes no name and no other option")
    try:
        if not options.page:
            _run(options, root)
        if options.page or options.write:
            _write(root / PAGE, page(kept_records(root)))
    except BenchmarkError as error:
        sys.stderr.write(f"benchmarks: {error}\n")
        return 1
    return 0


def kept_records(root: Path) -> list[Record]:
    """Return the records that are kept as evidence, in the order of the benchmarks."""
    files = [(name, root / EVIDENCE / f"{name}.json") for name in BENCHMARKS]
    return [read_json(f"{name}.json", file.read_text(encoding="utf-8")) for name, file in files if file.exists()]


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m benchmarks",
        description="Measure what things cost, side by side, and say on which machine.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*BENCHMARKS, []], help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="few rounds and small shapes; not for quoting")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the results, a JSON document a line")
    parser.add_argument("--write", action="store_true", help=f"keep results in {EVIDENCE.as_posix()}, write the page")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.as_posix()} from kept results, run nothing")
    return parser


def _run(options: Namespace, root: Path) -> None:
    """Run the chosen benchmarks one after another; what is finished is kept, whatever comes after."""
    console = Console() if sys.stdout.isatty() else None
    lines: list[str] = []
    for name in options.names or BENCHMARKS:
        record = _measured(name, quick=options.quick, root=root)
        _print(record, console)
        lines.append(render_json(record, indent=None))
        if options.write:
            _write(root / EVIDENCE / f"{name}.json", render_json(record))
    if options.json is not None:
        _write(options.json, "".join(lines))


def _measured(name: str, *, quick: bool, root: Path) -> Record:
    progress = Progress(sys.stderr)
    machine = this_machine()
    result = BENCHMARKS[name](Settings(quick=quick, root=root, progress=progress))
    progress.done()
    return Record(
        result=result,
        machine=machine,
        command=f"python -m benchmarks {name}{' --quick' if quick else ''}",
        date=datetime.now(tz=UTC).date().isoformat(),
        quick=quick,
    )


def _print(record: Record, console: Console | None) -> None:
    if console is not None:
        draw(record, console)
    else:
        sys.stdout.write("\n".join([*plain(record), "", ""]))
        sys.stdout.flush()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
