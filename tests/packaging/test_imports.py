"""What an import costs and touches, seen from a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

WATCHED_IMPORT = Path(__file__).with_name("watched_import.py")
PACKAGES = ["govctl", "sharedkv", "sharedkv_adapter", "sharedkv_conformance"]

CONTRACT_ALONE = """
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
import sharedkv_conformance.contract as contract
import importlib, pkgutil
for module in pkgutil.walk_packages(contract.__path__, prefix=contract.__name__ + "."):
    importlib.import_module(module.name)
print(json.dumps(sorted(sys.modules)))
"""

GOVCTL_CHECK = """
import json, sys
from govctl.cli import main
main(["-C", sys.argv[1], "check"])
print()
print(json.dumps(sorted(sys.modules)))
"""


def run_python(*arguments: str) -> str:
    """Standard output of a fresh interpreter, the machine's own site left as it is."""
    run = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        pytest.fail(run.stderr, pytrace=False)
    return run.stdout


def environment_readers(*packages: str) -> list[str]:
    """Source files that read the environment while the packages were imported."""
    readers: list[str] = json.loads(run_python(str(WATCHED_IMPORT), *packages))["readers"]
    return readers


def tops(modules: list[str]) -> set[str]:
    """Top-level names of modules."""
    return {module.partition(".")[0] for module in modules}


def test_contract_needs_the_standard_library_alone(root: Path) -> None:
    """-I and -S: neither site-packages nor the tree is on the path, so that only the standard library can be found."""
    modules = json.loads(run_python("-I", "-S", "-c", CONTRACT_ALONE, str(root / "conformance/src")))
    foreign = tops(modules) - sys.stdlib_module_names - {"__main__", "sharedkv_conformance"}

    assert foreign == set()


def test_contract_loads_nothing_else_of_its_package(root: Path) -> None:
    modules = json.loads(run_python("-I", "-S", "-c", CONTRACT_ALONE, str(root / "conformance/src")))
    ours = {module for module in modules if module.startswith("sharedkv_conformance.")}

    assert {module for module in ours if not f"{module}.".startswith("sharedkv_conformance.contract.")} == set()


def test_govctl_check_loads_what_it_needs_and_nothing_slow(root: Path) -> None:
    modules = json.loads(run_python("-c", GOVCTL_CHECK, str(root)).splitlines()[-1])
    unwanted = {"hypothesis", "jsonschema", "numpy", "pydantic", "pytest", "rich", "torch", *PACKAGES} - {"govctl"}

    assert ("tomli" in modules, tops(modules) & unwanted) == (True, set())


@pytest.mark.parametrize("package", PACKAGES)
def test_no_import_reads_the_environment(root: Path, package: str) -> None:
    readers = [Path(reader) for reader in environment_readers(package)]

    assert [reader for reader in readers if reader.is_relative_to(root) and "site-packages" not in reader.parts] == []


def test_a_module_that_reads_the_environment_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = tmp_path / "curious" / "deep.py"
    reader.parent.mkdir()
    (reader.parent / "__init__.py").touch()
    reader.write_text("import os\nHOME = os.getenv('HOME')\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    assert environment_readers("curious") == [str(reader)]


@pytest.mark.parametrize("package", ["govctl", "sharedkv_conformance"])
def test_no_module_needs_torch(package: str) -> None:
    modules = json.loads(run_python(str(WATCHED_IMPORT), package))["modules"]

    assert tops(modules) & {"torch", "triton"} == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_to_import_a_package_is_not_to_import_torch(package: str) -> None:
    modules = json.loads(run_python("-c", f"import json, sys, {package}; print(json.dumps(sorted(sys.modules)))"))

    assert tops(modules) & {"torch", "triton"} == set()
