"""The command `sharedkv`: reads arguments, prints, and says how it went.

What an exit status means stands in `EXITS`, which is shown to whoever asks for help.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from importlib.util import find_spec

EQUAL, DIFFERENT, USAGE, UNWRITTEN = 0, 1, 2, 3
NEEDED = ("numpy", "torch")
LAYOUTS = ("mla_bf16", "mla_fp8")
MISTAKES = ("wrong-lanes", "no-exchange")
MOST_RANKS, MOST_REQUESTS, MOST_LAYERS = 16, 16, 8
MOST_SEED = (1 << 63) - 1
EXITS = f"""\
exit status:
  {EQUAL}  the ranks that share did what one rank does
  {DIFFERENT}  they did not
  {USAGE}  wrong usage, or something is not installed
  {UNWRITTEN}  the outcome could not be written
"""
EXAMPLES = """\
examples:
  sharedkv demo                                  four ranks, three requests
  sharedkv demo --ranks 8 --requests 5 --seed 7  more of both, other prompts
  sharedkv demo --layout mla_bf16 --format json  numbers for programs
  sharedkv demo --mistake wrong-lanes            see that a mistake is found (exit status 1)
"""
DEMO = (
    "Prefill a few prompts with a tiny attention model of random weights: on ranks that share one cache, in chunks and"
    " with cached prefixes, and on one rank that holds everything. Then compare bytes, selected tokens and attention."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    given = _parsed(arguments)
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        sys.stderr.write(_what_is_missing(missing) + "\n")
        return USAGE
    return _demo(given)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read arguments; help and version are told here, and end the command."""
    try:
        return _parser().parse_args(arguments)
    except SystemExit as stop:
        raise SystemExit(stop.code if _is_written("") else UNWRITTEN) from None


def _demo(given: argparse.Namespace) -> int:
    """Run the demonstration; imported here, for torch is slow to import and may not be there."""
    from sharedkv.demo.running import run  # noqa: PLC0415 - see above
    from sharedkv.demo.settings import Settings  # noqa: PLC0415
    from sharedkv.demo.story import as_json, as_text  # noqa: PLC0415

    story = run(
        Settings(
            ranks=given.ranks,
            requests=given.requests,
            seed=given.seed,
            layout=given.layout,
            layers=given.layers,
            mistake=given.mistake,
        )
    )
    if not _is_written((as_json(story) if given.format == "json" else as_text(story)) + "\n"):
        return UNWRITTEN
    return EQUAL if story.is_equal else DIFFERENT


def _is_written(text: str) -> bool:
    """Write text to standard output, all of it; a reader that went away has seen what it wanted."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered has to go somewhere
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"sharedkv: standard output cannot be written: {error.strerror}\n")
            return False
    return True


def _version() -> str:
    """Return the installed version; `unknown` in a source tree that is not installed."""
    try:
        return metadata.version("sharedkv")
    except metadata.PackageNotFoundError:
        return "unknown"


def _what_is_missing(names: Sequence[str]) -> str:
    missing = " and ".join(names)
    return f"sharedkv demo needs {missing}, not installed here: pip install 'sharedkv[reference,torch]'"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sharedkv",
        description="A KV cache shared by several ranks.",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sharedkv {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="prefill prompts on ranks that share a cache, and compare with one rank",
        description=DEMO,
        epilog=f"{EXAMPLES}\n{EXITS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    demo.add_argument(
        "--ranks", type=_counted(2, MOST_RANKS), default=4, help=f"ranks that share, 2 to {MOST_RANKS} (default: 4)"
    )
    demo.add_argument(
        "--requests", type=_counted(1, MOST_REQUESTS), default=3, help=f"prompts, 1 to {MOST_REQUESTS} (default: 3)"
    )
    demo.add_argument(
        "--seed", type=_counted(0, MOST_SEED), default=0, help="of prompts and weights, 0 to 2**63 - 1 (default: 0)"
    )
    demo.add_argument("--layout", choices=LAYOUTS, default="mla_fp8", help="how rows are stored (default: mla_fp8)")
    demo.add_argument(
        "--layers", type=_counted(1, MOST_LAYERS), default=2, help=f"of the model, 1 to {MOST_LAYERS} (default: 2)"
    )
    demo.add_argument("--mistake", choices=MISTAKES, help="let the ranks make a mistake on purpose")
    demo.add_argument("--format", choices=("text", "json"), default="text", help="of the outcome (default: text)")
    return parser


def _counted(fewest: int, most: int) -> Callable[[str], int]:
    """Return a reader of numbers from `fewest` to `most`."""

    def number(text: str) -> int:
        is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_SEED))
        if not is_number or not fewest <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"wanted a number from {fewest} to {most}, got {text!r}")
        return int(text)

    return number
