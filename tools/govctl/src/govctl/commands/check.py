"""`govctl check`: every problem of the tree in one run. Writes nothing."""

from __future__ import annotations

from argparse import Namespace

from govctl.commands.context import CLEAN, FINDINGS, Context
from govctl.findings import Severity
from govctl.output.findings_text import summary
from govctl.rules.run import run_rules, worst


def run(arguments: Namespace, context: Context) -> int:
    """Run all rules and show what they found."""
    tree = context.tree()
    findings = run_rules(tree)
    sizes = {"rfcs": len(tree.rfcs), "clauses": len(tree.clauses), "statements": len(tree.statement_by_id)}
    if arguments.format == "text":
        context.say_findings(findings)
        counts = [(len(tree.rfcs), "RFC"), (len(tree.clauses), "clause"), (len(tree.statement_by_id), "statement")]
        size = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts)
        context.say(f"{summary(findings)} in {size}")
    else:
        from govctl.output import findings_data  # noqa: PLC0415  # only for machines

        is_json = arguments.format == "json"
        context.say_all([findings_data.to_json(findings, sizes)] if is_json else findings_data.to_github(findings))
    return FINDINGS if worst(findings).weight >= Severity(arguments.fail_on).weight else CLEAN
