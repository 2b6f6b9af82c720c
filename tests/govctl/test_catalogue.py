"""The catalogue: the statements as one file, which is always what the clauses say."""

import json
from pathlib import Path

import pytest

from govctl import cli, load_tree
from govctl.rules.catalogue import catalogue_text
from tests.govctl.trees import CATALOGUE, CLAUSE, CONFIG, FILES, RFC, S1, S2, Json, codes, edited, write, write_tree

Capture = pytest.CaptureFixture[str]
SETTING = f'\n[catalogue]\nfile = "{CATALOGUE}"\n'
WITH_CATALOGUE = {CONFIG: FILES[CONFIG] + SETTING}


def run(root: Path, *words: str) -> int:
    return cli.main(["-C", str(root), "catalogue", *words])


def written(root: Path, files: dict[str, str] | None = None) -> Json:
    write_tree(root, files)
    return json.loads(catalogue_text(load_tree(root)))


def test_a_catalogue_holds_rfcs_and_statements_in_reading_order(tmp_path: Path) -> None:
    document = written(tmp_path)

    assert document["catalogue"] == 1
    assert document["rfcs"]["RFC-0001"] == {
        "version": "0.1.0",
        "status": "normative",
        "phase": "stable",
        "facet": "room",
        "title": "Example",
    }
    assert [statement["id"] for statement in document["statements"]] == [S1, S2]


def test_a_statement_has_all_that_a_reader_without_the_clauses_needs(tmp_path: Path) -> None:
    more = 'free."\norigin = ["W2-01"]\nfeatures = ["fast"]\nexcluded = { class = "debt", reason = "Later." }'
    first = written(tmp_path, edited(CLAUSE, 'one page free."', f"one page {more}"))["statements"][0]

    assert first == {
        "id": S1,
        "rfc": "RFC-0001",
        "clause": "RFC-0001:C-RULE",
        "level": "MUST",
        "text": "A lane MUST keep one page free.",
        "digest": load_tree(tmp_path).statement_by_id[S1].digest,
        "features": ["fast"],
        "excluded": {"class": "debt", "reason": "Later."},
        "origin": ["W2-01"],
    }


def test_a_withdrawn_clause_is_left_out(tmp_path: Path) -> None:
    files = edited(CLAUSE, 'kind = "normative"', 'kind = "normative"\nstatus = "deprecated"')

    assert written(tmp_path, files)["statements"] == []


def test_the_same_tree_gives_the_same_bytes(tmp_path: Path) -> None:
    write_tree(tmp_path)
    first, second = (catalogue_text(load_tree(tmp_path)) for _ in range(2))

    assert first == second
    assert first.endswith("}\n")


def test_the_file_is_written_and_compared(tmp_path: Path, capsys: Capture) -> None:
    write_tree(tmp_path, WITH_CATALOGUE)

    assert run(tmp_path, "--check") == 1
    assert run(tmp_path, "--write") == 0
    assert run(tmp_path, "--check") == 0
    assert (tmp_path / CATALOGUE).read_text(encoding="utf-8") == catalogue_text(load_tree(tmp_path))
    assert f"wrote {CATALOGUE}" in capsys.readouterr().out


def test_without_a_flag_it_is_printed(tmp_path: Path, capsys: Capture) -> None:
    write_tree(tmp_path)

    assert run(tmp_path) == 0
    assert capsys.readouterr().out == catalogue_text(load_tree(tmp_path))


def test_a_tree_that_names_no_file_has_none_to_write(tmp_path: Path) -> None:
    assert run(write_tree(tmp_path), "--write") == 2


@pytest.mark.parametrize(
    "files", [{RFC: "broken"}, {CLAUSE: "broken"}, edited(CLAUSE, "MUST keep one", "keeps one")], ids=str
)
def test_a_tree_that_cannot_be_used_writes_nothing(tmp_path: Path, files: dict[str, str]) -> None:
    write_tree(tmp_path, {**WITH_CATALOGUE, **files})

    assert run(tmp_path, "--write") == 1
    assert not (tmp_path / CATALOGUE).exists()


def test_a_stale_or_missing_file_is_found_where_the_setting_is(tmp_path: Path) -> None:
    write_tree(tmp_path, WITH_CATALOGUE)
    missing = codes(tmp_path)
    run(tmp_path, "--write")
    fresh = codes(tmp_path)
    write(tmp_path, edited(CLAUSE, '"S2"', '"S2"\norigin = ["W2-01"]'))

    assert (missing, fresh, codes(tmp_path)) == (["G0612"], [], ["G0612"])
    assert codes(write_tree(tmp_path, edited(CLAUSE, '"S2"', '"S2"\norigin = ["W2-01"]'))) == []


def test_line_ends_do_not_make_it_stale(tmp_path: Path) -> None:
    write_tree(tmp_path, WITH_CATALOGUE)
    run(tmp_path, "--write")
    file = tmp_path / CATALOGUE
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))

    assert codes(tmp_path) == []
