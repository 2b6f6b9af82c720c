"""From the name of a program or a socket to the implementation behind the wire. Starts nothing yet."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from sharedkv_conformance.wire.client import Budgets
from sharedkv_conformance.wire.implementation import WireImplementation
from sharedkv_conformance.wire.process import Attached, Peer, Program

COMMAND, STDIO, UNIX = "cmd:", "stdio:", "unix:"
WIRE_FORMS = (COMMAND, STDIO, UNIX)


def wire_implementation(
    name: str, *, folder: Path, budgets: Budgets, environment: Mapping[str, str] = os.environ
) -> WireImplementation:
    """Return the implementation that a name leads to over the wire.

    `cmd:` speaks on the descriptors that SHAREDKV_WIRE_IN and SHAREDKV_WIRE_OUT name, so that the program may print
    what it likes; `stdio:` speaks on stdin and stdout, and such a program must print nothing else; `unix:` attaches
    to a socket that somebody listens on. Raises ValueError for a name that holds no command and no path.
    """
    form, _, rest = name.partition(":")
    if form + ":" == UNIX:
        path = folder / _something(rest, "a path: unix:/path/of.sock")
        return WireImplementation(lambda given: Attached(path, within_s=given.start_s), budgets=budgets)
    arguments = shlex.split(_something(rest, f"a command: {form}:./program --option"))
    program = str(folder / arguments[0]) if os.sep in arguments[0] else arguments[0]
    if shutil.which(program, path=environment.get("PATH")) is None:
        raise ValueError(f"there is no program {arguments[0]}")

    def start(_budgets: Budgets) -> Peer:
        return Program(arguments, folder=folder, environment=environment, over_stdio=form + ":" == STDIO)

    return WireImplementation(start, budgets=budgets)


def _something(rest: str, wanted: str) -> str:
    if not rest.strip():
        raise ValueError(f"wanted {wanted}")
    return rest
