"""Findings as SARIF 2.1.0, for code scanning.

Knows the format. Knows nothing of rules beyond what the table says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from govctl.findings import Finding
from govctl.places import Place
from govctl.version import version

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, kw_only=True)
class RuleText:
    """What a reader of results is told of one rule."""

    code: str
    name: str
    level: str
    summary: str
    help: str


def to_sarif(findings: Sequence[Finding], borne: Sequence[Finding], rules: Sequence[RuleText]) -> str:
    """Return one run; what is borne is there as suppressed."""
    index = {rule.code: number for number, rule in enumerate(rules)}
    driver = {"name": "govctl", "version": version(), "rules": [_rule(rule) for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True}],
        "results": [
            *(_result(finding, index) for finding in findings),
            *(_result(finding, index) | {"suppressions": [{"kind": "external"}]} for finding in borne),
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=True)


def _rule(rule: RuleText) -> dict[str, object]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": rule.level},
    }


def _result(finding: Finding, index: dict[str, int]) -> dict[str, object]:
    related = [
        {"id": number, "message": {"text": item.note}, "physicalLocation": _location(item.place)}
        for number, item in enumerate(finding.related)
    ]
    return {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": finding.severity.value,
        "message": {"text": f"{finding.headline}\nmend: {finding.mend}"},
        "locations": [{"physicalLocation": _location(finding.place)}],
        "partialFingerprints": {"govctl/1": finding.fingerprint},
        **({"relatedLocations": related} if related else {}),
    }


def _location(place: Place) -> dict[str, object]:
    return {
        "artifactLocation": {"uri": quote(place.file, errors="replace"), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": place.line, "startColumn": place.column},
    }
