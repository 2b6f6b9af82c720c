"""Says whether a report may be published: complete, of this catalogue, and with the verdicts that its statuses give.

Pure: a report and a catalogue in, problems out. Trusts nothing in a report but the statuses, which it cannot repeat.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.contract.implementation import Description
from sharedkv_conformance.marks import Check
from sharedkv_conformance.profiles import ProfileError, load_profiles, profile_named
from sharedkv_conformance.report import profile_form, statement_form
from sharedkv_conformance.report_form import CheckForm, ReportForm, StatementForm
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status
from sharedkv_conformance.verdict import NOT_EXECUTED, claims_not_met, statement_verdicts, verdict_in


def verification_problems(report: ReportForm, catalogue: Catalogue) -> Iterator[str]:
    """Yield each reason why a report may not be published."""
    found = report["specification"]["digest"]
    if found != catalogue.digest:
        yield f"it is of catalogue {found[:12]}, this suite has {catalogue.digest[:12]}: verify it with its own suite"
        return
    checks = {check["check"]: check for check in report["checks"]}
    structural = [*_completeness(report, catalogue, checks), *_sentences(report, catalogue)]
    yield from structural
    if structural:
        return
    for check in catalogue.checks:
        yield from _check_problems(check, checks[check.slug], frozenset(report["implementation"]["features"]))
    yield from _verdicts(report, catalogue)


def _completeness(report: ReportForm, catalogue: Catalogue, checks: Mapping[str, CheckForm]) -> Iterator[str]:
    if not report["run"]["complete"] or report["run"]["selection"] is not None:
        yield "the run was filtered"
    known = [check.slug for check in catalogue.checks]
    yield from (f"check {slug} is missing" for slug in known if slug not in checks)
    yield from (f"check {slug} is none of the catalogue" for slug in checks if slug not in known)
    statements = [statement["id"] for statement in report["statements"]]
    yield from (f"statement {name} is missing" for name in catalogue.statements if name not in statements)
    yield from (
        f"statement {name} is none of the specification" for name in statements if name not in catalogue.statements
    )
    if not any(check["status"] not in NOT_EXECUTED for check in checks.values()):
        yield "nothing was executed"


def _sentences(report: ReportForm, catalogue: Catalogue) -> Iterator[str]:
    for statement in report["statements"]:
        own = catalogue.statements.get(statement["id"])
        if own is None:
            continue
        told = (statement["level"], statement["text"], statement["digest"])
        if told != (own.level, own.text, own.digest):
            yield f"statement {own.id}: its sentence is another one here"


def _check_problems(check: Check, told: CheckForm, features: frozenset[str]) -> Iterator[str]:
    status = Status(told["status"])
    claimed = check.required_features <= features
    if list(check.statements) != told["statements"]:
        yield f"check {check.slug}: speaks for {', '.join(told['statements'])}, here for {', '.join(check.statements)}"
    if status is Status.NOT_RUN:
        yield f"check {check.slug} was not run"
    if status is Status.HARNESS_ERROR:
        yield f"check {check.slug}: the suite itself failed: {told['message']}"
    if status is Status.INAPPLICABLE and claimed:
        yield f"check {check.slug}: inapplicable, and every feature that it needs is claimed"
    if status not in (Status.INAPPLICABLE, Status.UNMET, Status.NOT_RUN) and not claimed:
        missing = ", ".join(sorted(check.required_features - features))
        yield f"check {check.slug}: {status}, and {missing} is not claimed"
    if status is Status.PASS:
        silent = [name for name in check.witnesses if not told["witnesses"].get(name)]
        if silent or not told["examples"]:
            yield f"check {check.slug}: passed without {', '.join(silent) or 'a history'}"


def _verdicts(report: ReportForm, catalogue: Catalogue) -> Iterator[str]:
    """Yield verdicts that are others than the statuses give."""
    implementation = report["implementation"]
    description = Description(
        name=implementation["name"], version=implementation["version"], features=frozenset(implementation["features"])
    )
    results = {
        check["check"]: CheckResult(check=check["check"], status=Status(check["status"])) for check in report["checks"]
    }
    verdicts = statement_verdicts(catalogue, description, results)
    for verdict, statement in zip(verdicts, _ordered(report, catalogue), strict=True):
        if statement_form(verdict) != statement:
            yield f"statement {statement['id']}: {statement['verdict']}, its checks give {verdict.verdict}"
    not_met = list(claims_not_met(catalogue, description, results))
    if "claims" in report and report["claims"]["not_met"] != not_met:
        yield f"claims: says that {report['claims']['not_met']} are not met, its statuses give {not_met}"
    strict = report["run"]["strict"]
    for told in report["profiles"]:
        try:
            named = profile_named(told["name"], catalogue.specification, load_profiles())
        except ProfileError as error:
            yield str(error)
            continue
        judged = verdict_in(named, verdicts, results, description, catalogue, complete=True)
        profile = profile_form(judged, strict=strict)
        if told != profile:
            yield f"profile {told['name']}: says {told['headline']!r}, its statements give {profile['headline']!r}"


def _ordered(report: ReportForm, catalogue: Catalogue) -> Iterator[StatementForm]:
    by_id = {statement["id"]: statement for statement in report["statements"]}
    return (by_id[name] for name in catalogue.statements)
