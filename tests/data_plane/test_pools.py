"""Storage of one rank."""

import pytest
import torch

from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.layouts import MLA_FP8, layout
from sharedkv.pools import Pool


def small_pool() -> Pool:
    return Pool(Geometry(cp_size=2, page_size=4, pages=7), layout(MLA_FP8), layers=2)


def test_a_row_buffer_has_a_row_for_each_token_of_the_lane_and_of_the_dummy_page() -> None:
    assert small_pool().buffer(0, "latent").shape == ((1 + 3) * 4, 656)


def test_an_index_buffer_has_one_row_a_page() -> None:
    assert small_pool().buffer(1, "index").shape == (1 + 3, 4 * 132)


def test_no_two_buffers_share_bytes() -> None:
    pool = small_pool()
    pool.buffer(0, "latent").fill_(7)

    assert not pool.buffer(1, "latent").any()


def test_a_pool_starts_with_zeros() -> None:
    pool = small_pool()

    assert not any(pool.buffer(layer, name).any() for layer in range(2) for name in ("latent", "index"))


def test_every_buffer_is_bytes_and_can_be_read_as_words() -> None:
    pool = small_pool()

    assert pool.buffer(0, "latent").dtype == torch.uint8
    assert pool.buffer(0, "latent").view(torch.int64).shape == (16, 82)


@pytest.mark.parametrize("layer", [-1, 2])
def test_a_layer_that_is_not_there_is_refused(layer: int) -> None:
    with pytest.raises(RefusedError) as refused:
        small_pool().buffer(layer, "latent")

    assert refused.value.reason is Refusal.LAYER_OUTSIDE_POOL
