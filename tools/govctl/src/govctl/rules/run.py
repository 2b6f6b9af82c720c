"""Run the rules over a tree.

Knows how a diagnostic becomes a finding and which severity counts. Knows no single rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from govctl.findings import Diagnostic, Finding, Severity
from govctl.rules.table import RULES, Rule
from govctl.tree import Tree


def run_rules(tree: Tree, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """Return the findings of every rule, sorted by place; what is switched off is not among them."""
    found = (_finding(tree, rule, diagnostic) for rule in rules for diagnostic in rule.check(tree))
    return sorted((finding for finding in found if finding.severity is not Severity.OFF), key=lambda f: f.order)


def finding(rule: Rule, diagnostic: Diagnostic, severity: Severity) -> Finding:
    """Return a diagnostic with what its rule adds."""
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=severity,
        place=diagnostic.place,
        subject=diagnostic.subject,
        message=diagnostic.message,
        why=rule.why,
        mend=diagnostic.mend,
        related=diagnostic.related,
    )


def _finding(tree: Tree, rule: Rule, diagnostic: Diagnostic) -> Finding:
    severity = rule.severity if diagnostic.severity is None else diagnostic.severity
    configured = tree.config.severity.get(rule.code, tree.config.severity.get(rule.name))
    if configured is not None and severity is not Severity.OFF:
        severity = Severity(configured)
    return finding(rule, diagnostic, severity)


def worst(findings: Iterable[Finding]) -> Severity:
    """Return the severity that weighs most; OFF when there is no finding."""
    return max((finding.severity for finding in findings), key=lambda severity: severity.weight, default=Severity.OFF)
