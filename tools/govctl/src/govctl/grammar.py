"""The one grammar of ids, for loader, scanner, references, marks and output.

Knows how ids are spelled, ordered and found in prose. Knows nothing of which ids exist.
Ids are kept byte for byte; a digit is an ASCII digit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

RFC = "RFC-[0-9]{4}"
CLAUSE_NAME = "C-[A-Z0-9]+(?:-[A-Z0-9]+)*"
STATEMENT_NAME = "S[1-9][0-9]{0,3}"
CLAUSE = f"{RFC}:{CLAUSE_NAME}"
STATEMENT = f"{CLAUSE}#{STATEMENT_NAME}"
ANY_ID = f"{RFC}(?::{CLAUSE_NAME}(?:#{STATEMENT_NAME})?)?"
CLAUSE_REFERENCE = f"(?:{RFC}:)?{CLAUSE_NAME}"
SLUG = "[a-z][a-z0-9_]*[.][a-z0-9]+(?:-[a-z0-9]+)*"
FACET = "[a-z][a-z0-9_]*"
FEATURE = "[a-z][a-z0-9_]*(?:[.][a-z0-9]+(?:[_-][a-z0-9]+)*)*"
ROW = "[A-Z][A-Z0-9]{0,7}-[0-9]{2,4}"
ROW_RANGE = f"{ROW}(?:[.][.]{ROW})?"
VERSION = "(?:0|[1-9][0-9]{0,8})[.](?:0|[1-9][0-9]{0,8})[.](?:0|[1-9][0-9]{0,8})"
DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
TAG = "[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
CODE_OR_NAME = "(?:G[0-9]{4}|[a-z][a-z0-9]*(?:-[a-z0-9]+)*)"
HEX_DIGEST = "[0-9a-f]{64}"

_RFC = re.compile(RFC)
_CLAUSE_NAME = re.compile(CLAUSE_NAME)
_CLAUSE = re.compile(CLAUSE)
_STATEMENT = re.compile(STATEMENT)
_ANY_ID = re.compile(ANY_ID)
_SLUG = re.compile(SLUG)
_ROW_RANGE = re.compile(f"({ROW})(?:[.][.]({ROW}))?")
_CODE_SPAN = re.compile(r"(`+)(?:(?!\1).)+?\1|^(?:```|~~~).*?^(?:```|~~~)", re.DOTALL | re.MULTILINE)
_BRACKETS = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")
MENTION_ROOTS = ("[[", "RFC-", "rfc-", "Rfc-")
_MENTION = re.compile(
    r"\[\[([^\[\]\n]{1,200})\]\]"
    r"|(?<![A-Za-z0-9_/#:.-])[Rr][Ff][Cc]-[0-9]{1,6}(?::[A-Za-z0-9_-]*[A-Za-z0-9])?(?:#[A-Za-z0-9]+)?"
    r"(?![A-Za-z0-9_-]|[:#][A-Za-z0-9])"
)
_LOOKS_LIKE_ID = re.compile(r"\s*(?:rfc\W?\d|c-[a-z0-9]|s\d+\s*$|#s\d)", re.IGNORECASE)


def is_rfc_id(text: str) -> bool:
    """Say whether the text is an RFC id such as RFC-0001."""
    return _RFC.fullmatch(text) is not None


def is_clause_name(text: str) -> bool:
    """Say whether the text is the name of a clause inside its RFC, such as C-SUMMARY."""
    return _CLAUSE_NAME.fullmatch(text) is not None


def is_clause_id(text: str) -> bool:
    """Say whether the text is the full id of a clause."""
    return _CLAUSE.fullmatch(text) is not None


def is_statement_id(text: str) -> bool:
    """Say whether the text is the full id of a statement."""
    return _STATEMENT.fullmatch(text) is not None


def is_id(text: str) -> bool:
    """Say whether the text is the id of an RFC, a clause or a statement."""
    return _ANY_ID.fullmatch(text) is not None


def is_slug(text: str) -> bool:
    """Say whether the text is the slug of a check or a mutant, such as allocation.owner-lane."""
    return _SLUG.fullmatch(text) is not None


def rfc_of(identifier: str) -> str:
    """Return the RFC part of an id."""
    return identifier.partition(":")[0]


def clause_of(identifier: str) -> str:
    """Return the clause part of a clause or statement id, the RFC included."""
    return identifier.partition("#")[0]


def sort_key(identifier: str) -> tuple[str, int, str]:
    """Order ids by clause and then by number, so that S2 stands before S10."""
    head, _, statement = identifier.partition("#")
    number = statement[1:5]
    return head, int(number) if number.isdecimal() else 0, statement


def version_key(version: str) -> tuple[int, ...]:
    """Order versions by number, so that 1.9.0 stands before 1.10.0."""
    return tuple(int(part) for part in version.split("."))


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A mention of an id in prose; `is_wellformed` is false for what only looks like an id."""

    text: str
    offset: int
    is_wellformed: bool
    is_bracketed: bool

    @property
    def written(self) -> str:
        """Return the citation as it stands in the text."""
        return f"[[{self.text}]]" if self.is_bracketed else self.text


def without_code(text: str, filler: str = " ") -> str:
    """Fill code spans and fenced code with one character, so that offsets stay as they are."""
    if "`" not in text and "~~~" not in text:
        return text
    return _CODE_SPAN.sub(lambda match: re.sub(r"[^\n]", filler, match.group()), text)


def mentions(text: str) -> Iterator[re.Match[str]]:
    """Yield what may be a citation, bracketed (group 1) or bare; code and addresses cite nothing."""
    prose = without_code(text)
    end = 0
    for start in sorted(_starts(prose)):
        if start >= end and (match := _MENTION.match(prose, start)):
            end = match.end()
            yield match


def cites_only(text: str, known: frozenset[str]) -> bool:
    """Say whether it is plain that a text cites nothing but these ids; false where it needs a closer look."""
    if "[" not in text and "-" not in text:
        return True
    prose = without_code(text)
    inner = _BRACKETS.findall(prose)
    return (
        prose.count("RFC-") == len(inner)  # an id in brackets holds one, and so none is left for a bare mention
        and known.issuperset(inner)
        and "rfc-" not in prose
        and "Rfc-" not in prose
    )


def _starts(prose: str) -> Iterator[int]:
    """Yield where a mention may begin: plain searches, ten times as fast as the expression."""
    for root in MENTION_ROOTS:
        at = prose.find(root)
        while at >= 0:
            yield at
            at = prose.find(root, at + 1)


def citations(text: str) -> Iterator[Citation]:
    """Yield every citation of prose, and what only looks like one."""
    return filter(None, map(citation, mentions(text)))


def citation(mention: re.Match[str]) -> Citation | None:
    """Return the citation of a mention; nothing for brackets that do not look like an id."""
    inner = mention.group(1)
    if inner is None:
        found = mention.group()
        return Citation(text=found, offset=mention.start(), is_wellformed=is_id(found), is_bracketed=False)
    if not is_id(inner) and not _LOOKS_LIKE_ID.match(inner):
        return None
    return Citation(text=inner, offset=mention.start(1), is_wellformed=is_id(inner), is_bracketed=True)


def repaired(text: str, clause: str) -> str:
    """Return the id that malformed text most likely means, seen from a clause or an RFC; it need not exist."""
    spelled = text.strip().upper().replace("_", "-")
    spelled = re.sub(r"^RFC\W*([0-9]{1,4})(?![0-9])", lambda match: f"RFC-{int(match.group(1)):04d}", spelled)
    spelled = re.sub(r"^#?(S[0-9]+)$", rf"{clause}#\1", spelled)
    return f"{rfc_of(clause)}:{spelled}" if spelled.startswith("C-") else spelled


def rows_of(row_range: str) -> tuple[str, ...] | None:
    """Expand `W2-01..W2-43` or a single row; None when the two ends do not make a range."""
    match = _ROW_RANGE.fullmatch(row_range)
    if match is None:
        return None
    first, last = match.group(1), match.group(2) or match.group(1)
    (prefix, _, low), (other, _, high) = first.rpartition("-"), last.rpartition("-")
    if prefix != other or len(low) != len(high) or int(low) > int(high):
        return None
    return tuple(f"{prefix}-{number:0{len(low)}d}" for number in range(int(low), int(high) + 1))
