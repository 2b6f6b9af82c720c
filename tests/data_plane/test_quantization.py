"""Fp8 rows against plain arithmetic of Python, bit for bit."""

import math
import struct

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.errors import TensorMismatchError
from sharedkv.quantization import dequantize_latent, quantize_latent

FINITE_FP8 = tuple(
    fraction * 2.0**-9 if exponent == 0 else (8 + fraction) * 2.0 ** (exponent - 10)
    for exponent in range(16)
    for fraction in range(8)
)[:127]


def fp32(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def nearest_code(value: float) -> int:
    """Return the code nearest to a value, the even one of two that are as near."""
    magnitude = min(abs(value), 448.0)
    code = min(range(127), key=lambda code: (abs(FINITE_FP8[code] - magnitude), code % 2))
    return code + (128 if math.copysign(1.0, value) < 0 else 0)


def expected_row(row: torch.Tensor) -> bytes:
    values = row.to(torch.float64).tolist()
    codes, scales = bytearray(), []
    for start in range(0, 512, 128):
        tile = values[start : start + 128]
        scale = max(fp32(max(map(abs, tile)) / 448), fp32(1e-12))
        scales.append(scale)
        codes += bytes(nearest_code(fp32(value / scale)) for value in tile)
    return bytes(codes) + struct.pack("<4f", *scales) + bytes(row[512:].view(torch.uint8).tolist())


def row_bytes(stored: torch.Tensor) -> bytes:
    return bytes(stored.tolist())


def random_rows(count: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    sizes = 2.0 ** torch.randint(-60, 60, (count, 576), generator=generator)
    return (torch.randn((count, 576), generator=generator) * sizes).to(torch.bfloat16)


@given(seed=st.integers(0, 2**20))
def test_a_stored_row_is_what_plain_arithmetic_says(seed: int) -> None:
    row = random_rows(1, seed)

    assert row_bytes(quantize_latent(row)[0]) == expected_row(row[0])


def test_ties_go_to_the_even_code() -> None:
    row = torch.zeros((1, 576), dtype=torch.bfloat16)
    row[0, :5] = torch.tensor([448.0, 17.0, 19.0, -17.0, 1.0625])

    assert row_bytes(quantize_latent(row)[0]) == expected_row(row[0])
    assert quantize_latent(row)[0, :5].tolist() == [0x7E, 0x58, 0x5A, 0xD8, 0x38]


def test_a_row_of_zeros_stays_finite() -> None:
    stored = quantize_latent(torch.zeros((1, 576), dtype=torch.bfloat16))

    assert torch.equal(dequantize_latent(stored), torch.zeros((1, 576)))
    assert stored[0, 512:528].view(torch.float32).tolist() == [fp32(1e-12)] * 4


def test_the_sign_of_zero_is_kept() -> None:
    stored = quantize_latent(torch.full((1, 576), -0.0, dtype=torch.bfloat16))

    assert set(stored[0, :512].tolist()) == {0x80}


def test_the_rope_is_stored_as_it_came() -> None:
    row = random_rows(1, seed=3)

    assert torch.equal(quantize_latent(row)[0, 528:], row[0, 512:].view(torch.uint8))


def test_bytes_and_numbers_give_the_same_rows() -> None:
    rows = random_rows(3, seed=4)

    assert torch.equal(quantize_latent(rows.view(torch.uint8)), quantize_latent(rows))


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    rows = random_rows(9, seed=5)

    assert torch.equal(quantize_latent(rows)[4:5], quantize_latent(rows[4:5]))


def test_what_was_stored_comes_back_within_half_a_step() -> None:
    rows = torch.randn((4, 576), generator=torch.Generator().manual_seed(6)).to(torch.bfloat16)
    values, found = rows.to(torch.float32), dequantize_latent(quantize_latent(rows))
    scales = values[:, :512].view(4, 4, 128).abs().amax(dim=2).repeat_interleave(128, dim=1) / 448
    half_step = torch.maximum(values[:, :512].abs() / 16, scales * 2.0**-10) * 1.001

    assert ((found[:, :512] - values[:, :512]).abs() <= half_step).all()
    assert torch.equal(found[:, 512:], values[:, 512:])


def test_no_rows_give_no_rows() -> None:
    assert quantize_latent(torch.zeros((0, 1152), dtype=torch.uint8)).shape == (0, 656)


@pytest.mark.parametrize(
    "rows",
    [
        torch.zeros((1, 576)),
        torch.zeros((1, 575), dtype=torch.bfloat16),
        torch.zeros((1, 1151), dtype=torch.uint8),
        torch.zeros(576, dtype=torch.bfloat16),
    ],
)
def test_rows_of_another_type_or_shape_are_refused(rows: torch.Tensor) -> None:
    with pytest.raises(TensorMismatchError):
        quantize_latent(rows)
