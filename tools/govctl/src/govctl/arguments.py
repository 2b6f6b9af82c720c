"""The command line: commands, options, and examples in every help text.

Knows what may be typed. Bodies are imported by the name of their module when they run.
"""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command: its help, its examples, and the options that it adds."""

    name: str
    help: str
    examples: tuple[str, ...]
    add_arguments: Callable[[ArgumentParser], None]


def _format(parser: ArgumentParser, *choices: str) -> None:
    parser.add_argument(
        "--format", choices=("text", *choices), default="text", help="form of the output (default: text)"
    )


def _check(parser: ArgumentParser) -> None:
    _format(parser, "json", "github", "sarif", "junit")
    parser.add_argument(
        "--fail-on", choices=("error", "warning", "note"), default="error", help="least severity that gives exit 1"
    )
    parser.add_argument("--since", metavar="REV", help="leave out what is found in that revision of the tree too")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--baseline", metavar="FILE", help="leave out the findings that this file lists")
    group.add_argument("--write-baseline", metavar="FILE", help="list all findings in this file, and show none")
    parser.add_argument("--today", metavar="DATE", help="day that ends suppressions (default: today, UTC)")


def _coverage(parser: ArgumentParser) -> None:
    _format(parser, "json", "md")
    parser.add_argument("--rfc", action="append", default=[], metavar="RFC", help="show this RFC only; may be repeated")
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="RFC",
        help="exit 1 unless fresh evidence proves every MUST of it",
    )


def _list(parser: ArgumentParser) -> None:
    kinds = ("rfcs", "clauses", "statements", "laws", "checks", "mutants", "rules")
    parser.add_argument("kind", choices=kinds, help="what to list")
    parser.add_argument("--rfc", action="append", default=[], metavar="RFC", help="of this RFC only; may be repeated")
    _format(parser, "json")


def _show(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="id of an RFC, clause or statement, or slug of a check or mutant")
    _format(parser, "json")


def _lock(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="statements whose new or changed sentence is accepted")
    parser.add_argument("--new", action="store_true", help="accept every statement that is new, and no changed one")
    parser.add_argument(
        "--withdraw", action="append", default=[], metavar="ID", help="leave a tombstone for a statement that is gone"
    )
    parser.add_argument(
        "--seal", action="append", default=[], metavar="RFC", help="seal the version of an RFC that has left phase spec"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be accepted, and write nothing")


def _schema(parser: ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--check", action="store_true", help="compare the files with the models (this is the default)")
    group.add_argument("--write", action="store_true", help="write the files")
    parser.add_argument("--directory", metavar="DIR", help="folder of the schema files (default: schema/ at the root)")


def _catalogue(parser: ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--check", action="store_true", help="exit 1 if the file is not what the clauses say")
    group.add_argument("--write", action="store_true", help="write the file that the settings name")


def _evidence(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="sources",
        required=True,
        action="append",
        metavar="FILE",
        help="result of a self-test; may be repeated, each for RFCs of its own",
    )
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--write", action="store_true", help="write the evidence")
    group.add_argument("--compare", action="store_true", help="exit 1 if the evidence is not what the self-test shows")


def _render(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--output", required=True, metavar="DIR", help="folder of the pages; whatever was rendered there before goes"
    )
    parser.add_argument("--check", action="store_true", help="exit 1 if the folder is not what the tree says")


def _status(parser: ArgumentParser) -> None:
    _format(parser, "json")


def _explain(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="CODE", help="code or name of a rule, such as G0602 or sentence-changed")
    _format(parser, "json")


COMMANDS: tuple[Command, ...] = (
    Command(
        name="check",
        help="report every problem of the tree",
        examples=(
            "govctl check",
            "govctl check --format github --fail-on warning",
            "govctl check --since origin/main",
            "govctl check --write-baseline build/known.txt && govctl check --baseline build/known.txt",
        ),
        add_arguments=_check,
    ),
    Command(
        name="status",
        help="show the whole tree on one screen",
        examples=("govctl status", "govctl status --format json"),
        add_arguments=_status,
    ),
    Command(
        name="explain",
        help="explain a code: what must hold, why, and how to mend it",
        examples=("govctl explain G0602", "govctl explain sentence-changed"),
        add_arguments=_explain,
    ),
    Command(
        name="coverage",
        help="show how far each statement is proven",
        examples=(
            "govctl coverage",
            "govctl coverage --rfc RFC-0001 --format json",
            "govctl coverage --require RFC-0001",
        ),
        add_arguments=_coverage,
    ),
    Command(
        name="list",
        help="list RFCs, clauses, statements, marks or rules",
        examples=("govctl list statements --rfc RFC-0001", "govctl list rules"),
        add_arguments=_list,
    ),
    Command(
        name="show",
        help="show all that belongs to one id or slug",
        examples=("govctl show 'RFC-0001:C-OWNER-LANE-INVARIANT#S1'", "govctl show allocation.owner-lane"),
        add_arguments=_show,
    ),
    Command(
        name="lock",
        help="accept sentences by name",
        examples=(
            "govctl lock --new",
            "govctl lock 'RFC-0001:C-OWNER-LANE-INVARIANT#S1'",
            "govctl lock --withdraw 'RFC-0001:C-BS1-COMPATIBILITY#S3'",
            "govctl lock --seal RFC-0001",
        ),
        add_arguments=_lock,
    ),
    Command(
        name="schema",
        help="compare or write the JSON Schemas",
        examples=("govctl schema --check", "govctl schema --write"),
        add_arguments=_schema,
    ),
    Command(
        name="catalogue",
        help="print, compare or write the statements as one JSON file",
        examples=("govctl catalogue", "govctl catalogue --check", "govctl catalogue --write"),
        add_arguments=_catalogue,
    ),
    Command(
        name="render",
        help="write the specification as Markdown pages",
        examples=("govctl render --output build/pages", "govctl render --output build/pages --check"),
        add_arguments=_render,
    ),
    Command(
        name="evidence",
        help="compare or write evidence from a self-test",
        examples=(
            "govctl evidence --from build/conformance/selftest.json --compare",
            "govctl evidence --from build/conformance/selftest.json --write",
        ),
        add_arguments=_evidence,
    ),
)


def build_parser() -> ArgumentParser:
    """Return the parser of all commands."""
    parser = ArgumentParser(
        prog="govctl",
        description="Check a tree of specifications: text, checks and evidence must agree.",
        epilog=_epilog(("govctl check", "govctl -C ../other coverage")),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    _add_shared(parser, ".", is_debug=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        sub = commands.add_parser(
            command.name,
            help=command.help,
            description=f"{command.help[0].upper()}{command.help[1:]}.",
            epilog=_epilog(command.examples),
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_arguments(sub)
        _add_shared(sub, SUPPRESS, is_debug=SUPPRESS)
    return parser


def _add_shared(parser: ArgumentParser, folder: str, *, is_debug: bool | str) -> None:
    parser.add_argument("-C", dest="folder", metavar="DIR", default=folder, help="run as if started in DIR")
    parser.add_argument(
        "--debug", action="store_true", default=is_debug, help="show the traceback of an internal error"
    )


def _epilog(examples: tuple[str, ...]) -> str:
    codes = "exit: 0 clean, 1 findings, 2 usage, 3 internal error"
    return "\n".join(["examples:", *(f"  {example}" for example in examples), "", codes])
