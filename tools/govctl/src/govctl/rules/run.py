"""Run the rules over a tree.

Knows how a diagnostic becomes a finding, which severity counts and what is borne. Knows no single rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from govctl.findings import Diagnostic, Finding, Severity
from govctl.rules.suppressions import sort_out, unused_diagnostics
from govctl.rules.table import RULES, UNUSED_SUPPRESSION, Rule
from govctl.tree import Tree


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What the rules found, sorted by place; `borne` are the findings that a suppression covers."""

    findings: tuple[Finding, ...]
    borne: tuple[Finding, ...]


def run_rules(tree: Tree, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """Return the findings of every rule, sorted by place; what is switched off or borne is not among them."""
    return list(judge(tree, rules).findings)


def judge(tree: Tree, rules: Sequence[Rule] = RULES) -> Judgement:
    """Return what every rule found, and what of it is borne."""
    found = [_finding(tree, rule, diagnostic) for rule in rules for diagnostic in rule.check(tree)]
    outcome = sort_out(tree, [finding for finding in found if finding.severity is not Severity.OFF])
    unused = [_finding(tree, UNUSED_SUPPRESSION, item) for item in unused_diagnostics(tree, outcome.unused)]
    live = [*outcome.live, *(finding for finding in unused if finding.severity is not Severity.OFF)]
    return Judgement(findings=tuple(_in_order(live)), borne=tuple(_in_order(outcome.borne)))


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


def _in_order(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: finding.order)


def _finding(tree: Tree, rule: Rule, diagnostic: Diagnostic) -> Finding:
    severity = rule.severity if diagnostic.severity is None else diagnostic.severity
    configured = tree.config.severity.get(rule.code, tree.config.severity.get(rule.name))
    if configured is not None and severity is not Severity.OFF:
        severity = Severity(configured)
    return finding(rule, diagnostic, severity)


def worst(findings: Iterable[Finding]) -> Severity:
    """Return the severity that weighs most; OFF when there is no finding."""
    return max((finding.severity for finding in findings), key=lambda severity: severity.weight, default=Severity.OFF)
