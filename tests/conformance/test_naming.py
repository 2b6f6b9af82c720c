import sys
from pathlib import Path

import pytest

from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.naming import NamingError, implementation_named

ADAPTER = """
from sharedkv_conformance.model.implementation import ModelImplementation

made = ModelImplementation(name="made")
number = 3

class Engine:
    model = ModelImplementation

def factory():
    return ModelImplementation(name="by-factory")

def needs_an_argument(config):
    return made

def broken():
    raise RuntimeError("no device")

def leaves():
    raise SystemExit(0)

def nothing():
    return None
"""


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    path = tmp_path / "adapter_of_tests.py"
    path.write_text(ADAPTER, encoding="utf-8")
    return path


def problem(name: str, folder: Path | None = None) -> str:
    with pytest.raises(NamingError) as caught:
        implementation_named(name, folder=folder)
    return str(caught.value)


def test_a_factory_of_a_module_is_called() -> None:
    found = implementation_named("sharedkv_conformance.model.implementation:ModelImplementation")

    assert isinstance(found, ModelImplementation)


def test_a_factory_of_a_file_is_called(adapter: Path) -> None:
    assert implementation_named(f"{adapter}:factory").describe().name == "by-factory"


def test_an_object_is_taken_as_it_is(adapter: Path) -> None:
    assert implementation_named(f"{adapter}:made").describe().name == "made"


def test_an_attribute_of_an_attribute_can_be_named(adapter: Path) -> None:
    assert implementation_named(f"{adapter}:Engine.model").describe().name == "model"


def test_the_folder_of_a_file_is_importable_for_its_siblings(adapter: Path) -> None:
    adapter.with_name("sibling_of_tests.py").write_text("name = 'sibling'", encoding="utf-8")
    adapter.write_text(ADAPTER + "\nimport sibling_of_tests\nmade = ModelImplementation(name=sibling_of_tests.name)")

    assert implementation_named(f"{adapter}:made").describe().name == "sibling"


def test_modules_of_the_folder_given_can_be_named(adapter: Path) -> None:
    assert implementation_named("adapter_of_tests:made", folder=adapter.parent).describe().name == "made"


def test_two_files_of_one_name_are_two_modules(adapter: Path) -> None:
    other = adapter.parent / "other" / adapter.name
    other.parent.mkdir()
    other.write_text(ADAPTER.replace('"made"', '"other"'), encoding="utf-8")

    assert implementation_named(f"{adapter}:made").describe().name == "made"
    assert implementation_named(f"{other}:made").describe().name == "other"


def test_the_model_has_a_name_of_its_own() -> None:
    assert implementation_named("model").describe().name == "model"


def test_a_program_that_is_not_there_is_told() -> None:
    assert "there is no program ./engine" in problem("cmd:./engine")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nobody", "installed:"),
        ("mode", "did you mean model?"),
        ("json:", "wanted module:factory"),
        (":factory", "wanted module:factory"),
        ("no.such.module:factory", "No module named"),
        ("..:factory", "is no module name"),
        ("", "installed:"),
        ("json:nothing", "has no 'nothing'"),
        ("json:decoder", "found an object of type module"),
    ],
)
def test_what_was_wanted_is_told(name: str, told: str) -> None:
    assert told in problem(name)


@pytest.mark.parametrize(
    ("attribute", "told"),
    [
        ("factry", "did you mean factory?"),
        ("number", "found an object of type int"),
        ("needs_an_argument", "TypeError"),
        ("broken", "RuntimeError: no device"),
        ("leaves", "SystemExit"),
        ("nothing", "the factory returned an object of type NoneType"),
    ],
)
def test_a_factory_that_makes_no_implementation_is_told(adapter: Path, attribute: str, told: str) -> None:
    assert told in problem(f"{adapter}:{attribute}")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "there is no file" in problem(f"{tmp_path / 'nothing.py'}:made")


def test_a_file_that_is_no_python_is_told(adapter: Path) -> None:
    adapter.write_text("def (", encoding="utf-8")

    assert "SyntaxError" in problem(f"{adapter}:made")
