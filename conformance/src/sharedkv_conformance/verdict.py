"""From statuses of checks to verdicts of statements, and from those to the verdict of a profile.

Pure: knows nothing of how a check was run or how a verdict is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.contract.implementation import Description
from sharedkv_conformance.marks import Check
from sharedkv_conformance.profiles import FULL, PROBE, Profile
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.statements import Statement
from sharedkv_conformance.status import Status, Verdict, worst

EXPECTED_STATUSES = frozenset({Status.PASS, Status.INAPPLICABLE})
NOT_EXECUTED = frozenset({Status.INAPPLICABLE, Status.NOT_RUN, Status.BLOCKED, Status.UNMET})
BROKEN = frozenset(
    {
        Verdict.FAIL,
        Verdict.ERROR,
        Verdict.CRASH,
        Verdict.TIMEOUT,
        Verdict.VACUOUS,
        Verdict.BLOCKED,
        Verdict.UNMET,
        Verdict.HARNESS_ERROR,
    }
)
UNKNOWN = frozenset({Verdict.NOT_RUN, Verdict.UNTESTED})


class Conformance(StrEnum):
    """The verdict of a profile."""

    CONFORMANT = "conformant"
    NOT_CONFORMANT = "not conformant"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, kw_only=True)
class StatementVerdict:
    """What is known of one statement."""

    statement: Statement
    verdict: Verdict
    checks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ProfileVerdict:
    """The verdict of one profile, with the counts that stand behind it.

    `must` and `should` count verdicts of statements that apply; `excluded` counts by class the statements that no
    check can show; `missing` are features that the profile requires and the implementation does not claim.
    """

    name: str
    conformance: Conformance
    strict: Conformance
    must: Mapping[Verdict, int]
    should: Mapping[Verdict, int]
    excluded: Mapping[str, int]
    inapplicable: int
    executed: int
    missing: tuple[str, ...] = ()

    def headline(self, *, strict: bool = False) -> str:
        """Return the verdict in one line."""
        proven, applicable = self.must[Verdict.PASS], sum(self.must.values())
        verdict = self.strict if strict else self.conformance
        of = "for" if verdict is Conformance.INCOMPLETE else "to"
        named = "" if self.name == FULL.name else f" {of} {self.name}"
        words = [f"{verdict}{named}, {proven} of {applicable} MUST proven"]
        if strict:
            words.append(f"{self.should[Verdict.PASS]} of {sum(self.should.values())} SHOULD")
        words.append(f"{sum(self.excluded.values())} excluded")
        words.append(f"{self.excluded['debt']} debt")
        if unproven := self.must[Verdict.UNPROVEN]:
            words.append(f"{unproven} unproven for want of a probe")
        if self.missing:
            words.append(f"not claimed: {' '.join(self.missing)}")
        if not self.executed:
            words.append("nothing executed")
        return ", ".join(words)


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What became of the features that are claimed, and of those that are not.

    `not_met` are claimed and not borne out; `refusals` are the generated checks of what is not claimed, by slug;
    `unclaimed_passes` are not claimed, were answered instead of refused, and would pass all of their checks.
    """

    not_met: tuple[str, ...] = ()
    refusals: Mapping[str, CheckResult] = field(default_factory=dict)
    unclaimed_passes: tuple[str, ...] = ()

    @property
    def hold(self) -> bool:
        """Say whether every claim is met and everything else is refused."""
        return not self.not_met and all(result.status is Status.PASS for result in self.refusals.values())


def statement_verdicts(
    catalogue: Catalogue, description: Description, results: Mapping[str, CheckResult]
) -> tuple[StatementVerdict, ...]:
    """Return the verdict of every statement, in catalogue order."""
    return tuple(
        StatementVerdict(
            statement=statement,
            verdict=_verdict(catalogue, description, statement, results),
            checks=tuple(check.slug for check in catalogue.checks_of[statement.id]),
        )
        for statement in catalogue.statements.values()
    )


def _verdict(
    catalogue: Catalogue, description: Description, statement: Statement, results: Mapping[str, CheckResult]
) -> Verdict:
    needed = {catalogue.specification.facet(statement), *statement.features}
    if needed - description.features and not _wants_probes_only(needed, description):
        return Verdict.INAPPLICABLE
    if statement.excluded is not None:
        return Verdict.EXCLUDED
    checks = catalogue.checks_of[statement.id]
    if not checks:
        return Verdict.UNTESTED
    return _verdict_of_checks(checks, description, [results[check.slug].status for check in checks])


def _verdict_of_checks(checks: Sequence[Check], description: Description, statuses: list[Status]) -> Verdict:
    """Return the worst of the checks that apply; a check that wants only a probe leaves the statement unproven."""
    applicable: list[Status] = [status for status in statuses if status != Status.INAPPLICABLE]
    worst_applicable = worst(applicable) if applicable else Status.INAPPLICABLE
    if worst_applicable not in EXPECTED_STATUSES:
        return Verdict(worst_applicable)
    want_a_probe = any(
        status is Status.INAPPLICABLE and _wants_probes_only(check.required_features, description)
        for check, status in zip(checks, statuses, strict=True)
    )
    return Verdict.UNPROVEN if want_a_probe else Verdict(worst_applicable)


def _wants_probes_only(needed: set[str] | frozenset[str], description: Description) -> bool:
    missing = needed - description.features
    return bool(missing) and all(feature.startswith(PROBE) for feature in missing)


def profile_verdict(
    verdicts: Sequence[StatementVerdict],
    results: Sequence[CheckResult],
    *,
    complete: bool,
    name: str = FULL.name,
    missing: Sequence[str] = (),
) -> ProfileVerdict:
    """Judge a profile by the verdicts of its statements; a filtered run is `complete=False`.

    `missing` are features that the profile requires and the implementation does not claim: it is not conformant then.
    """
    must = Counter(v.verdict for v in verdicts if v.statement.is_must and _counts(v))
    should = Counter(v.verdict for v in verdicts if v.statement.is_should and _counts(v))
    judge = partial(_conformance, proven=must[Verdict.PASS] > 0, complete=complete, missing=missing)
    return ProfileVerdict(
        name=name,
        conformance=judge(must),
        strict=judge(must + should),
        must=must,
        should=should,
        excluded=Counter(v.statement.excluded.kind for v in verdicts if _is_excluded(v) and v.statement.excluded),
        inapplicable=sum(v.verdict is Verdict.INAPPLICABLE for v in verdicts),
        executed=sum(result.status not in NOT_EXECUTED for result in results),
        missing=tuple(missing),
    )


def verdict_in(
    profile: Profile,
    verdicts: Sequence[StatementVerdict],
    results: Mapping[str, CheckResult],
    description: Description,
    catalogue: Catalogue,
    *,
    complete: bool,
) -> ProfileVerdict:
    """Judge a profile of the specification: its statements count, and the checks that speak of them."""
    counted = [verdict for verdict in verdicts if profile.counts(catalogue.specification, verdict.statement)]
    slugs = {slug for verdict in counted for slug in verdict.checks}
    return profile_verdict(
        counted,
        [result for result in results.values() if result.check in slugs],
        complete=complete,
        name=profile.name,
        missing=profile.missing(description),
    )


def claims_not_met(
    catalogue: Catalogue, description: Description, results: Mapping[str, CheckResult]
) -> tuple[str, ...]:
    """Return the features that are claimed and not borne out: no check of them was executed, or one did not pass.

    Of a feature whose checks were not selected nothing is known, and nothing is said.
    """
    return tuple(sorted(f for f in description.features if not _is_met(f, catalogue, results)))


def _is_met(feature: str, catalogue: Catalogue, results: Mapping[str, CheckResult]) -> bool:
    statuses = [results[check.slug].status for check in catalogue.checks if feature in check.required_features]
    applicable = [status for status in statuses if status is not Status.INAPPLICABLE]
    return bool(applicable) and all(status in (Status.PASS, Status.NOT_RUN) for status in applicable)


def _counts(verdict: StatementVerdict) -> bool:
    return verdict.verdict not in (Verdict.INAPPLICABLE, Verdict.EXCLUDED)


def _is_excluded(verdict: StatementVerdict) -> bool:
    return verdict.verdict is Verdict.EXCLUDED


def _conformance(counts: Counter[Verdict], *, proven: bool, complete: bool, missing: Sequence[str]) -> Conformance:
    if missing or any(counts[verdict] for verdict in BROKEN):
        return Conformance.NOT_CONFORMANT
    if not complete or not proven or any(counts[verdict] for verdict in UNKNOWN):
        return Conformance.INCOMPLETE
    return Conformance.CONFORMANT
