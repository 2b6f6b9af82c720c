"""Byte counts of rows, and names that no layout has."""

import pytest

from sharedkv.errors import Refusal, RefusedError
from sharedkv.layouts import MHA_BF16, MLA_BF16, MLA_FP8, Buffer, layout


@pytest.mark.parametrize(("name", "stored"), [(MLA_BF16, 1152), (MLA_FP8, 656)])
def test_latent_rows_are_computed_alike_and_stored_by_the_layout(name: str, stored: int) -> None:
    latent = layout(name).buffer("latent")

    assert latent == Buffer(name="latent", computed_row_bytes=1152, stored_row_bytes=stored)


def test_index_rows_are_paged_and_never_quantized() -> None:
    index = layout(MLA_FP8).buffer("index")

    assert (index.is_paged, index.is_quantized, index.stored_row_bytes) == (True, False, 132)


def test_keys_and_values_take_two_bytes_a_number() -> None:
    found = layout(MHA_BF16, kv_heads=2, head_dim=24)

    assert [(buffer.name, buffer.stored_row_bytes) for buffer in found.buffers] == [("key", 96), ("value", 96)]


def test_a_token_takes_the_bytes_of_all_its_buffers() -> None:
    assert layout(MLA_FP8).stored_token_bytes == 656 + 132


@pytest.mark.parametrize("name", ["", "mla", "MLA_BF16"])
def test_an_unknown_layout_is_refused(name: str) -> None:
    with pytest.raises(RefusedError) as refused:
        layout(name)

    assert refused.value.reason is Refusal.LAYOUT_UNKNOWN


def test_a_buffer_of_another_layout_is_refused() -> None:
    with pytest.raises(RefusedError) as refused:
        layout(MHA_BF16).buffer("index")

    assert refused.value.reason is Refusal.BUFFER_UNKNOWN
