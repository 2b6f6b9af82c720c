"""How long a workload takes, and how long a plain copy that moves as many bytes takes on the same device.

Knows clocks. Does not know kernels. On CUDA, calls are captured in a graph, so that what is timed is the device and not
the Python before it; a batch that fits into the device's cache finds it warm, and so does the copy beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Protocol

import torch

from gpu.workloads import Workload

GOAL_SHARE_OF_COPY = 0.9
_CALLS_A_GRAPH = 20
_REPLAYS = 15


@dataclass(frozen=True, kw_only=True)
class Timing:
    """A workload's time beside that of a copy of as many bytes, both read and written bytes counted."""

    kernel: str
    shape: Mapping[str, int | str]
    bytes_moved: int
    microseconds: float
    copy_microseconds: float

    @property
    def gb_per_s(self) -> float:
        """Return the bytes moved a second, in 10 ** 9."""
        return self.bytes_moved / self.microseconds / 1e3

    @property
    def copy_gb_per_s(self) -> float:
        """Return the same of the copy."""
        return self.bytes_moved / self.copy_microseconds / 1e3

    @property
    def share_of_copy(self) -> float:
        """Return how much of the copy's bandwidth the kernel reaches."""
        return self.copy_microseconds / self.microseconds

    def __str__(self) -> str:
        shape = " ".join(f"{name}={value}" for name, value in self.shape.items())
        speed = f"{self.gb_per_s:.0f} GB/s, {self.share_of_copy:.2f} of a copy"
        return f"{self.kernel:18} {shape}: {self.microseconds:.1f} us, {speed}"


class Clock(Protocol):
    """Times calls on one device."""

    device: torch.device

    def microseconds(self, call: Callable[[], object]) -> float:
        """Return the time of one call."""


def _timing(clock: Clock, workload: Workload) -> Timing:
    half = max(1, workload.bytes_moved // 2)
    source = torch.zeros(half, dtype=torch.uint8, device=clock.device)
    target = torch.empty_like(source)
    return Timing(
        kernel=workload.kernel,
        shape=workload.shape,
        bytes_moved=workload.bytes_moved,
        microseconds=clock.microseconds(workload.call),
        copy_microseconds=clock.microseconds(lambda: target.copy_(source)),
    )


class CudaClock:
    """Times on the current CUDA device, by events around replays of a graph."""

    device = torch.device("cuda")

    def timing(self, workload: Workload) -> Timing:
        """Return the time of a workload and of its copy."""
        return _timing(self, workload)

    def microseconds(self, call: Callable[[], object]) -> float:
        """Return the median over replays of the time of one call."""
        graph = self._captured(call)
        graph.replay()
        found = []
        for _ in range(_REPLAYS):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            found.append(float(start.elapsed_time(end)) * 1e3 / _CALLS_A_GRAPH)
        return median(found)

    def _captured(self, call: Callable[[], object]) -> torch.cuda.CUDAGraph:
        """Return a graph of calls; the first call, before it, compiles."""
        call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(_CALLS_A_GRAPH):
                call()
        return graph


class CpuClock:
    """Times one call on the CPU: enough to prove the program, and nothing to quote."""

    device = torch.device("cpu")

    def timing(self, workload: Workload) -> Timing:
        """Return the time of a workload and of its copy."""
        return _timing(self, workload)

    def microseconds(self, call: Callable[[], object]) -> float:
        """Return the time of one call after a first one."""
        call()
        start = time.perf_counter()
        call()
        return (time.perf_counter() - start) * 1e6
