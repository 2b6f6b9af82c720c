"""Builds the sdist and the wheel once for a test session, from the tree as it stands, without network."""

import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Artifacts:
    """The two files that `build` made."""

    sdist: Path
    wheel: Path

    def sdist_files(self) -> set[str]:
        """Paths in the sdist, without its leading folder."""
        with tarfile.open(self.sdist) as archive:
            return {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}

    def wheel_files(self) -> set[str]:
        """Paths in the wheel."""
        with zipfile.ZipFile(self.wheel) as archive:
            return {name for name in archive.namelist() if not name.endswith("/")}

    def dist_info(self, name: str) -> str:
        """Text of one file of the wheel's metadata folder."""
        with zipfile.ZipFile(self.wheel) as archive:
            (path,) = (entry for entry in archive.namelist() if entry.endswith(f".dist-info/{name}"))
            return archive.read(path).decode()

    def metadata(self) -> Message:
        """Core metadata, as an installer reads it."""
        return Parser().parsestr(self.dist_info("METADATA"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def artifacts(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Artifacts:
    """Sdist and wheel, the wheel made from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(root)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        pytest.fail(f"build failed:\n{run.stdout}\n{run.stderr}", pytrace=False)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return Artifacts(sdist=sdist, wheel=wheel)
