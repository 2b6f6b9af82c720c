"""One line of foreign text as Markdown in which every character is seen.

Knows code spans, emphasis and references to ids; every other character that Markdown or HTML would read becomes an
entity, so that no field adds markup, a link or a comment. Knows nothing of blocks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape as escape_html

from govctl import grammar, prose

Resolve = Callable[[str], str | None]

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>&#|~^!]")
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
_LEADING = re.compile(r"^(\s*)([-+]|[0-9]+(?=[.)](?:\s|$)))")
_TOKEN = re.compile(
    r"(?P<code>(?P<ticks>`+)(?P<inner>.+?)(?<!`)(?P=ticks)(?!`))|\[\[(?P<ref>[^\[\]\n]{1,200})\]\]", re.DOTALL
)
_STRONG = re.compile(r"\*\*(?=\S)((?:[^*\n]|\n(?!\n))+?)(?<=\S)\*\*")
_EMPHASIS = re.compile(r"(?<![*\w])\*(?=\S)((?:[^*\n]|\n(?!\n))+?)(?<=\S)\*(?![*\w])")


def nowhere(_: str) -> str | None:
    """Resolve no reference."""
    return None


def without_controls(text: str) -> str:
    """Return text with a picture in the place of each control character, which no page could show."""
    return text.translate(_PICTURES)


def verbatim(text: str) -> str:
    """Return text as Markdown that shows exactly its characters."""
    shown = _SPECIAL.sub(lambda match: f"&#{ord(match.group())};", without_controls(text))
    return _LEADING.sub(lambda match: match.group(1) + "".join(f"&#{ord(char)};" for char in match.group(2)), shown)


def code(text: str) -> str:
    """Return text as a code span that shows exactly its characters."""
    return f"<code>{verbatim(text)}</code>"


def sentence(text: str, resolve: Resolve = nowhere) -> str:
    """Return a sentence: code spans and references have their form, all else is verbatim."""
    return _tokens(prose.collapse(text), verbatim, resolve)


def paragraph(text: str, resolve: Resolve = nowhere) -> str:
    """Return the text of a paragraph: as a sentence, with emphasis."""
    return _tokens(prose.collapse(text), _emphasised, resolve)


def normative(text: str, keywords: Sequence[str], resolve: Resolve = nowhere) -> str:
    """Return a normative sentence with its keywords marked."""
    if not keywords:
        return sentence(text, resolve)
    longest_first = sorted(set(keywords), key=lambda keyword: (-len(keyword), keyword))
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(longest_first)})(?![\w-])")
    return _tokens(prose.collapse(text), lambda part: _marked(pattern, part), resolve)


def without_markup(text: str) -> str:
    """Return text for a label that generators print as it is: angle brackets become quotation marks of that form."""
    return without_controls(text).translate({ord("<"): "\u2039", ord(">"): "\u203a"})


def attribute(text: str) -> str:
    """Return text for an attribute of an HTML tag."""
    return escape_html(text, quote=True)


def link(shown: str, address: str) -> str:
    """Return a link; what is shown is Markdown already."""
    return f"[{shown}]({address})"


def _tokens(text: str, plain: Callable[[str], str], resolve: Resolve) -> str:
    parts, end = [], 0
    for match in _TOKEN.finditer(text):
        parts.append(plain(text[end : match.start()]))
        end = match.end()
        parts.append(_reference(match["ref"], resolve) if match["ref"] is not None else code(_code_text(match)))
    parts.append(plain(text[end:]))
    return "".join(parts)


def _code_text(match: re.Match[str]) -> str:
    inner = match["inner"]
    is_padded = inner.startswith(" ") and inner.endswith(" ") and bool(inner.strip())
    return inner[1:-1] if is_padded and "`" in inner else inner


def _reference(text: str, resolve: Resolve) -> str:
    address = resolve(text) if grammar.is_id(text) else None
    return link(verbatim(text), address) if address else verbatim(f"[[{text}]]")


def _emphasised(text: str) -> str:
    return _between(_STRONG, text, "strong", lambda part: _between(_EMPHASIS, part, "em", verbatim))


def _between(pattern: re.Pattern[str], text: str, tag: str, plain: Callable[[str], str]) -> str:
    parts, end = [], 0
    for match in pattern.finditer(text):
        parts += [plain(text[end : match.start()]), f"<{tag}>{verbatim(match.group(1))}</{tag}>"]
        end = match.end()
    return "".join([*parts, plain(text[end:])])


def _marked(pattern: re.Pattern[str], text: str) -> str:
    parts, end = [], 0
    for match in pattern.finditer(text):
        parts += [verbatim(text[end : match.start()]), f'<strong class="keyword">{match.group()}</strong>']
        end = match.end()
    return "".join([*parts, verbatim(text[end:])])
