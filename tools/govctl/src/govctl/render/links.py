"""Names of pages, anchors, and the links between them.

Knows where each thing is shown. The one place where an id becomes an anchor or an address; an anchor is made from the
id alone, so that neither order nor titles move it. Knows nothing of what a page says.
"""

from __future__ import annotations

from dataclasses import dataclass

from govctl import grammar
from govctl.tree import Tree

INDEX = "index.md"
COVERAGE = "proof/coverage.md"
KILLS = "proof/kills.md"
CONTRACT = "implement/contract.md"
FACETS = "facets.md"
CODES = "codes.md"
CASES = "proof/cases.md"
DATA = "site.json"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


@dataclass(frozen=True, kw_only=True)
class Target:
    """A page, and an anchor on it."""

    page: str
    anchor: str = ""

    def seen_from(self, page: str) -> str:
        """Return the relative address of the target for a link on a page."""
        fragment = f"#{self.anchor}" if self.anchor else ""
        if page == self.page and fragment:
            return fragment
        mine, other = page.split("/"), self.page.split("/")
        while len(mine) > 1 and len(other) > 1 and mine[0] == other[0]:
            mine, other = mine[1:], other[1:]
        return "../" * (len(mine) - 1) + "/".join(other) + fragment


def encoded(text: str) -> str:
    """Return text as an anchor: letters, digits and dashes as they are, every other character as its number.

    No two texts give the same anchor.
    """
    return "".join(char if char in _PLAIN else f"_{ord(char):x}_" for char in text)


def statement_anchor(identifier: str) -> str:
    """Return the anchor of a statement or clause on the page of its RFC."""
    return identifier.partition(":")[2].replace("#", ".")


def rfc_page(rfc: str) -> str:
    """Return the page of an RFC."""
    return f"rfc/{rfc}.md"


def checks_page(word: str) -> str:
    """Return the page of a facet's laws and checks."""
    return f"checks/{word}.md"


def wrong_page(word: str) -> str:
    """Return the page of a facet's wrong, and odd but right, implementations."""
    return f"wrong/{word}.md"


def case_target(identifier: str) -> Target:
    """Return where a public case is told."""
    return Target(page=CASES, anchor=encoded(identifier))


def law_anchor(function: str) -> str:
    """Return the anchor of a law; a slug has a dot, so that no check has the same."""
    return f"law-{function}"


def target_of(tree: Tree, identifier: str) -> Target | None:
    """Return where an id is defined; nothing for an id that the tree does not have."""
    page = rfc_page(grammar.rfc_of(identifier))
    if identifier in tree.rfc_by_id:
        return Target(page=page)
    has_page = grammar.rfc_of(identifier) in tree.rfc_by_id
    if has_page and (identifier in tree.clause_by_id or identifier in tree.statement_by_id):
        return Target(page=page, anchor=statement_anchor(identifier))
    return None
