"""Whatever a file holds, the result is findings: nothing is raised, and nothing malformed is clean."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from govctl import load_tree, run_rules
from govctl.coverage import coverage, headline
from tests.govctl.trees import (
    CATALOGUE,
    CHECKS,
    CLAUSE,
    CONFIG,
    EVIDENCE,
    FILES,
    LOCK,
    RFC,
    S1,
    TODAY,
    Json,
    codes,
    edited,
    write,
    write_tree,
)

READ = [CONFIG, RFC, CLAUSE, LOCK, CHECKS, EVIDENCE, CATALOGUE]
SETTINGS = FILES[CONFIG] + f'\n[catalogue]\nfile = "{CATALOGUE}"\n'
SETTINGS += '\n[[suppress]]\ncode = "placeholder"\nid = "RFC-0001"\nreason = "It is known."\nuntil = 2026-12-31\n'

words = st.text(max_size=8) | st.sampled_from(["S1", "C-RULE", "RFC-0001", "0.1.0", "2026-02-30", "draft", "MUST"])
scalars = (
    words | st.integers(-9, 9) | st.booleans() | st.floats(allow_nan=False) | st.dates() | st.datetimes() | st.times()
)
keys = st.sampled_from(
    ["govctl", "content", "id", "text", "statements", "status", "kind", "title", "sections", "changelog", "created"]
)
toml_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys | words, inner, max_size=4), max_leaves=12
)
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["evidence", "rfc", "implementation", "checks", "mutants", "digests"]), inner)
    ),
    max_leaves=10,
)


def survives(file: str, content: bytes) -> list[str]:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, {**FILES, CONFIG: SETTINGS, file: content})
        tree = load_tree(root, today=TODAY)
        for covered in coverage(tree):
            headline(covered)
        return [finding.code for finding in run_rules(tree)]


@pytest.mark.parametrize("file", READ)
@given(content=st.binary(max_size=60))
def test_bytes_never_raise(file: str, content: bytes) -> None:
    survives(file, content)


@pytest.mark.parametrize("file", READ)
@given(data=st.data())
def test_a_damaged_file_never_raises(file: str, data: st.DataObject) -> None:
    lock = f"{S1} {'0' * 64}\nRFC-0001@0.1.0 {'0' * 64} {'0' * 64}\n"
    text = {**FILES, CONFIG: SETTINGS}.get(file, lock).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 8)))
    survives(file, text[:start] + data.draw(st.binary(max_size=4)) + text[end:])


@pytest.mark.parametrize("file", [CONFIG, RFC, CLAUSE])
@given(table=st.dictionaries(keys | words, toml_values, max_size=4))
def test_toml_of_any_shape_never_raises_and_is_never_clean(file: str, table: dict[str, Json]) -> None:
    assert survives(file, tomlkit.dumps(table).encode())


@given(value=json_values)
def test_json_of_any_shape_never_raises_and_is_never_clean(value: Json) -> None:
    assert "G0607" in survives(EVIDENCE, json.dumps(value).encode())


@given(source=st.text(alphabet=st.sampled_from("@checklaw(\"',)\n: defab.x=*{}[]#S1"), max_size=60))
def test_source_of_any_shape_never_raises(source: str) -> None:
    survives(CHECKS, f"@check({source}".encode())


@pytest.mark.parametrize("file", READ)
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\xef\xbb\xbf" + b"x = 1\n", "G0102"),
        (b"\xef\xbb\xbf\xef\xbb\xbf", "G0102"),
        ("x = 1\n".encode("utf-16"), "G0101"),
        (b"x = '\xa9'\n", "G0101"),
    ],
)
def test_every_reader_treats_encodings_alike(tmp_path: Path, file: str, content: bytes, code: str) -> None:
    write_tree(tmp_path, {CONFIG: SETTINGS, file: content})

    assert code in codes(tmp_path)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("x = " + "9" * 5000, "G0103"),
        ("x = " + "[" * 5000, "G0103"),
        ("x = " + "[" * 5000 + "]" * 5000, "G0103"),
        ("x = 'a\rb'", "G0109"),
        ("x = 1\r", "G0109"),
        ("x = 1\r\r\n", "G0109"),
        ("x = 1\nx = 2\n", "G0103"),
        ("x.y = 1\nx.y = 2\n", "G0103"),
        ("x = { y = 1, y = 2 }\n", "G0103"),
        ("x = 1\n[x]\n", "G0103"),
        ("x = 1\x00", "G0103"),
        ("[govctl]\n[govctl]\n", "G0103"),
        ("x = 1\n\ufeff", "G0103"),
        ("", "G0203"),
        ("govctl = 1\n", "G0201"),
        ("content.statements = 1\n", "G0201"),
    ],
)
def test_what_is_no_usable_toml_is_a_finding(tmp_path: Path, content: str, code: str) -> None:
    write_tree(tmp_path, {CLAUSE: content})

    assert code in codes(tmp_path)


@pytest.mark.parametrize("content", ["[" * 100_000, "9" * 5000, '"\\ud800"', "NaN", "", "{" * 50_000])
def test_what_is_no_usable_json_is_a_finding(tmp_path: Path, content: str) -> None:
    write_tree(tmp_path, {EVIDENCE: content})

    assert "G0607" in codes(tmp_path)


def test_crlf_and_lf_give_the_same_result(tmp_path: Path) -> None:
    write_tree(tmp_path)
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.suffix != ".json":
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert codes(tmp_path) == []


def test_all_errors_of_a_file_are_found_in_one_run(tmp_path: Path) -> None:
    text = FILES[CLAUSE].replace('title = "Rule"\n', "").replace('"normative"', '"normativ"').replace("since", "sinec")
    write_tree(tmp_path, {CLAUSE: text})

    assert {"G0201", "G0202", "G0203"} <= set(codes(tmp_path))


def test_a_broken_file_does_not_make_its_id_unknown(tmp_path: Path) -> None:
    write_tree(tmp_path, {CLAUSE: "broken"})

    assert codes(tmp_path) == ["G0103"]


@pytest.mark.parametrize(
    ("date", "code"),
    [
        ("2026-01-02", None),
        ('"2026-01-02"', None),
        ("2026-01-02T03:04:05", "G0201"),
        ("2026-01-02T03:04:05Z", "G0201"),
        ("03:04:05", "G0201"),
        ("2026-02-30", "G0103"),
        ('"2026-02-30"', "G0204"),
        ("20260102", "G0201"),
        ('"20260102"', "G0201"),
    ],
)
def test_a_date_has_the_documented_forms(tmp_path: Path, date: str, code: str | None) -> None:
    write_tree(tmp_path, edited(RFC, 'created = "2026-06-03"', f"created = {date}"))

    assert codes(tmp_path) == ([code] if code else [])


def test_links_are_not_followed(tmp_path: Path) -> None:
    write_tree(tmp_path)
    (tmp_path / "gov/rfc/up").symlink_to("..")
    (tmp_path / "suite/again.py").symlink_to("checks.py")
    (tmp_path / "suite/up").symlink_to("..")

    assert codes(tmp_path) == []


def test_a_link_that_leads_nowhere_is_a_finding(tmp_path: Path) -> None:
    write_tree(tmp_path)
    (tmp_path / "gov/clauses/RFC-0001/C-DEAD.toml").symlink_to("none")

    assert codes(tmp_path) == ["G0104"]


def test_two_globs_for_one_file_read_it_once(tmp_path: Path) -> None:
    write_tree(tmp_path, edited(CONFIG, '["suite/*.py"]', '["suite/*.py", "suite/checks.py", "**/checks.py"]'))

    assert codes(tmp_path) == []
