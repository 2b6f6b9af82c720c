"""A report as Markdown: the verdict first, then what failed, then every statement."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.forms.adapter import broken_adapter
from sharedkv_conformance.forms.claims import claims_told, refusals_told
from sharedkv_conformance.report_form import CheckForm, ProfileForm, ReportForm, StatementForm
from sharedkv_conformance.status import importance

FINE = ("pass", "inapplicable", "not-run")


def render_markdown(report: ReportForm) -> str:
    """Return a report as Markdown; equal reports give equal text."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: ReportForm) -> Iterator[str]:
    implementation = report["implementation"]
    yield f"# Conformance of {cell(implementation['name'])} {cell(implementation['version'])}"
    for profile in report["profiles"]:
        yield from ("", f"**{cell(profile['name'])}**: {cell(profile['headline'])}", "")
        yield from _counts(profile)
    if (broken := broken_adapter(report)) is not None:
        yield from ("", f"**{cell(str(broken))}**")
    yield from ("", *_facts(report))
    if claims := [*claims_told(report)]:
        yield from ("", "## Claims", "")
        yield from (f"- **{claim.standing}** {cell(claim.subject)}: {cell(claim.told)}" for claim in claims)
    if failed := [check for check in report["checks"] if check["status"] not in FINE]:
        yield from ("", "## What did not pass")
        for check in sorted(failed, key=lambda check: importance(check["status"])):
            yield from _failure(check, report)
    yield from ("", "## Statements", "", "| statement | level | verdict | checks |", "|---|---|---|---|")
    for statement in report["statements"]:
        yield _statement(statement)


def _counts(profile: ProfileForm) -> Iterator[str]:
    yield "| level | verdict | statements |"
    yield "|---|---|---|"
    for level, counts in (("MUST", profile["must"]), ("SHOULD", profile["should"]), ("excluded", profile["excluded"])):
        for verdict, count in sorted(counts.items()):
            yield f"| {level} | {cell(verdict)} | {count} |"


def _facts(report: ReportForm) -> Iterator[str]:
    run, suite = report["run"], report["suite"]
    yield f"- Suite: {cell(suite['name'])} {cell(suite['version'])}, contract {cell(suite['contract'])}"
    rfcs = ", ".join(f"{name} {rfc['version']}" for name, rfc in sorted(report["specification"]["rfcs"].items()))
    yield f"- Specification: {cell(rfcs)}; catalogue `{report['specification']['digest'][:12]}`"
    yield f"- Features claimed: {cell(', '.join(report['implementation']['features'])) or 'none'}"
    if refusals := refusals_told(report):
        yield f"- Refusals: {refusals}"
    effort = run["effort"]
    bounds = f"{effort['examples']} histories of up to {effort['steps']} calls a property"
    yield f"- Effort: {cell(effort['name'])}, {bounds}"
    versions = ", ".join(f"{name} {version}" for name, version in sorted(run["versions"].items()))
    yield f"- Versions: {cell(versions)}"
    yield f"- Seed: {cell(run['seed'])}"
    if (known := run["known"]) is not None:
        yield f"- Known failures: {known['applying']} of {known['entries']} entries apply"
    if not run["complete"]:
        yield "- The run was filtered: its verdict is incomplete"


def _failure(check: CheckForm, report: ReportForm) -> Iterator[str]:
    yield from ("", f"### {cell(check['check'])}: {check['status']}", "", cell(check["meaning"]), "")
    sentences = {statement["id"]: statement["text"] for statement in report["statements"]}
    for name in [check["statement"]] if check["statement"] in sentences else check["statements"]:
        yield f"- {name}: {cell(sentences[name])}"
    yield f"- Message: {cell(check['message'])}"
    if check["cases"]:
        yield f"- Cases: {', '.join(check['cases'])}"
    if check["known"] is not None:
        yield f"- Known: {cell(check['known']['issue'])} ({check['expectation']})"
    elif check["expectation"] not in ("as-expected", "unexpected"):
        yield f"- Expectation: {check['expectation']}"
    if (repeats := check["repeats"]) is not None:
        word = "flaky" if repeats["failed"] < repeats["tries"] else "reproducible"
        yield f"- Issued again: failed {repeats['failed']} of {repeats['tries']} times, {word}"
    if check["trace"] is not None and check["trace"]["file"]:
        yield f"- Trace: `{cell(check['trace']['file'])}`"


def _statement(statement: StatementForm) -> str:
    excluded = statement["excluded"]
    verdict = statement["verdict"] if excluded is None else f"excluded ({excluded['class']}: {excluded['reason']})"
    return f"| {statement['id']} | {statement['level']} | {cell(verdict)} | {', '.join(statement['checks'])} |"


def cell(text: str) -> str:
    """Return a text that cannot break out of its line, its table cell or into HTML."""
    plain = " ".join(text.split())
    for character, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "\\|")):
        plain = plain.replace(character, escaped)
    return plain
