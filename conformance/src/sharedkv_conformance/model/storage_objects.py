"""The objects of a store: each one part of one page, with the lane of the page, its writer, and whether it is whole."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.contract.probe import StoredObject
from sharedkv_conformance.model.pool import buffers_of

KV, INDEX, DRAFT = "kv", "index", "draft"
LOST = "lost"
Rows = Mapping[tuple[int, str], bytes]
"""The bytes of a page by layer and buffer, each as its device page is stored."""


def parts_of(pool: PoolConfig) -> tuple[str, ...]:
    """Return the parts that a page of a pool is stored in."""
    has_index = INDEX in buffers_of(pool)
    return (KV, *((INDEX,) if has_index else ()), *((DRAFT,) if pool.draft_layers else ()))


def buffers_of_part(pool: PoolConfig, part: str) -> list[tuple[int, str]]:
    """Return the layers and buffers that a part holds."""
    if part == DRAFT:
        return [(layer, buffer) for layer in range(pool.layers, pool.all_layers) for buffer in buffers_of(pool)]
    buffers = [buffer for buffer in buffers_of(pool) if (buffer == INDEX) == (part == INDEX)]
    return [(layer, buffer) for layer in range(pool.layers) for buffer in buffers]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """One object; `fault` says how it was spoiled, if it was."""

    lane: int
    writer: int
    rows: Rows
    fault: str = ""


class Store:
    """Objects by the key and the part of their page."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], Stored] = {}

    def twin(self) -> Store:
        """Return an independent copy."""
        other = copy(self)
        other.objects = dict(self.objects)
        return other

    def put(self, key: str, part: str, stored: Stored) -> None:
        """Write an object, over what may be there."""
        self.objects[key, part] = stored

    def find(self, key: str, part: str) -> Stored | None:
        """Return an object that is there, whole or not."""
        return self.objects.get((key, part))

    def spoil(self, key: str, part: str, how: str) -> None:
        """Spoil an object that is there."""
        found = self.find(key, part)
        if found is None:
            raise Rejected(Reason.OBJECT_UNKNOWN, f"part {part!r} of {key!r}")
        if how == LOST:
            del self.objects[key, part]
        else:
            self.objects[key, part] = replace(found, fault=how)

    def whole(self) -> tuple[StoredObject, ...]:
        """Return every object that is whole."""
        return tuple(
            StoredObject(key=key, part=part, lane=stored.lane, writer=stored.writer)
            for (key, part), stored in self.objects.items()
            if not stored.fault
        )
