"""A report as one HTML file that needs nothing else: styles and script inside, readable without the script.

Every text of a report is escaped by the template. Knows nothing of files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from sharedkv_conformance.forms.adapter import broken_adapter
from sharedkv_conformance.forms.claims import claims_told, refusals_told
from sharedkv_conformance.report_form import CheckForm, ReportForm, StatementForm
from sharedkv_conformance.status import importance

QUIET = ("pass", "inapplicable", "not-run")
GLYPHS = {"pass": "✓", "excluded": "-", "inapplicable": "-", "not-run": "-", "unproven": "?", "untested": "?"}


@dataclass(frozen=True, kw_only=True)
class Clause:
    """A clause with its statements, in the order of the report."""

    name: str
    statements: tuple[StatementForm, ...]


@dataclass(frozen=True, kw_only=True)
class Section:
    """An RFC with its clauses."""

    rfc: str
    title: str
    version: str
    phase: str
    clauses: tuple[Clause, ...]


def render_page(report: ReportForm) -> str:
    """Return a report as HTML; equal reports give equal text."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["trace"] = trace_text
    page = environment.from_string(_part("page.html.j2"))
    return page.render(
        report=report,
        profile=report["profiles"][0],
        claims=[*claims_told(report)],
        refusals=refusals_told(report),
        sections=tuple(sections(report)),
        checks={check["check"]: check for check in report["checks"]},
        broken=broken_adapter(report),
        failed=sorted(
            (check for check in report["checks"] if check["status"] not in QUIET),
            key=lambda check: importance(check["status"]),
        ),
        verdicts=sorted({statement["verdict"] for statement in report["statements"]}, key=_importance),
        glyphs=GLYPHS,
        style=Markup(_part("page.css")),  # noqa: S704 - files of this package
        script=Markup(_part("page.js")),  # noqa: S704
    )


def sections(report: ReportForm) -> Iterator[Section]:
    """Yield the RFCs of a report with clauses and statements."""
    for rfc in dict.fromkeys(statement["rfc"] for statement in report["statements"]):
        statements = [statement for statement in report["statements"] if statement["rfc"] == rfc]
        told = report["specification"]["rfcs"].get(rfc)
        yield Section(
            rfc=rfc,
            title=told["title"] if told else "",
            version=told["version"] if told else "",
            phase=told["phase"] if told else "",
            clauses=tuple(
                Clause(name=name, statements=tuple(s for s in statements if s["clause"] == name))
                for name in dict.fromkeys(statement["clause"] for statement in statements)
            ),
        )


def trace_text(check: CheckForm) -> str:
    """Return the trace of a failure, one call a line, as a trace file has it."""
    lines = check["trace"]["lines"] if check["trace"] is not None else []
    return "\n".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)


def _importance(verdict: str) -> tuple[bool, str]:
    return (verdict in GLYPHS, verdict)


def _part(name: str) -> str:
    return files("sharedkv_conformance").joinpath(f"forms/{name}").read_text(encoding="utf-8")
