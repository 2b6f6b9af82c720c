"""What can be proven: statements, checks, laws, witnesses, mutants and benign variants, and that they fit together.

Reads `catalogue.json`, which is generated from the specification, and the marks of an explicit tuple of modules. Runs
nothing and opens nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from types import ModuleType
from typing import TypeVar

from sharedkv_conformance.cases import Case, load_cases
from sharedkv_conformance.ground import Ground
from sharedkv_conformance.marks import Benign, Check, Law, Mutant, Witness
from sharedkv_conformance.statements import Rfc, Specification, Statement, load_specification

Kind = TypeVar("Kind", Mutant, Benign)

SUITE_MODULES = (
    "sharedkv_conformance.suite.test_planning",
    "sharedkv_conformance.suite.test_planning_batch",
    "sharedkv_conformance.suite.test_planning_calls",
    "sharedkv_conformance.suite.test_allocation",
    "sharedkv_conformance.suite.test_allocation_capacity",
    "sharedkv_conformance.suite.test_allocation_accounting",
    "sharedkv_conformance.suite.test_eviction",
    "sharedkv_conformance.suite.test_eviction_selection",
    "sharedkv_conformance.suite.test_host_tier",
    "sharedkv_conformance.suite.test_host_tier_tree",
    "sharedkv_conformance.suite.test_host_tier_insert",
    "sharedkv_conformance.suite.test_host_tier_kept",
    "sharedkv_conformance.suite.test_host_tier_eviction",
    "sharedkv_conformance.suite.test_host_tier_admission",
    "sharedkv_conformance.suite.test_host_tier_backup",
    "sharedkv_conformance.suite.test_host_tier_load_back",
    "sharedkv_conformance.suite.test_host_tier_acknowledge",
    "sharedkv_conformance.suite.test_direct_write",
    "sharedkv_conformance.suite.test_direct_write_places",
    "sharedkv_conformance.suite.test_direct_write_refusals",
    "sharedkv_conformance.suite.test_reuse",
    "sharedkv_conformance.suite.test_reuse_reading",
    "sharedkv_conformance.suite.test_reuse_probes",
    "sharedkv_conformance.suite.test_prefetch",
    "sharedkv_conformance.suite.test_copies",
    "sharedkv_conformance.suite.test_copies_calls",
    "sharedkv_conformance.suite.test_storage",
    "sharedkv_conformance.suite.test_storage_fetches",
    "sharedkv_conformance.suite.test_storage_ends",
    "sharedkv_conformance.suite.test_transfer",
    "sharedkv_conformance.suite.test_transfer_rooms",
    "sharedkv_conformance.suite.test_sending_reserve",
    "sharedkv_conformance.suite.test_sending",
    "sharedkv_conformance.suite.test_sending_arrival",
    "sharedkv_conformance.suite.test_sending_pins",
    "sharedkv_conformance.suite.test_sending_slots",
    "sharedkv_conformance.suite.test_sending_metrics",
    "sharedkv_conformance.suite.test_overlap",
    "sharedkv_conformance.suite.test_overlap_layers",
    "sharedkv_conformance.suite.test_overlap_finish",
    "sharedkv_conformance.suite.test_abort",
    "sharedkv_conformance.suite.test_abort_notices",
    "sharedkv_conformance.suite.test_abort_drain",
)
LAW_MODULES = (
    "sharedkv_conformance.laws.planning",
    "sharedkv_conformance.laws.planning_batch",
    "sharedkv_conformance.laws.planning_rows",
    "sharedkv_conformance.laws.planning_order",
    "sharedkv_conformance.laws.planning_calls",
    "sharedkv_conformance.laws.planning_witnesses",
    "sharedkv_conformance.laws.allocation",
    "sharedkv_conformance.laws.allocation_capacity",
    "sharedkv_conformance.laws.allocation_accounting",
    "sharedkv_conformance.laws.allocation_cost",
    "sharedkv_conformance.laws.allocation_witnesses",
    "sharedkv_conformance.laws.eviction",
    "sharedkv_conformance.laws.eviction_selection",
    "sharedkv_conformance.laws.eviction_written",
    "sharedkv_conformance.laws.eviction_witnesses",
    "sharedkv_conformance.laws.host_tier",
    "sharedkv_conformance.laws.host_tier_order",
    "sharedkv_conformance.laws.host_tier_witnesses",
    "sharedkv_conformance.laws.host_tier_tree",
    "sharedkv_conformance.laws.host_tier_insert",
    "sharedkv_conformance.laws.host_tier_kept",
    "sharedkv_conformance.laws.host_tier_eviction",
    "sharedkv_conformance.laws.host_tier_tree_witnesses",
    "sharedkv_conformance.laws.host_tier_eviction_witnesses",
    "sharedkv_conformance.laws.host_tier_admission",
    "sharedkv_conformance.laws.host_tier_backup",
    "sharedkv_conformance.laws.host_tier_write_back",
    "sharedkv_conformance.laws.host_tier_load_back",
    "sharedkv_conformance.laws.host_tier_room",
    "sharedkv_conformance.laws.host_tier_acknowledge",
    "sharedkv_conformance.laws.host_tier_admission_witnesses",
    "sharedkv_conformance.laws.host_tier_backup_witnesses",
    "sharedkv_conformance.laws.host_tier_load_back_witnesses",
    "sharedkv_conformance.laws.host_tier_acknowledge_witnesses",
    "sharedkv_conformance.laws.direct_write",
    "sharedkv_conformance.laws.direct_write_places",
    "sharedkv_conformance.laws.direct_write_refusals",
    "sharedkv_conformance.laws.direct_write_witnesses",
    "sharedkv_conformance.laws.reuse",
    "sharedkv_conformance.laws.reuse_reading",
    "sharedkv_conformance.laws.reuse_probes",
    "sharedkv_conformance.laws.reuse_odd_witnesses",
    "sharedkv_conformance.laws.reuse_witnesses",
    "sharedkv_conformance.laws.prefetch",
    "sharedkv_conformance.laws.prefetch_witnesses",
    "sharedkv_conformance.laws.copies",
    "sharedkv_conformance.laws.copies_calls",
    "sharedkv_conformance.laws.copies_witnesses",
    "sharedkv_conformance.laws.storage_keys",
    "sharedkv_conformance.laws.storage",
    "sharedkv_conformance.laws.storage_fetches",
    "sharedkv_conformance.laws.storage_ends",
    "sharedkv_conformance.laws.storage_lifetime",
    "sharedkv_conformance.laws.storage_witnesses",
    "sharedkv_conformance.laws.storage_fetch_witnesses",
    "sharedkv_conformance.laws.transfer",
    "sharedkv_conformance.laws.transfer_rooms",
    "sharedkv_conformance.laws.transfer_witnesses",
    "sharedkv_conformance.laws.sending_reserve",
    "sharedkv_conformance.laws.sending",
    "sharedkv_conformance.laws.sending_arrival",
    "sharedkv_conformance.laws.sending_witnesses",
    "sharedkv_conformance.laws.sending_arrival_witnesses",
    "sharedkv_conformance.laws.sending_pins",
    "sharedkv_conformance.laws.sending_pins_witnesses",
    "sharedkv_conformance.laws.sending_slots",
    "sharedkv_conformance.laws.sending_slots_witnesses",
    "sharedkv_conformance.laws.sending_metrics",
    "sharedkv_conformance.laws.sending_metrics_witnesses",
    "sharedkv_conformance.laws.overlap",
    "sharedkv_conformance.laws.overlap_layers",
    "sharedkv_conformance.laws.overlap_finish",
    "sharedkv_conformance.laws.overlap_witnesses",
    "sharedkv_conformance.laws.overlap_finish_witnesses",
    "sharedkv_conformance.laws.abort",
    "sharedkv_conformance.laws.abort_notices",
    "sharedkv_conformance.laws.abort_drain",
    "sharedkv_conformance.laws.abort_again",
    "sharedkv_conformance.laws.abort_witnesses",
    "sharedkv_conformance.laws.abort_drain_witnesses",
)
MUTANT_MODULES = (
    "sharedkv_conformance.mutants.planning",
    "sharedkv_conformance.mutants.planning_batch",
    "sharedkv_conformance.mutants.planning_order",
    "sharedkv_conformance.mutants.planning_calls",
    "sharedkv_conformance.mutants.allocation",
    "sharedkv_conformance.mutants.allocation_capacity",
    "sharedkv_conformance.mutants.allocation_accounting",
    "sharedkv_conformance.mutants.eviction",
    "sharedkv_conformance.mutants.eviction_selection",
    "sharedkv_conformance.mutants.host_tier",
    "sharedkv_conformance.mutants.host_tier_order",
    "sharedkv_conformance.mutants.host_tier_tree",
    "sharedkv_conformance.mutants.host_tier_match",
    "sharedkv_conformance.mutants.host_tier_prefixes",
    "sharedkv_conformance.mutants.host_tier_ways",
    "sharedkv_conformance.mutants.host_tier_more",
    "sharedkv_conformance.mutants.host_tier_insert",
    "sharedkv_conformance.mutants.host_tier_kept",
    "sharedkv_conformance.mutants.host_tier_eviction",
    "sharedkv_conformance.mutants.host_tier_admission",
    "sharedkv_conformance.mutants.host_tier_backup",
    "sharedkv_conformance.mutants.host_tier_load_back",
    "sharedkv_conformance.mutants.host_tier_acknowledge",
    "sharedkv_conformance.mutants.direct_write",
    "sharedkv_conformance.mutants.direct_write_calls",
    "sharedkv_conformance.mutants.direct_write_counts",
    "sharedkv_conformance.mutants.reuse",
    "sharedkv_conformance.mutants.reuse_epochs",
    "sharedkv_conformance.mutants.reuse_reading",
    "sharedkv_conformance.mutants.prefetch",
    "sharedkv_conformance.mutants.prefetch_keys",
    "sharedkv_conformance.mutants.copies",
    "sharedkv_conformance.mutants.copies_kept",
    "sharedkv_conformance.mutants.copies_order",
    "sharedkv_conformance.mutants.storage_keys",
    "sharedkv_conformance.mutants.storage",
    "sharedkv_conformance.mutants.storage_fetches",
    "sharedkv_conformance.mutants.storage_arrivals",
    "sharedkv_conformance.mutants.storage_ends",
    "sharedkv_conformance.mutants.storage_rows",
    "sharedkv_conformance.mutants.transfer",
    "sharedkv_conformance.mutants.transfer_rooms",
    "sharedkv_conformance.mutants.sending_reserve",
    "sharedkv_conformance.mutants.sending",
    "sharedkv_conformance.mutants.sending_refusals",
    "sharedkv_conformance.mutants.sending_arrival",
    "sharedkv_conformance.mutants.sending_pins",
    "sharedkv_conformance.mutants.sending_slots",
    "sharedkv_conformance.mutants.sending_metrics",
    "sharedkv_conformance.mutants.sending_crossings",
    "sharedkv_conformance.mutants.overlap",
    "sharedkv_conformance.mutants.overlap_layers",
    "sharedkv_conformance.mutants.overlap_finish",
    "sharedkv_conformance.mutants.overlap_crossings",
    "sharedkv_conformance.mutants.abort",
    "sharedkv_conformance.mutants.abort_notices",
    "sharedkv_conformance.mutants.abort_drain",
    "sharedkv_conformance.mutants.abort_again",
)


def _is_of(found: Witness, kind: str, facet: str) -> bool:
    return (found.history or facet) == kind


class CatalogueError(Exception):
    """Marks and specification do not fit together; every problem is listed."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "the catalogue does not fit together:\n" + "\n".join(f"  {problem}" for problem in self.problems)


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """Everything that the suite can prove, each kind in a fixed order; dependencies come before their dependants."""

    specification: Specification
    checks: tuple[Check, ...] = ()
    laws: tuple[Law, ...] = ()
    witnesses: Mapping[str, Witness]
    mutants: tuple[Mutant, ...] = ()
    benign: tuple[Benign, ...] = ()
    cases: Mapping[str, Case]

    @property
    def rfcs(self) -> Mapping[str, Rfc]:
        """Return the RFCs by id."""
        return self.specification.rfcs

    @property
    def statements(self) -> Mapping[str, Statement]:
        """Return the statements by id."""
        return self.specification.statements

    @cached_property
    def checks_of(self) -> Mapping[str, tuple[Check, ...]]:
        """Return the checks of each statement, also of those that have none."""
        return {
            statement: tuple(check for check in self.checks if statement in check.statements)
            for statement in self.statements
        }

    @cached_property
    def grounds(self) -> Mapping[str, Ground]:
        """Return for each kind of history the laws that judge it and the witnesses of checks of its facet.

        A facet has one kind of history of its own name, and others where laws name them; the kind of one facet may also
        be judged by a law of another.
        """
        facets = dict.fromkeys(check.facet for check in self.checks)
        kinds = {law.history: self._facet(law) for law in self.laws if law.history} | {facet: facet for facet in facets}
        return {kind: self._ground(kind, facet) for kind, facet in kinds.items() if facet in facets}

    def _facet(self, law: Law) -> str:
        return self.specification.facet(self.statements[law.statement])

    def _ground(self, kind: str, facet: str) -> Ground:
        own = {name for check in self.checks if check.facet == facet for name in check.witnesses}
        names = own | {
            name for check in self.checks for name in check.witnesses if self.witnesses[name].history == kind
        }
        return Ground(
            facet=facet,
            laws=[law for law in self.laws if (law.history or self._facet(law)) == kind],
            witnesses=[found for name, found in self.witnesses.items() if name in names and _is_of(found, kind, facet)],
        )

    @cached_property
    def digest(self) -> str:
        """Digest which sentence is checked by which check; equal digests mean comparable reports."""
        triples = sorted(
            (statement, self.statements[statement].digest, check.slug)
            for check in self.checks
            for statement in check.statements
        )
        return sha256("".join(f"{' '.join(triple)}\n" for triple in triples).encode()).hexdigest()

    def uncovered_cases(self) -> tuple[Case, ...]:
        """Return the public cases that no check names."""
        covered = {case for check in self.checks for case in check.cases}
        return tuple(case for case in self.cases.values() if case.id not in covered)


def load_catalogue() -> Catalogue:
    """Load the specification and the marks of the package; raises `CatalogueError`."""
    suite, laws, mutants = (
        tuple(import_module(name) for name in names) for names in (SUITE_MODULES, LAW_MODULES, MUTANT_MODULES)
    )
    return collect(specification=load_specification(), cases=load_cases(), suite=suite, laws=laws, mutants=mutants)


def load_laws() -> tuple[Law, ...]:
    """Load the laws alone, which need neither hypothesis nor pytest."""
    return tuple(found for name in LAW_MODULES for found in _laws(import_module(name)))


def load_witnesses() -> Mapping[str, Witness]:
    """Load the witnesses alone, by name."""
    return {found.name: found for name in LAW_MODULES for found in _witnesses(import_module(name))}


def load_variants() -> Mapping[str, type]:
    """Return the mutants and the benign variants of the model by slug."""
    modules = [import_module(name) for name in MUTANT_MODULES]
    mutants = {found.slug: found.variant for module in modules for found in _marked(module, "kvconform_mutant", Mutant)}
    benign = {found.slug: found.variant for module in modules for found in _marked(module, "kvconform_benign", Benign)}
    return mutants | benign


def collect(
    *,
    specification: Specification,
    cases: Mapping[str, Case],
    suite: Sequence[ModuleType] = (),
    laws: Sequence[ModuleType] = (),
    mutants: Sequence[ModuleType] = (),
) -> Catalogue:
    """Collect the marks of modules into a catalogue; raises `CatalogueError` with every problem."""
    checks = [found for module in suite for found in _checks(module)]
    witnesses = [found for module in laws for found in _witnesses(module)]
    catalogue = Catalogue(
        specification=specification,
        checks=_dependencies_first(checks),
        laws=tuple(found for module in laws for found in _laws(module)),
        witnesses={witness.name: witness for witness in witnesses},
        mutants=tuple(found for module in mutants for found in _marked(module, "kvconform_mutant", Mutant)),
        benign=tuple(found for module in mutants for found in _marked(module, "kvconform_benign", Benign)),
        cases=cases,
    )
    problems = [*_twice("witness", [witness.name for witness in witnesses]), *problems_of(catalogue)]
    if problems:
        raise CatalogueError(problems)
    return catalogue


def problems_of(catalogue: Catalogue) -> Iterator[str]:
    """Yield each way in which marks do not fit the specification or one another."""
    yield from _twice("check", [check.slug for check in catalogue.checks])
    yield from _twice(
        "variant", [*(mutant.slug for mutant in catalogue.mutants), *(benign.slug for benign in catalogue.benign)]
    )
    yield from _twice("law", [f"{law.name} of {law.statement}" for law in catalogue.laws])
    for check in catalogue.checks:
        yield from _problems_of_check(check, catalogue)
    for named, statements in _named_statements(catalogue):
        for statement in statements:
            if statement not in catalogue.statements:
                yield f"{named} names an unknown statement {statement}"
    yield from _cycles(catalogue.checks)


def _problems_of_check(check: Check, catalogue: Catalogue) -> Iterator[str]:
    slugs = {other.slug for other in catalogue.checks}
    if not check.statements:
        yield f"check {check.slug} names no statement"
    for kind, names, known in (
        ("statement", check.statements, catalogue.statements),
        ("witness", check.witnesses, catalogue.witnesses),
        ("case", check.cases, catalogue.cases),
        ("check to depend on", check.depends_on, slugs),
    ):
        for name in names:
            if name not in known:
                yield f"check {check.slug} names an unknown {kind} {name}"


def _named_statements(catalogue: Catalogue) -> Iterator[tuple[str, tuple[str, ...]]]:
    for law in catalogue.laws:
        yield f"law {law.name}", (law.statement,)
    for mutant in catalogue.mutants:
        yield f"mutant {mutant.slug}", (mutant.kills, *mutant.also)
    for benign in catalogue.benign:
        yield f"benign variant {benign.slug}", tuple(benign.declines)


def _twice(kind: str, names: Sequence[str]) -> Iterator[str]:
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{kind} {name} is defined twice"


def _cycles(checks: Sequence[Check]) -> Iterator[str]:
    """Yield the checks that can never run; they wait for one another."""
    placed = {check.slug for check in _placed(checks)}
    known = {check.slug for check in checks}
    waiting = [check for check in checks if check.slug not in placed and set(check.depends_on) <= known]
    if waiting:
        yield f"checks depend on one another: {', '.join(sorted(check.slug for check in waiting))}"


def _dependencies_first(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return checks in their order, each after those that it depends on; those that never can stand last."""
    placed = _placed(checks)
    return (*placed, *(check for check in checks if check not in placed))


def _placed(checks: Sequence[Check]) -> list[Check]:
    placed: list[Check] = []
    waiting = list(checks)
    ready: Check | None = next(_ready(waiting, placed), None)
    while ready is not None:
        placed.append(ready)
        waiting.remove(ready)
        ready = next(_ready(waiting, placed), None)
    return placed


def _ready(waiting: Sequence[Check], placed: Sequence[Check]) -> Iterator[Check]:
    done = {check.slug for check in placed}
    return (check for check in waiting if set(check.depends_on) <= done)


def _checks(module: ModuleType) -> Iterator[Check]:
    for value in vars(module).values():
        if callable(value) and getattr(value, "__module__", "") == module.__name__:
            found = getattr(value, "__dict__", {}).get("kvconform_check")
            if isinstance(found, Check):
                yield found


def _laws(module: ModuleType) -> Iterator[Law]:
    for value in vars(module).values():
        if isinstance(value, Law) and value.violations.__module__ == module.__name__:
            yield value


def _witnesses(module: ModuleType) -> Iterator[Witness]:
    for value in vars(module).values():
        if isinstance(value, Witness) and value.occurred.__module__ == module.__name__:
            yield value


def _marked(module: ModuleType, name: str, kind: type[Kind]) -> Iterator[Kind]:
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__:
            found = vars(value).get(name)
            if isinstance(found, kind):
                yield found
