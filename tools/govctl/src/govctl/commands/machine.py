"""Findings in every form that machines read.

Knows which form is written by which module. Knows nothing of the forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from govctl.output.findings_data import to_github, to_json
from govctl.output.findings_junit import to_junit
from govctl.output.findings_sarif import RuleText, to_sarif
from govctl.rules.explanations import EXPLANATIONS
from govctl.rules.run import Judgement
from govctl.rules.table import RULES


def machine_lines(form: str, judgement: Judgement, sizes: Mapping[str, int]) -> Iterable[str]:
    """Return the lines of the findings as json, github, sarif or junit."""
    findings = judgement.findings
    match form:
        case "json":
            return [to_json(findings, dict(sizes) | {"borne": len(judgement.borne)})]
        case "github":
            return to_github(findings)
        case "junit":
            return to_junit(findings, [(rule.code, rule.name) for rule in RULES])
        case _:
            return [to_sarif(findings, judgement.borne, _rules())]


def _rules() -> list[RuleText]:
    return [
        RuleText(
            code=rule.code,
            name=rule.name,
            level=rule.severity.value,
            summary=rule.summary,
            help=EXPLANATIONS[rule.code],
        )
        for rule in RULES
    ]
