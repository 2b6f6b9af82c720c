"""Files: a writer that is killed at any point leaves whole objects or none, and nothing that is taken for one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from sharedkv.storage.backend import StoreFailedError
from sharedkv.storage.files import FileBackend
from sharedkv.storage.objects import KV, ObjectName, PageForm

FORM = PageForm(part_bytes={KV: 300_000}, description="any")
NAMES = [ObjectName(f"{number:064x}", KV) for number in range(8)]
WRITER = """
import sys
from itertools import cycle
from pathlib import Path
from sharedkv.storage.files import FileBackend
from tests.storage.test_files import FORM, NAMES

store = FileBackend(Path(sys.argv[1]), is_durable=False)
print("begins", flush=True)
for round, name in enumerate(cycle(NAMES)):
    store.put(name, FORM.object(name, 0, 0, bytes([round % 256]) * 300_000).encode())
    print(flush=True)
"""
KILLS = 4


def test_a_writer_that_is_killed_leaves_whole_objects(tmp_path: Path) -> None:
    store = FileBackend(tmp_path)
    found = 0
    for kill in range(KILLS):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            for _ in range(2 + 3 * kill):
                writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
        for name, data in zip(NAMES, store.get(NAMES), strict=True):
            if data is not None:
                FORM.decode(name, data)
                found += 1

    assert found


@pytest.mark.parametrize("step", ["open", "write", "fsync", "replace"])
def test_a_writer_that_dies_at_a_step_leaves_the_old_object(tmp_path: Path, step: str) -> None:
    store = FileBackend(tmp_path)
    store.put(NAMES[0], b"old")
    child = os.fork()
    if child == 0:
        _die_at(step)
        store.put(NAMES[0], b"new" * 1_000, b"end")
        os._exit(0)
    _, status = os.waitpid(child, 0)

    assert os.WIFSIGNALED(status)
    assert list(store.get(NAMES[:1])) == [b"old"]
    assert store.remove_leftovers() == (step != "open")


def _die_at(step: str) -> None:
    """Let this process be killed where it would take a step, the write after half of its bytes."""

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if step == "fsync":
        os.fsync = die
    elif step == "replace":
        Path.replace = die  # type: ignore[assignment,method-assign]  # this process lives no longer than the test of it
    elif step == "open":
        Path.open = die  # type: ignore[assignment,method-assign]  # as above
    else:
        FileBackend._write = _write_half  # type: ignore[method-assign]  # as above


def _write_half(self: FileBackend, path: Path, chunks: Sequence[bytes | memoryview]) -> None:
    del self
    path.write_bytes(chunks[0][:100])
    os.kill(os.getpid(), signal.SIGKILL)


def test_leftovers_are_no_objects_and_can_be_removed(tmp_path: Path) -> None:
    store = FileBackend(tmp_path)
    store.put(NAMES[0], b"whole")
    folder = store.path(NAMES[0]).parent
    (folder / f".{NAMES[1].key}.{KV}.1.2.new").write_bytes(b"half")

    assert list(store.get(NAMES[:2])) == [b"whole", None]
    assert store.remove_leftovers() == 1
    assert [path.name for path in folder.iterdir()] == [f"{NAMES[0].key}.{KV}"]


def test_a_disk_that_fails_is_an_error_that_names_the_object_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileBackend(tmp_path)
    store.put(NAMES[0], b"old")

    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreFailedError, match=rf"{NAMES[0].key}.kv: .*No space left on device"):
        store.put(NAMES[0], b"new")

    assert list(store.get(NAMES[:1])) == [b"old"]
    assert store.remove_leftovers() == 0


def test_objects_are_spread_over_folders_by_their_key(tmp_path: Path) -> None:
    store = FileBackend(tmp_path)
    for first in ("00", "7f", "ff"):
        store.put(ObjectName(first + "0" * 62, KV), b"x")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["00", "7f", "ff"]
