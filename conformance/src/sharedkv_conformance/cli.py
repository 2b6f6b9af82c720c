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

from sharedkv_conformance.wire.interruption import INTERRUPTION

DESCRIPTION = "Hold any implementation of a CP shared KV cache against the SharedKV specification."
EXIT_CODES = """exit codes:
  0  as expected
  1  unexpected result: a check did not pass, a trace is violated or diverges, a report is not one
  2  usage: an option, a name or a file is not what was wanted
  3  harness error, or nothing was executed
  4  not conformant, under --enforce
"""
IMPL_HELP = (
    "module:factory, path/file.py:factory, an installed name, 'cmd:./program --option' or unix:/path/of.sock for the "
    "wire ('stdio:./program' where it speaks on stdin and stdout), or 'model' for the executable specification"
)
REPORT_HELP = "a report that `kvconform run --output` wrote, or a stream"
INTERSECT_HELP = "compare what reports of different catalogues have in common"
EFFORT_HELP = "quick and standard are deterministic; deep draws from a seed, and repeats failures (default standard)"
NEEDED = ("hypothesis", "jinja2", "jsonschema", "packaging", "pytest")
MOST_JOBS = 1024
MOST_TIMES = 10_000
TRACES = Path("build/conformance/traces")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; whatever goes wrong is told in a line, never a traceback."""
    with INTERRUPTION.awaited():
        return _run_command(parser().parse_args(arguments))


def _run_command(options: argparse.Namespace) -> int:
    from sharedkv_conformance.exits import CommandError, Exit  # noqa: PLC0415 - lazy bodies

    try:
        from sharedkv_conformance.commands.terminal import this_terminal  # noqa: PLC0415 - lazy bodies

        module, _, function = options.body.partition(":")
        command = getattr(import_module(f"sharedkv_conformance.commands.{module}"), function)
        code = int(command(options, this_terminal()))
        INTERRUPTION.check()
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
    return code


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
    for kind in ("checks", "statements", "laws", "mutants", "cases", "profiles"):
        what.add_argument(f"--{kind}", dest="what", action="store_const", const=kind, help=f"list the {kind}")
    command.set_defaults(what="checks")
    command.add_argument("--format", choices=("text", "json"), default="text", help="json prints the whole catalogue")


def _smoke(command: argparse.ArgumentParser) -> None:
    """See whether an adapter is right, before any verdict."""
    _implementation(command)
    validate_help = "hold every message of the wire, in both directions, against its schema"
    command.add_argument("-V", "--validate", action="store_true", help=validate_help)


def _run(command: argparse.ArgumentParser) -> None:
    """Run the checks on an implementation."""
    _implementation(command)
    profile_help = "what to be conformant to, see `kvconform list --profiles` (default full: whatever is claimed)"
    command.add_argument("--profile", default="full", metavar="NAME", help=profile_help)
    for option, metavar, meaning in (
        ("--check", "GLOB", "only checks whose slug matches"),
        ("--statement", "ID", "only checks of this statement"),
        ("--clause", "ID", "only checks of this clause"),
        ("--facet", "WORD", "only checks of this facet"),
    ):
        help_text = f"{meaning}; may be repeated, and makes the run incomplete"
        command.add_argument(option, action="append", default=[], metavar=metavar, help=help_text)
    text_help = "only checks whose slug contains the text; may be repeated, and makes the run incomplete"
    command.add_argument("-k", dest="containing", action="append", default=[], metavar="TEXT", help=text_help)
    command.add_argument("--effort", choices=("quick", "standard", "deep"), default="standard", help=EFFORT_HELP)
    command.add_argument("--seed", type=_seed, metavar="N", help="draw from this seed; deep chooses one and tells it")
    command.add_argument("-j", "--jobs", type=_jobs, default=1, metavar="N", help="so many processes (default 1)")
    command.add_argument("--known", type=Path, metavar="FILE", help="known failures, TOML; the verdict stays")
    command.add_argument("--stream", type=_file, metavar="FILE", help="write the report while it grows, JSON lines")
    command.add_argument("--output", type=_file, metavar="FILE", help="write the report, canonical JSON")
    command.add_argument(
        "--trace-dir", type=Path, default=TRACES, metavar="DIR", help=f"where traces of failures go (default {TRACES})"
    )
    command.add_argument("--format", choices=("text", "json", "md"), default="text", help="what is printed")
    command.add_argument("--strict", action="store_true", help="count SHOULD like MUST in the verdict")
    command.add_argument("--enforce", action="store_true", help="exit 4 unless the verdict is conformant")


def _init_adapter(command: argparse.ArgumentParser) -> None:
    """Write a small conformant engine with its adapter, to begin one's own from."""
    command.add_argument("language", choices=("python", "cpp", "js"), help="the language of the engine")
    command.add_argument("--output", type=Path, metavar="DIR", help="where to write it (default LANGUAGE-adapter)")


def _replay(command: argparse.ArgumentParser) -> None:
    """Issue the calls of a trace again and judge them by its law."""
    command.add_argument("trace", type=Path, help="a trace that a failure left")
    _implementation(command)


def _report(command: argparse.ArgumentParser) -> None:
    """Validate a report and show it in another form."""
    command.add_argument("report", type=Path, help=REPORT_HELP)
    forms = ("md", "json", "html", "junit", "ctrf", "badge", "badge-svg")
    form_help = "html is one file that needs nothing else, badge is the endpoint JSON of shields.io (default md)"
    command.add_argument("--format", choices=forms, default="md", help=form_help)
    command.add_argument("--output", type=_file, metavar="FILE", help="write it to a file (default: print it)")


def _verify(command: argparse.ArgumentParser) -> None:
    """Say whether a report may be published: complete, of this catalogue, its verdict recomputed."""
    command.add_argument("report", type=Path, help=REPORT_HELP)


def _diff(command: argparse.ArgumentParser) -> None:
    """Compare two reports statement by statement."""
    command.add_argument("before", type=Path, help=REPORT_HELP)
    command.add_argument("after", type=Path, help="another one, of the same catalogue")
    fail_help = "exit 1 where something is not proven any more, or where anything changed (default nothing)"
    command.add_argument("--fail-on", choices=("nothing", "regression", "change"), default="nothing", help=fail_help)
    command.add_argument("--intersect", action="store_true", help=INTERSECT_HELP)
    command.add_argument("--format", choices=("text", "json"), default="text", help="what is printed")


def _matrix(command: argparse.ArgumentParser) -> None:
    """Show implementations by statements."""
    command.add_argument("reports", type=Path, nargs="+", metavar="report", help=REPORT_HELP)
    command.add_argument("--intersect", action="store_true", help=INTERSECT_HELP)
    command.add_argument("--format", choices=("text", "md", "json"), default="text", help="what is printed")


def _known(command: argparse.ArgumentParser) -> None:
    """Look after the failures that an implementer knows of: lint or update."""
    actions = command.add_subparsers(metavar="action", required=True)
    lint = actions.add_parser("lint", help="say what is wrong with the file", description="Say what is wrong.")
    lint.set_defaults(body="known:lint_command")
    update_help = "bring the file up to a report: stale entries go, changed ones follow, new failures come in"
    update = actions.add_parser("update", help=update_help, description=f"{update_help}; comments are kept.")
    update.set_defaults(body="known:update_command")
    for action in (lint, update):
        action.add_argument("file", type=Path, help="a file of known failures, TOML")
    update.add_argument("--report", type=Path, required=True, metavar="FILE", help=f"{REPORT_HELP}; no filtered one")
    update.add_argument("--issue", default="", metavar="URL", help="where new failures are followed up")
    update.add_argument("--dry-run", action="store_true", help="say what would change, and write nothing")


def _selftest(command: argparse.ArgumentParser) -> None:
    """Test the tests: every mutant dies by its statement, every benign variant passes, no dishonest one is green."""
    _implementation(command, required=False)
    command.add_argument("--full", action="store_true", help="run every mutant against every check of its facet")
    command.add_argument("--output", type=_file, metavar="FILE", help="write the result, canonical JSON")


def _serve(command: argparse.ArgumentParser) -> None:
    """Put an implementation on the wire."""
    command.add_argument("--impl", required=True, metavar="NAME", help=IMPL_HELP)
    socket_help = "listen on this socket; else the descriptors of SHAREDKV_WIRE_IN and SHAREDKV_WIRE_OUT, or stdio"
    command.add_argument("--unix", type=Path, metavar="PATH", help=socket_help)


def _implementation(command: argparse.ArgumentParser, *, required: bool = True) -> None:
    command.add_argument("--impl", required=required, metavar="NAME", help=IMPL_HELP)
    scale_help = "make the times that a program has so many times as long; inf waits for ever (default 1)"
    command.add_argument("--time-scale", type=_scale, default=1.0, metavar="FACTOR", help=scale_help)


def _file(text: str) -> Path:
    if text == "-":
        raise argparse.ArgumentTypeError("wanted a file, found -; --format says what is printed, ./- is a file")
    return Path(text)


def _seed(text: str) -> int:
    return int(_number(text, int, lambda seed: 0 <= seed < 1 << 32, "a seed from 0 to 2**32 - 1"))


def _jobs(text: str) -> int:
    return int(_number(text, int, lambda jobs: 1 <= jobs <= MOST_JOBS, f"1 to {MOST_JOBS} processes"))


def _scale(text: str) -> float:
    wanted = f"a factor above 0 and at most {MOST_TIMES}, or inf"
    return _number(text, float, lambda factor: 0 < factor <= MOST_TIMES or factor == float("inf"), wanted)


def _number(text: str, kind: type[float], fits: Callable[[float], bool], wanted: str) -> float:
    try:
        number = kind(text)
    except ValueError:
        number = float("nan")
    if not fits(number):
        raise argparse.ArgumentTypeError(f"wanted {wanted}, found {text[:40]}")
    return number


COMMANDS: tuple[tuple[str, Callable[[argparse.ArgumentParser], None], str, str], ...] = (
    (
        "init-adapter",
        _init_adapter,
        "init_adapter:init_adapter_command",
        "kvconform init-adapter cpp --output my-engine",
    ),
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
    ("report", _report, "reporting:report_command", "kvconform report report.json --format html --output report.html"),
    ("verify", _verify, "verifying:verify_command", "kvconform verify report.json"),
    ("diff", _diff, "diffing:diff_command", "kvconform diff before.json after.json --fail-on regression"),
    ("matrix", _matrix, "matrices:matrix_command", "kvconform matrix ours.json theirs.json --format md"),
    ("known", _known, "known:lint_command", "kvconform known update known.toml --report report.json --issue URL"),
    ("serve", _serve, "serving:serve_command", "kvconform serve --impl adapter.py:make --unix engine.sock"),
    ("selftest", _selftest, "selftesting:selftest_command", "kvconform selftest --impl sharedkv_adapter:cpu"),
)
