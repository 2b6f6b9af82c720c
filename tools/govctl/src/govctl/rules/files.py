"""Family 01, files and TOML, and family 02, schemas: what the loader has noted, one rule a kind.

Knows which kind of problem belongs to which rule. Knows nothing of content.
"""

from __future__ import annotations

from collections.abc import Iterator

from govctl.findings import Diagnostic
from govctl.problems import ProblemKind
from govctl.tree import Tree


def _noted(tree: Tree, kind: ProblemKind) -> Iterator[Diagnostic]:
    return (problem.diagnostic for problem in tree.problems if problem.kind is kind)


def files_are_utf8(tree: Tree) -> Iterator[Diagnostic]:
    """Every file is UTF-8."""
    yield from _noted(tree, ProblemKind.NOT_UTF8)


def files_have_no_byte_order_mark(tree: Tree) -> Iterator[Diagnostic]:
    """No file begins with a byte order mark."""
    yield from _noted(tree, ProblemKind.BYTE_ORDER_MARK)


def files_have_plain_line_ends(tree: Tree) -> Iterator[Diagnostic]:
    """No carriage return stands alone."""
    yield from _noted(tree, ProblemKind.CARRIAGE_RETURN)


def files_are_toml(tree: Tree) -> Iterator[Diagnostic]:
    """Every specification file is TOML."""
    yield from _noted(tree, ProblemKind.TOML_SYNTAX)


def files_can_be_read(tree: Tree) -> Iterator[Diagnostic]:
    """Every file that has a name has a content."""
    yield from _noted(tree, ProblemKind.UNREADABLE)


def files_belong_here(tree: Tree) -> Iterator[Diagnostic]:
    """Every name in the folders of RFCs and clauses is the id of one."""
    yield from _noted(tree, ProblemKind.STRAY)


def files_name_their_schema(tree: Tree) -> Iterator[Diagnostic]:
    """Every specification file begins with its schema line."""
    yield from _noted(tree, ProblemKind.SCHEMA_LINE)


def sources_are_python(tree: Tree) -> Iterator[Diagnostic]:
    """Every source that may hold marks is Python."""
    yield from _noted(tree, ProblemKind.PYTHON_SYNTAX)


def globs_match(tree: Tree) -> Iterator[Diagnostic]:
    """Every glob of the settings matches a file."""
    yield from _noted(tree, ProblemKind.EMPTY_GLOB)


def values_follow_the_schema(tree: Tree) -> Iterator[Diagnostic]:
    """Every value has the type, form and choice of its schema."""
    yield from _noted(tree, ProblemKind.SCHEMA_VALUE)


def keys_are_known(tree: Tree) -> Iterator[Diagnostic]:
    """Every key is in its schema."""
    yield from _noted(tree, ProblemKind.UNKNOWN_KEY)


def keys_are_present(tree: Tree) -> Iterator[Diagnostic]:
    """Every required key is there."""
    yield from _noted(tree, ProblemKind.MISSING_KEY)


def dates_are_real(tree: Tree) -> Iterator[Diagnostic]:
    """Every date is a day of the calendar."""
    yield from _noted(tree, ProblemKind.DATE)


def lock_is_readable(tree: Tree) -> Iterator[Diagnostic]:
    """Every line of the lock is one."""
    yield from _noted(tree, ProblemKind.LOCK)


def evidence_is_readable(tree: Tree) -> Iterator[Diagnostic]:
    """Every evidence file is canonical and whole."""
    yield from _noted(tree, ProblemKind.EVIDENCE)
