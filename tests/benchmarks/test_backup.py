"""The forwards that the benchmark backs up: equal bytes whichever way, and a winner that is the faster one."""

import pytest
import torch

from benchmarks.backup import COLUMNS, table_rows
from gpu import backup_overlap
from gpu.backup_overlap import (
    ALONE,
    LAYERED,
    TAIL,
    Forward,
    Overlap,
    OverlapScale,
    Run,
    UnequalBackupsError,
    overlap_of,
)
from sharedkv.host_memory import ORDERS, PAGE_FIRST_DIRECT
from sharedkv.layouts import MLA_BF16
from sharedkv.streams import RecordingBackend

CPU = torch.device("cpu")


def scale(order: str = PAGE_FIRST_DIRECT) -> OverlapScale:
    return OverlapScale(layout=MLA_BF16, order=order, layers=2, draft_layers=1, values=4, extends=(600,), rounds=1)


def overlap(layered: float, tail: float) -> Overlap:
    totals = {ALONE: 10.0, LAYERED: layered, TAIL: tail}
    runs = {variant: Run(forward_us=9.0, total_us=total, submit_us=6.0) for variant, total in totals.items()}
    return Overlap(tokens=600, pages=2, page_bytes=1_024, layers=3, runs=runs)


@pytest.mark.parametrize("order", ORDERS)
def test_both_ways_give_equal_bytes_on_streams_as_late_as_can_be(order: str) -> None:
    found = overlap_of(scale(order), 600, RecordingBackend(late=True), CPU)

    assert (found.pages, found.layers, set(found.runs)) == (2, 3, {ALONE, LAYERED, TAIL})


def test_bytes_that_differ_are_no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave_out_the_last(self: Forward, variant: str) -> Run:
        run = run_once(self, variant)
        if variant == TAIL:
            self.memory.pages(2, "index")[-1].zero_()
        return run

    run_once = Forward.run
    monkeypatch.setattr(backup_overlap.Forward, "run", leave_out_the_last)
    with pytest.raises(UnequalBackupsError, match="layer 2, buffer index"):
        overlap_of(scale(), 600, RecordingBackend(), CPU)


def test_host_pages_of_the_variants_are_their_own() -> None:
    forward = Forward(scale(), 600, RecordingBackend(), CPU)
    pages = [move.host_page for variant in (LAYERED, TAIL) for move in forward.moves(variant)]

    assert pages == [0, 1, 2, 3]


@pytest.mark.parametrize(("layered", "tail", "winner"), [(12.0, 13.0, LAYERED), (13.0, 12.0, TAIL)])
def test_the_winner_is_done_first(layered: float, tail: float, winner: str) -> None:
    found = overlap(layered, tail)

    assert found.winner == winner
    assert [row[-1] for row in table_rows(found)] == [
        "",
        *(winner if winner == name else "" for name in (LAYERED, TAIL)),
    ]


def test_a_row_says_what_comes_on_top_of_the_forward() -> None:
    alone, layered, _ = table_rows(overlap(12.5, 13.0))

    assert {len(row) for row in (alone, layered)} == {len(COLUMNS)}
    assert layered[:8] == (600, 2, 2.0, LAYERED, 9.0, 12.5, 2.5, 2.0)
