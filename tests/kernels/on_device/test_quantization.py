"""Quantization gives the bytes of plain torch on the CPU: every finite bf16 value, every tie, every scale."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sharedkv import kernels, quantization
from tests.kernels.on_device.machine import Machine, seeds

TILE = 128
NAN_CODE = 0x7F
few = settings(max_examples=20)


def finite_values() -> torch.Tensor:
    """Every finite bf16 value once, both zeros among them."""
    bits = torch.arange(-(2**15), 2**15).to(torch.int16)
    values = bits.view(torch.bfloat16)
    return values[values.isfinite()]


def as_rows(values: torch.Tensor) -> torch.Tensor:
    """Values one after another in rows (n, 576), the last row filled up with zeros."""
    padded = torch.zeros((-(-len(values) // 576) * 576,), dtype=torch.bfloat16)
    padded[: len(values)] = values
    return padded.view(-1, 576)


def expect_equal(machine: Machine, rows: torch.Tensor) -> None:
    quantized = kernels.quantize_latent(machine.put(rows)).cpu()

    assert torch.equal(quantized, quantization.plain_quantize_latent(rows))


def test_every_finite_value_among_its_neighbours(machine: Machine) -> None:
    expect_equal(machine, as_rows(finite_values()))


def test_every_finite_value_among_strangers(machine: Machine) -> None:
    values = finite_values()
    expect_equal(machine, as_rows(values[torch.randperm(len(values), generator=torch.Generator().manual_seed(1))]))


def test_every_value_that_fp8_can_hold_or_round_at_a_scale_of_one(machine: Machine) -> None:
    values = finite_values()
    in_range = as_rows(values[values.abs() <= 448])
    in_range[:, 0:512:TILE] = 448
    quantized = kernels.quantize_latent(machine.put(in_range)).cpu()

    assert torch.equal(quantized[:, 512:528].contiguous().view(torch.float32), torch.ones(len(in_range), 4))
    assert torch.equal(quantized, quantization.plain_quantize_latent(in_range))


@few
@given(seed=seeds, exponent=st.integers(-40, 38), num_rows=st.integers(0, 30))
def test_random_rows_of_any_magnitude(machine: Machine, seed: int, exponent: int, num_rows: int) -> None:
    normal = torch.randn((num_rows, 576), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    rows = (normal * 10.0**exponent).clamp(-3e38, 3e38).to(torch.bfloat16)

    expect_equal(machine, rows)


def test_a_tile_of_zeros_has_a_scale_and_keeps_the_signs(machine: Machine) -> None:
    rows = torch.zeros((3, 576), dtype=torch.bfloat16)
    rows[1] = -0.0
    rows[2, ::2] = 1e-30

    expect_equal(machine, rows)


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_what_is_no_number_gives_one_code(machine: Machine) -> None:
    rows = torch.ones((2, 576), dtype=torch.bfloat16)
    rows[0, 3], rows[0, 4] = float("inf"), float("-inf")
    rows[1, 130] = float("nan")
    quantized = kernels.quantize_latent(machine.put(rows)).cpu()
    expected = quantization.plain_quantize_latent(rows)

    assert torch.equal(quantized[:, :512], expected[:, :512])
    assert quantized[0, 3:5].tolist() == [NAN_CODE, NAN_CODE]
    assert torch.equal(quantized[:, 528:], expected[:, 528:])


def test_rows_may_be_given_as_bytes(machine: Machine) -> None:
    rows = as_rows(finite_values())[:20].contiguous()
    quantized = kernels.quantize_latent(machine.put(rows).view(torch.uint8))

    assert torch.equal(quantized.cpu(), quantization.plain_quantize_latent(rows))
