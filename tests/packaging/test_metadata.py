"""What an installer reads: ranges with lower bounds, three kinds of entry points, pins that agree with both."""

import configparser
import tomllib
from collections.abc import Iterable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.packaging.conftest import Artifacts


def project(root: Path) -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def requirements(root: Path, *extras: str) -> list[Requirement]:
    """Declared requirements: of the build, of the base, and of the extras named."""
    parsed = project(root)
    lines = [*parsed["build-system"]["requires"], *parsed["project"]["dependencies"]]
    for extra in extras:
        lines += parsed["project"]["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


def lower_bound(requirement: Requirement) -> Version:
    """The version after `>=`."""
    (bound,) = (Version(part.version) for part in requirement.specifier if part.operator == ">=")
    return bound


def pins(path: Path) -> dict[str, Version]:
    """A constraints file as name -> version."""
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.split("==") for line in lines if line)
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def entry_points(artifacts: Artifacts) -> configparser.ConfigParser:
    """Groups and entries of the wheel."""
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.read_string(artifacts.dist_info("entry_points.txt"))
    return parser


def names(found: Iterable[Requirement]) -> set[str]:
    """Names of requirements, in their one spelling."""
    return {canonicalize_name(requirement.name) for requirement in found}


def test_every_dependency_has_a_lower_bound_and_nothing_tighter(artifacts: Artifacts) -> None:
    declared = [Requirement(line) for line in artifacts.metadata().get_all("Requires-Dist", [])]
    odd = [str(one) for one in declared if [part.operator for part in one.specifier] != [">="]]

    assert (len(declared) > 0, odd) == (True, [])


def test_the_base_needs_no_test_tool_and_no_array_library(artifacts: Artifacts) -> None:
    declared = [Requirement(line) for line in artifacts.metadata().get_all("Requires-Dist", [])]
    base = names(requirement for requirement in declared if requirement.marker is None)

    assert base == {"fastjsonschema", "jsonschema", "pydantic", "rich", "tomli", "tomlkit"}


def test_no_plugin_is_loaded_into_other_peoples_pytest(artifacts: Artifacts) -> None:
    assert entry_points(artifacts).sections() == ["console_scripts", "sharedkv.implementations"]


def test_every_entry_point_leads_to_something_that_can_be_called(artifacts: Artifacts) -> None:
    parser = entry_points(artifacts)
    points = [EntryPoint(name, path, group) for group in parser.sections() for name, path in parser.items(group)]

    assert {point.name: callable(point.load()) for point in points} == {
        "govctl": True,
        "kvconform": True,
        "sharedkv": True,
        "sharedkv-cpu": True,
    }


def test_python_floor_is_the_version_that_the_tools_check_against(artifacts: Artifacts, root: Path) -> None:
    tools = project(root)["tool"]
    floor = artifacts.metadata()["Requires-Python"].removeprefix(">=")

    assert (tools["mypy"]["python_version"], tools["ruff"]["target-version"]) == (floor, f"py{floor.replace('.', '')}")


def test_lowest_versions_are_the_declared_lower_bounds(root: Path) -> None:
    declared = {
        canonicalize_name(requirement.name): lower_bound(requirement)
        for requirement in requirements(root, "conformance", "reference")
    }
    pinned = pins(root / "constraints/lowest.txt")

    assert {name: pinned.get(name) for name in declared} == declared


def test_development_pins_every_declared_tool_within_its_range(root: Path) -> None:
    pinned = pins(root / "constraints/dev.txt")
    declared = requirements(root, "conformance", "reference", "torch", "cuda", "dev")

    assert [str(one) for one in declared if pinned[canonicalize_name(one.name)] not in one.specifier] == []


@pytest.mark.parametrize(
    "file", ["pyproject.toml", "Makefile", ".ci/run", "constraints/dev.txt", "constraints/lowest.txt"]
)
def test_no_set_up_file_names_an_address(root: Path, file: str) -> None:
    assert "://" not in (root / file).read_text(encoding="utf-8")


def test_changelog_tells_of_the_version_that_is_built(artifacts: Artifacts, root: Path) -> None:
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")

    assert f"## [{artifacts.metadata()['Version']}]" in changelog
