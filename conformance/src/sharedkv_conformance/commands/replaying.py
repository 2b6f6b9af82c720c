"""`kvconform replay`: the calls of one trace on any implementation, judged again."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator

from sharedkv_conformance.catalogue import load_laws
from sharedkv_conformance.commands.terminal import Terminal, opened, read_text
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.replay import Outcome, ReplayError, ReplayResult, differences, replay
from sharedkv_conformance.states import STATES
from sharedkv_conformance.trace import Trace, TraceError, parse_trace


def replay_command(options: Namespace, terminal: Terminal) -> Exit:
    """Replay a trace: 0 where the law holds, 1 where it is broken and where the calls cannot be issued."""
    try:
        trace = parse_trace(read_text(options.trace, terminal))
    except TraceError as error:
        raise CommandError(Exit.USAGE, f"{options.trace}: {error}") from error
    if not trace.calls:
        raise CommandError(Exit.HARNESS, f"{options.trace}: holds no call, so nothing was replayed")
    implementation = opened(options.impl, terminal, options.time_scale)
    try:
        result = replay(trace, implementation, load_laws(), STATES)
    except ReplayError as error:
        raise CommandError(Exit.USAGE, f"{options.trace}: {error}") from error
    terminal.say(_lines(trace, result))
    return Exit.AS_EXPECTED if result.outcome is Outcome.HOLDS else Exit.UNEXPECTED


def _lines(trace: Trace, result: ReplayResult) -> Iterator[str]:
    if result.outcome is Outcome.HOLDS:
        subject = f"{trace.header.statement} {trace.header.law}".strip() or "every answer is one of the contract"
        yield f"holds: {subject}, over {len(trace.calls)} calls"
    elif result.outcome is Outcome.VIOLATED:
        yield f"violated: {result.statement} at call {result.call}"
    elif result.outcome is Outcome.ESCAPED:
        yield f"error: at call {result.call}"
    else:
        yield f"diverged: call {result.call} cannot be issued here:"
    yield from (f"  {message}" for message in result.messages)
    yield from _first_difference(trace, result)


def _first_difference(trace: Trace, result: ReplayResult) -> Iterator[str]:
    found = list(differences(trace, result))
    if found:
        others = f", and {len(found) - 1} after it" if len(found) > 1 else ""
        yield f"answered otherwise than in the trace: call {found[0].call}, {found[0].op}{others}"
        yield f"  trace  {json.dumps(found[0].recorded)}"
        yield f"  here   {json.dumps(found[0].here)}"
