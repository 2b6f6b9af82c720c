"""A report as JUnit XML: a suite a facet, a case a check. Statuses are told as they are, also where they are known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from sharedkv_conformance.report_form import CheckForm, ReportForm

SKIPPED = ("inapplicable", "not-run", "blocked")
ERRORS = ("error", "crash", "timeout", "harness-error")
# What XML 1.0 cannot hold at all.
_UNSPEAKABLE = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def render_junit(report: ReportForm) -> str:
    """Return a report as JUnit XML; equal reports give equal text."""
    implementation = report["implementation"]
    root = ET.Element("testsuites", name=_text(f"{implementation['name']} {implementation['version']}"))
    for facet in dict.fromkeys(_facet(check) for check in report["checks"]):
        root.append(_suite(facet, report))
    _count(root, report["checks"], report)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(facet: str, report: ReportForm) -> ET.Element:
    checks = [check for check in report["checks"] if _facet(check) == facet]
    suite = ET.Element("testsuite", name=facet, timestamp=report["times"]["started"].removesuffix("Z"))
    _count(suite, checks, report)
    suite.extend([_case(check, report["times"]["checks"].get(check["check"], 0.0)) for check in checks])
    return suite


def _count(element: ET.Element, checks: list[CheckForm], report: ReportForm) -> None:
    kinds = [_kind(check) for check in checks]
    seconds = sum(report["times"]["checks"].get(check["check"], 0.0) for check in checks)
    element.set("tests", str(len(checks)))
    element.set("failures", str(kinds.count("failure")))
    element.set("errors", str(kinds.count("error")))
    element.set("skipped", str(kinds.count("skipped")))
    element.set("time", f"{seconds:.3f}")


def _case(check: CheckForm, seconds: float) -> ET.Element:
    case = ET.Element("testcase", name=check["check"], classname=_facet(check), time=f"{seconds:.3f}")
    properties = ET.SubElement(case, "properties")
    for name, value in _properties(check):
        ET.SubElement(properties, "property", name=name, value=_text(value))
    if kind := _kind(check):
        ET.SubElement(case, kind, type=check["status"], message=_text(check["message"])).text = _text(_detail(check))
    return case


def _properties(check: CheckForm) -> Iterator[tuple[str, str]]:
    yield from (("statement", name) for name in check["statements"])
    yield "status", check["status"]
    yield "expectation", check["expectation"]
    if check["known"] is not None:
        yield "issue", check["known"]["issue"]
    if check["trace"] is not None and check["trace"]["file"]:
        yield "trace", check["trace"]["file"]


def _detail(check: CheckForm) -> str:
    known = f"\nknown: {check['known']['issue']} ({check['expectation']})" if check["known"] is not None else ""
    return f"{check['meaning']}\n{', '.join(check['statements'])}{known}"


def _kind(check: CheckForm) -> str:
    if check["status"] == "pass":
        return ""
    return "skipped" if check["status"] in SKIPPED else "error" if check["status"] in ERRORS else "failure"


def _facet(check: CheckForm) -> str:
    return check["check"].partition(".")[0]


def _text(text: str) -> str:
    return _UNSPEAKABLE.sub("\N{REPLACEMENT CHARACTER}", text)
