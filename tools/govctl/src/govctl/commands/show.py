"""`govctl show`: all that belongs to one id or slug. Writes nothing."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from difflib import get_close_matches

from govctl.commands.context import CLEAN, Context, UsageError
from govctl.output.findings_text import printable
from govctl.output.style import Style
from govctl.tree import Tree
from govctl.views import View, clause_view, mark_view, rfc_view, statement_view


def run(arguments: Namespace, context: Context) -> int:
    """Show an RFC, a clause, a statement, a check or a mutant."""
    views = _views(context.tree(), arguments.name)
    if arguments.format == "json":
        context.say(json.dumps([view.data() for view in views], indent=2, ensure_ascii=True))
    else:
        for view in views:
            context.say_all(_lines(view, context.style))
    return CLEAN


def _views(tree: Tree, name: str) -> list[View]:
    if name in tree.statement_by_id:
        return [statement_view(tree, tree.statement_by_id[name])]
    if name in tree.clause_by_id:
        return [clause_view(tree, tree.clause_by_id[name])]
    if name in tree.rfc_by_id:
        return [rfc_view(tree, tree.rfc_by_id[name])]
    marks = [mark for mark in tree.marks if name in {mark.slug, mark.function}]
    if marks:
        return [mark_view(tree, mark) for mark in marks]
    known = [*tree.rfc_by_id, *tree.clause_by_id, *tree.statement_by_id, *(mark.slug for mark in tree.marks)]
    near = get_close_matches(name, sorted(set(known)), n=1)
    raise UsageError(f"nothing is called {name}{f'; did you mean {near[0]}?' if near else ''}")


def _lines(view: View, style: Style) -> Iterator[str]:
    yield style.paint(printable(view.heading), "bold")
    yield from (f"  {printable(line)}" for line in view.text.strip().split("\n") if view.text)
    width = max((len(label) for label, _ in view.fields), default=0)
    previous = ""
    for label, value in view.fields:
        shown = "" if label == previous else label
        yield f"  {style.paint(shown.ljust(width), 'dim')}  {printable(value)}".rstrip()
        previous = label
    yield ""
