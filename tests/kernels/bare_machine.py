"""Runs a module as a GPU machine would: with torch, Triton, numpy, pytest and hypothesis, and what these need.

Run as a program in a process of its own: `python bare_machine.py MODULE [ARGUMENT...]`. Every other package that is
installed here cannot be found. It knows what is installed by its metadata.
"""

import runpy
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from types import ModuleType

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

INSTALLED = ("torch", "triton", "numpy", "pytest", "hypothesis")
OURS = frozenset({"gpu", "sharedkv", "tests"})
NOT_FOR_IT = frozenset({"benchmarks", "govctl", "sharedkv_adapter", "sharedkv_conformance"})


def with_requirements(names: Iterable[str]) -> set[str]:
    """Distributions and what they require, in their one spelling; extras are nobody's need."""
    found: set[str] = set()
    waiting = [canonicalize_name(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            requirements = map(Requirement, distribution(name).requires or [])
        except PackageNotFoundError:
            continue
        found.add(name)
        waiting += [canonicalize_name(one.name) for one in requirements if not one.marker or one.marker.evaluate()]
    return found


def strangers() -> frozenset[str]:
    """Top-level names of modules that this machine has and a GPU machine lacks."""
    there = with_requirements(INSTALLED)
    here = packages_distributions()
    owned = {name: set(map(canonicalize_name, owners)) for name, owners in here.items()}
    return NOT_FOR_IT | {name for name, owners in owned.items() if not owners & there} - OURS


class Absence:
    """A finder that stands before all others and finds that some modules are not there."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise for a module of a stranger; leave every other to the next finder."""
        del path, target
        if fullname.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"a GPU machine has no {fullname}", name=fullname)
        return None


def main(module: str, arguments: list[str]) -> None:
    """Run a module as a program."""
    names = strangers()
    for loaded in [name for name in sys.modules if name.partition(".")[0] in names]:
        del sys.modules[loaded]
    sys.meta_path.insert(0, Absence(names))
    sys.argv = [module, *arguments]
    sys.path.insert(0, "")
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
