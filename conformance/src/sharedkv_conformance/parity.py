"""The parity gate: the same checks on the same implementation, in this process and behind the wire, end alike.

A suite that finds less over the wire would be kinder to programs than to objects. Starts one program a trial, with the
Python of this process; knows nothing of how results are shown.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.contract.implementation import Implementation
from sharedkv_conformance.description import described
from sharedkv_conformance.effort import GATE, KILL, Effort
from sharedkv_conformance.execution import execute
from sharedkv_conformance.marks import Check
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.naming import MODEL, MUTANT
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import FEW
from sharedkv_conformance.status import Status
from sharedkv_conformance.sweep import Sweeps
from sharedkv_conformance.wire.client import Budgets
from sharedkv_conformance.wire.implementation import WireImplementation
from sharedkv_conformance.wire.names import COMMAND, wire_implementation

SAMPLE = 12
PASSING = replace(GATE, examples=10)


@dataclass(frozen=True, kw_only=True)
class ParityTrial:
    """What became of one implementation on both sides: how many checks were compared, and where they differ."""

    name: str
    compared: int
    failing: int
    problems: tuple[str, ...] = ()


def parity_names(catalogue: Catalogue) -> tuple[str, ...]:
    """Return whom to compare: the model, and mutants from the whole length of the catalogue."""
    slugs = [mutant.slug for mutant in catalogue.mutants]
    count = min(SAMPLE, len(slugs))
    return (MODEL, *(slugs[index * len(slugs) // count] for index in range(count)))


def trial_of_parity(catalogue: Catalogue, name: str, *, full: bool = False) -> ParityTrial:
    """Compare the model on every check; a mutant on those of the statement that it breaks, in full on its facet's.

    Where it is not full, few histories are enough: every call crosses the wire in the first of them.
    """
    if name == MODEL:
        with closing(served(MODEL)) as behind:
            return compared(catalogue, name, ModelImplementation(), behind, catalogue.checks, GATE if full else PASSING)
    mutant = next(mutant for mutant in catalogue.mutants if mutant.slug == name)
    facet = tuple(check for check in catalogue.checks if check.facet == mutant.slug.partition(".")[0])
    checks = facet if full else catalogue.checks_of[mutant.kills]
    with closing(served(MUTANT + name)) as behind:
        return compared(catalogue, name, ModelImplementation.with_variant(mutant.variant), behind, checks, KILL)


def served(name: str) -> WireImplementation:
    """Return a named implementation behind the wire, in a process of its own."""
    command = shlex.join([sys.executable, "-m", "sharedkv_conformance", "serve", "--impl", name])
    return wire_implementation(COMMAND + command, folder=Path(), budgets=Budgets())


def compared(
    catalogue: Catalogue,
    name: str,
    here: Implementation,
    behind: Implementation,
    checks: Sequence[Check],
    effort: Effort,
) -> ParityTrial:
    """Run checks on both sides and tell each that ends otherwise; for a few of them a sweep would cost too much."""
    sides = [described(side) for side in (here, behind)]
    sweeps = [Sweeps(grounds=catalogue.grounds if len(checks) > FEW else {}) for _ in sides]
    pairs = [
        tuple(
            execute(check, side, effort, catalogue.witnesses, swept) for side, swept in zip(sides, sweeps, strict=True)
        )
        for check in checks
    ]
    return ParityTrial(
        name=name,
        compared=len(pairs),
        failing=sum(behind_wire.status is Status.FAIL for _, behind_wire in pairs),
        problems=tuple(problem for pair in pairs for problem in _differences(name, *pair)),
    )


def _differences(name: str, here: CheckResult, behind: CheckResult) -> Iterator[str]:
    for what in ("status", "statement", "law", "message", "examples", "witnesses", "trace"):
        mine, theirs = getattr(here, what), getattr(behind, what)
        if mine != theirs:
            yield f"parity of {name}: check {here.check} differs in {what}: {mine} here, {theirs} behind the wire"
            return
