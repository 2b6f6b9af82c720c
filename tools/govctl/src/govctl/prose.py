"""Sentences and BCP 14 keywords of Markdown prose.

Knows how a normative sentence is found in text. Knows nothing of files, ids or the lock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from govctl.grammar import without_code

# Each choice begins with its letter and looks back only then: a search that begins by looking back is slow.
_KEYWORD = re.compile(
    r"(?:M(?<![A-Za-z0-9_-]M)(?:UST(?:\s+NOT)?|AY)"
    r"|S(?<![A-Za-z0-9_-]S)(?:HALL|HOULD)(?:\s+NOT)?"
    r"|R(?<![A-Za-z0-9_-]R)(?:EQUIRED|ECOMMENDED)"
    r"|N(?<![A-Za-z0-9_-]N)OT\s+RECOMMENDED"
    r"|O(?<![A-Za-z0-9_-]O)PTIONAL)(?![A-Za-z0-9_-])"
)
_LEVELS = {"MUST": "MUST", "SHALL": "MUST", "REQUIRED": "MUST", "SHOULD": "SHOULD", "MAY": "MAY", "OPTIONAL": "MAY"}
_END_OF_SENTENCE = re.compile(r"[.!?][\"')\]*_]*\s+(?=[\"'(*_\[`]*[A-Z0-9`\[])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|cf|vs|etc|resp|approx|no|fig|sec)|\b[A-Z])\.$", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+")
_ITEM_LINE = re.compile(rf"^{_ITEM.pattern}", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n\s*\n")
_STRUCTURE = re.compile(r"^\s*(?:\#|\||```|~~~|\*\*Rationale)", re.MULTILINE)
_RATIONALE = re.compile(r"\*\*Rationale:?\*\*:?")


@dataclass(frozen=True, kw_only=True)
class NormativeSentence:
    """A sentence of prose that holds, or inherits, a keyword; `needle` is the part that stands in the text as it is."""

    text: str
    needle: str
    keywords: tuple[str, ...]


def collapse(text: str) -> str:
    """Collapse every run of white space into one blank."""
    return " ".join(text.split())


def keywords(text: str) -> tuple[str, ...]:
    """Return the upper-case BCP 14 keywords of the text in order, code left out; MUST NOT is one keyword."""
    if not may_hold_keywords(text):
        return ()
    return tuple(map(collapse, _KEYWORD.findall(without_code(text))))


def may_hold_keywords(text: str) -> bool:
    """Say whether it is worth to look for keywords: plain searches cost a tenth of the expression."""
    return (
        "MUST" in text
        or "SHOULD" in text
        or "MAY" in text
        or "SHALL" in text
        or "REQUIRED" in text
        or "RECOMMENDED" in text
        or "OPTIONAL" in text
    )


@cache
def level(keyword: str) -> str:
    """Return MUST, SHOULD or MAY: the strength of a keyword."""
    return "SHOULD" if keyword.endswith("RECOMMENDED") else _LEVELS[keyword.partition(" ")[0]]


def sentences(text: str) -> list[str]:
    """Split one paragraph into its sentences; a stop inside code or after an abbreviation ends none."""
    flat = collapse(text)
    if not may_hold_sentences(flat):
        return [flat] if flat else []
    shadow = without_code(flat, "`")
    found, start = [], 0
    for match in _END_OF_SENTENCE.finditer(shadow):
        head = flat[start : match.start() + 1]
        if not _ABBREVIATION.search(head):
            found.append(flat[start : match.end()].strip())
            start = match.end()
    found.append(flat[start:].strip())
    return [sentence for sentence in found if sentence]


def may_hold_sentences(text: str) -> bool:
    """Say whether a stop stands before the end of a text, so that it may be more than one sentence."""
    return text.find(".", 0, -1) >= 0 or text.find("?", 0, -1) >= 0 or text.find("!", 0, -1) >= 0


def normative_sentences(text: str) -> list[NormativeSentence]:
    """Return the statements of a clause in prose form; list items inherit the keyword of their lead-in.

    A lead-in from which no item inherits is a statement of its own.
    """
    reader = _Reader()
    for part in [text] if _has_structure(text) else _BLANK_LINES.split(text):
        if reader.lead_in or may_hold_keywords(part):
            for is_item, block in _blocks(part):
                reader.read(block, is_item=is_item)
    reader.end_lead_in()
    return reader.found


class _Reader:
    """What was found so far, and the lead-in that waits for its items."""

    def __init__(self) -> None:
        self.found: list[NormativeSentence] = []
        self.lead_in = ""
        self._has_heir = True

    def read(self, block: str, *, is_item: bool) -> None:
        """Take the statements of one paragraph or list item."""
        if is_item and self.lead_in and not keywords(block):
            self.found.append(_inherited(self.lead_in, block))
            self._has_heir = True
            return
        parts = sentences(block) if may_hold_keywords(block) else []
        if not is_item:
            self.end_lead_in()
            if parts and parts[-1].endswith(":") and keywords(parts[-1]):
                self.lead_in, self._has_heir = parts.pop(), False
        for part in parts:
            if held := keywords(part):
                self.found.append(NormativeSentence(text=part, needle=part, keywords=held))

    def end_lead_in(self) -> None:
        """Forget the lead-in; without an heir it is a statement of its own."""
        if not self._has_heir:
            self.found.append(_own(self.lead_in))
        self.lead_in, self._has_heir = "", True


def keyword_lines(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each line that holds a keyword, with its keywords; code and rationale paragraphs are left out."""
    if not may_hold_keywords(text):
        return
    is_rationale = False
    for line, bare in zip(text.split("\n"), without_code(text).split("\n"), strict=True):
        is_rationale = bool(line.strip()) and (is_rationale or _RATIONALE.match(line.strip()) is not None)
        if not is_rationale and keywords(bare):
            yield line.strip(), keywords(bare)


def _own(sentence: str) -> NormativeSentence:
    return NormativeSentence(text=sentence, needle=sentence, keywords=keywords(sentence))


def _inherited(lead_in: str, item: str) -> NormativeSentence:
    flat = collapse(item)
    return NormativeSentence(text=f"{lead_in} {flat}", needle=flat, keywords=keywords(lead_in))


def _has_structure(text: str) -> bool:
    """Say whether lines have to be looked at one by one."""
    may_have = "#" in text or "|" in text or "```" in text or "~~~" in text or "**Rationale" in text
    return may_have and _STRUCTURE.search(text) is not None


def _blocks(part: str) -> Iterator[tuple[bool, str]]:
    """Yield paragraphs and list items; code, headings, tables and a rationale are no statements."""
    if _ITEM_LINE.search(part) or _has_structure(part):
        yield from _blocks_by_line(part)
    else:
        yield from ((False, paragraph) for paragraph in _BLANK_LINES.split(part) if paragraph.strip())


def _blocks_by_line(text: str) -> Iterator[tuple[bool, str]]:
    block: list[str] = []
    is_item = is_rationale = False
    fence = ""
    for line in [*text.split("\n"), ""]:
        stripped, fence = _outside_fence(line.strip(), fence)
        item = _ITEM.match(line) if stripped else None
        if block and (not stripped or item or stripped[0] in "#|"):
            yield is_item, "\n".join(block)
            block, is_item = [], False
        is_rationale = bool(stripped) and (is_rationale or _RATIONALE.match(stripped) is not None)
        if not stripped or is_rationale or stripped[0] in "#|":
            continue
        is_item = is_item or item is not None
        block.append(line[item.end() :].strip() if item else stripped)


def _outside_fence(stripped: str, fence: str) -> tuple[str, str]:
    """Return what of a line is outside fenced code, and the fence that is open after it."""
    marks = stripped[:3] if stripped[:3] in {"```", "~~~"} else ""
    if fence:
        return "", "" if marks == fence else fence
    return ("", marks) if marks else (stripped, "")
