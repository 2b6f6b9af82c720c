import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.commands.terminal import Terminal
from sharedkv_conformance.console import GREEN, Paint

UNSAFE = ["\x1b[2J", "\r", "\x07", "\x85", "\x9b2J", "\u202e", "\u2066", "\u2028", "\ud800", "\x1b[8m", "\x7f"]


def terminal(folder: Path = Path(), *, coloured: bool = False) -> Terminal:
    return Terminal(out=io.StringIO(), err=io.StringIO(), paint=Paint(coloured), folder=folder)


def written(stream: object) -> str:
    assert isinstance(stream, io.StringIO)
    return stream.getvalue()


@pytest.mark.parametrize("coloured", [False, True])
@pytest.mark.parametrize("text", UNSAFE)
def test_what_a_text_would_do_to_a_terminal_is_shown_and_not_done(text: str, *, coloured: bool) -> None:
    here = terminal(coloured=coloured)
    here.say(f"a{text}b")
    here.note(f"a{text}b")

    assert text[0] not in written(here.out) + written(here.err)
    assert f"a\\u{ord(text[0]):04x}" in written(here.out)


def test_our_own_colours_come_through_where_there_are_any() -> None:
    line = Paint(enabled=True)("pass", GREEN)
    plain, coloured = terminal(), terminal(coloured=True)
    plain.say(line)
    coloured.say(line)

    assert (written(plain.out), written(coloured.out)) == ("\\u001b[32mpass\\u001b[0m\n", line + "\n")


@given(st.text())
def test_whatever_is_said_can_be_encoded(text: str) -> None:
    here = terminal()
    here.say(text)

    assert written(here.out).encode("utf-8")


def test_a_text_that_utf_8_does_not_know_is_written_to_a_file_as_an_escape(tmp_path: Path) -> None:
    terminal(tmp_path).write_file(Path("x.html"), "a\ud800b")

    assert (tmp_path / "x.html").read_text(encoding="utf-8") == "a\\ud800b"


def test_what_is_no_file_is_never_removed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    for name in ("pipe", "file", "nothing"):
        terminal(tmp_path).remove_file(Path(name))

    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
