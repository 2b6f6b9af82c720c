"""Every TOML reader in use reads the same, and the forms of TOML 1.1 are found by name."""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from tomlkit.exceptions import TOMLKitError

from govctl.rules.dialect import _forms
from govctl.toml_places import TomlText

ROOT = Path(__file__).parents[2]
FILES = sorted(
    [*ROOT.glob("gov/**/*.toml"), *ROOT.glob("tools/govctl/examples/*/valid/gov/**/*.toml"), ROOT / "pyproject.toml"]
)
Outcome = dict[str, Any] | None  # the document, or nothing when the reader refuses it


def by_tomli(text: str) -> Outcome:
    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError:
        return None


def by_tomllib(text: str) -> Outcome:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def by_tomlkit(text: str) -> Outcome:
    try:
        return tomlkit.loads(text).unwrap()
    except (TOMLKitError, ValueError):
        return None


READERS: dict[str, Callable[[str], Outcome]] = {"tomli": by_tomli, "tomllib": by_tomllib, "tomlkit": by_tomlkit}
OLD_FORMS = [
    'x = "a"',
    "x = 'a\\x'",
    'x = """a\\\n  b"""',
    "x = '''\na\nb'''",
    "x = { y = 1, z = [\n1,\n2,\n] }",
    "x = 2026-01-02T03:04:05Z",
    "x = 03:04:05",
    "x = [\n03:04:05.25,\n2026-01-02T03:04:05+01:30,\n2026-01-02,\n]",
    'x = "\\\\x41 \\\\e"',
    "# { a\nx = '{ y,\n}'".replace("\n}", "}"),
    'x = "12:30" # at 12:30',
    "[a.'b c']\nd.e = 1",
    "[[a]]\nx = 1\n[[a]]\nx = 2",
]
NEW_FORMS = {
    "x = { y = 1,\n z = 2 }": "a line break inside an inline table",
    "x = {\n y = 1 }": "a line break inside an inline table",
    "x = { y = 1, }": "a comma at the end of an inline table",
    'x = "\\x41"': "the escape \\x",
    'x = "\\e[0m"': "the escape \\e",
    'x = """a\n\\x41"""': "the escape \\x",
    "x = [\n03:04,\n]": "a time without seconds",
    "x = 2026-01-02T03:04+01:30": "a time without seconds",
    "x = { y = 1, # why\n}": "a comma at the end of an inline table",
    "x = 03:04": "a time without seconds",
    "x = 2026-01-02T03:04": "a time without seconds",
    "x = 2026-01-02 03:04Z": "a time without seconds",
}
REFUSED = [
    "x = 1\nx = 2",
    "[a]\n[a]",
    "x = 1\n[x]",
    "x = 1\rx = 2",
    "x = 'a\x01'",
    "x = 2026-02-30",
    "x = 01",
    "x =",
    "x = 'a",
    "= 1",
    "x = { y = 1 y = 2 }",
    'x = "\\q"',
]
tables = st.recursive(
    st.text(max_size=6) | st.integers(-99, 99) | st.booleans() | st.dates() | st.floats(allow_nan=False, width=32),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=4), inner, max_size=3),
    max_leaves=8,
)


def forms(text: str) -> list[str]:
    return [form for _, form in _forms(TomlText(file="x.toml", text=text))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_reader_reads_our_files_alike(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = by_tomli(text)

    assert expected is not None
    assert all(reader(text) == expected for reader in READERS.values()) or forms(text)


@given(table=st.dictionaries(st.text(min_size=1, max_size=4), tables, max_size=4))
def test_every_reader_reads_back_what_was_written(table: dict[str, Any]) -> None:
    text = tomlkit.dumps(table)

    assert [reader(text) for reader in READERS.values()] == [table] * 3
    assert forms(text) == []


@pytest.mark.parametrize("text", OLD_FORMS)
def test_every_reader_reads_the_forms_of_1_0_alike(text: str) -> None:
    expected = by_tomli(text)

    assert expected is not None
    assert all(reader(text) == expected for reader in READERS.values())
    assert forms(text) == []


@pytest.mark.parametrize("text", REFUSED)
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_every_reader_refuses_what_is_not_toml(text: str, reader: Callable[[str], Outcome]) -> None:
    assert reader(text) is None


@pytest.mark.parametrize(("text", "form"), NEW_FORMS.items())
def test_each_form_of_1_1_is_read_and_named(text: str, form: str) -> None:
    assert by_tomli(text) is not None
    assert set(forms(text)) == {form}


@pytest.mark.skipif(sys.version_info >= (3, 15), reason="tomllib reads TOML 1.1 from Python 3.15 on")
@given(parts=st.lists(st.sampled_from([*OLD_FORMS, *NEW_FORMS]), max_size=4))
def test_a_reader_of_1_0_refuses_a_file_if_and_only_if_a_form_is_named(parts: list[str]) -> None:
    text = "".join(f"[t{number}]\n{part}\n" for number, part in enumerate(parts) if not part.startswith("["))

    assert (by_tomllib(text) is None) is bool(forms(text))
