"""Objects in a Mooncake store: memory of many machines behind one master.

Knows the store's calls and what their answers mean. Does not know objects. Needs the package
`mooncake-transfer-engine-non-cuda` (or one of its siblings) and libibverbs, when `connect` is called.

    call       answer                  what it means here
    put_parts  0, else negative        keeps the object that is there, and says 0: one that is there is removed first
    get_batch  bytes, b"" for none     an object has at least a header, so that no bytes are no object
    remove     0, -704 for none        with `force`: the lease of a reader must not keep an object that is to go

`upsert` would write into the memory of the old object, under the eyes of its readers and of other writers: half of each
can stay. Calls wait for a lost master for seconds, hence deadlines of our own. The library's transfer engine listens on
all addresses of the machine, whatever host it is given.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sharedkv.storage.backend import StoreFailedError
from sharedkv.storage.deadlines import CallLateError, TimedCalls
from sharedkv.storage.objects import ObjectName

OK, MISSING = 0, -704
_OBJECTS_OF_A_CALL = 8


class StoreClient(Protocol):
    """What is used of `mooncake.store.MooncakeDistributedStore`."""

    def is_exist(self, key: str) -> int:
        """Say whether there is an object: 1, 0 or a negative code."""

    def put_parts(self, key: str, *parts: bytes | memoryview) -> int:
        """Put an object, given in parts, unless there is one; 0 or a negative code."""

    def get_batch(self, keys: list[str]) -> list[bytes]:
        """Return the objects of keys, no bytes where there is none."""

    def remove(self, key: str, force: bool) -> int:  # noqa: FBT001 - the library takes it by position
        """Remove an object; 0 or a negative code."""

    def close(self) -> int:
        """Leave the store."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Where a store is, and what this client gives to it; bytes of memory and seconds.

    `segment_bytes` hold objects of everybody; `buffer_bytes` are for transfers, and no object may be larger.
    """

    master: str
    host: str = "127.0.0.1"
    segment_bytes: int = 256 << 20
    buffer_bytes: int = 64 << 20
    protocol: str = "tcp"
    deadline_s: float = 5.0
    pause_s: float = 5.0


class StoreUnavailableError(Exception):
    """The store could not be joined."""

    def __init__(self, master: str, what: str) -> None:
        super().__init__(master, what)
        self.master = master
        self.what = what

    def __str__(self) -> str:
        return f"Mooncake store of master {self.master}: {self.what}"


class MooncakeBackend:
    """The objects of one store whose keys begin with `prefix`."""

    def __init__(self, client: StoreClient, calls: TimedCalls, prefix: str = "") -> None:
        self._client = client
        self._calls = calls
        self._prefix = prefix

    def below(self, prefix: str) -> MooncakeBackend:
        """Return the objects whose keys go on with another prefix, over the same connection."""
        return MooncakeBackend(self._client, self._calls, f"{self._prefix}{prefix}/")

    def put(self, name: ObjectName, *chunks: bytes | memoryview) -> None:
        """Put an object in place of any that is there."""
        try:
            code = self._calls.call("put", lambda: self._replaced(self._key(name), chunks))
        except CallLateError as error:
            raise StoreFailedError(name, str(error)) from error
        if code != OK:
            raise StoreFailedError(name, f"put said {code}, wanted {OK}")

    def get(self, names: Sequence[ObjectName]) -> Iterator[bytes | None]:
        """Yield what stands under each name, in order; none while the store does not answer."""
        for first in range(0, len(names), _OBJECTS_OF_A_CALL):
            keys = [self._key(name) for name in names[first : first + _OBJECTS_OF_A_CALL]]
            yield from self._got(keys)

    def remove(self, name: ObjectName) -> None:
        """Remove what stands under a name, if anything does."""
        try:
            code = self._calls.call("remove", lambda: self._client.remove(self._key(name), True))
        except CallLateError as error:
            raise StoreFailedError(name, str(error)) from error
        if code not in (OK, MISSING):
            raise StoreFailedError(name, f"remove said {code}, wanted {OK} or {MISSING}")

    def close(self) -> None:
        """Leave the store, with what this client gave to it; no call may follow."""
        self._client.close()

    def stamp(self, name: ObjectName) -> None:
        """Return nothing: the store tells no object from the one that took its place."""

    def _replaced(self, key: str, chunks: Sequence[bytes | memoryview]) -> int:
        if self._client.is_exist(key) == 1:
            self._client.remove(key, True)
        return self._client.put_parts(key, *chunks)

    def _got(self, keys: list[str]) -> list[bytes | None]:
        try:
            found = self._calls.call("get", lambda: self._client.get_batch(keys))
        except CallLateError:
            return [None] * len(keys)
        return [data or None for data in found]

    def _key(self, name: ObjectName) -> str:
        return f"{self._prefix}{name.key}.{name.part}"


def connect(connection: Connection) -> MooncakeBackend:
    """Join a store.

    Raises:
        ImportError: the package, or a library that it needs, is not there.
        StoreUnavailableError: no master listens there, or it did not take what this client gives.

    """
    _require_listening(connection)
    from mooncake.store import MooncakeDistributedStore  # noqa: PLC0415 - an extra, which needs libibverbs

    client = MooncakeDistributedStore()
    memory = connection.segment_bytes, connection.buffer_bytes
    code = client.setup(connection.host, "P2PHANDSHAKE", *memory, connection.protocol, "", connection.master)
    if code != OK:
        raise StoreUnavailableError(connection.master, f"setup said {code}, wanted {OK}")
    return MooncakeBackend(client, TimedCalls(connection.deadline_s, connection.pause_s))


def _require_listening(connection: Connection) -> None:
    """Refuse a master that nobody listens for: the library would try again for minutes."""
    host, _, port = connection.master.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=connection.deadline_s).close()
    except OSError as error:
        raise StoreUnavailableError(connection.master, str(error)) from error
