"""Zeroed memory for pools.

Knows devices and pages of the operating system. Does not know rows. Rows that lie far apart cost the processor a look
into its page tables each; on the CPU, large pools therefore ask for huge pages where the system has them.
"""

from __future__ import annotations

import mmap
import sys
from math import prod

import torch

HUGE_PAGE_BYTES = 2 << 20


def zeroed(shape: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """Return zeros, uint8 of a shape, contiguous; on the CPU a large one takes memory when it is first touched."""
    num_bytes = prod(shape)
    if device.type != "cpu" or num_bytes < HUGE_PAGE_BYTES or sys.platform != "linux":
        return torch.zeros(shape, dtype=torch.uint8, device=device)
    memory = mmap.mmap(-1, num_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(memory, dtype=torch.uint8).view(shape)
