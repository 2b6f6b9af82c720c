"""The command line of the conformance suite. Bodies are imported when their command is given.

Knows options and exit codes: 0 as expected, 1 unexpected result, 2 usage, 3 harness error or nothing executed,
4 not conformant under --enforce.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

DESCRIPTION = "Hold any implementation of a CP shared KV cache against the SharedKV specification."
EXIT_CODES = """exit codes:
  0  as expected
  1  unexpected result: a check did not pass, a trace is violated or diverges, a report is not one
  2  usage: an option, a name or a file is not what was wanted
  3  harness error, or nothing was executed
  4  not conformant, under --enforce
"""
IMPL_HELP = "module:factory, path/file.py:factory, an installed name, or 'model' for the executable specification"
NEEDED = ("hypothesis", "jsonschema", "pytest")
TRACES = Path("build/conformance/traces")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; whatever goes wrong is told in a line, never a traceback."""
    options = parser().parse_args(arguments)
    from sharedkv_conformance.exits import CommandError, Exit  # noqa: PLC0415 - lazy bodies

    try:
        from sharedkv_conformance.commands.terminal import this_terminal  # noqa: PLC0415 - lazy bodies

        module, _, function = options.body.partition(":")
        command = getattr(import_module(f"sharedkv_conformance.commands.{module}"), function)
        return int(command(options, this_terminal()))
    except CommandError as error:
        return _failed(options, error.code, str(error))
    except BrokenPipeError:
        sys.stderr.close()
        return Exit.AS_EXPECTED
    except KeyboardInterrupt:
        return _failed(options, Exit.HARNESS, "interrupted")
    except ModuleNotFoundError as error:
        install = "; pip install 'sharedkv[conformance]' brings it" if error.name in NEEDED else ""
        return _failed(options, Exit.HARNESS, f"{error}{install}")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the outermost border
        return _failed(options, Exit.HARNESS, f"{type(error).__name__}: {error}")


def _failed(options: argparse.Namespace, code: int, message: str) -> int:
    if options.debug:
        traceback.print_exc()
    sys.stderr.write(f"kvconform: {message}\n".encode("utf-8", "backslashreplace").decode("utf-8"))
    return int(code)


def parser() -> argparse.ArgumentParser:
    """Return the parser of every command."""
    top = argparse.ArgumentParser(
        prog="kvconform",
        description=DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(metavar="command", required=True)
    for name, add, body, example in COMMANDS:
        summary = add.__doc__ or ""
        command = commands.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=f"example:\n  {example}\n\n{EXIT_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(body=body)
        command.add_argument("--debug", action="store_true", help="show the traceback of an internal error")
        add(command)
    return top


class _Version(argparse.Action):
    """Prints the version; the metadata is read only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> None:
        """Print and leave."""
        from sharedkv_conformance.report import suite_version  # noqa: PLC0415 - lazy bodies

        sys.stdout.write(f"kvconform {suite_version()}\n")
        parser.exit()


def _list(command: argparse.ArgumentParser) -> None:
    """List what the suite can prove."""
    what = command.add_mutually_exclusive_group()
    for kind in ("checks", "statements", "laws", "mutants", "cases"):
        what.add_argument(f"--{kind}", dest="what", action="store_const", const=kind, help=f"list the {kind}")
    command.set_defaults(what="checks")
    command.add_argument("--format", choices=("text", "json"), default="text", help="json prints the whole catalogue")


def _smoke(command: argparse.ArgumentParser) -> None:
    """See whether an adapter is right, before any verdict."""
    _implementation(command)


def _run(command: argparse.ArgumentParser) -> None:
    """Run the checks on an implementation."""
    _implementation(command)
    for option, metavar, meaning in (
        ("--check", "GLOB", "only checks whose slug matches"),
        ("--statement", "ID", "only checks of this statement"),
        ("--clause", "ID", "only checks of this clause"),
        ("--facet", "WORD", "only checks of this facet"),
    ):
        help_text = f"{meaning}; may be repeated, and makes the run incomplete"
        command.add_argument(option, action="append", default=[], metavar=metavar, help=help_text)
    command.add_argument("--output", type=Path, metavar="FILE", help="write the report, canonical JSON")
    command.add_argument(
        "--trace-dir", type=Path, default=TRACES, metavar="DIR", help=f"where traces of failures go (default {TRACES})"
    )
    command.add_argument("--format", choices=("text", "json", "md"), default="text", help="what is printed")
    command.add_argument("--strict", action="store_true", help="count SHOULD like MUST in the verdict")
    command.add_argument("--enforce", action="store_true", help="exit 4 unless the verdict is conformant")


def _replay(command: argparse.ArgumentParser) -> None:
    """Issue the calls of a trace again and judge them by its law."""
    command.add_argument("trace", type=Path, help="a trace that a failure left")
    _implementation(command)


def _report(command: argparse.ArgumentParser) -> None:
    """Validate a report and show it in another form."""
    command.add_argument("report", type=Path, help="a report that `kvconform run --output` wrote")
    command.add_argument("--format", choices=("md", "json"), default="md", help="what is printed")


def _selftest(command: argparse.ArgumentParser) -> None:
    """Test the tests: every mutant dies by its statement, every benign variant passes, no dishonest one is green."""
    _implementation(command, required=False)
    command.add_argument("--full", action="store_true", help="run every mutant against every check of its facet")
    command.add_argument("--output", type=Path, metavar="FILE", help="write the result, canonical JSON")


def _implementation(command: argparse.ArgumentParser, *, required: bool = True) -> None:
    command.add_argument("--impl", required=required, metavar="NAME", help=IMPL_HELP)


COMMANDS: tuple[tuple[str, Callable[[argparse.ArgumentParser], None], str, str], ...] = (
    ("list", _list, "listing:list_command", "kvconform list --statements"),
    ("smoke", _smoke, "smoking:smoke_command", "kvconform smoke --impl my_engine.adapter:make"),
    (
        "run",
        _run,
        "running:run_command",
        "kvconform run --impl adapter.py:make --facet allocation --output report.json",
    ),
    (
        "replay",
        _replay,
        "replaying:replay_command",
        "kvconform replay build/conformance/traces/allocation.owner-lane.jsonl --impl adapter.py:make",
    ),
    ("report", _report, "reporting:report_command", "kvconform report report.json --format md"),
    ("selftest", _selftest, "selftesting:selftest_command", "kvconform selftest --impl sharedkv_adapter:cpu"),
)
