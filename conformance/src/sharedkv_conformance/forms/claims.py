"""What became of claims, in sentences for every form that people read. Knows the report alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sharedkv_conformance.report_form import ReportForm

NOT_MET, UNCLAIMED, PASS = "not met", "unclaimed", "pass"
OF_CLAIM = {
    NOT_MET: "claimed, and no check of it was executed, or one did not pass: not met",
    UNCLAIMED: "passes though not claimed",
}


@dataclass(frozen=True, kw_only=True)
class ClaimTold:
    """One claim, or one refusal check, that is worth a line: how it stands, what it is of, and why."""

    standing: str
    subject: str
    told: str


def claims_told(report: ReportForm) -> Iterator[ClaimTold]:
    """Yield what is claimed and not met, what was not refused as it has to be, and what could be claimed."""
    claims = report.get("claims")
    if claims is None:
        return
    for feature in claims["not_met"]:
        yield ClaimTold(standing=NOT_MET, subject=feature, told=OF_CLAIM[NOT_MET])
    for refusal in claims["refusals"]:
        if refusal["status"] != PASS:
            yield ClaimTold(standing=refusal["status"], subject=refusal["check"], told=refusal["message"])
    for feature in claims["unclaimed_passes"]:
        yield ClaimTold(standing=UNCLAIMED, subject=feature, told=OF_CLAIM[UNCLAIMED])


def refusals_told(report: ReportForm) -> str:
    """Return in one line how many refusal checks there were and how many passed; empty where there were none."""
    refusals = report["claims"]["refusals"] if "claims" in report else []
    passed = sum(refusal["status"] == PASS for refusal in refusals)
    return (
        f"{passed} of {len(refusals)} features that are not claimed are refused as they have to be" if refusals else ""
    )
