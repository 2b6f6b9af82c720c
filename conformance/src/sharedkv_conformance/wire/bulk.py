"""Large values beside the wire: bytes in a file that both ends have open, named by offset and length.

The file is made by the suite. Its first half is for bytes in arguments, its second for bytes in answers; each half is
used again from its start once nothing is outstanding, and bytes that do not fit cross in the line, as hex digits. Read
and written by position, so that no end needs to map memory. Knows nothing of messages but this one form of value.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from sharedkv_conformance.codec import Malformed

BULK = "bulk"
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder in memory, where there is one; the file's name is random


class BulkFile:
    """A file of a fixed size, and how much of the half that this end writes is taken."""

    def __init__(self, path: Path, num_bytes: int, *, first_half: bool) -> None:
        self.path = path
        self.num_bytes = num_bytes
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._begin = 0 if first_half else num_bytes // 2
        self._end = num_bytes // 2 if first_half else num_bytes
        self._next = self._begin
        self.close: weakref.finalize[..., BulkFile] = weakref.finalize(self, os.close, self._descriptor)

    @classmethod
    def made(cls, num_bytes: int) -> Self:
        """Make the file and open its first half for writing; it is gone when it is closed."""
        folder = IN_MEMORY if IN_MEMORY.is_dir() else None
        descriptor, name = tempfile.mkstemp(prefix="kvconform-", dir=folder)
        os.ftruncate(descriptor, num_bytes)
        os.close(descriptor)
        made = cls(Path(name), num_bytes, first_half=True)
        made.close.detach()
        made.close = weakref.finalize(made, _remove, made._descriptor, name)
        return made

    def reset(self) -> None:
        """Take this end's half from its start again: whatever was written has been read."""
        self._next = self._begin

    def write(self, data: bytes) -> Any:
        """Return what stands for some bytes in a message."""
        if self._next + len(data) > self._end:
            return data.hex()
        offset = self._next
        os.pwrite(self._descriptor, data, offset)
        self._next += len(data)
        return {BULK: {"offset": offset, "length": len(data)}}

    def read(self, where: Any) -> bytes:
        """Return the bytes that an offset and a length name; raises `Malformed`."""
        wanted = f"offset and length within {self.num_bytes} bytes"
        if not isinstance(where, Mapping) or set(where) != {"offset", "length"}:
            raise Malformed(BULK, wanted, where)
        offset, length = where["offset"], where["length"]
        if type(offset) is not int or type(length) is not int:
            raise Malformed(BULK, wanted, where)
        if offset < 0 or length < 0 or offset + length > self.num_bytes:
            raise Malformed(BULK, wanted, where)
        return os.pread(self._descriptor, length, offset)

    def resolve(self, value: Any) -> Any:
        """Return a value with bytes in place of what stands for them."""
        if isinstance(value, Mapping):
            if set(value) == {BULK}:
                return self.read(value[BULK])
            return {key: self.resolve(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.resolve(item) for item in value]
        return value


def opened(form: Any) -> BulkFile:
    """Open the file that a greeting names, its second half for writing; raises `Malformed`."""
    if not isinstance(form, Mapping) or not isinstance(form.get("path"), str) or type(form.get("bytes")) is not int:
        raise Malformed(BULK, "path and bytes of a file", form)
    try:
        return BulkFile(Path(form["path"]), form["bytes"], first_half=False)
    except OSError as error:
        raise Malformed(BULK, f"a file that can be opened ({error.strerror})", form["path"]) from error


def _remove(descriptor: int, name: str) -> None:
    os.close(descriptor)
    Path(name).unlink(missing_ok=True)
