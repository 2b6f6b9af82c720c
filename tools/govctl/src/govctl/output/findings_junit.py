"""Findings as JUnit XML: one test case a rule, failed by its errors and warnings.

Knows the format that test servers share. Knows nothing of rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from govctl.findings import Finding, Severity
from govctl.output.findings_text import printable


def to_junit(findings: Sequence[Finding], rules: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of the document; `rules` are pairs of code and name, notes are no failures."""
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    failed = sum(any(_fails(finding) for finding in found) for found in by_code.values())
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuite name="govctl check" tests="{len(rules)}" failures="{failed}" errors="0" skipped="0">'
    for code, name in rules:
        yield from _case(f"{code} {name}", by_code.get(code, []))
    yield "</testsuite>"


def _case(name: str, findings: Sequence[Finding]) -> Iterator[str]:
    start = f'  <testcase classname="govctl" name={quoteattr(name)}'
    failures = [finding for finding in findings if _fails(finding)]
    notes = [finding for finding in findings if not _fails(finding)]
    if not findings:
        yield f"{start}/>"
        return
    yield f"{start}>"
    if failures:
        message = _attribute(f"{len(failures)} finding{'' if len(failures) == 1 else 's'}")
        yield f"    <failure message={message}>{_lines(failures)}</failure>"
    if notes:
        yield f"    <system-out>{_lines(notes)}</system-out>"
    yield "  </testcase>"


def _fails(finding: Finding) -> bool:
    return finding.severity in {Severity.ERROR, Severity.WARNING}


def _lines(findings: Sequence[Finding]) -> str:
    lines = (f"{finding.place}: {finding.severity}: {finding.headline}" for finding in findings)
    return escape("\n".join(map(printable, lines)))


def _attribute(text: str) -> str:
    return quoteattr(printable(text))
