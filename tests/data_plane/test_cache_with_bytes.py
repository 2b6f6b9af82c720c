"""The tree over both tiers and its bytes: after evictions, loads, aborts and resets, a hit is what was computed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sharedkv.collectives import DistributedGroup, Group, LocalGroup
from sharedkv.host_memory import LAYER_FIRST, ORDERS, PAGE_FIRST_DIRECT
from sharedkv.streams import RecordingBackend
from sharedkv.tier_values import CachePolicy, WritePolicy
from tests.data_plane.processes import in_processes
from tests.data_plane.serving import Server

STEPS = 500


def served(group: Group, *, order: str, write: WritePolicy, seed: int = 3) -> Server:
    """Serve on streams that are as late as events allow."""
    backend = RecordingBackend(late=True)
    server = Server(group, backend, order=order, policy=CachePolicy(write=write), seed=seed)
    for _ in range(STEPS):
        server.step()
    server.finish()
    return server


@pytest.mark.parametrize(("order", "write"), list(zip(ORDERS, WritePolicy, strict=True)))
def test_a_hit_is_what_was_computed(order: str, write: WritePolicy) -> None:
    server = served(LocalGroup(2), order=order, write=write)

    assert server.wrong == []
    assert min(server.counts[name] for name in ("loaded", "computed", "looks", "aborted", "resets")) > 1


def play_one_rank() -> tuple[list[Any], list[str], Counter[str]]:
    server = served(DistributedGroup(), order=PAGE_FIRST_DIRECT, write=WritePolicy.WRITE_THROUGH)
    return server.answers, server.wrong, server.counts


def test_ranks_that_are_processes_hit_what_each_computed(tmp_path: Path) -> None:
    together = served(LocalGroup(2), order=LAYER_FIRST, write=WritePolicy.WRITE_THROUGH)
    apart = in_processes(2, tmp_path, play_one_rank)

    assert [answers for answers, _, _ in apart] == [together.answers] * 2
    assert [wrong for _, wrong, _ in apart] == [[], []]
    assert sum(counts["looks"] for _, _, counts in apart) == together.counts["looks"]
