"""Reuse: cached and current rows of all ranks become one dense view, and indexer and attention read it.

The *dense view* of a batch has the tokens of each request in logical order, prefix first, then the new ones, requests
one after another; the *base* of a request is the number of tokens of all earlier ones. A dense view belongs to one
layer and one *epoch*; a later batch has a higher epoch, and its views replace those of earlier ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sharedkv_conformance.contract.pool import RankRows


@dataclass(frozen=True, kw_only=True)
class ReuseRequest:
    """One request of a batch with its pages.

    `table` has the logical pages of the prefix, then those of the new tokens; what follows them is what an earlier
    batch left there, and means nothing.
    """

    request: str
    prefix_tokens: int
    extend_tokens: int
    table: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Composed:
    """A dense view that was made: the base of each request, and the tokens of all."""

    bases: tuple[int, ...]
    tokens: int


@dataclass(frozen=True, kw_only=True)
class RankQueries:
    """Queries of one rank in the row order of `domain` (`valid` or `compute`).

    For `top_k`: `query` has, for each row, `index_heads` times 128 fp8 values, and `weights` `index_heads` fp32 values.
    For `attend`: `query` has, for each row, `heads` times 576 bf16 values (latent, then rope), and `weights` is empty.
    """

    domain: str
    rows: int
    query: bytes
    weights: bytes = b""


@dataclass(frozen=True, kw_only=True)
class RankTopK:
    """For each row of one rank the selected positions of the dense view, -1 where there are fewer than asked for."""

    indices: tuple[tuple[int, ...], ...]


class Reuse(Protocol):
    """Dense views of the pools of all ranks. `top_k` and `attend` need a layout with an index."""

    def compose(self, layer: int, epoch: int, batch: Sequence[ReuseRequest], rows: Sequence[RankRows]) -> Composed:
        """Make the dense view of a layer: prefix pages from their owners, current rows from the ranks' own order.

        The pools need not hold the new tokens yet. Asked again for the same layer, epoch and batch, nothing is gathered
        again, and rows that are given again are not used. Raises `Rejected` for an epoch before the latest, and for
        another batch under the same epoch.
        """

    def dense(self, layer: int, epoch: int, buffer: str) -> tuple[bytes, ...]:
        """Return the dense view as each rank has it, in stored rows; `Rejected` unless it was composed."""

    def top_k(self, layer: int, epoch: int, queries: Sequence[RankQueries], count: int) -> tuple[RankTopK, ...]:
        """Select for each row the `count` visible tokens of its own request with the highest scores, in any order.

        The score of a token is the sum over index heads of weight times max(0, query . key), times the key's scale. A
        row sees its request's tokens up to its own position. Positions are those of the dense view.
        """

    def attend(
        self, layer: int, epoch: int, queries: Sequence[RankQueries], indices: Sequence[RankTopK]
    ) -> tuple[bytes, ...]:
        """Return for each rank the attention of its valid rows over the selected positions.

        Each row has `heads` times 512 fp32 values: softmax of (query . row) / 24 over the selected rows (latent and
        rope), times their latents; zeros where a row selected nothing but -1.
        """
