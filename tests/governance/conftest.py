"""Every check of this specification's own rules runs on the sound tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.governance.small_tree import SmallTree


@pytest.fixture
def tree(tmp_path: Path) -> SmallTree:
    return SmallTree.sound(tmp_path / "tree")
