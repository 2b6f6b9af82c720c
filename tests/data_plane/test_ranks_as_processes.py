"""Ranks that are processes, which exchange over gloo, have bit for bit what ranks in one process have."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from sharedkv.collectives import DistributedGroup, Exchange, Group, LocalGroup, Purpose
from sharedkv.composing import DenseViews
from sharedkv.streams import RecordingBackend
from tests.data_plane.processes import in_processes
from tests.data_plane.small_batches import LAYERS, SmallBatch, small_batch

ONE = ((4, 9),)
SEVERAL = ((8, 40), (0, 5), (4, 1), (12, 17))
Views = dict[tuple[int, str], list[bytes]]


def composed(batch: SmallBatch, group: Group) -> Views:
    """Compose every layer in two epochs and return the views of the ranks that are played."""
    views = DenseViews(batch.geometry, [batch.pools[rank] for rank in group.ranks], group, RecordingBackend())
    found: Views = {}
    for epoch in (1, 2):
        for layer in range(LAYERS):
            computed = batch.rows(layer, "compute")
            views.compose(layer, epoch, batch.requests, [computed[rank] for rank in group.ranks])
            for buffer in batch.layout.buffers:
                rows = views.view(layer, epoch).rows(buffer.name)
                found[layer, buffer.name] = [dense.numpy().tobytes() for dense in rows]
    return found


def composed_by_one_rank(batch: SmallBatch) -> tuple[Views, list[Exchange]]:
    noted: list[Exchange] = []
    return composed(batch, DistributedGroup(on_exchange=noted.append)), noted


@pytest.mark.parametrize(
    ("ranks", "name", "lengths"),
    [
        (2, "mla_bf16", SEVERAL),
        (2, "mla_fp8", ONE),
        (4, "mla_fp8", SEVERAL),
        (4, "mha_bf16", ONE),
        (8, "mla_fp8", SEVERAL),
    ],
)
def test_views_over_processes_are_those_of_one_process(
    tmp_path: Path, ranks: int, name: str, lengths: tuple[tuple[int, int], ...]
) -> None:
    batch = small_batch(ranks, ranks=ranks, lengths=lengths, name=name)
    together = composed(batch, LocalGroup(ranks))

    apart = in_processes(ranks, tmp_path, lambda: composed_by_one_rank(batch))

    for rank, (views, _) in enumerate(apart):
        assert {key: own[0] for key, own in views.items()} == {key: own[rank] for key, own in together.items()}


def test_exchanges_over_processes_are_as_many_for_one_request_as_for_several(tmp_path: Path) -> None:
    counts = set()
    for number, lengths in enumerate((ONE, SEVERAL)):
        batch = small_batch(number, ranks=2, lengths=lengths)
        folder = tmp_path / str(number)
        folder.mkdir()
        counts |= {len(noted) for _, noted in in_processes(2, folder, lambda: composed_by_one_rank(batch))}  # noqa: B023

    assert counts == {2 * LAYERS * len(batch.layout.buffers)}


def test_exchanges_over_processes_are_noted_as_in_one_process(tmp_path: Path) -> None:
    batch = small_batch(5, ranks=2, lengths=SEVERAL)
    noted: list[Exchange] = []
    composed(batch, LocalGroup(2, noted.append))

    apart = in_processes(2, tmp_path, lambda: composed_by_one_rank(batch))

    assert [exchanges for _, exchanges in apart] == [noted, noted]


def test_a_gather_over_processes_has_the_contributions_in_rank_order(tmp_path: Path) -> None:
    purpose = Purpose(layer=0, buffer="output")
    parts = [torch.full((3, 2), rank, dtype=torch.uint8) for rank in range(4)]

    def gathered() -> list[list[list[int]]]:
        group = DistributedGroup()
        answer: list[list[list[int]]] = group.all_gather([parts[group.ranks[0]]], purpose)[0].tolist()
        return answer

    assert in_processes(4, tmp_path, gathered) == [torch.stack(parts).tolist()] * 4
