"""`govctl check`: every problem of the tree in one run. Writes nothing but a baseline that is asked for."""

from __future__ import annotations

import datetime as dt
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from govctl.commands.context import CLEAN, FINDINGS, Context, UsageError
from govctl.findings import Finding, Severity
from govctl.output.findings_text import counted, summary
from govctl.rules.run import Judgement, judge, worst
from govctl.tree import Tree
from govctl.writing import write_files


def run(arguments: Namespace, context: Context) -> int:
    """Run all rules and show what they found."""
    today = _today(arguments.today)
    tree = context.tree(today)
    judgement = judge(tree)
    if arguments.write_baseline:
        return _write_baseline(Path(arguments.write_baseline), judgement, context)
    findings, gone = _new(arguments, judgement.findings, context, today)
    _show(arguments.format, tree, Judgement(findings=tuple(findings), borne=judgement.borne), context)
    if gone and arguments.format == "text":
        context.say(f"{counted(gone, 'known finding')} no longer there: write the baseline again")
    return FINDINGS if worst(findings).weight >= Severity(arguments.fail_on).weight else CLEAN


def _today(given: str | None) -> str:
    if given is None:
        return dt.datetime.now(tz=dt.UTC).date().isoformat()
    try:
        return dt.date.fromisoformat(given).isoformat()
    except ValueError as error:
        raise UsageError(f"{given} is no date such as 2026-06-03") from error


def _new(
    arguments: Namespace, findings: Sequence[Finding], context: Context, today: str
) -> tuple[Sequence[Finding], int]:
    """Return the findings that are not known already, and how many of a baseline are gone."""
    if not (arguments.baseline or arguments.since):
        return findings, 0
    from govctl.commands.known import (  # noqa: PLC0415  # archives and processes cost 30 ms that a check does not pay
        findings_of_revision,
        read_baseline,
        without_known,
    )

    gone = 0
    if arguments.since:
        findings, _ = without_known(findings, findings_of_revision(context.root, arguments.since, today))
    if arguments.baseline:
        findings, gone = without_known(findings, read_baseline(Path(arguments.baseline)))
    return findings, gone


def _write_baseline(path: Path, judgement: Judgement, context: Context) -> int:
    from govctl.commands.known import baseline_text  # noqa: PLC0415  # as above

    write_files({path: baseline_text(judgement.findings)})
    context.say(f"wrote {counted(len(judgement.findings), 'known finding')} to {path}")
    return CLEAN


def _show(form: str, tree: Tree, judgement: Judgement, context: Context) -> None:
    findings = judgement.findings
    sizes = {"rfcs": len(tree.rfcs), "clauses": len(tree.clauses), "statements": len(tree.statement_by_id)}
    if form == "text":
        context.say_findings(findings)
        counts = [(len(tree.rfcs), "RFC"), (len(tree.clauses), "clause"), (len(tree.statement_by_id), "statement")]
        borne = f" ({len(judgement.borne)} borne)" if judgement.borne else ""
        context.say(f"{summary(findings)}{borne} in {', '.join(counted(*count) for count in counts)}")
        return
    from govctl.commands.machine import machine_lines  # noqa: PLC0415  # only for machines

    context.say_all(machine_lines(form, judgement, sizes))
