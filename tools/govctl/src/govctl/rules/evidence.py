"""Family 06, second part: what a phase demands of evidence.

Knows when evidence is due and what it must show. Knows nothing of how it is made.
"""

from __future__ import annotations

from collections.abc import Iterator

from govctl.coverage import check_status, home_of, is_killed, stale_digests
from govctl.findings import Diagnostic
from govctl.marks import Mark, MarkKind
from govctl.rules.severity import MUST_LADDER, on
from govctl.specification import Rfc
from govctl.tree import Tree

_WRITE = "run the self-test and write it again: govctl evidence --from FILE --write"


def stable_rfcs_have_evidence(tree: Tree) -> Iterator[Diagnostic]:
    """An RFC in phase stable whose facet is configured has evidence."""
    for rfc in _live(tree):
        is_due = rfc.phase == "stable" and tree.config.facet_of(rfc.id) is not None
        if is_due and rfc.id not in tree.evidence and rfc.id not in tree.broken_evidence:
            yield Diagnostic(
                place=rfc.document.value_place(("govctl", "phase")),
                subject=rfc.id,
                message=f"is in phase stable and has no evidence: {tree.config.evidence_file(rfc.id)} is missing",
                mend=_WRITE,
            )


def evidence_is_fresh(tree: Tree) -> Iterator[Diagnostic]:
    """Evidence was made from the text and the sources as they are."""
    for rfc in _live(tree):
        for kind in stale_digests(tree, rfc.id):
            yield Diagnostic(
                place=tree.evidence[rfc.id].place_of(kind),
                subject=rfc.id,
                message=f"the evidence of {rfc.id} is stale: {kind} changed since",
                mend=_WRITE,
                severity=on(MUST_LADDER, rfc),
            )


def checks_pass(tree: Tree) -> Iterator[Diagnostic]:
    """The evidence shows that every check that runs passes, and knows no other."""
    for rfc in _with_evidence(tree):
        found = tree.evidence[rfc.id]
        own = {mark.slug: mark for mark in _own(tree, rfc, MarkKind.CHECK) if not mark.skipped_by}
        for slug, check in own.items():
            status = check_status(tree, check)
            if status != "pass":
                yield _shown(
                    tree, rfc, check, f"{slug} is {f'{status}, not pass' if status else 'not in the evidence'}"
                )
        for slug in sorted(set(found.evidence.checks) - set(own)):
            yield Diagnostic(
                place=found.place_of(slug),
                subject=f"check {slug}",
                message=f"the evidence holds {slug}, which is no check that runs",
                mend=_WRITE,
                severity=on(MUST_LADDER, rfc),
            )


def mutants_die(tree: Tree) -> Iterator[Diagnostic]:
    """The evidence shows that every mutant died by a check of its statement."""
    for rfc in _with_evidence(tree):
        for mutant in _own(tree, rfc, MarkKind.MUTANT):
            if not is_killed(tree, mutant):
                text = f"{mutant.slug} is not shown to die by a check of {mutant.statements[0]}"
                yield _shown(tree, rfc, mutant, text)


def no_difference(_: Tree) -> Iterator[Diagnostic]:
    """The committed evidence is what the self-test shows; the command that has one compares them."""
    yield from ()


def _shown(tree: Tree, rfc: Rfc, mark: Mark, message: str) -> Diagnostic:
    slugs = (*tree.evidence[rfc.id].evidence.checks, *tree.evidence[rfc.id].evidence.mutants)
    place = tree.evidence[rfc.id].place_of(mark.slug) if mark.slug in slugs else mark.place
    return Diagnostic(place=place, subject=mark.label, message=message, mend=_WRITE, severity=on(MUST_LADDER, rfc))


def _live(tree: Tree) -> list[Rfc]:
    """Return the RFCs of which something is demanded; none when too little could be read."""
    return [] if tree.is_partial else [rfc for rfc in tree.rfc_by_id.values() if rfc.status != "deprecated"]


def _with_evidence(tree: Tree) -> list[Rfc]:
    return [rfc for rfc in _live(tree) if rfc.id in tree.evidence]


def _own(tree: Tree, rfc: Rfc, kind: MarkKind) -> list[Mark]:
    return [mark for mark in tree.marks if mark.kind is kind and home_of(mark) == rfc.id]
