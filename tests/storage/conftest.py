"""Stores for tests: files in a folder of the test, and a Mooncake store whose master is a child of the test run.

Where the Mooncake store cannot run, its tests fail and say what is missing: `make engines` and `make venv` install it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from sharedkv.storage.backend import Backend
from sharedkv.storage.files import FileBackend
from sharedkv.storage.mooncake import Connection, MooncakeBackend, connect
from sharedkv.storage.mooncake_master import Master

NewStore = Callable[[], Backend]


@pytest.fixture(scope="session")
def mooncake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MooncakeBackend]:
    with Master(tmp_path_factory.mktemp("mooncake") / "master.log") as master:
        store = connect(Connection(master=master.address, segment_bytes=64 << 20, buffer_bytes=16 << 20))
        yield store
        store.close()


@pytest.fixture(params=["files", "durable files", "mooncake"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> NewStore:
    """Make a store that is empty, of each kind in turn."""
    kind = request.param
    numbers = count()
    if kind == "mooncake":
        connected: MooncakeBackend = request.getfixturevalue("mooncake")
        return lambda: connected.below(f"{request.node.name}/{next(numbers)}")
    return lambda: FileBackend(tmp_path / str(next(numbers)), is_durable=kind == "durable files")
