"""Exchanges in one process: what each rank gets, and what is noted of it."""

import pytest
import torch

from sharedkv.collectives import ACKNOWLEDGED, Exchange, GroupAgreement, LocalGroup, Purpose, as_integers

PURPOSE = Purpose(layer=1, buffer="latent", spans=((0, 4),))


def random_bytes(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("row_bytes", [2, 132, 656])
def test_a_sum_of_disjoint_rows_keeps_every_bit(row_bytes: int) -> None:
    whole = random_bytes(9, row_bytes)
    owners = torch.arange(9) % 3
    parts = [torch.where((owners == rank)[:, None], whole, 0) for rank in range(3)]

    LocalGroup(3).all_reduce_sum(parts, PURPOSE)

    assert all(torch.equal(part, whole) for part in parts)


def test_ranks_keep_storage_of_their_own_after_a_sum() -> None:
    parts = [torch.zeros(8, dtype=torch.uint8) for _ in range(2)]
    LocalGroup(2).all_reduce_sum(parts, PURPOSE)

    parts[0][0] = 7

    assert parts[1][0] == 0


def test_a_gather_has_the_contributions_in_rank_order() -> None:
    parts = [random_bytes(2, 3, seed=rank) for rank in range(3)]

    gathered = LocalGroup(3).all_gather(parts, PURPOSE)

    assert all(torch.equal(answer, torch.stack(parts)) for answer in gathered)


def test_ranks_have_the_least_of_each_number_in_common() -> None:
    noted: list[Exchange] = []
    agreement = GroupAgreement(LocalGroup(3, noted.append))

    assert agreement.least([[4, 0, 2], [3, 1, 2], [5, 9, 7]]) == (3, 0, 2)
    assert noted == [Exchange(kind="all_reduce", purpose=ACKNOWLEDGED)]


def test_a_least_is_put_into_the_storage_of_every_rank() -> None:
    parts = [torch.tensor([rank, 3 - rank]) for rank in range(3)]
    LocalGroup(3).all_reduce_min(parts, PURPOSE)
    parts[0][0] = 7

    assert [part.tolist() for part in parts[1:]] == [[0, 1]] * 2


def test_every_exchange_is_noted_once_whatever_the_number_of_ranks() -> None:
    noted: list[Exchange] = []
    group = LocalGroup(3, noted.append)
    parts = [torch.zeros(8, dtype=torch.uint8) for _ in range(3)]

    group.all_reduce_sum(parts, PURPOSE)
    group.all_gather(parts, PURPOSE)

    assert noted == [Exchange(kind="all_reduce", purpose=PURPOSE), Exchange(kind="all_gather", purpose=PURPOSE)]


@pytest.mark.parametrize(("num_bytes", "width"), [(16, 8), (12, 4), (10, 1)])
def test_bytes_are_summed_in_the_widest_words_that_fit(num_bytes: int, width: int) -> None:
    assert as_integers(torch.zeros(num_bytes, dtype=torch.uint8)).element_size() == width


def test_bytes_that_begin_within_a_word_are_summed_in_narrower_ones() -> None:
    assert as_integers(torch.zeros(24, dtype=torch.uint8)[4:20]).element_size() == 4
