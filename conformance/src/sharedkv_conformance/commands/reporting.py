"""`kvconform report`: a report validated, and shown in another form."""

from __future__ import annotations

from argparse import Namespace

from sharedkv_conformance.commands.terminal import Terminal, read_text
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.markdown import render_markdown
from sharedkv_conformance.report import ReportError, parse_report, render_json


def report_command(options: Namespace, terminal: Terminal) -> Exit:
    """Validate a report and print it as Markdown or canonical JSON."""
    try:
        report = parse_report(read_text(options.report, terminal))
    except ReportError as error:
        problems = "".join(f"\n  {problem}" for problem in error.problems)
        raise CommandError(Exit.UNEXPECTED, f"{options.report} is not a report:{problems}") from error
    text = render_markdown(report) if options.format == "md" else render_json(report)
    terminal.say(text.rstrip("\n"))
    return Exit.AS_EXPECTED
