"""Compare committed evidence with what a self-test shows.

Knows every way in which the two can differ. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from govctl.evidence import DIGEST_KINDS, Evidence, EvidenceFile, MutantEvidence
from govctl.findings import Diagnostic
from govctl.grammar import sort_key
from govctl.places import Place
from govctl.selftest import SelfTest, project
from govctl.tree import Tree

_MEND = "find out which of the two is right; if it is the self-test: govctl evidence --from FILE --write"


def differences(selftest: SelfTest, tree: Tree) -> Iterator[Diagnostic]:
    """Yield one diagnostic for each difference."""
    shown = project(selftest, tree)
    for rfc in sorted({*shown, *tree.evidence, *tree.broken_evidence, *selftest.checks}, key=sort_key):
        place = Place(file=tree.config.evidence_file(rfc))
        if rfc not in shown:
            has_results = rfc in selftest.checks or rfc in selftest.mutants
            reason = "no facet of the settings describes it" if has_results else "the self-test has no result for it"
            yield _difference(place, rfc, f"{rfc}: {reason}")
        elif rfc not in tree.evidence:
            yield _difference(place, rfc, f"{rfc}: there is no usable evidence to compare with")
        else:
            yield from _of_rfc(tree.evidence[rfc], shown[rfc], is_full=selftest.is_full)


def _of_rfc(committed: EvidenceFile, shown: Evidence, *, is_full: bool) -> Iterator[Diagnostic]:
    old = committed.evidence
    if old.implementation != shown.implementation:
        text = f"implementation is {old.implementation}, the self-test has {shown.implementation}"
        yield _difference(committed.place_of("implementation"), old.rfc, text)
    for kind in DIGEST_KINDS:
        if old.digests[kind] != shown.digests.get(kind):
            text = f"{kind} changed since the evidence was written"
            yield _difference(committed.place_of(kind), f"{old.rfc} {kind}", text)
    for slug in sorted({*old.checks, *shown.checks}):
        before, now = old.checks.get(slug, "absent"), shown.checks.get(slug, "absent")
        if before != now:
            text = f"check {slug} is {before} in the evidence, {now} in the self-test"
            yield _difference(committed.place_of(slug), f"check {slug}", text)
    for slug in sorted({*old.mutants, *shown.mutants}):
        text = _of_mutant(old.mutants.get(slug), shown.mutants.get(slug), is_full=is_full)
        if text:
            yield _difference(committed.place_of(slug), f"mutant {slug}", f"mutant {slug} {text}")


def _of_mutant(old: MutantEvidence | None, shown: MutantEvidence | None, *, is_full: bool) -> str:
    """Say how two results differ; a run that stops at the first kill must show some of the committed killers."""
    if old is None or shown is None:
        return "is not in the evidence" if old is None else "is not in the self-test"
    if old.kills != shown.kills:
        return f"is to die by {old.kills} in the evidence, by {shown.kills} in the self-test"
    before, now = set(old.killed_by), set(shown.killed_by)
    agrees = before == now if is_full else now <= before and bool(now) == bool(before)
    return "" if agrees else f"is killed by {_listed(before)} in the evidence, by {_listed(now)} in the self-test"


def _listed(slugs: set[str]) -> str:
    return ", ".join(sorted(slugs)) or "nothing"


def _difference(place: Place, subject: str, message: str) -> Diagnostic:
    return Diagnostic(place=place, subject=subject, message=message, mend=_MEND)
