"""The report as it grows: one JSON object a line, written while a run goes on. A stream without footer was cut off.

A whole stream becomes the report that the run gives, so that whatever reads reports reads streams.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.contract.implementation import Description
from sharedkv_conformance.marks import Check
from sharedkv_conformance.report import (
    Circumstances,
    ReportError,
    check_form,
    implementation_form,
    parse_report,
    run_form,
    specification_form,
    strict_json,
    suite_form,
)
from sharedkv_conformance.report_form import REPORT_VERSION, ReportForm
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.selection import Selection

HEAD = ("report", "suite", "specification", "implementation", "run")
FOOT = ("profiles", "claims", "statements", "times")


class Stream:
    """Writes a header, each check as it ends, and a footer; `write` takes one line and keeps it safe at once."""

    def __init__(self, catalogue: Catalogue, circumstances: Circumstances, write: Callable[[str], None]) -> None:
        self._checks = {check.slug: check for check in catalogue.checks}
        self._catalogue = catalogue
        self._circumstances = circumstances
        self._write = write
        self._results: dict[str, CheckResult] = {}

    def begin(self, description: Description, selection: Selection) -> None:
        """Write who is held against what."""
        self._line(
            stream=1,
            report=REPORT_VERSION,
            suite=suite_form(),
            specification=specification_form(self._catalogue),
            implementation=implementation_form(description, self._circumstances.redaction),
            run=run_form(selection, self._circumstances),
        )

    def started(self, check: Check, number: int, total: int) -> None:
        """Write nothing: what has begun proves nothing."""

    def finished(self, result: CheckResult) -> None:
        """Write how a check ended."""
        self._results[result.check] = result
        self._line(check=check_form(self._checks[result.check], self._results, self._circumstances))

    def end(self, report: ReportForm) -> None:
        """Write the checks that did not run, and the footer."""
        for check in report["checks"]:
            if check["check"] not in self._results:
                self._line(check=check)
        self._line(
            footer={name: cast("Any", report)[name] for name in FOOT if name in report}, checks=len(report["checks"])
        )

    def _line(self, **data: Any) -> None:
        text = json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


def is_stream(text: str) -> bool:
    """Say whether a text is a stream and no report: its first line is an object that says so."""
    try:
        first = json.loads(text.partition("\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and "stream" in first


def parse_stream(text: str) -> ReportForm:
    """Return the report of a whole stream; raises `ReportError`, also for one that was cut off."""
    head, *lines = [_object(number, line) for number, line in enumerate(text.removesuffix("\n").split("\n"), 1)]
    if type(head.get("stream")) is not int or head["stream"] != 1:
        raise ReportError((f"line 1: wanted a header of stream version 1, found {head.get('stream')!r}",))
    if not lines or "footer" not in lines[-1]:
        checks = sum("check" in line for line in lines)
        raise ReportError((f"cut off: no footer after {checks} checks; the run did not come to its end",))
    *events, foot = lines
    if strange := [number for number, line in enumerate(events, 2) if set(line) != {"check"}]:
        raise ReportError(tuple(f"line {number}: wanted a check alone" for number in strange))
    if odd := sorted((set(head) - {"stream", *HEAD}) | (set(foot) - {"footer", "checks"})):
        raise ReportError((f"wanted no {odd[0]!r} in the header or beside the footer",))
    if foot.get("checks") != len(events) or not isinstance(foot["footer"], dict):
        raise ReportError((f"the footer counts {foot.get('checks')!r} checks, there are {len(events)}",))
    whole = {
        **{name: head[name] for name in HEAD if name in head},
        **{name: foot["footer"][name] for name in FOOT if name in foot["footer"]},
        "checks": [line["check"] for line in events],
    }
    return parse_report(json.dumps(whole))


def parse_any(text: str) -> ReportForm:
    """Parse a report or a stream; raises `ReportError`."""
    return parse_stream(text) if is_stream(text) else parse_report(text)


def _object(number: int, line: str) -> dict[str, Any]:
    try:
        found = strict_json(line)
    except (ValueError, RecursionError) as error:
        raise ReportError((f"line {number}: not JSON: {error}",)) from error
    if not isinstance(found, dict):
        raise ReportError((f"line {number}: wanted an object",))
    return found
