"""The machine that a record speaks of.

Knows names and versions. No address, no path, no name of a host.
"""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass

import torch
import triton


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A device and what drives it; `capability` is the compute capability, empty where there is no GPU."""

    device: str
    capability: str
    multiprocessors: int
    memory_gib: float
    cuda: str
    torch: str
    triton: str
    python: str

    @property
    def slug(self) -> str:
        """Return the name of the device as the name of a file."""
        return re.sub(r"[^a-z0-9]+", "-", self.device.lower()).strip("-")


def this_machine(*, has_gpu: bool) -> Machine:
    """Describe the current CUDA device, or the CPU that stands in for one."""
    versions = {"torch": torch.__version__, "triton": triton.__version__, "python": platform.python_version()}
    if not has_gpu:
        return Machine(device="interpreter", capability="", multiprocessors=0, memory_gib=0.0, cuda="", **versions)
    found = torch.cuda.get_device_properties(torch.cuda.current_device())
    return Machine(
        device=found.name,
        capability=f"{found.major}.{found.minor}",
        multiprocessors=found.multi_processor_count,
        memory_gib=round(found.total_memory / 2**30, 1),
        cuda=torch.version.cuda or "",
        **versions,
    )
