"""Imports packages with all their modules, and prints as JSON what was imported and who read the environment.

Run as a program in a process of its own: `python watched_import.py PACKAGE...`. It knows nothing of the packages;
a module named `__main__` is left out, since to import it is to run it.
"""

import importlib
import json
import os
import pkgutil
import sys
from collections.abc import Iterator, MutableMapping

PASSED_THROUGH = {os.__file__, "<frozen os>", "<frozen _collections_abc>", __file__}


class WatchedEnvironment(MutableMapping[str, str]):
    """Behaves as the environment and remembers the source file of every reader."""

    def __init__(self, real: MutableMapping[str, str]) -> None:
        self.real = real
        self.readers: set[str] = set()

    def _remember(self) -> None:
        frame = sys._getframe(1)
        while frame.f_code.co_filename in PASSED_THROUGH and frame.f_back is not None:
            frame = frame.f_back
        self.readers.add(frame.f_code.co_filename)

    def __getitem__(self, key: str) -> str:
        self._remember()
        return self.real[key]

    def __setitem__(self, key: str, value: str) -> None:
        self.real[key] = value

    def __delitem__(self, key: str) -> None:
        del self.real[key]

    def __iter__(self) -> Iterator[str]:
        self._remember()
        return iter(self.real)

    def __len__(self) -> int:
        self._remember()
        return len(self.real)


def import_all(package: str) -> None:
    """Import a package and each module below it."""
    found = importlib.import_module(package)
    for module in pkgutil.walk_packages(found.__path__, prefix=f"{package}."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)


def main(packages: list[str]) -> None:
    """Import under watch, then report."""
    watched = WatchedEnvironment(os.environ)
    os.environ = watched  # type: ignore[assignment]  # noqa: B003  a trap stands in for os._Environ
    for package in packages:
        import_all(package)
    json.dump({"modules": sorted(sys.modules), "readers": sorted(watched.readers)}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
