"""The entry point: parse, run one command, turn what goes wrong into an exit code.

Knows streams and the environment. The only place with a broad except: a reader is never shown a traceback unasked.
"""

from __future__ import annotations

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn, TextIO

from govctl.arguments import build_parser
from govctl.commands.context import CLEAN, INTERNAL, USAGE, Context, UsageError
from govctl.loader import NoTreeError
from govctl.output.style import Style


def main(argv: Sequence[str] | None = None) -> int:
    """Run govctl and return its exit code; without arguments of its own it is the whole process, and ends it."""
    if argv is not None or sys.gettrace() or sys.getprofile():  # whoever measures wants to report
        return _main(argv)
    gc.disable()  # for good: to turn it on again is to have it look at the whole tree
    code = _main(argv)
    return _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process without taking the tree apart, object by object: a tenth of a check's time."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # the reader is gone
        code = INTERNAL
    os._exit(code)


def _main(argv: Sequence[str] | None) -> int:
    parser = build_parser()
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as stop:  # argparse has printed help (0) or what is wrong with the call (2)
        return CLEAN if stop.code in {0, None} else USAGE
    if arguments.version:
        from govctl.version import version  # noqa: PLC0415  # costs 30 ms that a check does not pay

        sys.stdout.write(f"govctl {version()}\n")
        return CLEAN
    if arguments.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    return _guarded(arguments)


def _guarded(arguments: Namespace) -> int:
    try:
        return _run(arguments)
    except (UsageError, NoTreeError) as error:
        sys.stderr.write(f"govctl: {error}\n")
        return USAGE
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERNAL
    except Exception as error:  # the one broad except
        if arguments.debug:
            raise
        sys.stderr.write(f"govctl: internal error: {type(error).__name__}: {error} (--debug shows where)\n")
        return INTERNAL


def _run(arguments: Namespace) -> int:
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal that cannot show a character is no reason to stop
        sys.stdout.reconfigure(errors="backslashreplace")
    start = Path(arguments.folder)
    if not start.is_dir():
        raise UsageError(f"{arguments.folder} is no folder")
    context = Context(start=start, out=sys.stdout, style=Style(has_colour=_has_colour(sys.stdout)))
    body = import_module(f"govctl.commands.{arguments.command}")
    with _without_collector():
        code: int = body.run(arguments, context)
    sys.stdout.flush()
    return code


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the cycle collector away: a command makes many objects and no rubbish, and a third of its time would go."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _has_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
