"""Backups behind a forward, on the device: layer by layer, or all layers at the end.

Knows shapes of production and how a result stands in the record. `gpu.backup_overlap` measures, and compares the bytes
of both before it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from gpu.backup_overlap import BACKED_UP, VARIANTS, Overlap, OverlapScale, overlap_of
from sharedkv.host_memory import LAYER_FIRST, PAGE_FIRST_DIRECT
from sharedkv.layouts import MLA_BF16, MLA_FP8
from sharedkv.streams import Backend, CudaBackend
from sharedkv.thread_streams import ThreadBackend

EXTENDS = (64, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768)


def scales(*, tiny: bool) -> Iterator[OverlapScale]:
    """Yield what is measured: both forms of rows, host memory by layer and by page."""
    if tiny:
        yield OverlapScale(
            layout=MLA_BF16, order=PAGE_FIRST_DIRECT, layers=2, draft_layers=1, values=16, extends=(64, 1_024), rounds=1
        )
        return
    for layout in (MLA_FP8, MLA_BF16):
        for order in (LAYER_FIRST, PAGE_FIRST_DIRECT):
            yield OverlapScale(
                layout=layout, order=order, layers=78, draft_layers=1, values=8_192, extends=EXTENDS, rounds=10
            )


def backups(device: torch.device, *, tiny: bool) -> Iterator[dict[str, Any]]:
    """Measure every extend of every scale, and yield each as JSON values."""
    for scale in scales(tiny=tiny):
        for tokens in scale.extends:
            streams: Backend = CudaBackend(device) if device.type == "cuda" else ThreadBackend()
            yield _as_values(scale, overlap_of(scale, tokens, streams, device))


def line(found: dict[str, Any]) -> str:
    """Say one result in a line."""
    over = ", ".join(f"{run['over_forward_us']:.0f} us {run['variant']}" for run in found["runs"][1:])
    return f"backup of {found['tokens']} tokens, {found['layout']}, {found['order']}: over the forward {over}"


def _as_values(scale: OverlapScale, found: Overlap) -> dict[str, Any]:
    runs = []
    for variant in VARIANTS:
        run = found.runs[variant]
        times = {"forward_us": run.forward_us, "total_us": run.total_us}
        if variant in BACKED_UP:
            times["over_forward_us"] = found.over_forward_us(variant)
            times["submit_us_a_layer"] = found.submit_us_a_layer(variant)
        runs.append({"variant": variant, **{name: round(time, 2) for name, time in times.items()}})
    return {
        "layout": scale.layout,
        "order": scale.order,
        "tokens": found.tokens,
        "pages": found.pages,
        "page_bytes": found.page_bytes,
        "layers": found.layers,
        "runs": runs,
        "winner": found.winner,
    }
