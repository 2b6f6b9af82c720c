"""Brings a file of known failures up to a report: stale entries go, changed ones follow, new failures come in.

Keeps comments, order and layout. Knows nothing of files; refuses what a filtered run cannot know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.items import AoT

from sharedkv_conformance.known.conditions import applies, facts
from sharedkv_conformance.known.entry import FLAKY, KnownError, KnownFailure
from sharedkv_conformance.known.expectation import FAILED
from sharedkv_conformance.known.reading import parse_known
from sharedkv_conformance.report_form import CheckForm, ReportForm

LONGEST_PREFIX = 120
LASTING = re.compile(r"""(RFC-[0-9]+:C-[A-Z0-9-]+\#S[0-9]+:[ ])?[^0-9\[\](){}<>"'`;]*""", re.VERBOSE)


@dataclass(frozen=True, kw_only=True)
class Update:
    """The new text of a file, and what was done to it, a line each."""

    text: str
    changes: tuple[str, ...]


def updated(text: str, report: ReportForm, *, issue: str) -> Update:
    """Return the file as it has to be for this report; raises `KnownError`.

    New entries need `issue`: whoever lists a failure says where it is followed up.
    """
    if not report["run"]["complete"]:
        raise KnownError(("the run was filtered: it cannot tell which entries are stale",))
    entries = parse_known(text).entries if text.strip() else ()
    document: Any = tomlkit.parse(text or "schema = 1\n")
    checks = {check["check"]: check for check in report["checks"]}
    unknown = [f"{entry.check}: the report has no check of that name" for entry in entries if entry.check not in checks]
    if unknown:
        raise KnownError(tuple(unknown))
    here = facts_of_report(report)
    changes = [*_revised(document, entries, checks, here)]
    listed = {entry.check for entry in entries if applies(entry, here)}
    new = [check for check in report["checks"] if check["status"] in FAILED and check["check"] not in listed]
    if new and not issue:
        raise KnownError(tuple(f"{check['check']} is new: say where it is followed up, --issue URL" for check in new))
    changes += _added(document, new, issue)
    return Update(text=tomlkit.dumps(document), changes=tuple(changes))


def facts_of_report(report: ReportForm) -> dict[str, str]:
    """Return what conditions may ask of the run behind a report."""
    implementation, run = report["implementation"], report["run"]
    return facts(
        name=implementation["name"],
        version=implementation["version"],
        environment=implementation["environment"],
        effort=run["effort"]["name"],
        versions=run["versions"],
        platform=run["platform"],
    )


def _revised(
    document: Any, entries: tuple[KnownFailure, ...], checks: Mapping[str, CheckForm], here: Mapping[str, str]
) -> Iterator[str]:
    """Change the entries that apply, the last first, so that a removal moves none that is still to be looked at."""
    for index in range(len(entries) - 1, -1, -1):
        entry, check = entries[index], checks[entries[index].check]
        if not applies(entry, here):
            continue
        if check["status"] == "pass" and not entry.is_flaky:
            del document["known"][index]
            if not document["known"]:  # an empty list would be written before the first comment
                del document["known"]
            yield f"removed {entry.check}: it passes"
        elif check["status"] in FAILED and not _is_as_listed(entry, check):
            table = document["known"][index]
            if not entry.is_flaky:
                table["expect"] = check["status"]
            table["message"] = prefix(check["message"])
            yield f"changed {entry.check}: {check['status']}, {prefix(check['message'])}"


def _is_as_listed(entry: KnownFailure, check: CheckForm) -> bool:
    return entry.expect in (check["status"], FLAKY) and check["message"].startswith(entry.message)


def _added(document: Any, new: list[CheckForm], issue: str) -> Iterator[str]:
    for check in new:
        if "known" not in document:
            document["known"] = tomlkit.aot()
        table: Any = tomlkit.table() if isinstance(document["known"], AoT) else tomlkit.inline_table()
        table["check"] = check["check"]
        table["expect"] = check["status"]
        table["message"] = prefix(check["message"])
        table["issue"] = issue
        document["known"].append(table)
        yield f"added {check['check']}: {check['status']}, {prefix(check['message'])}"


def prefix(message: str) -> str:
    """Return how a message begins, as far as it is likely to stay: the statement, and words up to the first value.

    Which pages and how many a failure names depends on the history that showed it, and the history of a listed
    failure is not reduced.
    """
    line = message.partition("\n")[0][:LONGEST_PREFIX]
    stays = LASTING.match(line)
    return (stays.group().rstrip() if stays else "") or line.rstrip() or "-"
