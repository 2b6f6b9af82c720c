"""Where an engine that nobody told otherwise listens: on the loopback address alone, if its library lets it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from tests.transfer.kinds import BETWEEN_PROCESSES
from tests.transfer.worlds import RemoteReceiver

LISTENING = "0A"
LOOPBACK = "0100007F"
EVERYWHERE = {"00000000", "0" * 32}
# Mooncake listens everywhere, whatever host it is given; the day it does not, docs/transfer.md has to be mended.
EXPECTED = {"nixl": {LOOPBACK}, "nixl over tcp": {LOOPBACK}, "mooncake": EVERYWHERE}


def listening_addresses(pid: int) -> set[str]:
    """Return the addresses, as the kernel writes them, of the sockets of a process that listen."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since
            sockets.add(str(descriptor.readlink()).removeprefix("socket:[").removesuffix("]"))
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text(encoding="ascii").splitlines()[1:]
    ]
    return {row[1].partition(":")[0] for row in rows if row[3] == LISTENING and row[9] in sockets}


@pytest.mark.parametrize("kind", BETWEEN_PROCESSES)
def test_an_engine_listens_where_the_docs_say(kind: str, tmp_path: Path) -> None:
    receiver = RemoteReceiver(kind, tmp_path / "pool")
    try:
        receiver.start()
        found = listening_addresses(receiver.process.pid)
    finally:
        receiver.close()

    assert found
    assert found <= EXPECTED[kind]
