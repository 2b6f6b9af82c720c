"""Rounding to fp8 by integers gives the codes of torch, for every fp32 value that is a tie or beside one."""

import torch
import triton
import triton.language as tl

from sharedkv import quantization
from sharedkv.kernels.fp8_rounding import fp8_codes
from tests.kernels.on_device.machine import Machine

BLOCK = 4096


@triton.jit
def rounding_kernel(bits: tl.tensor, codes: tl.tensor, count: tl.tensor, SIZE: tl.constexpr) -> None:  # noqa: N803
    """Round each of `count` values."""
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(codes + at, fp8_codes(tl.load(bits + at, mask=at < count, other=0)), mask=at < count)


def rounded(machine: Machine, values: torch.Tensor) -> torch.Tensor:
    """Codes of values (n,) fp32, as uint8 on the CPU."""
    bits = machine.put(values.view(torch.int32))
    codes = torch.empty_like(bits)
    rounding_kernel[(triton.cdiv(len(bits), BLOCK),)](bits, codes, len(bits), SIZE=BLOCK)
    return codes.cpu().to(torch.uint8)


def values_and_ties() -> torch.Tensor:
    """Every value of fp8, the middle of each two, what fp32 has beside these, and the same below zero."""
    held = torch.arange(0x7F, dtype=torch.uint8).view(torch.float8_e4m3fn).to(torch.float32)
    exact = torch.cat((held, (held[1:] + held[:-1]) / 2))
    around = torch.cat([exact, torch.nextafter(exact, torch.tensor(1e9)), torch.nextafter(exact, torch.tensor(-1e9))])
    return torch.cat((around, -around))


def test_values_ties_and_their_neighbours(machine: Machine) -> None:
    values = values_and_ties()

    assert torch.equal(rounded(machine, values), quantization._fp8_codes(values))


def test_every_exponent_with_some_fractions(machine: Machine) -> None:
    fractions = torch.randint(0, 1 << 23, (64,), generator=torch.Generator().manual_seed(1))
    bits = (torch.arange(0xFF)[:, None] << 23 | fractions).view(-1).to(torch.int32)
    values = torch.cat((bits.view(torch.float32), -bits.view(torch.float32)))

    assert torch.equal(rounded(machine, values), quantization._fp8_codes(values))


def test_what_is_beyond_the_largest_saturates_and_nan_has_one_code(machine: Machine) -> None:
    values = torch.tensor([448.0, 464.0, 480.0, 1e30, float("inf"), -464.0, float("-inf"), float("nan"), -float("nan")])

    assert rounded(machine, values).tolist() == [0x7E] * 5 + [0xFE] * 2 + [0x7F] * 2
