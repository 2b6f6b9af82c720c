"""Whether the adapter is right: shapes, signatures and one happy path a facet, to look at before any verdict.

Says nothing on conformance. Every finding tells what was wanted and what was there.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sharedkv_conformance.codec import Malformed, decode, recognise_error
from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import CapacityWait, Rejected, Unsupported
from sharedkv_conformance.contract.implementation import Description, OpenConfig, Session
from sharedkv_conformance.contract.operations import OPERATIONS, Operation
from sharedkv_conformance.description import Described
from sharedkv_conformance.loss import Loss

BATCH = (ExtendRequest(request="smoke", prefix_tokens=0, extend_tokens=5),)
# In this order the calls are one happy path: what earlier ones produced stands in for the values named here.
HAPPY_PATH: Mapping[str, Mapping[str, Any]] = {
    "planning.split": {"prefix_tokens": 0, "extend_tokens": 5},
    "allocation.lanes": {},
    "allocation.admit": {"batch": BATCH},
    "allocation.make_room": {"batch": BATCH},
    "allocation.snapshot": {},
    "allocation.extend": {"batch": BATCH},
    "probe.cost": {},
    "probe.events": {},
    "probe.pages": {},
    "allocation.owners": {"request": "smoke", "pages": (1,)},
    "allocation.retain": {"pages": (1,)},
    "allocation.release": {"pages": (1,)},
    "allocation.restore": {"snapshot": 0},
}
# Calls that the happy path leaves out, for the refusal of what is not claimed.
OTHER_CALLS: Mapping[str, Mapping[str, Any]] = {
    "allocation.release_locations": {"locations": (4,)},
    "allocation.allocate_flat": {"num_pages": 1},
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at; `problem` is empty where it is as the contract wants it.

    A problem is the adapter's, but where the contract was spoken well and only the answer is not what one hopes for.
    """

    subject: str
    problem: str = ""
    is_of_adapter: bool = True


def smoke(implementation: Described) -> Iterator[Finding]:
    """Yield everything that was looked at, in order."""
    description = implementation.description
    claims = ", ".join(sorted(description.features)) or "nothing"
    yield Finding(subject=f"describe: {description.name} {description.version}, claims {claims}")
    try:
        session = implementation.open(smallest_config(description))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever leaves the implementation is told
        yield Finding(subject="open", problem=f"{smallest_config(description)}: raised {_named(error)}")
        return
    yield Finding(subject="open")
    try:
        yield from _signatures(session, description)
        yield from _happy_path(session, description)
        yield from _refusals(session, description)
    except Loss as loss:
        yield Finding(subject="the program is lost", problem=str(loss))
        return
    yield _closing(session)


def _closing(session: Session) -> Finding:
    try:
        session.close()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever leaves the implementation is told
        return Finding(subject="close", problem=f"raised {_named(error)}")
    return Finding(subject="close")


def smallest_config(description: Description) -> OpenConfig:
    """Return the geometry of the happy path, within the limits of the implementation."""
    limits = description.limits
    return OpenConfig(
        cp_size=2, page_size=min(4, limits.get("max_page_size", 4)), pages=min(8, limits.get("max_pages", 8))
    )


def _signatures(session: Session, description: Description) -> Iterator[Finding]:
    for operation in OPERATIONS:
        if operation.feature in description.features:
            yield Finding(subject=f"signature: {operation.name}", problem=_signature_problem(session, operation))


def _signature_problem(session: Session, operation: Operation) -> str:
    facet = getattr(session, operation.facet, None)
    method = getattr(facet, operation.method, None)
    wanted = ", ".join(operation.parameters)
    if not callable(method):
        return f"wanted a method {operation.method}({wanted}) on session.{operation.facet}, found {method!r}"
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):
        return ""  # built-in code does not always tell; the happy path will
    try:
        signature.bind(*operation.parameters)
    except TypeError:
        return f"wanted {operation.method}({wanted}), found {operation.method}{signature}"
    return ""


def _happy_path(session: Session, description: Description) -> Iterator[Finding]:
    answers: dict[str, Any] = {}
    for name, written in HAPPY_PATH.items():
        operation = next(operation for operation in OPERATIONS if operation.name == name)
        if operation.feature not in description.features:
            continue
        yield _call_finding(session, operation, _with_answers(name, written, answers), answers)


def _with_answers(name: str, written: Mapping[str, Any], answers: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments with pages and snapshots that the implementation gave."""
    args = dict(written)
    if "pages" in args and "allocation.extend" in answers:
        args["pages"] = answers["allocation.extend"].pages
    if name == "allocation.restore" and "allocation.snapshot" in answers:
        args["snapshot"] = answers["allocation.snapshot"]
    return args


def _call_finding(session: Session, operation: Operation, args: Mapping[str, Any], answers: dict[str, Any]) -> Finding:
    subject = f"call: {operation.name}"
    shown = f"{operation.method}({', '.join(f'{key}={value!r}' for key, value in args.items())})"
    try:
        raw = getattr(getattr(session, operation.facet), operation.method)(*args.values())
    except Loss:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever leaves the implementation is told
        problem = f"{shown} raised {_named(error)}"
        return Finding(subject=subject, problem=problem, is_of_adapter=not _is_refusal(error))
    try:
        answers[operation.name] = decode(operation.result, raw, "the answer")
    except Malformed as error:
        return Finding(subject=subject, problem=f"{shown}: {error}")
    return Finding(subject=subject)


def _is_refusal(error: BaseException) -> bool:
    """Say whether a call was refused in the words of the contract, by who claims that it is supported."""
    try:
        return isinstance(recognise_error(error, "the error"), Rejected | CapacityWait)
    except Malformed:
        return False


def _refusals(session: Session, description: Description) -> Iterator[Finding]:
    samples = {**HAPPY_PATH, **OTHER_CALLS}
    for operation in OPERATIONS:
        if operation.feature not in description.features:
            problem = _refusal_problem(session, operation, samples[operation.name])
            yield Finding(subject=f"not claimed: {operation.name}", problem=problem)


def _refusal_problem(session: Session, operation: Operation, args: Mapping[str, Any]) -> str:
    wanted = f"wanted Unsupported, for {operation.feature} is not claimed"
    try:
        found = getattr(getattr(session, operation.facet), operation.method)(*args.values())
    except Loss:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever leaves the implementation is told
        try:
            known = recognise_error(error, "the error") if isinstance(error, Exception) else None
        except Malformed as malformed:
            return f"{wanted}; {malformed}"
        return "" if isinstance(known, Unsupported) else f"{wanted}; it raised {_named(error)}"
    return f"{wanted}; it answered {found!r}"


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
