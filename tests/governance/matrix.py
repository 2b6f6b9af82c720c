"""The kill matrix: every check on the sound tree, and every check on every broken one.

Knows how a check is judged. An exception that is no failed assertion ends the run: a check that cannot judge shows
nothing. Knows nothing of the form in which results are written.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.governance.marks import Check, Mutant
from tests.governance.small_tree import SmallTree

PASS, FAIL = "pass", "fail"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a mutant: the checks that failed on it, and what is not as its mark says."""

    mutant: Mutant
    killed_by: tuple[str, ...]
    problems: tuple[str, ...]


def on_sound_tree(checks: Sequence[Check]) -> dict[str, str]:
    """Return the status of each check on the sound tree, by slug."""
    failed = _failed(checks, None)
    return {check.slug: FAIL if check in failed else PASS for check in checks}


def on_mutant(mutant: Mutant, checks: Sequence[Check]) -> Outcome:
    """Judge a broken tree by all checks: one of the mutant's statement has to fail, and none of another's."""
    failed = _failed(checks, mutant)
    broken = {statement for check in failed for statement in check.statements}
    problems = [] if mutant.kills in broken else [f"{mutant.slug} is alive: no check of {mutant.kills} fails on it"]
    problems += [f"{mutant.slug} does not break {name}, as it says" for name in mutant.also if name not in broken]
    problems += [
        f"{mutant.slug} breaks {', '.join(check.statements)} too ({check.slug}), and does not say so"
        for check in failed
        if {mutant.kills, *mutant.also}.isdisjoint(check.statements)
    ]
    return Outcome(mutant=mutant, killed_by=tuple(check.slug for check in failed), problems=tuple(problems))


def _failed(checks: Sequence[Check], mutant: Mutant | None) -> list[Check]:
    """Return the checks that fail on a tree; each finds it as the mutant left it."""
    with tempfile.TemporaryDirectory() as folder:
        tree = SmallTree.sound(Path(folder) / "tree")
        if mutant is not None:
            mutant.function(tree)
        files = tree.files()
        failed = []
        for check in checks:
            if not _passes(check, tree):
                failed.append(check)
            tree.restore(files)
        return failed


def _passes(check: Check, tree: SmallTree) -> bool:
    try:
        check.function(tree)
    except AssertionError:
        return False
    return True
