"""No process is left behind, however a run ends."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

from sharedkv_conformance.wire.channels import Closed
from sharedkv_conformance.wire.process import Program
from tests.wire.programs import command, is_running, process_id, rogue

PARENT = "import subprocess, sys, time; print(subprocess.Popen(['sleep', '1000']).pid, flush=True); time.sleep(1000)"


def test_a_closed_program_is_asked_to_end_and_does() -> None:
    with rogue("right") as implementation:
        implementation.describe()
        process = process_id(implementation)
        peer = implementation.connection().peer
        assert isinstance(peer, Program)
        implementation.close()

    assert peer._process.returncode == 0
    assert not is_running(process)


def test_a_forgotten_program_is_ended() -> None:
    with rogue("right") as implementation:
        process = process_id(implementation)
        implementation._connection = None
        gc.collect()

        assert not is_running(process)


def test_what_a_program_started_ends_with_it() -> None:
    program = Program([sys.executable, "-c", PARENT], folder=Path(), environment=os.environ)
    stdout = program._drains[1]
    while not stdout.tail().endswith(b"\n"):
        stdout.join(0.01)
    child = int(stdout.tail())
    program.end()

    assert ends(child)


def ends(process: int) -> bool:
    """Say whether a killed process that is not ours to wait for is gone soon."""
    return any(state_of(process) == "Z" or Event().wait(0.01) for _ in range(1_000))


def state_of(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2][:1]
    except FileNotFoundError:
        return "Z"


def test_a_program_that_reads_nothing_does_not_block_who_writes() -> None:
    program = Program([sys.executable, "-c", "import time; time.sleep(0.1)"], folder=Path(), environment=os.environ)
    program.channel.send(b"x" * (1 << 20) + b"\n")
    with pytest.raises(Closed):
        program.channel.line(30)

    assert program.autopsy() == "it exited with code 0"


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_nothing_behind(number: signal.Signals, jobs: int, tmp_path: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-m", "sharedkv_conformance", "run", "--impl", command("stick", 4), "-j", str(jobs)],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while len([*tmp_path.glob("stuck-*")]) < jobs:
        Event().wait(0.01)
    left = [*descendants(run.pid)]
    run.send_signal(number)
    _, told = run.communicate(timeout=60)

    assert len(left) >= 2 * jobs
    assert all(ends(process) for process in left)
    assert run.returncode == (-number if number == signal.SIGKILL else 3)
    assert told.endswith(b"" if number == signal.SIGKILL else b"kvconform: interrupted\n")


def test_an_interruption_of_the_whole_group_is_told_in_a_line_however_early(tmp_path: Path) -> None:
    name = command("stick", 4)
    run = subprocess.Popen(
        [sys.executable, "-m", "sharedkv_conformance", "run", "--impl", name, "-j", "2"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while not any(b"spawn_main" in command_line(child) for child in descendants(run.pid)):
        Event().wait(0.001)
    left = [*descendants(run.pid)]
    os.killpg(run.pid, signal.SIGINT)
    _, told = run.communicate(timeout=60)

    assert told == b"kvconform: interrupted\n"
    assert all(ends(process) for process in left)


def command_line(process: int) -> bytes:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def descendants(parent: int) -> Iterator[int]:
    """Yield whatever a process has started, and what that has started."""
    for task in Path(f"/proc/{parent}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            for child in map(int, (task / "children").read_text(encoding="utf-8").split()):
                yield child
                yield from descendants(child)


def test_a_program_is_started_as_it_is() -> None:
    program = Program(
        ["sh", "-c", "echo $$ $PPID; tr '\\0' ' ' < /proc/$$/cmdline"], folder=Path(), environment=os.environ
    )
    program.autopsy()

    assert program.tail().startswith(f"{program._process.pid} {os.getpid()}\nsh -c")
