"""Attention over selected rows against doubles, for both stored forms."""

import math

import pytest
import torch

from sharedkv import attention
from sharedkv.attention import attend, latent_values
from sharedkv.quantization import dequantize_latent, quantize_latent

GENERATOR = torch.Generator()


def bf16_bytes(rows: int, values: int, *, seed: int) -> torch.Tensor:
    made = torch.randn((rows, values), generator=GENERATOR.manual_seed(seed))
    return made.to(torch.bfloat16).view(torch.uint8)


def plain(query: torch.Tensor, rows: torch.Tensor, selected: list[int]) -> torch.Tensor:
    """Attend with one head of one row, in doubles."""
    tokens = rows.double()[[at for at in selected if at >= 0]]
    shares = torch.softmax(tokens @ query.double() / math.sqrt(576), dim=0)
    return shares @ tokens[:, :512]


@pytest.mark.parametrize("is_fp8", [False, True])
def test_attention_is_the_softmax_over_the_selected_rows(*, is_fp8: bool) -> None:
    computed = bf16_bytes(12, 576, seed=1)
    stored = quantize_latent(computed) if is_fp8 else computed
    query = bf16_bytes(3, 2 * 576, seed=2)
    selected = torch.tensor([[0, 5, -1], [11, 2, 3], [4, -1, -1]])

    output = attend(query, stored, selected)

    values = latent_values(stored)
    heads = query.view(torch.bfloat16).float().view(3, 2, 576)
    for row in range(3):
        for head in range(2):
            expected = plain(heads[row, head], values, selected[row].tolist())
            torch.testing.assert_close(output[row, head].double(), expected, rtol=1e-5, atol=1e-5)


def test_a_row_that_selected_nothing_gets_zeros() -> None:
    output = attend(bf16_bytes(1, 576, seed=1), bf16_bytes(4, 576, seed=2), torch.tensor([[-1, -1]]))

    assert torch.equal(output, torch.zeros(1, 1, 512))


def test_a_selection_of_no_columns_gets_zeros() -> None:
    empty = torch.empty((2, 0), dtype=torch.int64)

    output = attend(bf16_bytes(2, 576, seed=1), bf16_bytes(4, 576, seed=2), empty)

    assert torch.equal(output, torch.zeros(2, 1, 512))


def test_a_rank_without_rows_attends_to_nothing() -> None:
    none = torch.empty((0, 2 * 1152), dtype=torch.uint8)

    output = attend(none, bf16_bytes(4, 576, seed=2), torch.empty((0, 3), dtype=torch.int64))

    assert output.shape == (0, 2, 512)


def test_padding_among_the_selected_means_nothing() -> None:
    query, rows = bf16_bytes(1, 576, seed=3), bf16_bytes(4, 576, seed=4)

    padded = attend(query, rows, torch.tensor([[2, -1, 1, -1]]))

    torch.testing.assert_close(padded, attend(query, rows, torch.tensor([[2, 1]])), rtol=1e-6, atol=1e-6)


def test_blocks_of_rows_give_what_one_block_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    query, rows = bf16_bytes(5, 576, seed=5), bf16_bytes(9, 576, seed=6)
    selected = torch.randint(0, 9, (5, 4), generator=GENERATOR.manual_seed(7))
    whole = attend(query, rows, selected)
    monkeypatch.setattr(attention, "BLOCK_ROWS", 8)

    blocks = attend(query, rows, selected)

    torch.testing.assert_close(blocks, whole, rtol=1e-6, atol=1e-6)


def test_fp8_rows_are_read_with_their_scales() -> None:
    stored = quantize_latent(bf16_bytes(3, 576, seed=8))

    assert torch.equal(latent_values(stored), dequantize_latent(stored))
