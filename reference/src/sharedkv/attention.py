"""Attention of query rows over selected rows of the dense view, in fp32.

Knows latents, rope and softmax. Does not know pages, ranks, or how rows were selected.

    output of a row and head = softmax over selected tokens of (query . (latent, rope) / 24) times their latents

24 is the root of 576, the values of a query. A token that stands twice among the selected counts twice.
"""

from __future__ import annotations

import math

import torch

from sharedkv.layouts import BF16_BYTES, FP8_ROW_BYTES, LATENT_VALUES, ROPE_VALUES
from sharedkv.quantization import dequantize_latent
from sharedkv.rows import gather_rows

QUERY_VALUES = LATENT_VALUES + ROPE_VALUES
SCALE = 1 / math.sqrt(QUERY_VALUES)
BLOCK_ROWS = 1 << 14
"""Selected rows that are held in fp32 at once."""


def attend(queries: torch.Tensor, latent_rows: torch.Tensor, selected: torch.Tensor) -> torch.Tensor:
    """Attend with each row to the tokens that it selected.

    `queries` is uint8 (rows, heads * 1152) of bf16, `latent_rows` uint8 (tokens, 1152 or 656): the dense view of the
    latents, in stored form; `selected` int64 (rows, count): positions of the dense view, -1 for none. Returns fp32
    (rows, heads, 512); a row that selected nothing gets zeros. Waits for no device.
    """
    rows, count = selected.shape
    heads = queries.shape[1] // (BF16_BYTES * QUERY_VALUES)
    values = queries.contiguous().view(torch.bfloat16).to(torch.float32).view(rows, heads, QUERY_VALUES)
    output = torch.zeros((rows, heads, LATENT_VALUES), dtype=torch.float32, device=queries.device)
    step = max(1, BLOCK_ROWS // max(count, 1))
    for first in range(0, rows if count else 0, step):
        block = slice(first, first + step)
        output[block] = _attend_block(values[block], latent_rows, selected[block])
    return output


def _attend_block(queries: torch.Tensor, latent_rows: torch.Tensor, selected: torch.Tensor) -> torch.Tensor:
    """Return fp32 (rows, heads, 512) for queries (rows, heads, 576) and positions (rows, count)."""
    stored = gather_rows(latent_rows, selected.reshape(-1))
    tokens = latent_values(stored).view(*selected.shape, QUERY_VALUES)
    is_none = (selected < 0)[:, None, :]
    scores = torch.einsum("rhd,rcd->rhc", queries, tokens) * SCALE
    shares = torch.softmax(scores.masked_fill(is_none, -math.inf), dim=-1).masked_fill(is_none, 0.0)
    return torch.einsum("rhc,rcd->rhd", shares, tokens[..., :LATENT_VALUES])


def latent_values(stored: torch.Tensor) -> torch.Tensor:
    """Return the latent and rope values, fp32 (rows, 576), of stored rows: 1152 bytes of bf16, or 656 of fp8."""
    if stored.shape[1] == FP8_ROW_BYTES:
        return dequantize_latent(stored)
    return stored.view(torch.bfloat16).to(torch.float32)
