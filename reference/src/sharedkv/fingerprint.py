"""What two sides of a transfer have to have in common, as names and values.

Knows what decides where bytes lie. Does not know how it is exchanged.
"""

from __future__ import annotations

from collections.abc import Mapping

from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.layouts import Layout

PROTOCOL = "2"
"""Of the messages, and of what stands in a metadata slot."""
LANE_RULE = "(page - 1) % cp_size"
IN_SEQUENCE = "in_sequence"


def fingerprint(geometry: Geometry, layout: Layout, *, layers: int, draft_layers: int) -> dict[str, str]:
    """Return the fields of one side."""
    page_bytes = [f"{each.name}:{each.stored_row_bytes * geometry.page_size}" for each in layout.buffers]
    return {
        "cp_size": str(geometry.cp_size),
        "draft_layers": str(draft_layers),
        "lane_rule": LANE_RULE,
        "layers": str(layers),
        "layout": layout.name,
        "page_bytes": ",".join(page_bytes),
        "page_size": str(geometry.page_size),
        "protocol": PROTOCOL,
        "split": IN_SEQUENCE,
    }


def require_same(own: Mapping[str, str], peer: Mapping[str, str]) -> None:
    """Refuse a peer, and name every field that differs with both values."""
    names = sorted(name for name in own.keys() | peer.keys() if own.get(name) != peer.get(name))
    if names:
        told = "; ".join(f"{name}: {own.get(name)!r} here, {peer.get(name)!r} there" for name in names)
        raise RefusedError(Refusal.FINGERPRINT_DIFFERS, told)
