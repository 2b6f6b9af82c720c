"""Findings for machines: one JSON document, or GitHub annotations.

The JSON document holds `findings_format` (1), `tool`, `summary` (findings by severity, sizes of the tree) and
`findings`, sorted by place. A finding holds `code`, `name`, `severity`, `file`, `line`, `column` (from 1), `subject`
(what it is about), `message` (what is wrong), `why`, `mend`, `related` (other places, each with a note) and
`fingerprint`, which does not depend on the line. Keys may be added within a format; none changes its meaning.
Knows the two formats. Knows nothing of rules.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from govctl.findings import Finding, Severity
from govctl.version import version

FORMAT_VERSION = 1
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def to_json(findings: Sequence[Finding], sizes: Mapping[str, int]) -> str:
    """Return all findings as one document; a fingerprint does not depend on the line."""
    counts = Counter(finding.severity for finding in findings)
    document = {
        "findings_format": FORMAT_VERSION,
        "tool": {"name": "govctl", "version": version()},
        "summary": {f"{severity}s": counts[severity] for severity in _COMMANDS} | dict(sizes),
        "findings": [_data(finding) for finding in findings],
    }
    return json.dumps(document, indent=2, ensure_ascii=True)


def to_github(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield one workflow command a finding."""
    for finding in findings:
        place = finding.place
        where = f"file={_property(place.file)},line={place.line},col={place.column}"
        title = _property(f"{finding.code} {finding.name}")
        text = _escaped(f"{finding.headline}\nwhy: {finding.why}\nmend: {finding.mend}")
        yield f"::{_COMMANDS[finding.severity]} {where},title={title}::{text}"


def _data(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "file": finding.place.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "subject": finding.subject,
        "message": finding.message,
        "why": finding.why,
        "mend": finding.mend,
        "related": [
            {"file": r.place.file, "line": r.place.line, "column": r.place.column, "note": r.note}
            for r in finding.related
        ],
        "fingerprint": finding.fingerprint,
    }


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
