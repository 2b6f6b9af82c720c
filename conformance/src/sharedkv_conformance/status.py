"""Statuses of a check, verdicts of a statement, and which is worse."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How one check ended."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    VACUOUS = "vacuous"
    BLOCKED = "blocked"
    UNMET = "unmet"
    INAPPLICABLE = "inapplicable"
    NOT_RUN = "not-run"
    HARNESS_ERROR = "harness-error"


class Verdict(StrEnum):
    """What is known of one statement."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    VACUOUS = "vacuous"
    BLOCKED = "blocked"
    UNMET = "unmet"
    INAPPLICABLE = "inapplicable"
    NOT_RUN = "not-run"
    HARNESS_ERROR = "harness-error"
    UNTESTED = "untested"
    EXCLUDED = "excluded"
    UNPROVEN = "unproven"


# From best to worst; a statement is as good as its worst check.
ORDER: tuple[Status, ...] = (
    Status.PASS,
    Status.INAPPLICABLE,
    Status.NOT_RUN,
    Status.UNMET,
    Status.BLOCKED,
    Status.VACUOUS,
    Status.TIMEOUT,
    Status.CRASH,
    Status.ERROR,
    Status.HARNESS_ERROR,
    Status.FAIL,
)


# What is at the root of what: where a program crashes nothing else can hold, and what is blocked says nothing itself.
CAUSES_FIRST: tuple[Status, ...] = (
    Status.HARNESS_ERROR,
    Status.CRASH,
    Status.TIMEOUT,
    Status.ERROR,
    Status.FAIL,
    Status.VACUOUS,
    Status.UNMET,
    Status.BLOCKED,
    Status.INAPPLICABLE,
    Status.NOT_RUN,
    Status.PASS,
)


def importance(status: str) -> int:
    """Return the place of a status where causes are told before consequences."""
    return CAUSES_FIRST.index(Status(status))


def worst(statuses: list[Status]) -> Status:
    """Return the worst of some statuses."""
    return max(statuses, key=ORDER.index)
