"""Keys, values and words of a TOML text are found where they stand."""

import tomli
from hypothesis import given
from hypothesis import strategies as st

from govctl.toml_places import TomlText

TEXT = '''\
# a comment with [brackets] and "quotes"
top = "a # no comment"

[govctl]
id = "X"
"quoted key" = 1
a.b = [ "one", # first
  { c = 'two' }, [3,
  4] ]

[[list]]
text = """
first line
second  line"""
[[list]]
text = \'\'\'it''s\'\'\'
[list.sub]
deep = 2026-01-02 # date
'''


def at(path: tuple[str | int, ...], words: str = "") -> tuple[int, int]:
    text = TomlText(file="x", text=TEXT)
    place = text.words_place(path, words) if words else text.value_place(path)
    return place.line, place.column


def test_values_are_found() -> None:
    assert at(("top",)) == (2, 7)
    assert at(("govctl", "quoted key")) == (6, 16)
    assert at(("govctl", "a", "b", 0)) == (7, 9)
    assert at(("govctl", "a", "b", 1, "c")) == (8, 9)
    assert at(("govctl", "a", "b", 2, 1)) == (9, 3)
    assert at(("list", 1, "text")) == (16, 8)
    assert at(("list", 1, "sub", "deep")) == (18, 8)


def test_keys_are_found() -> None:
    place = TomlText(file="x", text=TEXT).key_place(("govctl", "id"))

    assert (place.line, place.column) == (5, 1)


def test_words_are_found_however_they_are_broken() -> None:
    assert at(("list", 0, "text"), "line second line") == (13, 7)


def test_what_is_not_there_is_shown_at_the_table_around_it() -> None:
    assert at(("govctl", "missing", 3)) == (4, 1)
    assert at(("nowhere",)) == (1, 1)


keys = st.text(alphabet="abc-_", min_size=1, max_size=4)
scalars = st.integers(-9, 9).map(str) | st.text(alphabet="ab \\#[]{},=.'", max_size=6).map(
    lambda text: '"' + text.replace("\\", "\\\\") + '"'
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]")
        | st.dictionaries(keys, inner, max_size=3).map(
            lambda d: "{" + ", ".join(f"{k} = {v}" for k, v in d.items()) + "}"
        )
    ),
    max_leaves=6,
)


@given(st.dictionaries(keys, values, max_size=4))
def test_the_value_at_each_place_is_the_value_that_was_parsed(table: dict[str, str]) -> None:
    text = "[t]\n" + "".join(f"{key} = {value} # end\n" for key, value in table.items())
    data = tomli.loads(text)
    source = TomlText(file="x", text=text)
    for path, span in source.spans.items():
        node = data
        for part in path:
            node = node[part]  # type: ignore[index]  # the path leads to a value of its own kind
        if path != ("t",):
            assert tomli.loads(f"v = {text[span.value : span.end]}\n")["v"] == node


@given(st.text(alphabet=st.sampled_from("[]{}=\"'a.#,\n\\ "), max_size=40))
def test_text_that_is_no_toml_never_hangs_or_raises(text: str) -> None:
    assert isinstance(TomlText(file="x", text=text).spans, dict)
