"""What holds of small trees and is no rule of govctl holds of this tree too."""

from __future__ import annotations

from pathlib import Path

from govctl import load_tree
from tests.governance.summaries import without_summary


def test_every_rfc_of_this_tree_begins_with_its_summary() -> None:
    assert without_summary(load_tree(Path(__file__).parents[2])) == []
