"""A Mooncake store that is gone holds nothing, says so, and keeps nobody waiting beyond our deadline."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

from sharedkv.storage.backend import StoreFailedError
from sharedkv.storage.deadlines import TimedCalls
from sharedkv.storage.mooncake import MISSING, Connection, MooncakeBackend, StoreUnavailableError, connect
from sharedkv.storage.mooncake_master import HOST, Master, MasterFailedError
from sharedkv.storage.objects import KV, ObjectName

NAMES = [ObjectName(f"{number:064x}", KV) for number in range(20)]


class StoreOfCodes:
    """A client that answers with the codes that a test wants, and hangs when asked to."""

    def __init__(self, code: int = 0, *, hangs: bool = False) -> None:
        self.code = code
        self.objects: dict[str, bytes] = {}
        self.asked: list[list[str]] = []
        self.go_on = Event()
        if not hangs:
            self.go_on.set()

    def is_exist(self, key: str) -> int:
        self.go_on.wait(60)
        return int(key in self.objects)

    def put_parts(self, key: str, *parts: bytes | memoryview) -> int:
        self.objects.setdefault(key, b"".join(parts))
        return self.code

    def get_batch(self, keys: list[str]) -> list[bytes]:
        self.asked.append(keys)
        self.go_on.wait(60)
        return [self.objects.get(key, b"") for key in keys]

    def remove(self, key: str, force: bool) -> int:  # noqa: FBT001 - as the library has it
        assert force

        self.objects.pop(key, None)
        return self.code

    def close(self) -> int:
        return 0


def backend(client: StoreOfCodes, deadline_s: float = 60) -> MooncakeBackend:
    return MooncakeBackend(client, TimedCalls(deadline_s, pause_s=60))


@pytest.mark.parametrize("code", [-1, -704, -900])
def test_a_code_of_failure_is_an_error_that_names_the_object(code: int) -> None:
    with pytest.raises(StoreFailedError, match=f"{NAMES[1].key}.kv: put said {code}, wanted 0"):
        backend(StoreOfCodes(code)).put(NAMES[1], b"x")


def test_to_remove_what_is_missing_is_no_failure() -> None:
    backend(StoreOfCodes(MISSING)).remove(NAMES[0])
    with pytest.raises(StoreFailedError, match="remove said -706"):
        backend(StoreOfCodes(-706)).remove(NAMES[0])


def test_a_store_that_hangs_holds_nothing_after_one_deadline() -> None:
    client = StoreOfCodes(hangs=True)
    store = backend(client, deadline_s=0.001)

    assert list(store.get(NAMES)) == [None] * len(NAMES)
    assert len(client.asked) == 1
    with pytest.raises(StoreFailedError, match="no answer within"):
        store.put(NAMES[0], b"x")
    client.go_on.set()


def test_reading_asks_for_few_objects_at_once() -> None:
    client = StoreOfCodes()
    list(backend(client).get(NAMES))

    assert [len(keys) for keys in client.asked] == [8, 8, 4]


AFTER_THE_MASTER = """
import os, sys
from pathlib import Path
from sharedkv.storage.backend import StoreFailedError
from sharedkv.storage.mooncake import Connection, connect
from sharedkv.storage.mooncake_master import Master
from tests.storage.test_mooncake import NAMES

master = Master(Path(sys.argv[1]))
size = 16 << 20
store = connect(Connection(master=master.address, segment_bytes=size, buffer_bytes=size, deadline_s=0.2, pause_s=60))
store.put(NAMES[0], b"there")
print(list(store.get(NAMES[:1])))
master.stop()
print(list(store.get(NAMES[1:2])))
try:
    store.put(NAMES[1], b"x")
except StoreFailedError as error:
    print(type(error).__name__, flush=True)
os._exit(0)  # a call into the library is still waiting, and aborts an interpreter that ends in order
"""


def test_a_store_whose_master_is_killed_holds_nothing_and_takes_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AFTER_THE_MASTER, str(tmp_path / "master.log")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    assert ended.stdout.splitlines() == ["[b'there']", "[None]", "StoreFailedError"]


def test_a_master_that_is_not_there_is_an_error_that_names_it() -> None:
    with pytest.raises(StoreUnavailableError, match=f"master {HOST}:1: .*refused"):
        connect(Connection(master=f"{HOST}:1", segment_bytes=16 << 20, buffer_bytes=16 << 20))


def test_a_master_that_does_not_come_up_shows_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "mooncake_master"
    program.write_text("#!/bin/sh\necho cannot start\n")
    program.chmod(0o755)
    monkeypatch.setattr("sharedkv.storage.mooncake_master._program", lambda: program)
    with pytest.raises(MasterFailedError, match="does not listen: cannot start"):
        Master(tmp_path / "master.log", deadline_s=0.3)
