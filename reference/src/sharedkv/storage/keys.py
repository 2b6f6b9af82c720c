"""What a page is called in storage: a chain of digests over the namespace and all tokens up to the end of the page.

Knows bytes that no two namespaces share. Does not know objects, parts or lanes.

    text       its length in bytes (8, little-endian), then UTF-8
    namespace  model, layout, layers, draft layers, page size, ranks, number of fields, then the fields by name
    seed       SHA-256 of the domain, then the namespace
    page       SHA-256 of the digest before it, then its tokens (8 bytes each, signed, little-endian)

Every item has a length or a fixed width, so that what is written can be read back in one way only: two namespaces or
two prefixes with equal keys would be a collision of SHA-256.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from sharedkv.errors import Refusal, RefusedError

_DOMAIN = b"sharedkv page key, version 1\n"
_INT_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class Namespace:
    """What else than tokens decides the bytes of a page, or whose they are; `fields` have each name once."""

    model: str
    layout: str
    layers: int
    draft_layers: int
    page_size: int
    cp_size: int
    fields: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        names = [name for name, _ in self.fields]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise RefusedError(Refusal.NAMESPACE_INVALID, f"field {twice!r} is named twice")
        if self.page_size < 1:
            raise RefusedError(Refusal.NAMESPACE_INVALID, f"page size {self.page_size}, wanted at least 1")

    @cached_property
    def seed(self) -> bytes:
        """Return the digest before the first page."""
        numbers = (self.layers, self.draft_layers, self.page_size, self.cp_size, len(self.fields))
        items = [_DOMAIN, _text(self.model), _text(self.layout), *map(_integer, numbers)]
        items += [_text(text) for field in sorted(self.fields) for text in field]
        return sha256(b"".join(items)).digest()


def page_keys(namespace: Namespace, tokens: Sequence[int]) -> tuple[str, ...]:
    """Return the key of each whole page of tokens: 64 lower-case hexadecimal digits.

    Raises:
        RefusedError: a token that 64 bits do not hold.

    """
    written = _written(tokens)
    page_bytes = namespace.page_size * _INT_BYTES
    digest = namespace.seed
    keys = []
    for start in range(0, len(written) - page_bytes + 1, page_bytes):
        digest = sha256(digest + written[start : start + page_bytes]).digest()
        keys.append(digest.hex())
    return tuple(keys)


def _written(tokens: Sequence[int]) -> bytes:
    try:
        numbers = array("q", tokens)
    except OverflowError as error:
        raise RefusedError(Refusal.NAMESPACE_INVALID, "a token beyond 64 bits") from error
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _text(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogatepass")
    return _integer(len(encoded)) + encoded


def _integer(number: int) -> bytes:
    return number.to_bytes(_INT_BYTES, "little", signed=True)
