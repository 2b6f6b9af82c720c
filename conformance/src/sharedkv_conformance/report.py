"""From a finished run to the report, and from a report's text back to its form.

The report is canonical JSON: equal runs give equal bytes but for `times`. Knows no command line; paths are handed in,
and no absolute one gets into a report by our doing.
"""

from __future__ import annotations

import json
import platform as machine
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.resources import files
from typing import Any, cast

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.contract import CONTRACT_VERSION
from sharedkv_conformance.marks import Check
from sharedkv_conformance.report_form import (
    REPORT_VERSION,
    CheckForm,
    EffortForm,
    ImplementationForm,
    ProfileForm,
    ReportForm,
    RunForm,
    SelectionForm,
    SpecificationForm,
    StatementForm,
    TraceForm,
)
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import Run
from sharedkv_conformance.verdict import ProfileVerdict, StatementVerdict

DISTRIBUTION = "sharedkv"
LONGEST_MESSAGE = 2000
SEED_NOTE = "none: examples are derandomized, so that equal versions give equal examples"


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What a report says beyond the run itself: effort, time of day, and where traces were written."""

    effort: EffortForm
    strict: bool
    started: str
    traces: Mapping[str, str]


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
        suite={"name": DISTRIBUTION, "version": suite_version(), "contract": CONTRACT_VERSION},
        specification=_specification(catalogue),
        implementation=_implementation(run),
        run=_run(run, circumstances),
        profiles=[_profile(run.profile, strict=circumstances.strict)],
        statements=[_statement(verdict) for verdict in run.statements],
        checks=[_check(check, run.results[check.slug], circumstances.traces) for check in catalogue.checks],
        times={
            "started": circumstances.started,
            "seconds": round(sum(run.seconds.values()), 3),
            "checks": {slug: round(seconds, 3) for slug, seconds in run.seconds.items()},
        },
    )


def render_json(data: Mapping[str, Any]) -> str:
    """Return canonical JSON: sorted keys, two spaces, a final line end; lone surrogates are written as escapes."""
    text = json.dumps(data, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def parse_report(text: str) -> ReportForm:
    """Parse and validate the text of a report; raises `ReportError` with every problem."""
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ReportError((f"not JSON: {error}",)) from error
    if problems := tuple(_schema_problems(data)):
        raise ReportError(problems)
    report = cast("ReportForm", data)
    if problems := tuple(_dangling(report)):
        raise ReportError(problems)
    return report


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of a report."""
    text = files("sharedkv_conformance").joinpath("schemas/report.schema.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


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
    """Yield references inside a report that lead nowhere, and ids that stand twice."""
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


def _no_constant(name: str) -> None:
    message = f"{name} is no JSON number"
    raise ValueError(message)


def _specification(catalogue: Catalogue) -> SpecificationForm:
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


def _implementation(run: Run) -> ImplementationForm:
    described = run.description
    return {
        "name": described.name,
        "version": described.version,
        "features": sorted(described.features),
        "limits": dict(described.limits),
        "environment": dict(described.environment),
    }


def _run(run: Run, circumstances: Circumstances) -> RunForm:
    selection = SelectionForm(**{key: list(names) for key, names in asdict(run.selection).items()})  # type: ignore[typeddict-item]
    return {
        "complete": run.is_complete,
        "selection": None if run.is_complete else selection,
        "strict": circumstances.strict,
        "effort": circumstances.effort,
        "seed": SEED_NOTE,
        "versions": {"python": machine.python_version(), "hypothesis": _version_of("hypothesis")},
        "platform": {"system": sys.platform, "machine": machine.machine()},
    }


def _version_of(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


def _profile(profile: ProfileVerdict, *, strict: bool) -> ProfileForm:
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
    }


def _statement(verdict: StatementVerdict) -> StatementForm:
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


def _check(check: Check, result: CheckResult, traces: Mapping[str, str]) -> CheckForm:
    lines = [dict(line) for line in result.trace]
    return {
        "check": check.slug,
        "meaning": check.meaning,
        "statements": list(check.statements),
        "cases": list(check.cases),
        "status": str(result.status),
        "message": _cut(result.message, LONGEST_MESSAGE),
        "statement": result.statement,
        "law": result.law,
        "examples": result.examples,
        "witnesses": dict(result.witnesses),
        "trace": TraceForm(file=traces.get(check.slug, ""), lines=lines) if lines else None,
    }


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."
