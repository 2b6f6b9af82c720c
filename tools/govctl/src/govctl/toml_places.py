"""Find where each key and value of a TOML text stands.

Knows the layout of TOML that has already been parsed without an error; what it does not understand it skips, so
that a place is at worst that of the table around it. Knows nothing of schemas.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from govctl.places import Place, Text

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACES = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[^\s.=\[\]\"'#,{}]+")
_STRINGS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (r'"""(?:\\.|[^\\])*?"{3,5}', r"'''.*?'{3,5}", r'"(?:\\.|[^"\\\n])*"', r"'[^'\n]*'")
)
_SCALAR = re.compile(r"[^,\]}\n#]*")


@dataclass(frozen=True, kw_only=True)
class Span:
    """Offsets of a key and of its value."""

    key: int
    value: int
    end: int


@dataclass(frozen=True, kw_only=True)
class TomlText(Text):
    """A TOML text that can tell the place of a key path, of its value, or of words inside the value."""

    @cached_property
    def spans(self) -> dict[Path, Span]:
        """Map each key path to its offsets."""
        return _Scan(self.text).spans()

    def _span(self, path: Path) -> Span:
        while path and path not in self.spans:
            path = path[:-1]
        return self.spans.get(path, Span(key=0, value=0, end=len(self.text)))

    def key_place(self, path: Path) -> Place:
        """Return the place of a key, or of the nearest table around it that exists."""
        return self.place(self._span(path).key)

    def value_place(self, path: Path) -> Place:
        """Return the place of a value, or of the nearest table around it that exists."""
        return self.place(self._span(path).value)

    def words_place(self, path: Path, words: str) -> Place:
        """Return the place of words inside the value at the path."""
        span = self._span(path)
        return self.place(self.find(words, span.value, span.end))


class _Scan:
    """One walk over the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._spans: dict[Path, Span] = {}
        self._array_index: dict[Path, int] = {}

    def spans(self) -> dict[Path, Span]:
        """Walk the text from header to header and key to key."""
        table: Path = ()
        while self._skip(_BLANK) < len(self._text):
            before = self._at
            if self._peek() == "[":
                table = self._header()
            else:
                self._assignment(table)
            if self._at == before:  # not TOML as we know it: go on with the next line
                end = self._text.find("\n", before)
                self._at = len(self._text) if end < 0 else end + 1
        return self._spans

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at

    def _header(self) -> Path:
        start = self._at
        is_array = self._text.startswith("[[", start)
        self._at += 2 if is_array else 1
        *parents, last = self._key() or [""]
        table: Path = ()
        for name in parents:
            table = self._entered((*table, name))
        table = (*table, last)
        if is_array:
            self._array_index[table] = self._array_index.get(table, -1) + 1
            self._spans.setdefault(table, Span(key=start, value=start, end=self._line_end()))
        table = self._entered(table)
        self._at = self._line_end()
        self._spans.setdefault(table, Span(key=start, value=start, end=self._at))
        return table

    def _entered(self, table: Path) -> Path:
        return (*table, self._array_index[table]) if table in self._array_index else table

    def _line_end(self) -> int:
        end = self._text.find("\n", self._at)
        return len(self._text) if end < 0 else end

    def _key(self) -> list[str]:
        names: list[str] = []
        while True:
            self._skip(_SPACES)
            start = self._at
            quoted = self._peek() in {'"', "'"}
            end = self._string() if quoted else self._skip(_BARE_KEY)
            if end == start:
                return names
            names.append(self._text[start + 1 : end - 1] if quoted else self._text[start:end])
            self._skip(_SPACES)
            if self._peek() != ".":
                return names
            self._at += 1

    def _assignment(self, table: Path) -> None:
        start = self._at
        names = self._key()
        self._skip(_SPACES)
        if not names or self._peek() != "=":
            self._at = start
            return
        self._at += 1
        self._skip(_SPACES)
        value = self._at
        path: Path = (*table, *names)
        self._value(path)
        self._spans[path] = Span(key=start, value=value, end=self._at)

    def _string(self) -> int:
        for pattern in _STRINGS:
            before = self._at
            if self._skip(pattern) != before:
                break
        return self._at

    def _value(self, path: Path) -> None:
        match self._peek():
            case '"' | "'":
                self._string()
            case "[":
                self._array(path)
            case "{":
                self._inline_table(path)
            case _:
                self._skip(_SCALAR)

    def _array(self, path: Path) -> None:
        self._at += 1
        index = 0
        while self._skip(_BLANK) < len(self._text) and self._peek() != "]":
            start = self._at
            self._value((*path, index))
            self._spans[(*path, index)] = Span(key=start, value=start, end=self._at)
            if not self._comma(start):
                return
            index += 1
        self._at += 1

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        while self._skip(_BLANK) < len(self._text) and self._peek() != "}":
            start = self._at
            self._assignment(path)
            if not self._comma(start):
                return
        self._at += 1

    def _comma(self, start: int) -> bool:
        """Step over the comma after an element; False when nothing was understood since `start`."""
        self._skip(_BLANK)
        if self._peek() == ",":
            self._at += 1
        return self._at != start
