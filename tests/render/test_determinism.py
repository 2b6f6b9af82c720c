"""Equal trees give equal bytes, whatever the machine, the order of files or the run before."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.govctl.trees import CLAUSE, FILES, RFC, edited, write
from tests.render.trees import RFC_PAGE, pages, rich_tree

DANGLING = edited(CLAUSE, "Every lane has pages.", "See [[RFC-0001:C-NONE]] and [[RFC-0001:C-RULE#S1]].")
SECOND = {"gov/clauses/RFC-0001/C-B.toml": FILES[CLAUSE].replace('"C-RULE"', '"C-B"')}
MANY_RFCS = {
    f"gov/rfc/RFC-{number:04}.toml": FILES[RFC]
    .replace("RFC-0001", f"RFC-{number:04}")
    .replace("facet", "tags = []\n# facet")
    .replace('clauses = ["C-RULE"]', "")
    for number in (2, 3, 4, 5, 6)
}


def render(root: Path, **environment: str) -> dict[str, bytes]:
    """Render by a process of its own and return what stands in the folder."""
    command = [sys.executable, "-m", "govctl", "-C", str(root), "render", "--output", "out"]
    subprocess.run(command, check=True, env={**os.environ, **environment}, capture_output=True)
    folder = root / "out"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_two_renders_of_one_tree_are_byte_equal(tmp_path: Path) -> None:
    assert pages(rich_tree(tmp_path)) == pages(tmp_path)


def test_neither_order_nor_machine_nor_place_shows(tmp_path: Path) -> None:
    one, other = rich_tree(tmp_path / "one", MANY_RFCS), tmp_path / "a" / "deeper" / "place"
    files = {path.relative_to(one).as_posix(): path.read_bytes() for path in one.rglob("*") if path.is_file()}
    write(other, dict(sorted(files.items(), reverse=True)))

    assert render(one, PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C") == render(
        other, PYTHONHASHSEED="2", TZ="Asia/Tokyo", LC_ALL="C.UTF-8"
    )


def test_no_page_names_the_place_of_the_tree(tmp_path: Path) -> None:
    assert [name for name, text in pages(rich_tree(tmp_path)).items() if str(tmp_path) in text] == []


def test_a_dangling_reference_is_text_and_no_crash(tmp_path: Path) -> None:
    page = pages(rich_tree(tmp_path, DANGLING))[RFC_PAGE]

    assert "See &#91;&#91;RFC-0001:C-NONE&#93;&#93; and [RFC-0001:C-RULE&#35;S1](#C-RULE.S1)." in page


@pytest.mark.parametrize("change", [DANGLING, SECOND, {RFC: None, CLAUSE: None}, {"hand/guide.md": None}])
def test_a_second_render_equals_a_clean_one(tmp_path: Path, change: dict[str, str | bytes | None]) -> None:
    used = rich_tree(tmp_path / "used", SECOND)
    render(used)
    write(used, {"gov/clauses/RFC-0001/C-B.toml": None, **change})
    clean = rich_tree(tmp_path / "clean", change)

    assert render(used) == render(clean)


def test_permanent_anchors_do_not_depend_on_order(tmp_path: Path) -> None:
    listed = edited(RFC, 'clauses = ["C-RULE"]', 'clauses = ["C-B", "C-RULE"]')
    turned = edited(RFC, 'clauses = ["C-RULE"]', 'clauses = ["C-RULE", "C-B"]')
    found = []
    for name, order in (("one", listed), ("other", turned)):
        page = pages(rich_tree(tmp_path / name, {**SECOND, **order}))[RFC_PAGE]
        found.append({line.partition("{ #")[2] for line in page.splitlines() if "{ #C-" in line})

    assert found[0] == found[1]
