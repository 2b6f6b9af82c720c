"""Stores of the adapter: shared by name within one implementation, gone with it, and spoiled as the probe says."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from sharedkv.errors import Refusal, RefusedError
from sharedkv.storage.objects import KV, ObjectName, PageForm, SpoiledObjectError
from sharedkv_adapter import cpu
from sharedkv_adapter.stores import FLIPPED, FOREIGN, LOST, TRUNCATED, FilePlace, ProcessFolder, Shelf, Stores
from sharedkv_conformance.contract import ExtendRequest, OpenConfig, StorageConfig

FORM = PageForm(part_bytes={KV: 4}, description="of a test")
NAME = ObjectName("0a" * 32, KV)
TOKENS = list(range(4))
KILLED = """
import os, signal
from sharedkv_adapter.stores import ProcessFolder

folder = ProcessFolder()
print(folder.path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def shelf() -> Shelf:
    found = Stores(FilePlace()).open("")
    found.put(NAME, FORM.object(NAME, 1, 1, b"page").encode())
    return found


@pytest.mark.parametrize("how", [LOST, TRUNCATED, FLIPPED, FOREIGN])
def test_a_spoiled_object_is_none_and_is_not_shown(how: str) -> None:
    spoiled = shelf()
    shown = [each.name for each in spoiled.objects()]
    spoiled.spoil(NAME, how, FORM)
    (data,) = spoiled.get([NAME])

    assert shown == [NAME]
    assert spoiled.objects() == []
    assert (data is None) == (how == LOST)
    if data is not None:
        with pytest.raises(SpoiledObjectError):
            FORM.decode(NAME, data)


def test_to_flip_twice_does_not_repair() -> None:
    spoiled = shelf()
    for _ in range(3):
        spoiled.spoil(NAME, FLIPPED, FORM)

        assert spoiled.objects() == []


def test_what_is_not_there_cannot_be_spoiled() -> None:
    spoiled = shelf()
    spoiled.spoil(NAME, LOST, FORM)
    for name in (NAME, ObjectName("0b" * 32, KV)):
        with pytest.raises(RefusedError) as refused:
            spoiled.spoil(name, FLIPPED, FORM)

        assert refused.value.reason is Refusal.OBJECT_UNKNOWN


def test_sessions_share_the_store_of_a_name_and_no_other() -> None:
    first, second = cpu(), cpu()
    shared, other = StorageConfig(store="shared"), StorageConfig()

    def stored(implementation: object, storage: StorageConfig) -> int:
        assert isinstance(implementation, type(first))
        config = OpenConfig(cp_size=2, page_size=2, pages=8, host_pages=4, storage=storage)
        return implementation.open(config).storage.query(TOKENS)

    session = first.open(OpenConfig(cp_size=2, page_size=2, pages=8, host_pages=4, storage=shared))
    request = ExtendRequest(request="a", prefix_tokens=0, extend_tokens=len(TOKENS))
    session.host_tier.insert("a", TOKENS, session.allocation.extend([request]).pages)
    session.host_tier.poll()
    session.storage.save(TOKENS)
    session.close()

    assert [stored(first, shared), stored(first, other), stored(second, shared)] == [2, 0, 0]


def test_a_store_of_one_session_is_empty_after_it_is_closed() -> None:
    place = FilePlace()
    store = Stores(place).open("")
    store.put(NAME, b"x")
    store.clear()

    assert [path for path in place._folder.path.rglob("*") if path.is_file()] == []


def test_a_folder_goes_with_its_object() -> None:
    folder = ProcessFolder()
    path = folder.path
    was_there = path.is_dir()
    del folder
    gc.collect()

    assert was_there
    assert not path.exists()


def test_a_folder_goes_with_a_process_that_is_killed() -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True, check=False)

    assert ended.returncode < 0
    assert not Path(ended.stdout.strip()).exists()
