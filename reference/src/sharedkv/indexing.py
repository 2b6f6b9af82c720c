"""The indexer: which tokens of its request each query row selects.

Knows scores, visibility and two coordinate spaces: positions of the score buffer, which are compact and end when a
block of rows is done, and positions of the dense view, which attention reads. Does not know pages, ranks or layers.

    score of a token = scale of its key * sum over index heads of weight * max(0, query . key)

Query and key are fp8, so that their product is a multiple of 2**-18 below 2**25: binary64 holds it exactly in any order
of summation. All that follows is element by element in fp32, heads ascending. Hence a score does not depend on the rows
and keys beside it, and any number of ranks selects what one rank does. Of equal scores the earlier token wins.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from sharedkv.dense import emit_top_k
from sharedkv.dense_positions import Ints, QueryWindows
from sharedkv.layouts import INDEX_KEY_BYTES
from sharedkv.row_domains import NOWHERE
from sharedkv.rows import on_device

BLOCK_SCORES = 1 << 22
"""Scores that are held at once, in rows times tokens."""
_UNSEEN = torch.iinfo(torch.int64).min
_MAGNITUDE_BITS = 0x7FFFFFFF
_POSITION_BITS = 0xFFFFFFFF


def top_k(
    queries: torch.Tensor, weights: torch.Tensor, index_rows: torch.Tensor, windows: QueryWindows, count: int
) -> torch.Tensor:
    """Select for each row the `count` tokens of its window with the highest scores, highest first.

    `queries` is uint8 (rows, index heads * 128) of fp8, `weights` fp32 (rows, index heads), `index_rows` uint8
    (tokens, 132): the dense view of the index, a key and its scale a row. Returns int64 (rows, count): positions of the
    dense view, -1 where a window has fewer tokens. Waits for no device.
    """
    rows, heads = weights.shape
    selected = torch.full((rows, count), NOWHERE, dtype=torch.int64, device=queries.device)
    values = _fp8_values(queries).view(rows, heads, INDEX_KEY_BYTES)
    bases = on_device(windows.bases, queries.device)
    for block, span in _blocks(windows):
        scores = _scores(values[block], weights[block], index_rows[span.start : span.stop])
        ks, ke = (on_device(bound, queries.device) for bound in _score_bounds(windows, block, span))
        kept = min(count, len(span))
        chosen = _highest(scores, ks, ke, kept)
        of_request = torch.where(chosen < 0, NOWHERE, chosen - ks[:, None])
        selected[block, :kept] = emit_top_k(of_request, on_device(windows.request[block], queries.device), bases)
    return selected


def _blocks(windows: QueryWindows) -> Iterator[tuple[slice, range]]:
    """Yield runs of rows and the positions that they see together, so that not too many scores are held at once."""
    starts = windows.bases[windows.request]
    ends = starts + windows.tokens
    rows, first = len(ends), 0
    while first < rows:
        low = np.minimum.accumulate(starts[first:])
        high = np.maximum.accumulate(ends[first:])
        sizes = (high - low) * np.arange(1, rows - first + 1)
        taken = max(1, int(np.searchsorted(sizes, BLOCK_SCORES, side="right")))
        yield slice(first, first + taken), range(int(low[taken - 1]), int(high[taken - 1]))
        first += taken


def _score_bounds(windows: QueryWindows, block: slice, span: range) -> tuple[Ints, Ints]:
    """Return where the window of each row begins and ends in the score buffer."""
    ks = windows.bases[windows.request[block]] - span.start
    return ks, ks + windows.tokens[block]


def _scores(queries: torch.Tensor, weights: torch.Tensor, index_rows: torch.Tensor) -> torch.Tensor:
    """Return fp32 (rows, tokens) of queries (rows, heads, 128), weights (rows, heads) and index rows (tokens, 132)."""
    keys = _fp8_values(index_rows[:, :INDEX_KEY_BYTES]).T
    scales = index_rows[:, INDEX_KEY_BYTES:].contiguous().view(torch.float32).view(1, -1)
    scores = torch.zeros((len(queries), len(index_rows)), dtype=torch.float32, device=queries.device)
    for head in range(queries.shape[1]):
        products = (queries[:, head] @ keys).to(torch.float32)
        scores += weights[:, head, None] * products.clamp_(min=0)
    return scores * scales


def _highest(scores: torch.Tensor, ks: torch.Tensor, ke: torch.Tensor, count: int) -> torch.Tensor:
    """Return int64 (rows, count): the positions within [ks, ke) with the highest scores, -1 beyond them."""
    positions = torch.arange(scores.shape[1], device=scores.device)
    is_seen = (positions >= ks[:, None]) & (positions < ke[:, None])
    order = torch.where(is_seen, _ordered(scores, positions), _UNSEEN)
    best = torch.topk(order, count, dim=1).values
    return torch.where(best == _UNSEEN, NOWHERE, _POSITION_BITS - (best & _POSITION_BITS))


def _ordered(scores: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Return integers that are ordered as the scores are, and by earlier position where scores are equal; no two are.

    The bits of a float, read as a number with its sign apart, are in the order of floats.
    """
    bits = (scores + 0.0).view(torch.int32)  # -0.0 + 0.0 is 0.0
    ranks = bits ^ ((bits >> 31) & _MAGNITUDE_BITS)
    return (ranks.to(torch.int64) << 32) + (_POSITION_BITS - positions)


def _fp8_values(codes: torch.Tensor) -> torch.Tensor:
    """Return the values of e4m3 codes (uint8), in binary64."""
    return codes.contiguous().view(torch.float8_e4m3fn).to(torch.float32).to(torch.float64)
