"""`kvconform smoke`: whether the adapter is right."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from sharedkv_conformance.commands.terminal import Terminal, opened
from sharedkv_conformance.description import Described
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.loss import Loss
from sharedkv_conformance.smoke import Finding, smoke
from sharedkv_conformance.wire.implementation import WireImplementation


def smoke_command(options: Namespace, terminal: Terminal) -> Exit:
    """Look at the adapter and say what is not as the contract wants it."""
    implementation = opened(options.impl, terminal, options.time_scale)
    of_adapter = of_implementation = 0
    for finding in _validated(implementation) if options.validate else _smoked(implementation):
        of_adapter += bool(finding.problem) and finding.is_of_adapter
        of_implementation += bool(finding.problem) and not finding.is_of_adapter
        word = terminal.paint("wrong", "31") if finding.problem else terminal.paint("ok   ", "32")
        terminal.say(f"{word} {finding.subject}" + (f"\n      {finding.problem}" if finding.problem else ""))
    if of_adapter:
        terminal.say(f"{of_adapter} problems in the adapter")
        return Exit.UNEXPECTED
    if not implementation.description.features:
        terminal.say("nothing executed: the implementation claims nothing")
        return Exit.HARNESS
    terminal.say("the adapter is right; `kvconform run` says whether the implementation is")
    if of_implementation:
        terminal.say(f"{of_implementation} calls were refused that should not be: the implementation, not the adapter")
        return Exit.UNEXPECTED
    return Exit.AS_EXPECTED


def _smoked(described: Described) -> Iterator[Finding]:
    """Look at the adapter, and at how a program ends when it is asked to."""
    yield from smoke(described)
    if isinstance(described.implementation, WireImplementation):
        yield Finding(subject="shutdown", problem=described.implementation.shut_down())


def _validated(described: Described) -> Iterator[Finding]:
    """Look at the adapter over a new connection, and at each message of it."""
    from sharedkv_conformance.wire.watch import Watcher  # noqa: PLC0415 - jsonschema, only when asked for

    wire = described.implementation
    if not isinstance(wire, WireImplementation):
        raise CommandError(Exit.USAGE, "-V is for programs and sockets: there is no wire to an object of this process")
    watcher = Watcher()
    wire.close()
    wire.watch = watcher
    try:
        wire.describe()
    except Loss as loss:
        yield Finding(subject="hello", problem=str(loss))
        return
    yield from _smoked(described)
    messages = f"{watcher.sent} messages to it and {watcher.received} from it are held against the schema"
    yield Finding(subject=f"wire: {messages}" + (", and wrong are:" if watcher.problems else ""))
    for problem in watcher.problems:
        yield Finding(subject="wire", problem=problem)
