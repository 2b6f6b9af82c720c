"""Suppressions: known findings with a reason and an end.

Knows when a suppression covers a finding, and what a suppression itself must be. Knows no other rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from govctl.config import Suppression
from govctl.files import glob_expression
from govctl.findings import Diagnostic, Finding
from govctl.tree import Tree


@dataclass(frozen=True, kw_only=True)
class Sorted:
    """Findings that count, findings that are borne, and the suppressions that bear none."""

    live: tuple[Finding, ...]
    borne: tuple[Finding, ...]
    unused: tuple[int, ...]


def suppressions_have_a_scope(tree: Tree) -> Iterator[Diagnostic]:
    """A suppression names an id or a path."""
    for index, suppression in enumerate(tree.config.suppressions):
        if not (suppression.id or suppression.path):
            yield _diagnostic(
                tree, index, f"the suppression of {suppression.code} names neither id nor path", "name what it is about"
            )


def suppressions_end(tree: Tree) -> Iterator[Diagnostic]:
    """No suppression is past its last day."""
    for index, suppression in enumerate(tree.config.suppressions):
        if is_past(tree, suppression):
            yield _diagnostic(
                tree,
                index,
                f"the suppression of {suppression.code} ended on {suppression.until}",
                "mend what it hides, or give it a new end with a new reason",
            )


def suppressions_are_used(_: Tree) -> Iterator[Diagnostic]:
    """Every suppression that has not ended covers a finding; known only when all other rules have run."""
    yield from ()


def is_past(tree: Tree, suppression: Suppression) -> bool:
    """Say whether the last day of a suppression is over; where no day counts, none is."""
    return bool(tree.today) and suppression.until < tree.today


def sort_out(tree: Tree, findings: Sequence[Finding]) -> Sorted:
    """Part the findings by the suppressions that are in force."""
    in_force = [
        (index, suppression)
        for index, suppression in enumerate(tree.config.suppressions)
        if (suppression.id or suppression.path) and not is_past(tree, suppression)
    ]
    used: set[int] = set()
    live: list[Finding] = []
    borne: list[Finding] = []
    for finding in findings:
        covering = {index for index, suppression in in_force if _covers(suppression, finding)}
        used |= covering
        (borne if covering else live).append(finding)
    unused = tuple(index for index, _ in in_force if index not in used)
    return Sorted(live=tuple(live), borne=tuple(borne), unused=unused)


def unused_diagnostics(tree: Tree, unused: Sequence[int]) -> Iterator[Diagnostic]:
    """Yield what there is to say of suppressions that cover nothing."""
    for index in unused:
        message = f"the suppression of {tree.config.suppressions[index].code} covers no finding"
        yield _diagnostic(tree, index, message, "remove it: what it hid is mended")


def _covers(suppression: Suppression, finding: Finding) -> bool:
    is_of_code = suppression.code in {finding.code, finding.name}
    is_of_path = not suppression.path or re.fullmatch(glob_expression(suppression.path), finding.place.file, re.DOTALL)
    return bool(is_of_code and is_of_path and (not suppression.id or _is_about(suppression.id, finding.subject)))


def _is_about(identifier: str, subject: str) -> bool:
    """Say whether a subject is an id, or one below it: `RFC-0001:C-A` holds `RFC-0001:C-A#S1`."""
    return any(word == identifier or word.startswith((f"{identifier}:", f"{identifier}#")) for word in subject.split())


def _diagnostic(tree: Tree, index: int, message: str, mend: str) -> Diagnostic:
    place = tree.config.document.value_place(("suppress", index, "code"))
    suppression = tree.config.suppressions[index]
    subject = f"suppression of {suppression.code} {suppression.id or suppression.path}".rstrip()
    return Diagnostic(place=place, subject=subject, message=message, mend=mend)
