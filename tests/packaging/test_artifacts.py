"""What a user downloads: every source file once, and nothing that only lay about."""

from pathlib import Path, PurePosixPath

import pytest

from tests.packaging.conftest import Artifacts

PACKAGES = {
    "govctl": "tools/govctl/src",
    "sharedkv": "reference/src",
    "sharedkv_adapter": "reference/src",
    "sharedkv_conformance": "conformance/src",
}
# .gitignore comes from the build backend, PKG-INFO from the format.
SDIST_TOP = {
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "PKG-INFO",
    "README.md",
    "benchmarks",
    "conformance",
    "constraints",
    "docs",
    "evidence",
    "examples",
    "gov",
    "gpu",
    "mkdocs.yml",
    "pyproject.toml",
    "reference",
    "schema",
    "tests",
    "tools",
}
LEFT_BEHIND = {"__pycache__", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv", "build", "dist"}


def sources(root: Path, package: str) -> set[str]:
    """Files of one package, as paths below its `src` folder."""
    folder = root / PACKAGES[package]
    files = (path for path in (folder / package).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix() for path in files}


def test_sdist_holds_nothing_beside_the_folders_that_it_names(artifacts: Artifacts) -> None:
    top = {PurePosixPath(name).parts[0] for name in artifacts.sdist_files()}

    assert top <= SDIST_TOP


@pytest.mark.parametrize(
    "needed",
    [
        "Makefile",
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "constraints/dev.txt",
        "gov/govctl.toml",
        "tests/conftest.py",
    ],
)
def test_sdist_can_be_built_and_tested_again(artifacts: Artifacts, needed: str) -> None:
    assert needed in artifacts.sdist_files()


def test_neither_archive_holds_what_tools_leave_behind(artifacts: Artifacts) -> None:
    parts = {part for name in artifacts.sdist_files() | artifacts.wheel_files() for part in PurePosixPath(name).parts}

    assert not parts & LEFT_BEHIND


def test_wheel_holds_the_four_packages_and_its_metadata_alone(artifacts: Artifacts) -> None:
    top = {PurePosixPath(name).parts[0] for name in artifacts.wheel_files()}

    assert {name for name in top if not name.endswith(".dist-info")} == set(PACKAGES)


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_wheel_holds_every_source_file_and_no_other(artifacts: Artifacts, root: Path, package: str) -> None:
    packed = {name for name in artifacts.wheel_files() if name.startswith(f"{package}/")}

    assert packed == sources(root, package)


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_each_package_says_that_it_is_typed(artifacts: Artifacts, package: str) -> None:
    assert f"{package}/py.typed" in artifacts.wheel_files()


def test_wheel_carries_the_licence_text(artifacts: Artifacts, root: Path) -> None:
    assert artifacts.dist_info("licenses/LICENSE") == (root / "LICENSE").read_text(encoding="utf-8")
