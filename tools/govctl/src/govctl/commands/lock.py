"""`govctl lock`: accept sentences by name. Writes `gov/statements.lock`, all or nothing."""

from __future__ import annotations

from argparse import Namespace

from govctl.acceptance import accept
from govctl.commands.context import CLEAN, FINDINGS, Context, UsageError
from govctl.lock import LOCK_FILE
from govctl.rules.run import run_rules
from govctl.writing import write_files


def run(arguments: Namespace, context: Context) -> int:
    """Accept what is named; refuse everything when one part of it must be refused."""
    if not (arguments.ids or arguments.new or arguments.withdraw or arguments.seal):
        raise UsageError("name the statements to accept, or say --new, --withdraw or --seal")
    tree = context.tree()
    if tree.is_lock_broken:
        context.say_findings([finding for finding in run_rules(tree) if finding.place.file == LOCK_FILE])
        return FINDINGS
    result = accept(tree, arguments.ids, arguments.withdraw, all_new=arguments.new, sealed=arguments.seal)
    if result.refused:
        context.say(*(f"refused: {reason}" for reason in result.refused), "nothing was written")
        return FINDINGS
    if (result.accepted or result.sealed) and not arguments.dry_run:
        write_files({context.root / LOCK_FILE: result.lock.text()})
    context.say(*(f"{'would accept' if arguments.dry_run else 'accepted'}: {name}" for name in result.accepted))
    context.say(*(f"{'would seal' if arguments.dry_run else 'sealed'}: {name}" for name in result.sealed))
    context.say(*(f"left as it is: {name} (accept it by name)" for name in result.left))
    if not (result.accepted or result.sealed):
        context.say("nothing to accept")
    return CLEAN
