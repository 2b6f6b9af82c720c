"""Says whether a report may be published: complete, of this catalogue, and with the verdicts that its statuses give.

Pure: a report and a catalogue in, problems out. Trusts nothing in a report but the statuses and the messages, which it
cannot repeat: verdicts, claims, the set of refusal checks and what was expected are all computed anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.contract.implementation import Description
from sharedkv_conformance.description import FEATURES, limit_problems, text_problems
from sharedkv_conformance.effort import DEEP, EFFORTS, LARGEST_SEED
from sharedkv_conformance.known.entry import Expectation, KnownFailure
from sharedkv_conformance.known.expectation import SKIPPED, Expectations
from sharedkv_conformance.marks import Check
from sharedkv_conformance.profiles import ProfileError, load_profiles, profile_named
from sharedkv_conformance.redaction import Redaction
from sharedkv_conformance.refusals import ENDS, PREFIX, refusal_slugs
from sharedkv_conformance.report import (
    EPOCH_YEAR,
    SEED_NOTE,
    effort_form,
    profile_form,
    specification_form,
    statement_form,
    suite_form,
)
from sharedkv_conformance.report_form import CheckForm, ReportForm, StatementForm
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status
from sharedkv_conformance.verdict import NOT_EXECUTED, claims_not_met, statement_verdicts, verdict_in

LAST_YEAR = 2100


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
    description = Description(
        name=report["implementation"]["name"],
        version=report["implementation"]["version"],
        features=frozenset(report["implementation"]["features"]),
    )
    results = {
        slug: CheckResult(check=slug, status=Status(told["status"]), message=told["message"])
        for slug, told in checks.items()
    }
    yield from _run_problems(report, catalogue)
    yield from _published_problems(report)
    yield from _verdicts(report, catalogue, description, results)
    yield from _claim_problems(report, catalogue, description, results)
    yield from _expectation_problems(report, catalogue, results)


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
    if (check.meaning, list(check.cases)) != (told["meaning"], told["cases"]):
        yield f"check {check.slug}: its meaning or its cases are others here"
    yield from _evidence_problems(check, told)
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


def _evidence_problems(check: Check, told: CheckForm) -> Iterator[str]:
    """Yield what a check cannot have left behind when it ended as it did."""
    status = Status(told["status"])
    if odd := sorted(set(told["witnesses"]) - set(check.witnesses)):
        yield f"check {check.slug}: it has no witness {odd[0]}"
    left = [key for key in ("message", "statement", "law", "trace", "repeats") if told[key]]
    if status is Status.PASS and left:
        yield f"check {check.slug}: passed, and has {', '.join(left)} of a failure"
    if status is not Status.PASS and not told["message"]:
        yield f"check {check.slug}: {status} without a message"
    if status is Status.FAIL and not (told["statement"] and told["law"] and told["trace"]):
        yield f"check {check.slug}: failed without a statement, its law and a trace"
    if told["statement"] not in ("", *check.statements):
        yield f"check {check.slug}: it cannot break {told['statement']}"
    repeats = told["repeats"]
    if repeats is not None and not 0 <= repeats["failed"] <= repeats["tries"]:
        yield f"check {check.slug}: failed {repeats['failed']} of {repeats['tries']} times"


def _published_problems(report: ReportForm) -> Iterator[str]:
    """Yield what the suite would not have written of an implementation, and times that no clock has shown."""
    described = report["implementation"]
    for field in ("name", "version"):
        yield from (f"implementation: {problem}" for problem in text_problems(field, described[field]))
    yield from (f"implementation: {problem}" for problem in limit_problems(described["limits"]))
    redaction = Redaction()
    if described["environment"] != redaction.named(described["environment"]):
        yield "implementation: its environment holds a path or a secret"
    told = {key: report.get(key) for key in ("checks", "claims", "implementation")}
    if redaction.deep(told) != told:
        yield "a text holds an absolute path or a secret"
    times = report["times"]
    if unknown := sorted(set(times["checks"]) - {check["check"] for check in report["checks"]}):
        yield f"times: {unknown[0]} is no check of the report"
    if not EPOCH_YEAR <= datetime.fromisoformat(times["started"]).year < LAST_YEAR:
        yield f"times: started {times['started']}"


def _run_problems(report: ReportForm, catalogue: Catalogue) -> Iterator[str]:
    """Yield what another suite has told, claims that the contract does not know, and an effort that is none."""
    if report["suite"] != suite_form():
        told, here = (
            f"{suite['name']} {suite['version']}, {suite['contract']}" for suite in (report["suite"], suite_form())
        )
        yield f"suite: {told} has written it, this is {here}"
    if report["specification"] != specification_form(catalogue):
        yield "specification: its RFCs are others here"
    names = [profile["name"] for profile in report["profiles"]]
    if len(set(names)) < len(names) or not names:
        yield f"profiles: wanted one or more, each once; found {', '.join(names) or 'none'}"
    seed = report["run"]["seed"]
    drawn = seed.isascii() and seed.isdecimal() and int(seed) <= LARGEST_SEED
    if seed != SEED_NOTE and not drawn:
        yield f"run: no seed is {seed!r}"
    if seed == SEED_NOTE and report["run"]["effort"]["name"] == DEEP.name:
        yield "run: the deep effort draws from a seed"
    yield from (
        f"feature {feature} is claimed, and is none of the contract"
        for feature in report["implementation"]["features"]
        if feature not in FEATURES
    )
    effort = report["run"]["effort"]
    known = EFFORTS.get(effort["name"])
    if known is None or effort_form(known) != effort:
        yield f"effort {effort['name']}: this suite has none of that name with {effort['examples']} histories"


def _verdicts(
    report: ReportForm, catalogue: Catalogue, description: Description, results: Mapping[str, CheckResult]
) -> Iterator[str]:
    """Yield verdicts that are others than the statuses give."""
    verdicts = statement_verdicts(catalogue, description, results)
    for verdict, statement in zip(verdicts, _ordered(report, catalogue), strict=True):
        if statement_form(verdict) != statement:
            yield f"statement {statement['id']}: {statement['verdict']}, its checks give {verdict.verdict}"
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


def _claim_problems(
    report: ReportForm, catalogue: Catalogue, description: Description, results: Mapping[str, CheckResult]
) -> Iterator[str]:
    """Yield claims that are judged otherwise than the statuses give, and refusal checks that cannot have ended so."""
    claims = report.get("claims")
    if claims is None:
        yield "claims are missing"
        return
    not_met = list(claims_not_met(catalogue, description, results))
    if claims["not_met"] != not_met:
        yield f"claims: says that {claims['not_met']} are not met, its statuses give {not_met}"
    wanted = list(refusal_slugs(description))
    told = [refusal["check"] for refusal in claims["refusals"]]
    if sorted(told) != sorted(wanted):
        yield f"refusal checks: wanted {', '.join(wanted) or 'none'}, found {', '.join(told) or 'none'}"
    for refusal in claims["refusals"]:
        passed = refusal["status"] == Status.PASS
        if refusal["status"] not in ENDS or passed == bool(refusal["message"]):
            yield f"{refusal['check']}: no refusal check ends with {refusal['status']} and {refusal['message']!r}"
    answered = [refusal["check"] for refusal in claims["refusals"] if refusal["status"] == Status.FAIL]
    for feature in claims["unclaimed_passes"]:
        if PREFIX + feature not in answered:
            yield f"{feature}: passes though not claimed, it says, and {PREFIX}{feature} did not fail"


def _expectation_problems(
    report: ReportForm, catalogue: Catalogue, results: Mapping[str, CheckResult]
) -> Iterator[str]:
    """Yield expectations that are others than the entries give; when an entry ends is not in a report."""
    listed = {check["check"]: check["known"] for check in report["checks"] if check["known"] is not None}
    file = report["run"]["known"]
    if len(listed) != (file["applying"] if file else 0):
        yield f"known failures: {file['applying'] if file else 'no'} entries apply, {len(listed)} stand beside checks"
    entries = {slug: KnownFailure(check=slug, **known) for slug, known in listed.items()}
    told = {check["check"]: check["expectation"] for check in report["checks"]}
    for check in catalogue.checks:
        found = Expectations(entries=entries).of(check, results)
        may_be = {found, Expectation.EXPIRED} if _may_be_expired(check, entries, results) else {found}
        if told[check.slug] not in may_be:
            yield f"check {check.slug}: its expectation is {told[check.slug]}, its status gives {found}"


def _may_be_expired(check: Check, entries: Mapping[str, KnownFailure], results: Mapping[str, CheckResult]) -> bool:
    return check.slug in entries and results[check.slug].status not in SKIPPED


def _ordered(report: ReportForm, catalogue: Catalogue) -> Iterator[StatementForm]:
    by_id = {statement["id"]: statement for statement in report["statements"]}
    return (by_id[name] for name in catalogue.statements)
