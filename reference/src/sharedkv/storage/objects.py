"""One object of storage: one part of one page, behind a header that says whose it is, and under a checksum.

Knows the bytes of an object. Does not know who holds it, nor what the bytes of a page mean.

    offset  bytes  what (numbers are little-endian)
    0       8      magic
    8       2      version of this form
    10      2      bytes of the header
    12      4      lane
    16      4      the rank that wrote it
    20      12     name of the part, filled up with zeros
    32      32     key of the page
    64      32     digest of the form of pages: what each part holds, in which order and how many bytes
    96      8      bytes of the payload
    104     4      CRC-32 of all of the above, then of the payload
    108            payload

A checksum of 32 bits finds every single flipped bit and every burst of up to 32; it defends against decay, not against
somebody who writes objects on purpose.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

KV, INDEX, DRAFT = "kv", "index", "draft"

_MAGIC = b"SKVPAGE\n"
_VERSION = 1
_FIELDS = struct.Struct("<8sHHII12s32s32sQ")
_CHECKSUM = struct.Struct("<I")
HEADER_BYTES = _FIELDS.size + _CHECKSUM.size


class ObjectName(NamedTuple):
    """One part of one page: `key` as `page_keys` makes it, `part` of the form."""

    key: str
    part: str


class SpoiledObjectError(Exception):
    """What stands under a name is not the object of that name, whole and as it was written."""

    def __init__(self, name: ObjectName, what: str, wanted: object, found: object) -> None:
        super().__init__(name, what, wanted, found)
        self.name = name
        self.what = what
        self.wanted = wanted
        self.found = found

    def __str__(self) -> str:
        return f"{self.name.key}.{self.name.part}: {self.what}: wanted {self.wanted}, found {self.found}"


class PageObject(NamedTuple):
    """An object: whose it is, the lane of its page, the rank that wrote it, the digest of its form, and its bytes."""

    name: ObjectName
    lane: int
    writer: int
    form: str
    payload: bytes | memoryview

    def header(self) -> bytes:
        """Return what stands before the payload."""
        key, form, part = bytes.fromhex(self.name.key), bytes.fromhex(self.form), self.name.part.encode()
        fields = _FIELDS.pack(
            _MAGIC, _VERSION, HEADER_BYTES, self.lane, self.writer, part, key, form, len(self.payload)
        )
        return fields + _CHECKSUM.pack(zlib.crc32(self.payload, zlib.crc32(fields)))

    def encode(self) -> bytes:
        """Return the object as it is stored."""
        return b"".join((self.header(), self.payload))


def read_object(name: ObjectName, data: bytes) -> PageObject:
    """Read whatever object was stored; the payload is a view of `data`. The name is for the error alone.

    Raises:
        SpoiledObjectError: it is no object, or not as it was written.

    """
    if len(data) < HEADER_BYTES:
        raise SpoiledObjectError(name, "bytes of the header", HEADER_BYTES, len(data))
    magic, version, header_bytes, lane, writer, part, key, form, payload_bytes = _FIELDS.unpack_from(data)
    if (magic, version, header_bytes) != (_MAGIC, _VERSION, HEADER_BYTES):
        raise SpoiledObjectError(name, "magic and version", (_MAGIC, _VERSION), (magic, version))
    payload = memoryview(data)[HEADER_BYTES:]
    if len(payload) != payload_bytes:
        raise SpoiledObjectError(name, "bytes of the payload", payload_bytes, len(payload))
    (wanted,) = _CHECKSUM.unpack_from(data, _FIELDS.size)
    if (found := zlib.crc32(payload, zlib.crc32(data[: _FIELDS.size]))) != wanted:
        raise SpoiledObjectError(name, "checksum", wanted, found)
    found_name = ObjectName(key.hex(), part.rstrip(b"\0").decode())
    return PageObject(found_name, lane, writer, form.hex(), payload)


@dataclass(frozen=True, kw_only=True)
class PageForm:
    """What the pages of one kind of pool hold.

    `part_bytes` are the bytes of each part of a page, in the order in which they are written; `description` says
    everything else that two pools must agree on for one to read the pages of the other.
    """

    part_bytes: Mapping[str, int]
    description: str

    @cached_property
    def digest(self) -> str:
        """Return what tells this form from every other."""
        return sha256(repr((self.description, tuple(self.part_bytes.items()))).encode()).hexdigest()

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts that a page has to have."""
        return tuple(self.part_bytes)

    def object(self, name: ObjectName, lane: int, writer: int, payload: bytes | memoryview) -> PageObject:
        """Make an object of a page of this form.

        Raises:
            ValueError: the payload has another number of bytes than the part.

        """
        wanted = self.part_bytes[name.part]
        if len(payload) != wanted:
            raise ValueError(f"part {name.part} has {wanted} bytes a page, got {len(payload)}")
        return PageObject(name, lane, writer, self.digest, payload)

    def decode(self, name: ObjectName, data: bytes) -> PageObject:
        """Read an object of this form; the payload is a view of `data`.

        Raises:
            SpoiledObjectError: it is not the object of that name, or not as it was written.

        """
        found = read_object(name, data)
        if found.name != name:
            raise SpoiledObjectError(name, "name", name, found.name)
        if (found.form, len(found.payload)) != (self.digest, self.part_bytes[name.part]):
            raise SpoiledObjectError(name, "form", self.digest, found.form)
        return found
