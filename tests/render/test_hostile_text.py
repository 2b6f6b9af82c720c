"""Text that would be markup is none, in whatever field it stands."""

import re

import pytest

from tests.render.hostile import TEXTS, write_hostile_tree
from tests.render.trees import RFC_PAGE, pages

OURS = re.compile(r"</?(?:span|p|div|section|aside|code|strong|em|br)(?: [^<>]*)?>")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages of the hostile tree."""
    return pages(write_hostile_tree(tmp_path_factory.mktemp("hostile")))


def test_no_field_adds_a_tag_or_a_comment(shown: dict[str, str]) -> None:
    assert re.findall(r"<[^ 0-9=][^>]*", OURS.sub("", shown[RFC_PAGE])) == []


def test_no_field_adds_a_link(shown: dict[str, str]) -> None:
    addresses = set(re.findall(r"\]\(([^)]*)\)", shown[RFC_PAGE]))

    assert {address for address in addresses if not address.startswith(("#", "../", "RFC-"))} == set()


def test_no_field_moves_an_anchor(shown: dict[str, str]) -> None:
    anchors = re.findall(r"\{ #(\S+) \}", shown[RFC_PAGE])

    assert "stolen" not in anchors
    assert len(set(anchors)) == len(anchors)


def test_every_clause_and_statement_has_its_anchor(shown: dict[str, str]) -> None:
    wanted = [f"C-TEXT-{index}{tail}" for index in range(len(TEXTS)) for tail in ("", ".S1", ".S2")]

    assert [anchor for anchor in wanted if f"{{ #{anchor} }}" not in shown[RFC_PAGE]] == []


def test_no_label_of_the_nav_is_markup(shown: dict[str, str]) -> None:
    assert "<" not in shown["nav.yml"]
