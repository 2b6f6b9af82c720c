"""Runs one check on one implementation and says how it ended. Knows nothing of files, reports or command lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis.errors import Flaky, HypothesisException

from sharedkv_conformance.contract.implementation import Description, Implementation
from sharedkv_conformance.effort import Effort
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.history import Escaped, Gone, Violation
from sharedkv_conformance.marks import Check, Witness
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status
from sharedkv_conformance.sweep import Sweeps


def inapplicable(check: Check, description: Description) -> CheckResult | None:
    """Return the result of a check whose features are not claimed, or None when it applies."""
    missing = sorted(check.required_features - description.features)
    if not missing:
        return None
    return CheckResult(check=check.slug, status=Status.INAPPLICABLE, message=f"not claimed: {', '.join(missing)}")


def execute(
    check: Check,
    implementation: Implementation,
    effort: Effort,
    witnesses: Mapping[str, Witness],
    sweeps: Sweeps | None = None,
) -> CheckResult:
    """Run a check to its status.

    A property that held although one of its declared witnesses was never raised is `vacuous`. Whatever goes wrong
    outside the implementation is `harness-error`, never a verdict on the implementation.
    """
    try:
        histories = Histories(implementation, effort, [witnesses[name] for name in check.witnesses], sweeps)
    except Exception as error:  # noqa: BLE001 - describe() is the implementation's
        message = f"describe raised {type(error).__name__}: {error}"
        return CheckResult(check=check.slug, status=Status.ERROR, message=message)
    return _executed(check, histories)


def _executed(check: Check, histories: Histories) -> CheckResult:
    try:
        check.function(histories)
    except Violation as violation:
        return _result(check, histories, Status.FAIL, str(violation), violation.trace, violation)
    except Escaped as escaped:
        return _result(check, histories, Status.ERROR, str(escaped), escaped.trace)
    except Gone as gone:
        return _result(check, histories, gone.loss.status, str(gone), gone.trace)
    except Flaky as flaky:
        return _fickle(check, histories, flaky)
    except (HypothesisException, Exception) as error:  # noqa: BLE001 - our own fault must not pass for theirs
        return _result(check, histories, Status.HARNESS_ERROR, f"{type(error).__name__}: {error}")
    return _held(check, histories)


def _held(check: Check, histories: Histories) -> CheckResult:
    silent = [name for name in check.witnesses if not histories.raised[name]]
    if silent or not histories.examples:
        reason = f"never occurred: {', '.join(silent)}" if silent else "no history was run"
        return _result(check, histories, Status.VACUOUS, reason)
    return _result(check, histories, Status.PASS)


def _fickle(check: Check, histories: Histories, flaky: Flaky) -> CheckResult:
    """Equal calls had other answers the next time: still a violation where one was seen, else an error."""
    found = [error for error in getattr(flaky, "exceptions", ()) if isinstance(error, Violation)]
    again = "equal calls on fresh sessions have other answers the next time"
    if found:
        return _result(check, histories, Status.FAIL, f"{found[0]} ({again})", found[0].trace, found[0])
    return _result(check, histories, Status.ERROR, again)


def _result(
    check: Check,
    histories: Histories,
    status: Status,
    message: str = "",
    trace: Sequence[Mapping[str, Any]] = (),
    violation: Violation | None = None,
) -> CheckResult:
    statement = (violation.statement or check.statements[0]) if violation else ""
    return CheckResult(
        check=check.slug,
        status=status,
        message=message,
        statement=statement,
        law=violation.law if violation else "",
        examples=histories.examples,
        witnesses={name: histories.raised[name] for name in check.witnesses},
        laws=frozenset(histories.laws),
        trace=tuple(trace),
    )
