"""The rows that a rank gives, in one of three domains: which of them are valid, and how many there have to be.

Knows plans and row numbers. Does not know what rows hold or where they go: who writes and who composes asks here.

    valid    |v v v v|               real tokens alone
    compute  |v v v v|d|             and the dummy rows of the plan, wherever it has them
    static   |v v v v|d|. . .        and padding behind them, at least none
"""

from __future__ import annotations

import numpy as np

from sharedkv.batching import BatchPlan, Ints
from sharedkv.errors import Refusal, RefusedError

VALID = "valid"
COMPUTE = "compute"
STATIC = "static"
NOWHERE = -1


def require_rows(plan: BatchPlan, rank: int, domain: str, num_rows: int) -> None:
    """Refuse a domain that is none, and rows that are not those of a rank in it.

    Raises:
        RefusedError: `DOMAIN_UNKNOWN` or `ROWS_MISMATCH`.

    """
    fits = {
        VALID: num_rows == plan.valid_rows[rank],
        COMPUTE: num_rows == plan.compute_rows[rank],
        STATIC: num_rows >= plan.compute_rows[rank],
    }
    if domain not in fits:
        raise RefusedError(Refusal.DOMAIN_UNKNOWN, domain)
    if not fits[domain]:
        raise RefusedError(Refusal.ROWS_MISMATCH, f"{num_rows} {domain} rows of rank {rank}")


def valid_rows(plan: BatchPlan, rank: int, domain: str) -> Ints:
    """Return which of a rank's rows in a domain are valid ones, in order."""
    return np.arange(plan.valid_rows[rank]) if domain == VALID else plan.compute_row_of_row(rank)


def spread(plan: BatchPlan, rank: int, domain: str, num_rows: int, by_token: Ints) -> Ints:
    """Return a value of each new token for the given rows (num_rows,) of a rank, `NOWHERE` for those without one."""
    spread_out = np.full(num_rows, NOWHERE, dtype=np.int64)
    spread_out[valid_rows(plan, rank, domain)] = by_token[plan.tokens(rank)]
    return spread_out
