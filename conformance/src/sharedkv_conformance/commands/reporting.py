"""`kvconform report`: a report validated, and shown in another form."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from sharedkv_conformance.commands.terminal import Terminal, read_text, refuse_overwriting
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.report import ReportError
from sharedkv_conformance.report_form import ReportForm
from sharedkv_conformance.stream import parse_any

# Form -> what renders it; imported when it is asked for.
FORMS: Mapping[str, str] = {
    "md": "markdown:render_markdown",
    "json": "report:render_json",
    "html": "forms.page:render_page",
    "junit": "forms.junit:render_junit",
    "ctrf": "forms.ctrf:render_ctrf",
    "badge": "forms.badge:render_endpoint",
    "badge-svg": "forms.badge:render_svg",
}


def report_command(options: Namespace, terminal: Terminal) -> Exit:
    """Validate a report and print it, or write it, in another form."""
    written = {} if options.output is None else {f"--output {options.output}": options.output}
    refuse_overwriting({"the report": options.report}, written, terminal)
    text = rendered(read_report(options.report, terminal), options.format)
    if options.output is not None:
        terminal.write_file(options.output, text)
    else:
        terminal.say(text.rstrip("\n"))
    return Exit.AS_EXPECTED


def read_report(path: Path, terminal: Terminal) -> ReportForm:
    """Return the report in a file, or in a stream that came to its end."""
    try:
        return parse_any(read_text(path, terminal))
    except ReportError as error:
        problems = "".join(f"\n  {problem}" for problem in error.problems)
        raise CommandError(Exit.UNEXPECTED, f"{path} is not a report:{problems}") from error


def rendered(report: ReportForm, form: str) -> str:
    """Return a report in one of its forms."""
    module, _, function = FORMS[form].partition(":")
    render: Callable[[ReportForm], str] = getattr(import_module(f"sharedkv_conformance.{module}"), function)
    return render(report)
