"""A report as CTRF, the common test report format: one JSON object that many tools read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sharedkv_conformance.forms.junit import SKIPPED
from sharedkv_conformance.report import render_json
from sharedkv_conformance.report_form import CheckForm, ReportForm

SPEC_VERSION = "0.0.0"
MILLISECONDS = 1000


def render_ctrf(report: ReportForm) -> str:
    """Return a report as CTRF; equal reports give equal text."""
    tests = [_test(check, report) for check in report["checks"]]
    results = {
        "tool": {"name": "kvconform", "version": report["suite"]["version"]},
        "summary": _summary(tests, report),
        "tests": tests,
        "environment": {
            "appName": report["implementation"]["name"],
            "appVersion": report["implementation"]["version"],
            "osPlatform": report["run"]["platform"]["system"],
            "extra": {"catalogue": report["specification"]["digest"], "verdict": report["profiles"][0]["verdict"]},
        },
    }
    return render_json({"reportFormat": "CTRF", "specVersion": SPEC_VERSION, "results": results})


def _summary(tests: list[dict[str, Any]], report: ReportForm) -> dict[str, int]:
    counts = [test["status"] for test in tests]
    start = datetime.strptime(report["times"]["started"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    begin = int(start.timestamp()) * MILLISECONDS
    return {
        "tests": len(tests),
        **{kind: counts.count(kind) for kind in ("passed", "failed", "pending", "skipped", "other")},
        "start": begin,
        "stop": begin + round(report["times"]["seconds"] * MILLISECONDS),
    }


def _test(check: CheckForm, report: ReportForm) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": check["check"],
        "status": _status(check["status"]),
        "rawStatus": check["status"],
        "duration": round(report["times"]["checks"].get(check["check"], 0.0) * MILLISECONDS),
        "tags": check["statements"],
        "extra": {"meaning": check["meaning"], "expectation": check["expectation"]},
    }
    if check["message"]:
        test["message"] = check["message"]
    if check["repeats"] is not None:
        test["flaky"] = check["repeats"]["failed"] < check["repeats"]["tries"]
    if check["known"] is not None:
        test["extra"]["issue"] = check["known"]["issue"]
    return test


def _status(status: str) -> str:
    if status == "pass":
        return "passed"
    return "skipped" if status in SKIPPED else "failed"
