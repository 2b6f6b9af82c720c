"""`kvconform smoke`: whether the adapter is right."""

from __future__ import annotations

from argparse import Namespace

from sharedkv_conformance.commands.terminal import Terminal, opened
from sharedkv_conformance.exits import Exit
from sharedkv_conformance.smoke import smoke


def smoke_command(options: Namespace, terminal: Terminal) -> Exit:
    """Look at the adapter and say what is not as the contract wants it."""
    implementation = opened(options.impl, terminal)
    problems = 0
    for finding in smoke(implementation):
        problems += bool(finding.problem)
        word = terminal.paint("wrong", "31") if finding.problem else terminal.paint("ok   ", "32")
        terminal.say(f"{word} {finding.subject}" + (f"\n      {finding.problem}" if finding.problem else ""))
    if problems:
        terminal.say(f"{problems} problems in the adapter")
        return Exit.UNEXPECTED
    if not implementation.description.features:
        terminal.say("nothing executed: the implementation claims nothing")
        return Exit.HARNESS
    terminal.say("the adapter is right; `kvconform run` says whether the implementation is")
    return Exit.AS_EXPECTED
