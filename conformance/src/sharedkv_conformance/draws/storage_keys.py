"""How calls for keys are drawn: namespaces and tokens that a careless join takes for one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.storage import StorageNamespace
from sharedkv_conformance.model.storage_keys import session_namespace
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Fields = tuple[tuple[str, str], ...]

# Fields that are one another's when they are joined as text, sorted by value, or read without their names.
FIELDS: tuple[Fields, ...] = (
    (),
    (("salt", ""),),
    (("salt", "X"),),
    (("lora", "X"),),
    (("salt", "ab"), ("user", "c")),
    (("user", "bc"), ("salt", "a")),
    (("user", "c"), ("salt", "ab")),
    (("salt", "ab=c"),),
    (("salt", "c"), ("user", "ab")),
    (("sal", "tab"), ("user", "c")),
    (("lora", ""),),
    (("salt", "x"),),
    (("salt", "X "),),
    (("salt", "\u00e9"),),
    (("salt", "e\u0301"),),
)
# One field whose value is what two fields become where they are joined with some marks between them.
JOINED: tuple[Fields, ...] = tuple((("salt", f"ab{between}user{mark}c"),) for between in ",;&|/\n\0 " for mark in "=:")
TWICE: tuple[Fields, ...] = ((("salt", "a"), ("salt", "a")), (("salt", "a"), ("user", ""), ("salt", "b")))
# Tokens whose digits or bytes run into one another, and two items that share their last digits.
TOKENS = ((1, 23), (12, 3), (1, 2), (513, 0), (1, 258), (65_537, 7), (1, 7), (0, 0), (1 << 30 | 1, 7))
# Tokens that differ in one high bit each, and a prefix of so many pages that a digest of few bits meets another one.
HIGH_BITS = tuple(1 << bit for bit in range(16, 31))
LONG = tuple(range(1_600))


def keys(draw: Draw, config: OpenConfig) -> Call:
    """Ask for the keys of one to three pages and sometimes a piece of one, in some namespace."""
    namespace = _namespace(draw, config)
    units = draw(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=3 * namespace.page_size // 2))
    tokens = tuple(token for unit in units for token in unit)
    return keys_of(namespace, tokens + (5,) * draw(st.integers(0, 1)))


def keys_of(namespace: StorageNamespace, tokens: tuple[int, ...]) -> Call:
    """Ask for the keys of tokens."""
    return Call(op="storage.keys", args={"namespace": namespace, "tokens": tokens})


def _namespace(draw: Draw, config: OpenConfig) -> StorageNamespace:
    """Draw the session's own namespace with one thing changed, or as it is."""
    own = session_namespace(config)
    others = (
        *[replace(own, fields=fields) for fields in FIELDS],
        *[replace(own, fields=fields) for fields in TWICE],
        replace(own, model=f"{own.model}2"),
        replace(own, model=own.model.upper()),
        replace(own, layout="mha_bf16" if own.layout != "mha_bf16" else "mla_bf16"),
        replace(own, layers=own.layers + 1),
        replace(own, draft_layers=own.draft_layers + 1),
        replace(own, layers=own.draft_layers + 1, draft_layers=own.layers),
        replace(own, page_size=2 * own.page_size),
        replace(own, cp_size=own.cp_size + 1),
    )
    found: StorageNamespace = draw(st.sampled_from(others))
    return found
