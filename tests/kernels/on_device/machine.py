"""Tensors of chosen bytes, and their way to the device and back."""

from dataclasses import dataclass

import torch
from hypothesis import strategies as st

ROW_BYTES = (656, 1152, 2048, 132, 32, 24, 6, 5)
"""MLA fp8, MLA bf16, MHA, an index row, then rows that no 16-byte access fits."""
PAGE_SIZES = (64, 16, 4, 3)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A device with kernels."""

    device: torch.device

    def put(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy on the device: what a kernel writes there does not reach the original."""
        return tensor.to(self.device, copy=True)


def random_bytes(seed: int, *shape: int) -> torch.Tensor:
    """Bytes of one seed, on the CPU."""
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(seed))


def distinct_slots(seed: int, num_rows: int, num_slots: int) -> torch.Tensor:
    """Slots (num_rows,) without repetition, about a quarter of them negative, on the CPU."""
    generator = torch.Generator().manual_seed(seed)
    slots = torch.randperm(num_slots, generator=generator)[:num_rows].clone()
    slots[torch.rand(num_rows, generator=generator) < 0.25] = -1 - seed % 3
    return slots


seeds = st.integers(0, 2**20)
row_counts = st.integers(0, 40)
