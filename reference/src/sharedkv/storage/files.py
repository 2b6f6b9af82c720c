"""Objects as files of one directory, which may be shared by processes and machines.

Knows files. Does not know what they hold.

    <root>/<first two digits of the key>/<key>.<part>            an object
    <root>/<first two digits of the key>/.<key>.<part>.*.new     one that is being written, or was when its writer died

An object is written beside its place and renamed into it: whoever reads finds all of one, old or new, whenever a writer
dies. A durable store waits for the disk, first for the bytes and then for the name; one that is not may forget or
truncate young objects when the machine itself dies, which their readers find out.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Hashable, Iterator, Sequence
from io import FileIO
from itertools import count
from pathlib import Path

from sharedkv.storage.backend import StoreFailedError
from sharedkv.storage.objects import ObjectName

_NEW = ".new"


class FileBackend:
    """The objects below `root`, which is made where it is missing."""

    def __init__(self, root: Path, *, is_durable: bool = True) -> None:
        self.root = root
        self._is_durable = is_durable
        self._numbers = count()
        self._writer = secrets.token_hex(8)
        root.mkdir(parents=True, exist_ok=True)

    def path(self, name: ObjectName) -> Path:
        """Return where an object stands."""
        return Path(f"{self.root}/{name.key[:2]}/{name.key}.{name.part}")

    def put(self, name: ObjectName, *chunks: bytes | memoryview) -> None:
        """Put an object in place of any that is there."""
        path = self.path(name)
        new = path.with_name(f".{path.name}.{self._writer}.{os.getpid()}.{next(self._numbers)}{_NEW}")
        try:
            self._write(new, chunks)
            new.replace(path)
            if self._is_durable:
                _sync(path.parent)
        except OSError as error:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
            raise StoreFailedError(name, str(error)) from error

    def get(self, names: Sequence[ObjectName]) -> Iterator[bytes | None]:
        """Yield what stands under each name, in order; one that cannot be read is none."""
        for name in names:
            try:
                yield self.path(name).read_bytes()
            except OSError:
                yield None

    def remove(self, name: ObjectName) -> None:
        """Remove what stands under a name, if anything does."""
        self.path(name).unlink(missing_ok=True)

    def stamp(self, name: ObjectName) -> Hashable | None:
        """Return what tells one file from another that took its place."""
        try:
            status = self.path(name).stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size

    def remove_leftovers(self) -> int:
        """Remove what dead writers left, and return how many there were. Nobody may be writing meanwhile."""
        leftovers = list(self.root.glob(f"*/.*{_NEW}"))
        for leftover in leftovers:
            leftover.unlink()
        return len(leftovers)

    def _write(self, path: Path, chunks: Sequence[bytes | memoryview]) -> None:
        with self._new_file(path) as file:
            rest = [memoryview(chunk) for chunk in chunks]
            while rest:
                rest = _behind(rest, os.writev(file.fileno(), rest))
            if self._is_durable:
                os.fsync(file.fileno())

    def _new_file(self, path: Path) -> FileIO:
        try:
            return path.open("xb", buffering=0)
        except FileNotFoundError:
            path.parent.mkdir(exist_ok=True)
            if self._is_durable:
                _sync(self.root)
            return path.open("xb", buffering=0)


def _behind(chunks: Sequence[memoryview], num_bytes: int) -> list[memoryview]:
    """Return what of chunks lies behind so many bytes."""
    rest = []
    for chunk in chunks:
        if num_bytes < len(chunk):
            rest.append(chunk[num_bytes:])
        num_bytes = max(0, num_bytes - len(chunk))
    return rest


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
