"""What the numbers were measured on: processor, cores, memory, Python. No host name, no path."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

CPU_FILE = Path("/proc/cpuinfo")
KIB_PER_GIB = 1 << 20
MEMORY_FILE = Path("/proc/meminfo")
PACKAGES = ("fastjsonschema", "hypothesis", "numpy", "tomli")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One machine as it was; `load` is the mean number of running processes in the minute before."""

    cpu: str
    cores: int
    memory_gib: float
    system: str
    python: str
    packages: dict[str, str]
    load: float


def this_machine() -> Machine:
    """Look at this machine now; what it does not tell is `unknown` or 0."""
    return Machine(
        cpu=_field(CPU_FILE, "model name") or platform.processor() or "unknown",
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0,
        memory_gib=round(int((_field(MEMORY_FILE, "MemTotal") or "0 kB").split()[0]) / KIB_PER_GIB, 1),
        system=f"{platform.system()} {platform.machine()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        packages={name: found for name in PACKAGES if (found := _installed(name))},
        load=round(os.getloadavg()[0], 1),
    )


def _field(file: Path, name: str) -> str:
    """Return the first value of a name in a file of `name : value` lines, empty where there is none."""
    if not file.exists():
        return ""
    for line in file.read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
