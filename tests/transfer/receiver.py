"""A process with an engine that peers write to: `python -m tests.transfer.receiver KIND FILE NUM_BYTES NUM_REGISTERED`.

It answers each line of standard input with its description, in hexadecimal; to a line `register FIRST END` it
registers these bytes first. It ends with its input.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sharedkv.engines.engine import Timing
from tests.transfer.arena import Arena
from tests.transfer.kinds import RECEIVERS


def main(kind: str, file: str, num_bytes: str, num_registered: str) -> None:
    """Serve until the input ends."""
    arena = Arena(int(num_bytes), Path(file))
    engine = RECEIVERS[kind](Timing())
    engine.register(arena.region(0, int(num_registered)))
    print(arena.address, flush=True)  # noqa: T201 - the answer
    for line in sys.stdin:
        match line.split():
            case ["register", first, end]:
                engine.register(arena.region(int(first), int(end)))
        print(engine.describe().hex(), flush=True)  # noqa: T201 - the answer
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
