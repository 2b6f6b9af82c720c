"""`kvconform list`: what the suite can prove."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from sharedkv_conformance.catalogue import Catalogue, load_catalogue
from sharedkv_conformance.commands.terminal import Terminal
from sharedkv_conformance.console import table
from sharedkv_conformance.exits import Exit
from sharedkv_conformance.profiles import Profile, load_profiles
from sharedkv_conformance.report import render_json


def list_command(options: Namespace, terminal: Terminal) -> Exit:
    """List checks, statements, laws, mutants or public cases."""
    catalogue = load_catalogue()
    if options.format == "json":
        terminal.say(render_json(listing(catalogue)).rstrip("\n"))
        return Exit.AS_EXPECTED
    tables = {
        "checks": _checks,
        "statements": _statements,
        "laws": _laws,
        "mutants": _mutants,
        "cases": _cases,
        "profiles": _profiles,
    }
    terminal.say(tables[options.what](catalogue))
    return Exit.AS_EXPECTED


def listing(catalogue: Catalogue) -> dict[str, Any]:
    """Return the whole catalogue as JSON values."""
    return {
        "catalogue": 1,
        "digest": catalogue.digest,
        "checks": [
            {
                "check": check.slug,
                "meaning": check.meaning,
                "statements": list(check.statements),
                "features": sorted(check.required_features),
                "witnesses": list(check.witnesses),
                "cases": list(check.cases),
                "depends_on": list(check.depends_on),
            }
            for check in catalogue.checks
        ],
        "statements": [
            {"id": s.id, "level": s.level, "text": s.text, "excluded": s.excluded.kind if s.excluded else None}
            for s in catalogue.statements.values()
        ],
        "laws": [
            {"law": law.name, "statement": law.statement, "on": sorted(law.on), "meaning": law.meaning}
            for law in catalogue.laws
        ],
        "mutants": [
            {"mutant": mutant.slug, "kills": mutant.kills, "also": dict(mutant.also), "meaning": mutant.meaning}
            for mutant in catalogue.mutants
        ],
        "benign": [
            {"benign": benign.slug, "declines": dict(benign.declines), "meaning": benign.meaning}
            for benign in catalogue.benign
        ],
        "profiles": [
            {"profile": p.name, "meaning": p.meaning, "rfcs": dict(p.rfcs), "features": sorted(p.features or ())}
            for p in load_profiles().values()
        ],
        "cases": [
            {"case": case.id, "title": case.title, "link": case.link, "checks": _covering(catalogue, case.id)}
            for case in catalogue.cases.values()
        ],
    }


def _covering(catalogue: Catalogue, case: str) -> list[str]:
    return [check.slug for check in catalogue.checks if case in check.cases]


def _checks(catalogue: Catalogue) -> Iterator[str]:
    rows = [(c.slug, ", ".join(c.statements), ", ".join(sorted(c.required_features))) for c in catalogue.checks]
    yield from table(("check", "statements", "needs"), rows)
    yield f"{len(rows)} checks, catalogue {catalogue.digest[:12]}"


def _statements(catalogue: Catalogue) -> Iterator[str]:
    rows = [
        (s.id, s.level, f"excluded: {s.excluded.kind}" if s.excluded else str(len(catalogue.checks_of[s.id])), s.text)
        for s in catalogue.statements.values()
    ]
    yield from table(("statement", "level", "checks", "sentence"), rows)
    yield f"{len(rows)} statements"


def _laws(catalogue: Catalogue) -> Iterator[str]:
    rows = [(law.name, law.statement, ", ".join(sorted(law.on)), law.meaning) for law in catalogue.laws]
    yield from table(("law", "statement", "judges", "meaning"), rows)
    yield f"{len(rows)} laws"


def _mutants(catalogue: Catalogue) -> Iterator[str]:
    rows = [(mutant.slug, mutant.kills, mutant.meaning) for mutant in catalogue.mutants]
    rows += [(benign.slug, "benign", benign.meaning) for benign in catalogue.benign]
    yield from table(("variant", "kills", "meaning"), rows)
    yield f"{len(catalogue.mutants)} mutants, {len(catalogue.benign)} benign variants"


def _profiles(catalogue: Catalogue) -> Iterator[str]:
    rows = [
        (p.name, _counted(p, catalogue) if p.features else "-", ", ".join(sorted(p.features or ())) or "-", p.meaning)
        for p in load_profiles().values()
    ]
    yield from table(("profile", "statements", "requires", "meaning"), rows)
    yield f"{len(rows)} profiles"


def _counted(profile: Profile, catalogue: Catalogue) -> str:
    specification = catalogue.specification
    return str(sum(profile.counts(specification, statement) for statement in specification.statements.values()))


def _cases(catalogue: Catalogue) -> Iterator[str]:
    covering = {case: ", ".join(_covering(catalogue, case)) for case in catalogue.cases}
    rows = [(c.id, covering[c.id] or "no check names it", c.link, c.title) for c in catalogue.cases.values()]
    yield from table(("case", "checks", "link", "title"), rows)
    uncovered = catalogue.uncovered_cases()
    yield f"{len(rows)} cases, {len(uncovered)} without a check"
