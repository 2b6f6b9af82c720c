"""A launch as a value: which kernel, on what, over how many programs.

Knows how a kernel is started. Does not know what a kernel does. A launch that is not run can be looked at: the test
that compiles without a GPU takes the arguments from here, so that it compiles what would run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from triton.runtime.interpreter import InterpretedFunction

from sharedkv.errors import TensorMismatchError


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One kernel over `programs` programs.

    `arguments` are the kernel's run-time arguments in order, tensors of one device among them, and of the host where
    they are pinned; `constants` its compile-time ones.
    """

    kernel: Any
    programs: int
    arguments: tuple[torch.Tensor | int, ...]
    constants: Mapping[str, int]
    num_warps: int = 4

    def device(self) -> torch.device:
        """Return the device of the tensors.

        Raises:
            TensorMismatchError: it has no kernels. The interpreter takes the CPU's tensors.

        """
        tensors = [argument for argument in self.arguments if isinstance(argument, torch.Tensor)]
        (device,) = {tensor.device for tensor in tensors if tensor.is_cuda or not tensor.is_pinned()}
        if device.type != ("cpu" if isinstance(self.kernel, InterpretedFunction) else "cuda"):
            raise TensorMismatchError("device of a kernel", "cuda", device.type)
        return device

    def run(self) -> None:
        """Enqueue the kernel on the current stream of its device; no program, no launch.

        Raises:
            TensorMismatchError: as for `device`.

        """
        device = self.device()
        if not self.programs:
            return
        if device.type == "cpu":
            self._start()
        else:
            with torch.cuda.device(device):
                self._start()

    def _start(self) -> None:
        self.kernel[(self.programs,)](*self.arguments, **self.constants, num_warps=self.num_warps)
