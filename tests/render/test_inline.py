"""Every character of foreign text is seen, and none is markup."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from govctl.render.inline import code, normative, paragraph, sentence, verbatim, without_markup
from tests.render.hostile import TEXTS

MARKUP = re.compile(r"[\\`*_{}\[\]<>|~^!]|&(?!#[0-9]+;)|(?<!&)#")


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"])))
def test_verbatim_text_says_exactly_its_characters(text: str) -> None:
    assert unescape(verbatim(text)) == text


@given(st.text())
def test_verbatim_text_holds_no_character_that_is_markup(text: str) -> None:
    assert MARKUP.search(verbatim(text)) is None


@pytest.mark.parametrize("text", ["- item", "+ item", "1. first", "12) twelfth", "  - item"])
def test_verbatim_text_begins_no_list(text: str) -> None:
    assert re.match(r"\s*([-+]|[0-9]+[.)])\s", verbatim(text)) is None


@pytest.mark.parametrize("text", TEXTS)
def test_a_sentence_says_exactly_its_characters(text: str) -> None:
    assert unescape(re.sub(r"</?code>", "", sentence(text))) == text


@given(st.text())
def test_a_code_span_holds_no_tag_but_its_own(text: str) -> None:
    assert re.findall(r"<[^>]*>", code(text)) == ["<code>", "</code>"]


def test_a_control_character_is_shown_by_its_picture() -> None:
    assert verbatim("a\x02b\x7f") == "a\u2402b\u2421"


def test_code_keeps_its_inner_backticks() -> None:
    assert sentence("see `` a`b `` now") == "see <code>a&#96;b</code> now"


def test_a_reference_that_exists_is_a_link() -> None:
    assert sentence("[[RFC-0001:C-A]]", {"RFC-0001:C-A": "x.md#C-A"}.get) == "[RFC-0001:C-A](x.md#C-A)"


@pytest.mark.parametrize("text", ["[[RFC-0009]]", "[[<b>]]", "[[javascript:1]]"])
def test_a_reference_that_leads_nowhere_is_text(text: str) -> None:
    assert unescape(sentence(text)) == text


def test_a_keyword_is_marked_once_and_whole() -> None:
    shown = normative("It MUST NOT mustMUST, `MUST` not.", ("MUST NOT",))

    assert shown == 'It <strong class="keyword">MUST NOT</strong> mustMUST, <code>MUST</code> not.'


def test_a_paragraph_has_emphasis_and_nothing_else() -> None:
    assert paragraph("a *b* **c** <i>d</i>") == "a <em>b</em> <strong>c</strong> &#60;i&#62;d&#60;/i&#62;"


def test_arithmetic_in_a_paragraph_is_no_emphasis() -> None:
    assert unescape(paragraph("2 * C and page * page_size")) == "2 * C and page * page_size"


@given(st.text())
def test_a_label_holds_no_angle_bracket(text: str) -> None:
    assert re.search("[<>]", without_markup(text)) is None
