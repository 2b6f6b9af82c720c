"""One rank that holds everything: each prompt in one pass, without pages, chunks or a cache.

What the ranks that share are compared with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from sharedkv.attention import attend
from sharedkv.demo.model import TinyModel
from sharedkv.demo.settings import SELECTED_TOKENS
from sharedkv.dense_positions import QueryWindows
from sharedkv.indexing import top_k
from sharedkv.layouts import INDEX, LATENT, Layout
from sharedkv.pool_rows import stored_rows


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerTrace:
    """What a layer did with tokens of one prompt, one row a token.

    `stored` has the stored rows of each buffer, uint8; `selected` the positions within the prompt that each token
    attended to, int64 (tokens, count), -1 for none; `attention` fp32 (tokens, heads, 512).
    """

    stored: dict[str, torch.Tensor]
    selected: torch.Tensor
    attention: torch.Tensor


def single_rank(model: TinyModel, layout: Layout, tokens: tuple[int, ...]) -> list[LayerTrace]:
    """Prefill one prompt and return what each layer did with each of its tokens."""
    count = len(tokens)
    windows = QueryWindows(
        request=np.zeros(count, dtype=np.int64),
        tokens=np.arange(1, count + 1),
        bases=np.zeros(1, dtype=np.int64),
    )
    rows = model.embed(torch.tensor(tokens))
    traces = []
    for layer in range(len(model.layers)):
        made = model.project(layer, rows, torch.arange(count))
        latent = stored_rows(layout.buffer(LATENT), made.latent)
        selected = top_k(made.index_queries, made.index_weights, made.index, windows, SELECTED_TOKENS)
        attention = attend(made.queries, latent, selected)
        traces.append(LayerTrace(stored={LATENT: latent, INDEX: made.index}, selected=selected, attention=attention))
        rows = model.advance(layer, rows, attention)
    return traces
