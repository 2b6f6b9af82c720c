"""What each phase asks before an RFC enters it.

Knows the gates: one function a phase. Knows nothing of severities, which say how much a gap weighs afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from govctl.coverage import RfcCoverage, StatementCoverage
from govctl.drift import drift
from govctl.grammar import rfc_of
from govctl.rules.severity import PHASES
from govctl.tree import Tree

Gate = Callable[[Tree, RfcCoverage], Iterator[str]]


def next_phase(phase: str) -> str:
    """Return the phase after this one, or nothing after the last."""
    return "" if phase == PHASES[-1] else PHASES[PHASES.index(phase) + 1]


def open_points(tree: Tree, covered: RfcCoverage, phase: str) -> list[str]:
    """Return what an RFC still lacks for a phase; it asks all that the phases before it ask."""
    asked = PHASES[1 : PHASES.index(phase) + 1]
    return [point for name in asked for point in GATES[name](tree, covered)]


def _to_impl(tree: Tree, covered: RfcCoverage) -> Iterator[str]:
    """Sentences are accepted before anyone builds upon them."""
    differences = drift(tree)
    waiting = [s.id for s in (*differences.new, *differences.changed) if rfc_of(s.id) == covered.rfc.id]
    if waiting:
        yield _counted(len(waiting), "sentence is not accepted", "sentences are not accepted")


def _to_test(_: Tree, covered: RfcCoverage) -> Iterator[str]:
    """Every MUST has a check or an exclusion."""
    unchecked = [item for item in _due(covered) if not item.is_checked]
    if unchecked:
        yield _counted(len(unchecked), "MUST has no check", "MUST have no check")


def _to_stable(_: Tree, covered: RfcCoverage) -> Iterator[str]:
    """Fresh evidence shows every MUST passing, and a mutant that died by it; the RFC is normative."""
    if covered.rfc.status != "normative":
        yield f"it is {covered.rfc.status}, not normative"
    due = _due(covered)
    if not covered.has_evidence and due:
        yield "there is no evidence"
        return
    if covered.stale:
        yield f"the evidence is stale ({', '.join(covered.stale)})"
    failing = [item for item in due if item.is_checked and not item.is_passing]
    alive = [item for item in due if not item.is_killed]
    if failing:
        yield _counted(len(failing), "MUST is not shown to pass", "MUST are not shown to pass")
    if alive:
        yield _counted(len(alive), "MUST has no mutant that died", "MUST have no mutant that died")


GATES: dict[str, Gate] = {"impl": _to_impl, "test": _to_test, "stable": _to_stable}


def _due(covered: RfcCoverage) -> list[StatementCoverage]:
    return [item for item in covered.statements if item.statement.level == "MUST" and item.excluded is None]


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
