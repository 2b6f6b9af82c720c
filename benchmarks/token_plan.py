"""The naive plan: decide for each token which rank computes it, then sort.

Right by inspection, and what one writes first: every array has an entry a token, whatever the pages are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharedkv.allocation import ExtendRequest
from sharedkv.batching import Ints
from sharedkv.geometry import Geometry


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenPlan:
    """What both variants say: valid rows by rank, both permutations, and where last tokens are."""

    valid_rows: Ints
    token_of_row: Ints
    row_of_token: Ints
    last_rank: Ints
    last_row: Ints


def plan_by_token(geometry: Geometry, batch: Sequence[ExtendRequest]) -> TokenPlan:
    """Plan a batch token by token: rows of a rank are its tokens in flattened request-token order."""
    rank = np.concatenate([_rank_of_token(geometry, request.extend_tokens) for request in batch])
    token_of_row = np.argsort(rank, kind="stable")
    row_of_token = np.empty_like(token_of_row)
    row_of_token[token_of_row] = np.arange(len(token_of_row))
    valid_rows = np.bincount(rank, minlength=geometry.cp_size)
    first_row = np.cumsum(valid_rows) - valid_rows
    last = np.cumsum([request.extend_tokens for request in batch]) - 1
    return TokenPlan(
        valid_rows=valid_rows,
        token_of_row=token_of_row,
        row_of_token=row_of_token,
        last_rank=rank[last],
        last_row=row_of_token[last] - first_row[rank[last]],
    )


def _rank_of_token(geometry: Geometry, extend_tokens: int) -> Ints:
    """Return the rank that computes each new token: that of its page, that of the page's block."""
    blocks = 2 * geometry.cp_size
    page = np.arange(extend_tokens) // geometry.page_size
    base, remainder = divmod(-(-extend_tokens // geometry.page_size), blocks)
    long = remainder * (base + 1)
    block = np.where(page < long, page // (base + 1), remainder + (page - long) // max(base, 1))
    rank: Ints = np.where(block < geometry.cp_size, block, blocks - 1 - block)
    return rank
