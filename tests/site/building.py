"""Build a site as `make site` does, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from govctl.render.folder import replace_folder
from govctl.render.site import site_files
from tests.render.trees import material

ROOT = Path(__file__).parents[2]


def render(tree: Path, place: Path) -> Path:
    """Render a tree into a folder that our settings of the generator build from; our own look comes along."""
    files = site_files(material(tree))
    css = "docs/assets/site.css"
    replace_folder(place / "build" / "pages", {css: (ROOT / css).read_bytes(), **files})
    shutil.copy(ROOT / "mkdocs.yml", place / "mkdocs.yml")
    return place


def build(place: Path) -> subprocess.CompletedProcess[str]:
    """Build what was rendered, strictly; `--quiet` would hide the warnings from the strict mode too."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=place,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def built_site(tree: Path, place: Path) -> Path:
    """Return the folder of the built site of a tree."""
    ran = build(render(tree, place))
    if ran.returncode:
        raise AssertionError(ran.stdout + ran.stderr)
    return place / "build" / "site"
