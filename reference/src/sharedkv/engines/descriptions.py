"""What one engine tells a peer about itself, as bytes.

Knows the form. Does not know what the contact of a library means. Whatever bytes come, decoding ends in a description
or in a refusal.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass

from sharedkv.engines.engine import DescriptionRefusedError
from sharedkv.engines.regions import Region, Regions

_FORM = 1
_KEYS = {"form", "kind", "contact", "regions"}


@dataclass(frozen=True, kw_only=True)
class Description:
    """The kind of an engine, how its library is reached, and where peers may write."""

    kind: str
    contact: bytes
    regions: Regions

    def encode(self) -> bytes:
        """Return it as bytes."""
        regions = [[region.address, region.num_bytes] for region in self.regions]
        contact = b64encode(self.contact).decode()
        return json.dumps({"form": _FORM, "kind": self.kind, "contact": contact, "regions": regions}).encode()


def decode(data: bytes, kind: str) -> Description:
    """Return what bytes say about an engine of some kind, or refuse them."""
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DescriptionRefusedError(f"not JSON: {error}") from error
    if not isinstance(parsed, dict) or parsed.keys() != _KEYS or parsed["form"] != _FORM:
        raise DescriptionRefusedError(f"not of form {_FORM}, with the keys {sorted(_KEYS)}")
    if parsed["kind"] != kind:
        raise DescriptionRefusedError(f"an engine of kind {parsed['kind']!r}, here is {kind!r}")
    if not isinstance(parsed["regions"], list):
        raise DescriptionRefusedError("the regions are no list")
    try:
        return Description(
            kind=kind,
            contact=b64decode(parsed["contact"], validate=True),
            regions=Regions(_region(each) for each in parsed["regions"]),
        )
    except (TypeError, ValueError) as error:
        raise DescriptionRefusedError(str(error)) from error


def _region(given: object) -> Region:
    match given:
        case [int(address), int(num_bytes)] if not isinstance(address, bool) and not isinstance(num_bytes, bool):
            return Region(address=address, num_bytes=num_bytes)
    raise ValueError(f"no region: {given!r}")
