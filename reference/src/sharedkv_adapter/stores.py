"""The stores of one implementation: one a name, which its sessions share; a session without a name has its own.

Knows where stores are, and under which names objects were put in them, which probes ask for. Does not know sessions.
A store is made when it is first asked for, and gone with the process.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import weakref
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Protocol

from sharedkv.errors import Refusal, RefusedError
from sharedkv.storage.backend import Backend
from sharedkv.storage.files import FileBackend
from sharedkv.storage.mooncake import Connection, MooncakeBackend, connect
from sharedkv.storage.mooncake_master import Master
from sharedkv.storage.objects import ObjectName, PageForm, PageObject, SpoiledObjectError, read_object
from sharedkv.storage.workers import Workers

_REMOVES_WITH_ITS_PARENT = ("/bin/sh", "-c", 'read -r _; rm -rf "$0"')
LOST, TRUNCATED, FLIPPED, FOREIGN = "lost", "truncated", "flipped", "foreign"


class Shelf:
    """A store that remembers under which names objects were put, so that they can be looked at and spoiled.

    It keeps the place where it is for as long as it is used.
    """

    def __init__(self, backend: Backend, place: Place) -> None:
        self._backend = backend
        self._place = place
        self._names: dict[ObjectName, None] = {}

    def put(self, name: ObjectName, *chunks: bytes | memoryview) -> None:
        """Put an object, and remember its name."""
        self._backend.put(name, *chunks)
        self._names[name] = None

    def get(self, names: Sequence[ObjectName]) -> Iterator[bytes | None]:
        """Yield what stands under each name."""
        return self._backend.get(names)

    def remove(self, name: ObjectName) -> None:
        """Remove an object, and forget its name."""
        self._backend.remove(name)
        self._names.pop(name, None)

    def stamp(self, name: ObjectName) -> Hashable | None:
        """Return what the store has as a stamp."""
        return self._backend.stamp(name)

    def clear(self) -> None:
        """Remove every object."""
        for name in list(self._names):
            self.remove(name)

    def objects(self) -> list[PageObject]:
        """Return every object that is whole and stands under its own name."""
        names = list(self._names)
        found = [_read(name, data) for name, data in zip(names, self.get(names), strict=True) if data is not None]
        return [each for name, each in zip(names, found, strict=True) if each is not None and each.name == name]

    def spoil(self, name: ObjectName, how: str, form: PageForm) -> None:
        """Spoil an object; refuses where there is none of the name. What is foreign is another page of the form."""
        (data,) = self.get([name]) if name in self._names else [None]
        if data is None:
            raise RefusedError(Refusal.OBJECT_UNKNOWN, f"{name.key}.{name.part}")
        if how == LOST:
            self.remove(name)
        elif how == TRUNCATED:
            self.put(name, data[: len(data) // 2])
        elif how == FLIPPED:
            self.put(name, _flipped(name, data))
        elif how == FOREIGN:
            other = name._replace(key=f"{int(name.key, 16) ^ 1:064x}")
            self.put(name, form.object(other, 0, 0, bytes(form.part_bytes[name.part])).encode())
        else:
            raise RefusedError(Refusal.FAULT_UNKNOWN, how)


class ProcessFolder:
    """A folder that is removed with this object, or when the process ends, however it ends."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="sharedkv-"))
        remover = subprocess.Popen([*_REMOVES_WITH_ITS_PARENT, str(self.path)], stdin=subprocess.PIPE)  # noqa: S603
        weakref.finalize(self, _end, remover)


class Place(Protocol):
    """Where stores are."""

    def open(self, name: str) -> Backend:
        """Return the store of a name that is made for this implementation alone."""


class FilePlace:
    """Folders below a temporary one, which goes with the process."""

    @cached_property
    def _folder(self) -> ProcessFolder:
        return ProcessFolder()

    def open(self, name: str) -> Backend:
        """Make a folder; what is in it need not outlive the machine."""
        return FileBackend(self._folder.path / name, is_durable=False)


class MooncakePlace:
    """One store of one master, which is a child of this process; objects of a name have keys that begin with it."""

    @cached_property
    def _folder(self) -> ProcessFolder:
        return ProcessFolder()

    @cached_property
    def _store(self) -> MooncakeBackend:
        os.environ.setdefault("MC_LOG_LEVEL", "ERROR")
        master = Master(self._folder.path / "master.log")
        weakref.finalize(self, master.stop)
        store = connect(Connection(master=master.address))
        weakref.finalize(self, store.close)
        return store

    def open(self, name: str) -> Backend:
        """Return the part of the store whose keys begin with a name."""
        return self._store.below(name)


class Stores:
    """The stores of one implementation, and the threads that wait for them."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._shelves: dict[str, Shelf] = {}
        self._numbers = count()

    @cached_property
    def workers(self) -> Workers:
        """Return the threads, which all sessions share."""
        return Workers()

    def open(self, name: str) -> Shelf:
        """Return the store of a name; a fresh one where it is empty."""
        if not name:
            return self._made()
        if name not in self._shelves:
            self._shelves[name] = self._made()
        return self._shelves[name]

    def _made(self) -> Shelf:
        return Shelf(self._place.open(f"store-{next(self._numbers)}"), self._place)


def _end(waiting: subprocess.Popen[bytes]) -> None:
    """Let a process that waits for the end of its input go on, and wait for it."""
    if waiting.stdin is not None:
        waiting.stdin.close()
    waiting.wait()


def _read(name: ObjectName, data: bytes) -> PageObject | None:
    try:
        return read_object(name, data)
    except SpoiledObjectError:
        return None


def _flipped(name: ObjectName, data: bytes) -> bytes:
    """Return the bytes with one bit flipped, from the end on the first that does not make them whole again."""
    for bit in range(8):
        changed = data[:-1] + bytes([data[-1] ^ 1 << bit])
        if _read(name, changed) is None:
            return changed
    raise AssertionError("two values of one byte cannot both be whole")
