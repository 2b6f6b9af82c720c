"""Copies between the tiers: every byte comes back, no copy runs too early, and whoever reads waits for the load."""

from dataclasses import replace

import pytest
import torch

from sharedkv.errors import Refusal, RefusedError, TensorMismatchError
from sharedkv.host_memory import ORDERS
from sharedkv.layouts import MHA_BF16, MLA_BF16, MLA_FP8
from tests.data_plane.two_tiers import RANKS, TwoTiers

PAIRS = ((1, 0), (2, 3), (4, 1), (7, 5))
"""Logical pages, two of each lane, and the host pages that they go to."""
PAGES = [page for page, _ in PAIRS]
ELSEWHERE = ((9, 0), (10, 3), (12, 1), (15, 5))
"""Other pages of the same lanes for the same host pages."""


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", [MLA_BF16, MLA_FP8, MHA_BF16])
def test_backup_and_load_bring_every_byte_of_target_and_draft_back(name: str, order: str) -> None:
    tiers = TwoTiers(name=name, order=order)
    tiers.backed_up(PAIRS, seed=1)
    tiers.fill_all(PAGES, seed=2)
    progress = tiers.engine.submit_load(tiers.moves(ELSEWHERE))
    progress.settle()
    tiers.backend.synchronize()

    assert tiers.device_has({new: old for (new, _), (old, _) in zip(ELSEWHERE, PAIRS, strict=True)}, seed=1)
    assert tiers.device_has({page: page for page in PAGES}, seed=2)


@pytest.mark.parametrize("order", ORDERS)
def test_layer_by_layer_and_all_at_the_end_give_equal_host_bytes(order: str) -> None:
    layered, tail = TwoTiers(order=order), TwoTiers(order=order)
    for tiers in (layered, tail):
        tiers.engine.admitted("a", tiers.moves(PAIRS))
        for layer in tiers.layers:
            tiers.fill(layer, PAGES, seed=3)
            if tiers is layered:
                tiers.engine.layer_end(layer)
        (progress,) = tiers.engine.submit_backups([tiers.moves(PAIRS)], "a")
        progress.settle()

    assert layered.host_has(layered.moves(PAIRS), seed=3)
    for layer in layered.layers:
        for buffer in layered.layout.buffers:
            pairs = zip(layered.memories, tail.memories, strict=True)

            assert all(
                torch.equal(one.pages(layer, buffer.name), other.pages(layer, buffer.name)) for one, other in pairs
            )


def test_a_layer_is_backed_up_once_whenever_it_is_told() -> None:
    tiers = TwoTiers()
    moves = tiers.moves(PAIRS)
    tiers.engine.admitted("a", moves[:2])
    tiers.engine.layer_end(0)
    tiers.engine.layer_end(0)
    tiers.engine.admitted("b", moves[2:])
    tiers.engine.layer_end(2)
    tiers.engine.layer_end(0)
    tiers.engine.layer_end(2)

    assert tiers.told == [("backup", 0, "target"), ("backup", 2, "draft"), ("backup", 0, "target")]


def test_layers_that_were_not_told_are_backed_up_with_the_copy() -> None:
    tiers = TwoTiers(layers=3)
    tiers.engine.admitted("a", tiers.moves(PAIRS))
    tiers.fill_all(PAGES, seed=4)
    tiers.engine.layer_end(1)
    tiers.told.clear()
    (progress,) = tiers.engine.submit_backups([tiers.moves(PAIRS)], "a")
    progress.settle()

    assert tiers.told == [("backup", 0, "target"), ("backup", 2, "target"), ("backup", 3, "draft")]
    assert tiers.host_has(tiers.moves(PAIRS), seed=4)


def test_all_requests_of_a_forward_share_one_set_of_descriptors_a_layer() -> None:
    tiers = TwoTiers()
    for at, move in enumerate(tiers.moves(PAIRS)):
        tiers.engine.admitted(f"r{at}", [move])
    tiers.fill_all(PAGES, seed=5)
    for layer in tiers.layers:
        tiers.engine.layer_end(layer)
    made = list(tiers.engine._described.values())

    assert (len(tiers.told), len(made), len(made[0])) == (3, 1, RANKS)


def test_several_copies_of_one_call_share_their_sets_too() -> None:
    tiers = TwoTiers()
    tiers.fill_all(PAGES, seed=6)
    one, other = tiers.engine.submit_backups([tiers.moves(PAIRS[:1]), tiers.moves(PAIRS[1:])], None)
    one.settle()
    other.settle()

    assert len(tiers.told) == len(tiers.layers)
    assert tiers.host_has(tiers.moves(PAIRS), seed=6)


def test_no_copies_are_nothing() -> None:
    tiers = TwoTiers()

    assert (tiers.engine.submit_backups([], None), tiers.told) == ([], [])


def test_a_reservation_of_no_pages_and_a_layer_without_reservations_submit_nothing() -> None:
    tiers = TwoTiers()
    tiers.engine.layer_end(0)
    tiers.engine.admitted("a", ())
    tiers.engine.layer_end(0)

    assert tiers.told == []


def test_the_load_of_a_call_is_told_layer_by_layer() -> None:
    tiers = TwoTiers()
    tiers.engine.submit_load(tiers.moves(PAIRS))

    assert tiers.told == [("load", 0, "target"), ("load", 1, "target"), ("load", 2, "draft")]


@pytest.mark.parametrize("layer", [-1, 3])
def test_a_layer_that_is_not_there_is_refused(layer: int) -> None:
    tiers = TwoTiers()
    tiers.engine.admitted("a", tiers.moves(PAIRS))
    with pytest.raises(RefusedError) as refused:
        tiers.engine.layer_end(layer)

    assert refused.value.reason is Refusal.LAYER_OUTSIDE_POOL


def test_memory_of_other_rows_than_the_pool_is_refused_when_they_are_paired() -> None:
    tiers, other = TwoTiers(name=MLA_FP8), TwoTiers(name=MLA_BF16)
    with pytest.raises(
        TensorMismatchError, match="bytes of a row of latent of host and device: wanted 656, found 1152"
    ):
        replace(tiers.engine._tiers, memories=other.memories)


def test_target_and_draft_finish_apart() -> None:
    tiers = TwoTiers()
    tiers.fill_all(PAGES, seed=7)
    (progress,) = tiers.engine.submit_backups([tiers.moves(PAIRS)], None)
    targets = [progress.is_finished("target", rank) for rank in range(RANKS)]

    assert (tiers.engine.sources, targets) == (("target", "draft"), [True, True])
    assert tiers.host_has(tiers.moves(PAIRS), seed=7, layers=[0, 1])
    assert not tiers.memories[0].pages(2, "latent").any()
    assert progress.is_finished("draft", 0)
    assert tiers.memories[0].pages(2, "latent").any()


def test_without_a_draft_there_is_one_source() -> None:
    tiers = TwoTiers(draft_layers=0)

    assert tiers.engine.sources == ("target",)


def test_a_rank_without_pages_of_a_copy_is_finished() -> None:
    tiers = TwoTiers()
    tiers.backed_up(PAIRS[:1], seed=8)
    progress = tiers.engine.submit_load(tiers.moves(PAIRS[:1]))

    assert progress.is_finished("target", 1)
    assert progress.is_finished("draft", 1)
