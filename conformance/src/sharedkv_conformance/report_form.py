"""The form of a report, as types: what `schema/report.schema.json` promises. Holds no behaviour."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

REPORT_VERSION = 1


class SuiteForm(TypedDict):
    """Which suite speaks."""

    name: str
    version: str
    contract: str


class RfcForm(TypedDict):
    """One RFC as it was when the report was made."""

    title: str
    version: str
    status: str
    phase: str
    facet: str


class SpecificationForm(TypedDict):
    """What was proven against."""

    digest: str
    rfcs: dict[str, RfcForm]


class ImplementationForm(TypedDict):
    """What the implementation says of itself."""

    name: str
    version: str
    features: list[str]
    limits: dict[str, int]
    environment: dict[str, str]


class EffortForm(TypedDict):
    """How hard each check tried."""

    name: str
    examples: int
    steps: int
    reduce: bool


class SelectionForm(TypedDict):
    """The filters of a filtered run."""

    checks: list[str]
    statements: list[str]
    clauses: list[str]
    facets: list[str]


class KnownFileForm(TypedDict):
    """The file of known failures that a run was given."""

    digest: str
    entries: int
    applying: int


class RunForm(TypedDict):
    """How the report came about."""

    complete: bool
    selection: SelectionForm | None
    strict: bool
    effort: EffortForm
    seed: str
    versions: dict[str, str]
    platform: dict[str, str]
    known: KnownFileForm | None


class ProfileForm(TypedDict):
    """The verdict of one profile."""

    name: str
    verdict: str
    strict_verdict: str
    headline: str
    must: dict[str, int]
    should: dict[str, int]
    excluded: dict[str, int]
    inapplicable: int
    executed: int
    missing: NotRequired[list[str]]


ExcludedForm = TypedDict("ExcludedForm", {"class": str, "reason": str})


class StatementForm(TypedDict):
    """What is known of one statement."""

    id: str
    rfc: str
    clause: str
    level: str
    text: str
    digest: str
    verdict: str
    checks: list[str]
    excluded: ExcludedForm | None


class TraceForm(TypedDict):
    """The history that led to a failure; `file` is empty where none was written."""

    file: str
    lines: list[dict[str, Any]]


class KnownForm(TypedDict):
    """What is known of a failure."""

    expect: str
    message: str
    issue: str


class RepeatsForm(TypedDict):
    """What became of a failure's trace when it was issued again."""

    tries: int
    failed: int


class CheckForm(TypedDict):
    """How one check ended."""

    check: str
    meaning: str
    statements: list[str]
    cases: list[str]
    status: str
    message: str
    statement: str
    law: str
    examples: int
    witnesses: dict[str, int]
    trace: TraceForm | None
    expectation: str
    known: KnownForm | None
    repeats: RepeatsForm | None


class RefusalForm(TypedDict):
    """How the generated check of something that is not claimed ended."""

    check: str
    status: str
    message: str


class ClaimsForm(TypedDict):
    """What became of the features that are claimed, and of those that are not."""

    not_met: list[str]
    unclaimed_passes: list[str]
    refusals: list[RefusalForm]


class TimesForm(TypedDict):
    """Everything in a report that differs between two equal runs."""

    started: str
    seconds: float
    checks: dict[str, float]


class ReportForm(TypedDict):
    """A whole report."""

    report: int
    suite: SuiteForm
    specification: SpecificationForm
    implementation: ImplementationForm
    run: RunForm
    profiles: list[ProfileForm]
    claims: NotRequired[ClaimsForm]
    statements: list[StatementForm]
    checks: list[CheckForm]
    times: TimesForm
