"""Compiles a launch for a GPU that is not there, with the specialization that the launcher would derive.

Knows Triton's launcher: which arguments are multiples of 16 is found out by its own binder from the very arguments that
the wrapper hands over. Works only where Triton's interpreter is off.
"""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend
from triton.runtime.jit import create_function_from_signature

from sharedkv.kernels.launching import Launch

HOPPER = GPUTarget("cuda", 90, 32)
_GLOBAL_ACCESS = re.compile(r"\b(ld|st)\.global(?:\.[a-z_:0-9]+)*?((?:\.v[0-9])?\.b[0-9]+)\b")
_REGISTERS = re.compile(r"REG:(\d+)")


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A kernel as machine code."""

    ptx: str
    cubin: bytes

    @property
    def accesses(self) -> Counter[str]:
        """Count the accesses to global memory by kind and width: `ld.v4.b32`, `st.b8`."""
        return Counter(f"{found[1]}{found[2]}" for found in _GLOBAL_ACCESS.finditer(self.ptx))

    def registers(self, folder: Path) -> int:
        """Return the registers of a thread; the cubin is put into the folder for the tool that comes with Triton."""
        file = folder / "kernel.cubin"
        file.write_bytes(self.cubin)
        tool = triton.knobs.nvidia.cuobjdump.path
        run = subprocess.run([tool, "-res-usage", str(file)], capture_output=True, text=True, check=True)
        return max(int(found) for found in _REGISTERS.findall(run.stdout))


def compiled(launch: Launch) -> Compiled:
    """Compile the launch's kernel as its first run would."""
    kernel = launch.kernel
    backend = make_backend(HOPPER)
    keywords = {**launch.constants, "num_warps": launch.num_warps, "debug": False}
    binder = create_function_from_signature(kernel.signature, kernel.params, backend)
    bound, specialization, options = binder(*launch.arguments, **keywords)
    options, signature, constants, attributes = kernel._pack_args(backend, keywords, bound, specialization, options)
    source = ASTSource(kernel, signature, constants, attributes)
    made = triton.compile(source, target=HOPPER, options=options.__dict__)
    return Compiled(ptx=made.asm["ptx"], cubin=made.asm["cubin"])
