"""No process is left behind, however a run ends."""

import gc
import os
import signal
import subprocess
import sys
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-m", "sharedkv_conformance", "run", "--impl", command("hang", 4), "--trace-dir", "traces"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    program = wait_for_child(run.pid)
    run.send_signal(number)
    _, told = run.communicate(timeout=60)

    assert run.returncode == 3
    assert told.endswith(b"kvconform: interrupted\n")
    assert not is_running(program)


def wait_for_child(parent: int) -> int:
    """Return the rogue program that a run has started, once it has: it hangs, so that it is there for long."""
    children = Path(f"/proc/{parent}/task/{parent}/children")
    while True:
        for child in children.read_text(encoding="utf-8").split():
            with suppress(FileNotFoundError, ProcessLookupError):
                if b"rogue.py\0hang" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
