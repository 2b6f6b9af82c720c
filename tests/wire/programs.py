"""Rogue programs as implementations, and whether any process of theirs is left."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sharedkv_conformance.wire.client import Budgets
from sharedkv_conformance.wire.implementation import WireImplementation
from sharedkv_conformance.wire.names import wire_implementation
from sharedkv_conformance.wire.process import Program

ROGUE = Path(__file__).with_name("rogue.py")
PATIENT = Budgets()
ENDLESS = Budgets(call_s=float("inf"))
HASTY = Budgets(start_s=60.0, call_s=0.2)


def command(way: str, requests: int = 20) -> str:
    """Return the name of a rogue program on a command line."""
    return "cmd:" + shlex.join([sys.executable, str(ROGUE), way, str(requests)])


@contextmanager
def rogue(way: str, requests: int = 20, budgets: Budgets = PATIENT) -> Iterator[WireImplementation]:
    """Give a rogue program, ended afterwards."""
    implementation = wire_implementation(command(way, requests), folder=Path(), budgets=budgets)
    try:
        yield implementation
    finally:
        implementation.close()


def process_id(implementation: WireImplementation) -> int:
    """Return the id of the program's process."""
    peer = implementation.connection().peer
    assert isinstance(peer, Program)
    return peer._process.pid


def is_running(process: int) -> bool:
    """Say whether a process is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
