"""`govctl explain`: what a code means. Writes nothing, and needs no tree."""

from __future__ import annotations

import json
import textwrap
from argparse import Namespace
from difflib import get_close_matches

from govctl.commands.context import CLEAN, Context, UsageError
from govctl.rules.explanations import EXPLANATIONS
from govctl.rules.table import COMPARISON, RULES, Rule

_WIDTH = 100


def run(arguments: Namespace, context: Context) -> int:
    """Explain one rule by its code or name."""
    rule = _rule(arguments.name)
    if arguments.format == "json":
        context.say(json.dumps(_data(rule), indent=2, ensure_ascii=True))
        return CLEAN
    context.say(context.style.paint(f"{rule.code} {rule.name} ({rule.severity})", "bold"))
    for label, text in (("must hold:", rule.summary), ("why:", f"{rule.why}."), ("", EXPLANATIONS[rule.code])):
        words = f"{label} {text}".strip()
        context.say("", *textwrap.wrap(words, _WIDTH, break_on_hyphens=False, break_long_words=False))
    return CLEAN


def _rule(name: str) -> Rule:
    known = {word: rule for rule in (*RULES, COMPARISON) for word in (rule.code, rule.name)}
    wanted = name.upper() if name.upper() in known else name.lower()
    if wanted in known:
        return known[wanted]
    near = get_close_matches(wanted, sorted(known), n=1)
    raise UsageError(f"no rule is called {name}; {f'did you mean {near[0]}?' if near else 'see: govctl list rules'}")


def _data(rule: Rule) -> dict[str, str]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "summary": rule.summary,
        "why": rule.why,
        "explanation": EXPLANATIONS[rule.code],
    }
