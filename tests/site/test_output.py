"""The built pages, read as bytes: every link leads somewhere, every anchor is unique, every character is there."""

from pathlib import Path

import pytest

from tests.govctl.trees import FILES, RFC
from tests.render.hostile import CODE, TEXTS, clause_name, toml
from tests.render.trees import rich_tree
from tests.site.building import build, built_site, render
from tests.site.reading import Page, dead_links, outside, read_page, read_site


@pytest.fixture(scope="module")
def hostile(hostile_site: Path) -> Page:
    """The page of the RFC whose fields are hostile."""
    return read_site(hostile_site)["rfc/RFC-0001.html"]


def test_every_link_of_our_site_leads_to_an_id_that_is_there(our_site: Path, our_pages: dict[str, Page]) -> None:
    assert (len(our_pages) > 10, dead_links(our_site, our_pages)) == (True, [])


def test_every_link_of_a_hostile_site_leads_to_an_id_that_is_there(hostile_site: Path) -> None:
    assert dead_links(hostile_site, read_site(hostile_site)) == []


@pytest.mark.parametrize(
    "address", ["#C-Rule.S1", "rfc/RFC-0001.html#C-RULE.S%2531", "rfc/rfc-0001.html", "#x y", "http://x.example/"]
)
def test_a_planted_dead_link_is_seen(proven_site: Path, address: str) -> None:
    site = read_site(proven_site)
    site["index.html"].links.append(address)

    assert dead_links(proven_site, site) == [f"index.html -> {address}"]


def test_no_page_has_one_id_twice(our_pages: dict[str, Page], hostile: Page) -> None:
    pages = {**our_pages, "hostile": hostile}
    twice = {name: sorted({i for i in page.ids if page.ids.count(i) > 1}) for name, page in pages.items()}

    assert {name: ids for name, ids in twice.items() if ids} == {}


def test_no_id_is_empty_or_counted(our_pages: dict[str, Page], hostile: Page) -> None:
    pages = {**our_pages, "hostile": hostile}
    odd = [f"{name}#{i}" for name, page in pages.items() for i in page.ids if not i or i.startswith("_")]

    assert [name for name in odd if not name.partition("#")[2].startswith("__")] == []


def test_no_page_loads_anything_from_elsewhere(our_pages: dict[str, Page]) -> None:
    assert list(outside(our_pages)) == []


@pytest.mark.parametrize("index", range(len(TEXTS)))
def test_every_character_of_a_statement_is_on_the_page(hostile: Page, index: int) -> None:
    sentences = hostile.texts["sentence"]

    assert sentences[2 * index] == f"A lane MUST show {TEXTS[index]} whole."
    assert sentences[2 * index + 1] == f"A lane MUST show {CODE} whole."


@pytest.mark.parametrize("index", range(len(TEXTS)))
def test_every_character_of_a_title_is_on_the_page(hostile: Page, index: int) -> None:
    assert hostile.texts[clause_name(index)] == [f"{TEXTS[index]}¶"]


@pytest.mark.parametrize("index", range(len(TEXTS)))
def test_every_character_of_a_reason_is_on_the_page(hostile: Page, index: int) -> None:
    reasons = [text for text in hostile.texts["fact"] if "Not checked because" in text]

    assert reasons[index].split("because")[1].strip() == TEXTS[index]


@pytest.mark.parametrize("index", [i for i, text in enumerate(TEXTS) if not text.startswith(("- ", "1. ", "*star"))])
def test_every_character_of_a_rationale_is_on_the_page(hostile: Page, index: int) -> None:
    assert hostile.texts["rationale"][index].strip() == TEXTS[index]


def test_no_field_adds_an_element(hostile: Page, proven_site: Path) -> None:
    plain = read_site(proven_site)["rfc/RFC-0001.html"]
    extra = set(hostile.tags) - set(plain.tags)

    assert extra <= {"aside", "ol", "strong", "em"}
    assert hostile.tags.count("script") == plain.tags.count("script")
    assert hostile.comments == plain.comments == []


def test_the_title_of_a_page_is_text(hostile_site: Path) -> None:
    text = (hostile_site / "rfc" / "RFC-0001.html").read_text(encoding="utf-8")
    (title,) = text.partition("<title>")[2].partition("</title>")[::2][:1]

    assert "<" not in title
    assert "alert(1)" in title


@pytest.mark.parametrize("title", ["漢字", "🙂", "-", "RFC-0001:C-RULE"])
def test_anchors_are_made_from_ids_whatever_the_titles(tmp_path: Path, title: str) -> None:
    clause = FILES["gov/clauses/RFC-0001/C-RULE.toml"].replace('"Rule"', toml(title))
    other = clause.replace('"C-RULE"', '"C-OTHER"')
    rfc = FILES[RFC].replace('"C-RULE"', '"C-OTHER", "C-RULE"').replace('"Example"', toml(title))
    files: dict[str, str | bytes | None] = {
        RFC: rfc,
        "gov/clauses/RFC-0001/C-RULE.toml": clause,
        "gov/clauses/RFC-0001/C-OTHER.toml": other,
    }
    page = read_site(built_site(rich_tree(tmp_path / "tree", files), tmp_path))["rfc/RFC-0001.html"]

    assert [name for name in page.ids if name.startswith("C-")] == [
        f"C-{name}{tail}" for name in ("OTHER", "RULE") for tail in ("", ".S1", ".S2")
    ]


@pytest.mark.parametrize("address", ["rfc/RFC-0001.md#C-NONE", "rfc/RFC-0009.md", "/codes.md"])
def test_the_strict_build_refuses_a_dead_link_in_a_written_page(tmp_path: Path, address: str) -> None:
    place = render(rich_tree(tmp_path / "tree", {"hand/guide.md": f"# Guide\n\n[x]({address})\n"}), tmp_path)

    assert build(place).returncode == 1


def test_a_rebuild_after_a_change_equals_a_clean_build(tmp_path: Path) -> None:
    used = built_site(rich_tree(tmp_path / "one"), tmp_path / "a")
    used = built_site(rich_tree(tmp_path / "two", {"hand/guide.md": None}), tmp_path / "a")
    clean = built_site(tmp_path / "two", tmp_path / "b")

    assert _bytes(used) == _bytes(clean)


def _bytes(folder: Path) -> dict[str, bytes]:
    """Return the files of a site but those in which the generator writes the day."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("sitemap"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_reader_of_pages_sees_text_as_a_browser_does() -> None:
    page = read_page('<p class="a">x &lt;b&gt; &amp;amp;<br><b id="c">y</b></p><!-- z -->')

    assert (page.texts, page.ids, page.comments) == ({"a": ["x <b> &amp;y"], "c": ["y"]}, ["c"], [" z "])
