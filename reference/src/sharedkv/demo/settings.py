"""What a demonstration is asked for."""

from __future__ import annotations

from dataclasses import dataclass

LAYOUTS = ("mla_bf16", "mla_fp8")
WRONG_LANES = "wrong-lanes"
NO_EXCHANGE = "no-exchange"
MISTAKES = (WRONG_LANES, NO_EXCHANGE)

PAGE_TOKENS = 4
CHUNK_TOKENS = 16
HEADS = 2
INDEX_HEADS = 2
SELECTED_TOKENS = 8
TOLERANCE = 1e-5
"""The largest difference of attention, in fp32, that is taken as equal: sums are not rounded alike in every order."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """`mistake` is one of `MISTAKES`, made on purpose by the ranks that share, or None."""

    ranks: int = 4
    requests: int = 3
    seed: int = 0
    layout: str = "mla_fp8"
    layers: int = 2
    mistake: str | None = None
