"""Where kernels run: on a CUDA device, or on the CPU in Triton's interpreter. The tests are the same.

`make gpu` runs this folder on a GPU, `make kernels` on the CPU; a process decides once, when Triton is imported.
"""

import pytest
import torch
import triton

from tests.kernels.on_device.machine import Machine


@pytest.fixture(scope="session")
def machine() -> Machine:
    """Where tensors go to meet kernels; expected values stay on the CPU."""
    torch.set_num_threads(1)
    if triton.knobs.runtime.interpret:
        return Machine(device=torch.device("cpu"))
    if torch.cuda.is_available():
        return Machine(device=torch.device("cuda"))
    pytest.skip("needs a CUDA device (make gpu) or Triton's interpreter (make kernels)")


@pytest.fixture(scope="session")
def cuda(machine: Machine) -> Machine:
    """A machine whose kernels run beside the host, not in it."""
    if machine.device.type != "cuda":
        pytest.skip("needs a CUDA device: make gpu")
    return machine
