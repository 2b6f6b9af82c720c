"""How long the ranks of a test wait for one another.

Knows seconds. Does not know what happens when they are over.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True)
class Times:
    """The deadline of a flight, the patience of decode with a room, and how long pages stay quarantined, in seconds."""

    deadline: float
    patience: float
    quarantine: float

    def encode(self) -> str:
        """Return it as an argument of a program."""
        return json.dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> Times:
        """Return what an argument says."""
        return cls(**json.loads(text))


AMPLE = Times(deadline=20, patience=20, quarantine=20)
SHORT = Times(deadline=6, patience=3, quarantine=3)
"""Decode gives up first: prefill that stood still for so long may still write, which it does not after its deadline."""
