"""`govctl coverage`: how far each statement is proven. Writes nothing."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from govctl.commands.context import CLEAN, FINDINGS, Context, UsageError
from govctl.coverage import RfcCoverage, coverage
from govctl.tree import Tree


def run(arguments: Namespace, context: Context) -> int:
    """Show coverage by RFC and clause; fail when an RFC that must be proven is not."""
    tree = context.tree()
    for rfc in (*arguments.rfc, *arguments.require):
        if rfc not in tree.rfc_by_id:
            raise UsageError(f"there is no usable {rfc}; there are {', '.join(sorted(tree.rfc_by_id)) or 'none'}")
    every = coverage(tree)
    _show(
        arguments.format, [item for item in every if not arguments.rfc or item.rfc.id in arguments.rfc], tree, context
    )
    unproven = [item.rfc.id for item in every if item.rfc.id in arguments.require and not item.is_proven]
    unproven += [rfc for rfc in arguments.require if tree.rfc_by_id[rfc].status == "deprecated"]
    if unproven and arguments.format == "text":
        context.say(f"not proven: {', '.join(unproven)}")
    return FINDINGS if unproven else CLEAN


def _show(form: str, covered: Sequence[RfcCoverage], tree: Tree, context: Context) -> None:
    if form == "json":
        from govctl.output.coverage_data import coverage_json  # noqa: PLC0415  # only for machines

        context.say(coverage_json(covered, tree.catalogue))
        return
    if form == "md":
        from govctl.output.coverage_markdown import coverage_markdown  # noqa: PLC0415  # only for documents

        context.say_all(coverage_markdown(covered))
    else:
        from govctl.output.coverage_text import coverage_text  # noqa: PLC0415  # only for readers

        context.say_all(coverage_text(covered, context.style))
    if not covered:
        context.say("no RFC to cover")
    elif tree.is_partial:
        context.say("part of the tree could not be read: see govctl check")
