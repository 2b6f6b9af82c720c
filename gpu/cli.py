"""The command line: tests first, then timings, then the record of both.

Knows the order and what an exit status means. Torch and Triton are imported late: whether Triton interprets is decided
by the environment at its import, and a machine without them deserves a sentence.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDED = ("torch", "triton", "numpy", "pytest", "hypothesis", "sharedkv")
EXIT_TESTS_FAILED = 1
EXIT_NOTHING_RUN = 3

DESCRIPTION = "Test and time the kernels of SharedKV on this machine's GPU, and write evidence/gpu/<gpu>.json."
EPILOG = f"""\
examples:
  make gpu                                  test, time, and write evidence/gpu
  make gpu GPU_PYTHON=python3.12            with another Python
  python -m gpu --dry-run --output /tmp/x   see that it works, without a GPU
  python -m gpu --dry-run -- -k emission    some of the tests

exit: 0 tests passed and the record is written (a missed goal is a result), {EXIT_TESTS_FAILED} a test failed and
nothing is written, {EXIT_NOTHING_RUN} nothing was run: no GPU, or a package is missing"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; return the exit status."""
    options = _parser().parse_args(arguments)
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        _tell(f"nothing was run: this Python lacks {', '.join(missing)}; name another: make gpu GPU_PYTHON=python3.12")
        return EXIT_NOTHING_RUN
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "HYPOTHESIS_NO_PLUGINS": "1"}
    if options.dry_run:
        os.environ["TRITON_INTERPRET"] = "1"
    elif not _has_gpu():
        _tell("nothing was run: torch sees no CUDA device (`--dry-run` goes through all of it on the CPU)")
        return EXIT_NOTHING_RUN
    return _run(dry_run=options.dry_run, folder=options.output, pytest_options=options.pytest_options)


def _run(*, dry_run: bool, folder: Path, pytest_options: Sequence[str]) -> int:
    from gpu.backups import backups, line  # noqa: PLC0415 - see above
    from gpu.record import record_of, write  # noqa: PLC0415
    from gpu.testing import tested  # noqa: PLC0415
    from gpu.timing import CpuClock, CudaClock  # noqa: PLC0415
    from gpu.workloads import Scale, workloads  # noqa: PLC0415

    tests = tested(ROOT, pytest_options)
    if not tests.is_good:
        _tell(f"tests: {tests}; no record is written")
        return EXIT_TESTS_FAILED
    clock = CpuClock() if dry_run else CudaClock()
    timings = []
    for workload in workloads(Scale.tiny() if dry_run else Scale.full(), clock.device):
        timings.append(clock.timing(workload()))
        _tell(str(timings[-1]))
    found = []
    for backup in backups(clock.device, tiny=dry_run):
        found.append(backup)
        _tell(line(backup))
    file = write(record_of(tests=tests, timings=timings, backups=found, dry_run=dry_run), folder)
    _tell(f"wrote {file}")
    return 0


def _has_gpu() -> bool:
    import torch  # noqa: PLC0415 - see above

    return torch.cuda.is_available()


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m gpu", description=DESCRIPTION, epilog=EPILOG, formatter_class=form)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="on the CPU, kernels in Triton's interpreter, tiny shapes: proves the program and times nothing real",
    )
    parser.add_argument("--output", type=Path, default=ROOT / "evidence" / "gpu", help="folder of the record")
    parser.add_argument("pytest_options", nargs="*", help="options for pytest, after --")
    return parser
