"""Refusal checks, generated: what is not claimed is answered with `Unsupported` on every call, and nothing changes.

One a feature of the contract that an implementation does not claim. They prove no statement, for a refusal is the
contract's and not the specification's; a run that executed nothing else has executed nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.codec import Malformed, decode, recognise_error, shown
from sharedkv_conformance.contract.errors import Unsupported
from sharedkv_conformance.contract.implementation import Description, Session
from sharedkv_conformance.contract.operation import Operation
from sharedkv_conformance.contract.operations import OPERATION_BY_NAME, OPERATIONS
from sharedkv_conformance.description import Described
from sharedkv_conformance.effort import Effort
from sharedkv_conformance.loss import Loss
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import InProcess
from sharedkv_conformance.smoke import BATCH, HAPPY_PATH, OTHER_CALLS, smallest_config
from sharedkv_conformance.status import Status
from sharedkv_conformance.verdict import Claims
from sharedkv_conformance.wire.interruption import INTERRUPTION

PREFIX = "refusal."
# How a refusal check can end.
ENDS = frozenset({Status.PASS, Status.FAIL, Status.ERROR, Status.CRASH, Status.TIMEOUT})
OBSERVATIONS = ("allocation.lanes", "probe.pages")


class _Broken(Exception):
    """A call that is not claimed was not refused, or changed something."""

    def __init__(self, status: Status, message: str, *, answered: bool = False) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message
        self.answered = answered


def unclaimed(description: Description) -> tuple[str, ...]:
    """Return the features of the contract that are not claimed, in the order of its operations."""
    return tuple(dict.fromkeys(op.feature for op in OPERATIONS if op.feature not in description.features))


def refusal_slugs(description: Description) -> tuple[str, ...]:
    """Return the slug of every refusal check that an implementation gets."""
    return tuple(PREFIX + feature for feature in unclaimed(description))


def with_refusals(claims: Claims, implementation: Described, catalogue: Catalogue, effort: Effort) -> Claims:
    """Run the refusal check of every feature that is not claimed, and try the checks of those that answered instead."""
    results: dict[str, CheckResult] = {}
    passes: list[str] = []
    for feature in unclaimed(implementation.description):
        slug = PREFIX + feature
        try:
            _refuse(implementation, feature)
        except _Broken as broken:
            results[slug] = CheckResult(check=slug, status=broken.status, message=broken.message)
            if broken.answered and _would_pass(implementation, feature, catalogue, effort):
                passes.append(feature)
        except Loss as loss:
            results[slug] = CheckResult(check=slug, status=loss.status, message=str(loss))
        else:
            results[slug] = CheckResult(check=slug, status=Status.PASS, examples=1)
        INTERRUPTION.check()
    return replace(claims, refusals=results, unclaimed_passes=tuple(passes))


def _refuse(implementation: Described, feature: str) -> None:
    """Issue every call of a feature that is not claimed on a session that holds pages; raises `_Broken`."""
    try:
        session = implementation.open(smallest_config(implementation.description))
    except Loss:
        raise
    except (Exception, SystemExit) as error:
        raise _Broken(Status.ERROR, f"open raised {_named(error)}") from error
    try:
        _refuse_on(session, implementation, feature)
    except _Broken:
        with suppress(_Broken, Loss):  # what was found first is what is told
            _guarded("session.close", session.close)
        raise
    _guarded("session.close", session.close)


def _refuse_on(session: Session, implementation: Described, feature: str) -> None:
    observed = [OPERATION_BY_NAME[name] for name in OBSERVATIONS if _claims(implementation, name)]
    _hold_pages(implementation, session)
    before = _observed(session, observed)
    for operation in (operation for operation in OPERATIONS if operation.feature == feature):
        _expect_refusal(session, operation)
        if (after := _observed(session, observed)) != before:
            raise _Broken(Status.FAIL, f"{operation.name} was refused, and changed {shown(before)} to {shown(after)}")


def _claims(implementation: Described, operation: str) -> bool:
    return OPERATION_BY_NAME[operation].feature in implementation.description.features


def _hold_pages(implementation: Described, session: Session) -> None:
    """Put pages in use, so that there is something that a refused call could change."""
    if _claims(implementation, "allocation.extend"):
        _guarded("allocation.extend", lambda: _call(session, OPERATION_BY_NAME["allocation.extend"], {"batch": BATCH}))


def _observed(session: Session, operations: list[Operation]) -> list[Any]:
    return [_seen(session, operation) for operation in operations]


def _seen(session: Session, operation: Operation) -> Any:
    try:
        raw = _guarded(operation.name, lambda: _call(session, operation, {}))
        return decode(operation.result, raw, f"the answer to {operation.name}")
    except Malformed as error:
        raise _Broken(Status.FAIL, str(error)) from error


def _expect_refusal(session: Session, operation: Operation) -> None:
    args = {**HAPPY_PATH, **OTHER_CALLS}[operation.name]
    wanted = f"{operation.name}: wanted Unsupported, for {operation.feature} is not claimed"
    try:
        raw = _call(session, operation, args)
    except Loss:
        raise
    except (Exception, SystemExit) as error:
        if not _is_refusal(error):
            raise _Broken(Status.ERROR, f"{wanted}; it raised {_named(error)}") from error
        return
    raise _Broken(Status.FAIL, f"{wanted}; it answered {shown(raw)}", answered=True)


def _is_refusal(error: BaseException) -> bool:
    try:
        return isinstance(recognise_error(error, "the error"), Unsupported)
    except Malformed:
        return False


def _guarded(name: str, call: Any) -> Any:
    try:
        return call()
    except (Loss, Malformed):
        raise
    except (Exception, SystemExit) as error:
        raise _Broken(Status.ERROR, f"{name} raised {_named(error)}") from error


def _call(session: Session, operation: Operation, args: Mapping[str, Any]) -> Any:
    return operation.of(session)(*args.values())


def _would_pass(implementation: Described, feature: str, catalogue: Catalogue, effort: Effort) -> bool:
    """Say whether every check that needs the feature would pass if the feature were claimed."""
    features = implementation.description.features | {feature}
    claiming = replace(implementation, description=replace(implementation.description, features=features))
    checks = [c for c in catalogue.checks if feature in c.required_features and c.required_features <= features]
    executor = InProcess(claiming, replace(effort, reduce=False), catalogue)  # what all would draw is drawn once
    return bool(checks) and all(executor.execute(check).status is Status.PASS for check in checks)


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
