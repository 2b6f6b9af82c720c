"""Whether a report tells of a broken adapter, in one sentence: many checks meet one wrong shape, and each is charged.

Statuses stay what they are; whoever reads the report reads the cause first. Knows the report alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from sharedkv_conformance.report_form import ReportForm
from sharedkv_conformance.result import MALFORMED, MISUSED, UNASKED, UNREADABLE


@dataclass(frozen=True, kw_only=True)
class BrokenAdapter:
    """What was wrong where it was first seen, and the checks that met something of the kind, the first one first."""

    fault: str
    checks: tuple[str, ...]

    def __str__(self) -> str:
        others = len(self.checks) - 1
        met = f"; {others} more met one of its kind" if others else ""
        return f"broken adapter: {self.fault} (first seen by {self.checks[0]}{met}; kvconform smoke says more)"


def broken_adapter(report: ReportForm) -> BrokenAdapter | None:
    """Return what is wrong with the adapter behind a report, or None where no message tells of it."""
    faults = {check["check"]: fault for check in report["checks"] if (fault := fault_in(check["message"]))}
    if not faults:
        return None
    return BrokenAdapter(fault=next(iter(faults.values())), checks=tuple(faults))


def fault_in(message: str) -> str:
    """Return what a message says of the adapter; empty where it says nothing."""
    line = message.partition("\n")[0]
    if MALFORMED in line:
        return line.partition(MALFORMED)[2]
    found = any(marker in line for marker in (UNREADABLE, UNASKED, MISUSED))
    return line if found else ""
