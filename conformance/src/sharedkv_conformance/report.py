"""From a finished run to the report, and from a report's text back to its form.

The report is canonical JSON: equal runs give equal bytes but for `times`. Knows no command line; paths are handed in.
What an implementation says of itself, its messages and its traces are redacted: no absolute path, no secret.
"""

from __future__ import annotations

import json
import platform as machine
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from importlib import metadata
from importlib.resources import files
from math import isfinite
from typing import Any, cast

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.codec import LARGEST
from sharedkv_conformance.contract import CONTRACT_VERSION
from sharedkv_conformance.contract.implementation import Description
from sharedkv_conformance.effort import Effort
from sharedkv_conformance.known.entry import KnownFailures
from sharedkv_conformance.known.expectation import Expectations
from sharedkv_conformance.marks import Check
from sharedkv_conformance.redaction import Redaction
from sharedkv_conformance.report_form import (
    REPORT_VERSION,
    CheckForm,
    ClaimsForm,
    EffortForm,
    ImplementationForm,
    KnownFileForm,
    ProfileForm,
    ReportForm,
    RunForm,
    SelectionForm,
    SpecificationForm,
    StatementForm,
    SuiteForm,
    TraceForm,
)
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import Run
from sharedkv_conformance.selection import Selection
from sharedkv_conformance.verdict import Claims, ProfileVerdict, StatementVerdict

DISTRIBUTION = "sharedkv"
LONGEST_MESSAGE = 2000
LONGEST_EXAMINED = 8 * LONGEST_MESSAGE
EPOCH_YEAR = 1970
SEED_NOTE = "none: examples are derandomized, so that equal versions give equal examples"


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What a report says beyond the run itself: effort, time of day, where traces were written, what was expected."""

    effort: EffortForm
    strict: bool
    started: str
    traces: Mapping[str, str]
    seed: str = SEED_NOTE
    known: KnownFailures | None = None
    expectations: Expectations = field(default_factory=Expectations)
    redaction: Redaction = field(default_factory=Redaction)


class ReportError(ValueError):
    """A report cannot be read; every problem is listed."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "not a report: " + "; ".join(self.problems)


def report_of(run: Run, catalogue: Catalogue, circumstances: Circumstances) -> ReportForm:
    """Return the report of a run: every statement and every check of the catalogue, also those not run."""
    return ReportForm(
        report=REPORT_VERSION,
        suite=suite_form(),
        specification=specification_form(catalogue),
        implementation=implementation_form(run.description, circumstances.redaction),
        run=run_form(run.selection, circumstances),
        profiles=[profile_form(run.profile, strict=circumstances.strict)],
        claims=claims_form(run.claims, circumstances.redaction),
        statements=[statement_form(verdict) for verdict in run.statements],
        checks=[check_form(check, run.results, circumstances) for check in catalogue.checks],
        times={
            "started": circumstances.started,
            "seconds": round(sum(run.seconds.values()), 3),
            "checks": {slug: round(seconds, 3) for slug, seconds in run.seconds.items()},
        },
    )


def effort_form(effort: Effort) -> EffortForm:
    """Return the bounds of an effort."""
    return {"name": effort.name, "examples": effort.examples, "steps": effort.steps, "reduce": effort.reduce}


def seed_note(effort: Effort) -> str:
    """Return where the randomness of an effort comes from."""
    return SEED_NOTE if effort.seed is None else str(effort.seed)


def render_json(data: Mapping[str, Any]) -> str:
    """Return canonical JSON: sorted keys, two spaces, a final line end; lone surrogates are written as escapes."""
    text = json.dumps(data, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def parse_report(text: str) -> ReportForm:
    """Parse and validate the text of a report; raises `ReportError` with every problem."""
    try:
        data = strict_json(text)
    except (ValueError, RecursionError) as error:
        raise ReportError((f"not JSON: {error}",)) from error
    if problems := tuple(_schema_problems(data)):
        raise ReportError(problems)
    report = cast("ReportForm", data)
    if problems := tuple(_dangling(report)):
        raise ReportError(problems)
    return report


def strict_json(text: str) -> Any:
    """Return the value of a JSON text that every reader reads alike; raises ValueError or RecursionError."""
    return json.loads(
        text,
        parse_constant=_no_constant,
        parse_float=_finite,
        parse_int=_of_64_bits,
        object_pairs_hook=_without_repetition,
    )


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of a report."""
    text = files("sharedkv_conformance").joinpath("schemas/report.schema.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def suite_form() -> SuiteForm:
    """Return which suite speaks."""
    return {"name": DISTRIBUTION, "version": suite_version(), "contract": CONTRACT_VERSION}


def suite_version() -> str:
    """Return the version of the installed suite."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "not installed"


def _schema_problems(data: Any) -> Iterator[str]:
    from jsonschema import Draft7Validator  # noqa: PLC0415 - only a reader needs it

    errors = sorted(Draft7Validator(report_schema()).iter_errors(data), key=lambda error: error.json_path)
    for error in errors:
        yield f"{error.json_path}: {_cut(error.message, 200)}"


def _dangling(report: ReportForm) -> Iterator[str]:
    """Yield references inside a report that lead nowhere, ids that stand twice, and a start that is no time."""
    if not _is_time(report["times"]["started"]):
        yield f"$.times.started: {report['times']['started']} is no time"
    statements = [statement["id"] for statement in report["statements"]]
    checks = [check["check"] for check in report["checks"]]
    for names in (statements, checks):
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f"{name} stands twice"
    for check in report["checks"]:
        for name in check["statements"]:
            if name not in statements:
                yield f"check {check['check']}: unknown statement {name}"
    for statement in report["statements"]:
        for name in statement["checks"]:
            if name not in checks:
                yield f"statement {statement['id']}: unknown check {name}"


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).year >= EPOCH_YEAR
    except ValueError:
        return False


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        _no_constant(text)
    return number


def _of_64_bits(text: str) -> int:
    number = int(text)
    if not -LARGEST <= number < LARGEST:
        message = f"{text[:20]}... has more than 64 bits"
        raise ValueError(message)
    return number


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; readers do not agree on what one with a repeated name says."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        message = f"{next(name for name in names if names.count(name) > 1)!r} stands twice in an object"
        raise ValueError(message)
    return found


def _no_constant(name: str) -> None:
    message = f"{name} is no JSON number"
    raise ValueError(message)


def specification_form(catalogue: Catalogue) -> SpecificationForm:
    """Return what was proven against."""
    return {
        "digest": catalogue.digest,
        "rfcs": {
            rfc.id: {
                "title": rfc.title,
                "version": rfc.version,
                "status": rfc.status,
                "phase": rfc.phase,
                "facet": rfc.facet,
            }
            for rfc in catalogue.rfcs.values()
        },
    }


def implementation_form(described: Description, redaction: Redaction) -> ImplementationForm:
    """Return what an implementation says of itself."""
    return {
        "name": redaction(described.name),
        "version": redaction(described.version),
        "features": sorted(described.features),
        "limits": dict(described.limits),
        "environment": redaction.named(described.environment),
    }


def run_form(selection: Selection, circumstances: Circumstances) -> RunForm:
    """Return how a report comes about; known before the first check runs."""
    chosen = SelectionForm(**{key: list(names) for key, names in asdict(selection).items()})  # type: ignore[typeddict-item]
    return {
        "complete": not selection.is_filtered,
        "selection": chosen if selection.is_filtered else None,
        "strict": circumstances.strict,
        "effort": circumstances.effort,
        "seed": circumstances.seed,
        "versions": versions(),
        "platform": platform(),
        "known": _known_file(circumstances),
    }


def versions() -> dict[str, str]:
    """Return the versions of what the suite runs on."""
    return {"python": machine.python_version(), "hypothesis": _version_of("hypothesis")}


def platform() -> dict[str, str]:
    """Return the system and the machine."""
    return {"system": sys.platform, "machine": machine.machine()}


def _known_file(circumstances: Circumstances) -> KnownFileForm | None:
    known = circumstances.known
    if known is None:
        return None
    applying = len(circumstances.expectations.entries)
    return {"digest": known.digest, "entries": len(known.entries), "applying": applying}


def _version_of(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


def profile_form(profile: ProfileVerdict, *, strict: bool) -> ProfileForm:
    """Return the verdict of a profile."""
    return {
        "name": profile.name,
        "verdict": str(profile.conformance),
        "strict_verdict": str(profile.strict),
        "headline": profile.headline(strict=strict),
        "must": {str(verdict): count for verdict, count in profile.must.items()},
        "should": {str(verdict): count for verdict, count in profile.should.items()},
        "excluded": dict(profile.excluded),
        "inapplicable": profile.inapplicable,
        "executed": profile.executed,
        "missing": list(profile.missing),
    }


def claims_form(claims: Claims, redaction: Redaction) -> ClaimsForm:
    """Return what became of the features that are claimed, and of those that are not."""
    return {
        "not_met": list(claims.not_met),
        "unclaimed_passes": list(claims.unclaimed_passes),
        "refusals": [
            {"check": slug, "status": str(found.status), "message": _published(found.message, redaction)}
            for slug, found in claims.refusals.items()
        ],
    }


def statement_form(verdict: StatementVerdict) -> StatementForm:
    """Return what is known of a statement."""
    statement = verdict.statement
    excluded = statement.excluded
    return {
        "id": statement.id,
        "rfc": statement.rfc,
        "clause": statement.clause,
        "level": statement.level,
        "text": statement.text,
        "digest": statement.digest,
        "verdict": str(verdict.verdict),
        "checks": list(verdict.checks),
        "excluded": None if excluded is None else {"class": excluded.kind, "reason": excluded.reason},
    }


def check_form(check: Check, results: Mapping[str, CheckResult], circumstances: Circumstances) -> CheckForm:
    """Return how a check ended; `results` holds its result and those of the checks that it depends on."""
    result, redaction = results[check.slug], circumstances.redaction
    lines = [redaction.deep(line) for line in result.trace]
    entry = circumstances.expectations.entries.get(check.slug)
    repeats = result.repeats
    return {
        "check": check.slug,
        "meaning": check.meaning,
        "statements": list(check.statements),
        "cases": list(check.cases),
        "status": str(result.status),
        "message": _published(result.message, redaction),
        "statement": result.statement,
        "law": result.law,
        "examples": result.examples,
        "witnesses": dict(result.witnesses),
        "trace": TraceForm(file=circumstances.traces.get(check.slug, ""), lines=lines) if lines else None,
        "expectation": str(circumstances.expectations.of(check, results)),
        "known": None if entry is None else {"expect": entry.expect, "message": entry.message, "issue": entry.issue},
        "repeats": None if repeats is None else {"tries": repeats.tries, "failed": repeats.failed},
    }


def _published(message: str, redaction: Redaction) -> str:
    """Return a message as a report may hold it; of an endless one only the beginning is looked at."""
    return redaction(_cut(redaction(message[:LONGEST_EXAMINED]), LONGEST_MESSAGE))  # what was cut in two is taken out


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."
