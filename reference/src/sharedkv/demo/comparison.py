"""How far the ranks that share agree with one rank that holds everything, prompt by prompt.

Knows both outcomes. Does not know how either was reached, nor how it is told.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from sharedkv.demo.settings import TOLERANCE
from sharedkv.demo.shared import Round, SharedLayer, SharingRanks
from sharedkv.demo.single import LayerTrace
from sharedkv.layouts import INDEX, LATENT

BUFFERS = (LATENT, INDEX)
Traces = dict[str, list[LayerTrace]]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What is not as on one rank, counted over layers and buffers.

    `stored_rows` differ in the pools, `view_rows` in a dense view of some rank; `selections` are new tokens that
    attended to others than they should. `attention` is the largest difference of an output.
    """

    stored_rows: int = 0
    view_rows: int = 0
    selections: int = 0
    attention: float = 0.0

    @property
    def is_none(self) -> bool:
        """Say whether bytes and selections are equal bit by bit, and attention within the tolerance."""
        return not (self.stored_rows or self.view_rows or self.selections) and self.attention <= TOLERANCE

    def plus(self, other: Difference) -> Difference:
        """Return both together."""
        return Difference(
            stored_rows=self.stored_rows + other.stored_rows,
            view_rows=self.view_rows + other.view_rows,
            selections=self.selections + other.selections,
            attention=max(self.attention, other.attention),
        )


def differences(sharing: SharingRanks, rounds: Sequence[Round], single: Traces) -> dict[str, Difference]:
    """Return what differs of each prompt; `single` has what one rank did with each of its tokens, layer by layer."""
    found = {name: _stored(sharing, name, traces) for name, traces in single.items()}
    for done in rounds:
        for number, chunk in enumerate(done.chunks):
            of_layers = zip(done.layers, single[chunk.prompt.name], strict=True)
            for layer, trace in of_layers:
                found[chunk.prompt.name] = found[chunk.prompt.name].plus(_chunk(done, number, layer, trace))
    return found


def _stored(sharing: SharingRanks, prompt: str, traces: Iterable[LayerTrace]) -> Difference:
    rows = 0
    for layer, trace in enumerate(traces):
        for buffer in BUFFERS:
            expected = trace.stored[buffer]
            rows += _rows_that_differ(sharing.stored(prompt, len(expected), layer, buffer), expected)
    return Difference(stored_rows=rows)


def _chunk(done: Round, number: int, layer: SharedLayer, trace: LayerTrace) -> Difference:
    """Compare one layer of one chunk: the view of its request on every rank, and what its new tokens did."""
    chunk, base = done.chunks[number], int(done.batch.bases[number])
    first = sum(other.end - other.start for other in done.chunks[:number])
    own = slice(first, first + chunk.end - chunk.start)
    selected = layer.selected[own]
    of_prompt = torch.where(selected < 0, selected, selected - base).sort(dim=1).values
    expected = trace.selected[chunk.start : chunk.end].sort(dim=1).values
    attention = (layer.attention[own] - trace.attention[chunk.start : chunk.end]).abs().nan_to_num(nan=math.inf)
    return Difference(
        view_rows=sum(
            _rows_that_differ(rows[base : base + chunk.end], trace.stored[buffer][: chunk.end])
            for buffer in BUFFERS
            for rows in layer.view.rows(buffer)
        ),
        selections=_rows_that_differ(of_prompt, expected),
        attention=float(attention.max()),
    )


def _rows_that_differ(found: torch.Tensor, expected: torch.Tensor) -> int:
    return int((found != expected).any(dim=1).sum())
