"""`govctl catalogue`: the statements as one JSON file. Writes only with `--write`."""

from __future__ import annotations

from argparse import Namespace

from govctl.commands.context import CLEAN, FINDINGS, Context, UsageError
from govctl.rules.catalogue import catalogue_text
from govctl.writing import write_files


def run(arguments: Namespace, context: Context) -> int:
    """Print the catalogue, compare the file with it, or write the file."""
    tree = context.tree()
    if tree.is_specification_partial or not all(statement.keyword for statement in tree.statement_by_id.values()):
        context.say("part of the tree cannot be used: see govctl check")
        return FINDINGS
    text, file = catalogue_text(tree), tree.config.catalogue_file
    if not (arguments.write or arguments.check):
        context.out.write(text)
        return CLEAN
    if not file:
        raise UsageError("gov/govctl.toml names no file: set file in the table catalogue")
    if arguments.write:
        write_files({context.root / file: text})
        context.say(f"wrote {file}")
        return CLEAN
    is_fresh = tree.catalogue_text == text
    context.say(f"{file} is {'' if is_fresh else 'not '}what the clauses say")
    return CLEAN if is_fresh else FINDINGS
