"""A forward of real work whose length can be set: a product of matrices and the rows of every layer.

Knows the stream that computes. Does not know transfers. The thread that calls only enqueues, as it does before a GPU;
the work is done on the thread of the stream, outside the lock of the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from time import perf_counter_ns

import torch

from benchmarks.transfer_content import Layer
from sharedkv.streams import Event, Stream

VALUES = 256
_FIRST_ROWS = 1_024
_TRIALS = 3
NS_PER_US = 1_000


class Forward:
    """The forward of one rank; each layer multiplies so many rows, and then writes the pages of the round."""

    def __init__(self, stream: Stream, layers: Sequence[Layer]) -> None:
        self._stream = stream
        self._layers = layers
        self._weights = torch.randn((VALUES, VALUES), generator=torch.Generator().manual_seed(0))
        self._hidden = torch.zeros((0, VALUES))
        self._product = torch.zeros((0, VALUES))

    def set_length(self, target_us: float) -> None:
        """Choose the rows that are multiplied, so that a forward takes about so long; never less than its writes."""
        self._set_rows(0)
        writes_us = self._median_us()
        rows = _FIRST_ROWS
        for _ in range(_TRIALS):
            self._set_rows(rows)
            products_us = self._median_us() - writes_us
            rows = max(0, round(rows * (target_us - writes_us) / products_us)) if products_us > 0 else 0
            if not rows:
                break
        self._set_rows(rows)

    def run(self, number: int, layer_end: Callable[[int], None]) -> float:
        """Do the forward of a round, tell of the end of each layer when it is enqueued, and return how long it took."""
        start = perf_counter_ns()
        self.enqueue(number, layer_end).synchronize()
        return (perf_counter_ns() - start) / NS_PER_US

    def enqueue(self, number: int, layer_end: Callable[[int], None]) -> Event:
        """Enqueue the forward of a round, and return its end."""
        for layer, content in enumerate(self._layers):
            self._stream.enqueue(partial(self._do_layer, content, number), f"forward of layer {layer}")
            layer_end(layer)
        return self._stream.record()

    def _median_us(self) -> float:
        return median(self.run(number, _nothing) for number in range(_TRIALS))

    def _set_rows(self, rows: int) -> None:
        self._hidden = torch.randn((rows, VALUES), generator=torch.Generator().manual_seed(1))
        self._product = torch.zeros((rows, VALUES))

    def _do_layer(self, layer: Layer, number: int) -> None:
        torch.mm(self._hidden, self._weights, out=self._product)
        layer.write(number)


def _nothing(_layer: int) -> None:
    pass
