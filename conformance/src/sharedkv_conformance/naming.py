"""From the name of an implementation on the command line to the object behind it.

Knows every way to name one and every way in which that can fail. Opens nothing and asks the implementation nothing.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from sharedkv_conformance.contract.implementation import Implementation
from sharedkv_conformance.wire.client import Budgets
from sharedkv_conformance.wire.names import WIRE_FORMS, wire_implementation

GROUP = "sharedkv.implementations"
MODEL = "model"
MUTANT = "mutant:"
FORMS = (
    "module:factory, path/file.py:factory, an installed name, 'cmd:./program --option', 'stdio:./program', "
    "unix:/path/of.sock, 'model' for the executable specification, or mutant:SLUG for a wrong variant of it"
)


class NamingError(Exception):
    """A name leads to no implementation: what was wanted, and what was there."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(name, problem)
        self.name = name
        self.problem = problem

    def __str__(self) -> str:
        return f"--impl {self.name}: {self.problem}"


def implementation_named(name: str, *, folder: Path | None = None, budgets: Budgets | None = None) -> Implementation:
    """Return the implementation of a name; `folder`, where given, is importable as it is for `python -m`.

    Programs are started in the folder, and have the times of `budgets`.

    Raises:
        NamingError: nothing usable stands behind the name.

    """
    if name.startswith(WIRE_FORMS):
        return _on_wire(name, folder or Path(), budgets or Budgets())
    if name.startswith(MUTANT):
        return _variant(name)
    if name == MODEL:
        return _model()
    if ":" not in name:
        return _as_implementation(name, _installed(name, entry_points(group=GROUP)))
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        raise NamingError(name, f"wanted {FORMS}")
    if folder is not None:
        _make_importable(folder)
    module = _from_file(name, Path(place)) if place.endswith(".py") else _from_module(name, place)
    return _as_implementation(name, _attribute(name, module, attribute))


def installed_names() -> tuple[str, ...]:
    """Return the names of every installed implementation."""
    return tuple(sorted(entry.name for entry in entry_points(group=GROUP)))


def _model() -> Implementation:
    from sharedkv_conformance.model.implementation import ModelImplementation  # noqa: PLC0415 - only when named

    return ModelImplementation()


def _on_wire(name: str, folder: Path, budgets: Budgets) -> Implementation:
    try:
        return wire_implementation(name, folder=folder, budgets=budgets)
    except ValueError as error:
        raise NamingError(name, str(error)) from error


def _variant(name: str) -> Implementation:
    from sharedkv_conformance.catalogue import load_variants  # noqa: PLC0415 - only when named
    from sharedkv_conformance.model.implementation import ModelImplementation  # noqa: PLC0415 - only when named

    slug, variants = name.removeprefix(MUTANT), load_variants()
    if slug not in variants:
        close = get_close_matches(slug, variants, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise NamingError(name, f"there is no such variant of the model; `kvconform list --mutants` lists them{hint}")
    return ModelImplementation.with_variant(variants[slug])


def _installed(name: str, installed: Iterable[EntryPoint]) -> Any:
    by_name = {entry.name: entry for entry in installed}
    if name not in by_name:
        known = ", ".join(sorted(by_name)) or "none"
        close = get_close_matches(name, [*by_name, MODEL], 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise NamingError(name, f"wanted {FORMS}; installed: {known}{hint}")
    return _loaded(name, by_name[name].load)


def _from_module(name: str, module: str) -> ModuleType:
    def load() -> ModuleType:
        return importlib.import_module(module)

    if module.startswith(".") or not all(part.isidentifier() for part in module.split(".")):
        raise NamingError(name, f"{module!r} is no module name; wanted {FORMS}")
    return cast("ModuleType", _loaded(name, load))


def _from_file(name: str, path: Path) -> ModuleType:
    if not path.is_file():
        raise NamingError(name, f"there is no file {path}")
    resolved = path.resolve()
    _make_importable(resolved.parent)
    unique = f"kvconform_{sha256(str(resolved).encode()).hexdigest()[:12]}_{path.stem}"
    spec = importlib.util.spec_from_file_location(unique, resolved)
    if spec is None or spec.loader is None:
        raise NamingError(name, f"{path} cannot be loaded as a Python module")
    module = importlib.util.module_from_spec(spec)
    loader = spec.loader

    def load() -> ModuleType:
        sys.modules[unique] = module
        loader.exec_module(module)
        return module

    return cast("ModuleType", _loaded(name, load))


def _make_importable(folder: Path) -> None:
    if (entry := str(folder.resolve())) not in sys.path:
        sys.path.insert(0, entry)


def _attribute(name: str, module: ModuleType, attribute: str) -> Any:
    value: Any = module
    for part in attribute.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            public = sorted(key for key in vars(module) if not key.startswith("_"))
            close = get_close_matches(part, public, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise NamingError(name, f"the module has no {attribute!r}{hint}") from None
    return value


def _as_implementation(name: str, found: Any) -> Implementation:
    """Return the object itself, or what the factory returns."""
    if not isinstance(found, type) and _is_implementation(found):
        return cast("Implementation", found)
    if not callable(found):
        raise NamingError(name, f"wanted a factory or an object with describe() and open(), found {_kind(found)}")
    made = _loaded(name, found)
    if isinstance(made, type) or not _is_implementation(made):
        raise NamingError(name, f"the factory returned {_kind(made)}; wanted an object with describe() and open()")
    return cast("Implementation", made)


def _is_implementation(value: Any) -> bool:
    return all(callable(getattr(value, method, None)) for method in ("describe", "open"))


def _kind(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"an object of type {type(value).__name__}"


def _loaded(name: str, load: Callable[[], Any]) -> Any:
    """Run code of the implementation's author; whatever it raises is told as a naming error."""
    try:
        return load()
    except (Exception, SystemExit) as error:
        raise NamingError(name, f"{type(error).__name__}: {error}") from error
