"""Whether the adapter is right: shapes, signatures and one happy path a facet, to look at before any verdict.

Says nothing on conformance. Every finding tells what was wanted and what was there.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sharedkv_conformance.codec import Malformed, decode, recognise_error, shown
from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import CapacityWait, Rejected, Unsupported
from sharedkv_conformance.contract.eviction import EvictionNode
from sharedkv_conformance.contract.implementation import Description, OpenConfig, Session, TransferConfig
from sharedkv_conformance.contract.operation import Operation
from sharedkv_conformance.contract.operations import OPERATIONS
from sharedkv_conformance.contract.pool import (
    INDEX_ROW_BYTES,
    INDEX_VALUES,
    LATENT_ROW_BYTES,
    BufferRows,
    RankRows,
)
from sharedkv_conformance.contract.reuse import RankQueries, RankTopK, ReuseRequest
from sharedkv_conformance.contract.storage import StorageNamespace
from sharedkv_conformance.contract.transfer import Fingerprint, LayerBuffers
from sharedkv_conformance.description import Described
from sharedkv_conformance.loss import Loss

BATCH = (ExtendRequest(request="smoke", prefix_tokens=0, extend_tokens=5),)
# The data plane is asked about two ranks and pages of four tokens: rank 0 computes four of the five, rank 1 one.
REUSED = (ReuseRequest(request="smoke", prefix_tokens=0, extend_tokens=5, table=(1, 2)),)
DEALT = (4, 1)

# Two ranks: a parent with a page of rank 1 above a child with one of rank 0.
TREE = tuple(
    EvictionNode(node=node, parent=node - 1, owners=(1 - node,), locked=False, pending=False, hits=0, last_tick=node)
    for node in (0, 1)
)
TOKENS = (1, 2, 3, 4)
NAMESPACE = StorageNamespace(model="smoke", layout="mla_bf16", layers=2, draft_layers=0, page_size=4, cp_size=2)


def _computed(rows: int) -> RankRows:
    latent = BufferRows(buffer="latent", data=bytes(rows * LATENT_ROW_BYTES))
    index = BufferRows(buffer="index", data=bytes(rows * INDEX_ROW_BYTES))
    return RankRows(domain="valid", rows=rows, buffers=(latent, index))


def _queries(row_bytes: int, weight_bytes: int) -> tuple[RankQueries, ...]:
    return tuple(
        RankQueries(domain="valid", rows=rows, query=bytes(rows * row_bytes), weights=bytes(rows * weight_bytes))
        for rows in DEALT
    )


ROWS = tuple(_computed(rows) for rows in DEALT)
SELECTED = (RankTopK(indices=((0,), (0,), (0,), (0,))), RankTopK(indices=((0,),)))
BUFFER = LayerBuffers(source=0, destination=1024, source_page_bytes=64, destination_page_bytes=64)
# In this order the calls are one happy path: what earlier ones produced stands in for the values named here.
HAPPY_PATH: Mapping[str, Mapping[str, Any]] = {
    "planning.split": {"prefix_tokens": 0, "extend_tokens": 5},
    "planning.plan": {"batch": BATCH, "static_multiple": 1},
    "planning.descriptors": {"batch": BATCH},
    "planning.deal": {"batch": BATCH, "values": (10, 11, 12, 13, 14)},
    "planning.restore": {"batch": BATCH, "rows": ((10, 11, 12, 13), (14,))},
    "planning.collect_last": {"batch": BATCH, "rows": ((10, 11, 12, 13), (14,))},
    "planning.strip": {"batch": BATCH, "locations": (4, 5, 6, 7, 8, 0, 0), "static_tokens": 7},
    "planning.chunk": {"prefix_tokens": 0, "remaining_tokens": 5, "budget_tokens": 8},
    "allocation.lanes": {},
    "allocation.admit": {"batch": BATCH},
    "allocation.make_room": {"batch": BATCH},
    "allocation.snapshot": {},
    "allocation.extend": {"batch": BATCH},
    "probe.cost": {},
    "probe.events": {},
    "probe.pages": {},
    "allocation.owners": {"request": "smoke", "pages": (1,)},
    "transfer.reserve": {"room": 2, "num_pages": 1, "ranks": (0,)},
    "transfer.send_status": {"room": 2},
    "overlap.register": {"room": 2, "pages": (1,), "first_position": 0, "is_last": True},
    "overlap.layer_end": {"layer": 0},
    "overlap.contexts": {},
    "probe.stall": {"what": "writes"},
    "transfer.send": {"room": 2, "pages": (1,), "first_position": 0, "is_last": True, "state": (1,), "aux": b"smoke"},
    "probe.flights": {},
    "probe.messages": {},
    "probe.resume": {"what": "writes"},
    "transfer.report": {"room": 2},
    "transfer.commit": {"room": 2},
    "transfer.forget": {"room": 2},
    "transfer.decode_pools": {},
    "abort.prefill": {"room": 2},
    "abort.decode": {"room": 2},
    "probe.decode_pool": {"rank": 0, "layer": 0},
    "allocation.retain": {"pages": (1,)},
    "allocation.release": {"pages": (1,)},
    "allocation.restore": {"snapshot": 0},
    "direct_write.place": {"pages": (1, 2)},
    "direct_write.page_at": {"lane": 0, "physical": 1},
    "direct_write.write": {
        "layer": 0,
        "batch": BATCH,
        "locations": (4, 5, 6, 7, 8),
        "static_tokens": 5,
        "rows": ROWS,
    },
    "direct_write.read": {"layer": 0, "buffer": "latent", "locations": (4, 8)},
    "reuse.compose": {"layer": 0, "epoch": 1, "batch": REUSED, "rows": ROWS},
    "reuse.dense": {"layer": 0, "epoch": 1, "buffer": "latent"},
    "reuse.top_k": {"layer": 0, "epoch": 1, "queries": _queries(INDEX_VALUES, 4), "count": 1},
    "reuse.attend": {"layer": 0, "epoch": 1, "queries": _queries(LATENT_ROW_BYTES, 0), "indices": SELECTED},
    "prefetch.start": {"layer": 1, "epoch": 1, "batch": REUSED},
    "prefetch.consume": {"layer": 1, "epoch": 1, "batch": REUSED},
    "prefetch.read": {"lease": 0, "buffer": "latent"},
    "prefetch.live_bytes": {},
    "prefetch.release": {"lease": 0},
    "eviction.plan": {"nodes": TREE, "deficit": (1, 0)},
    "eviction.plan_load_back": {"nodes": TREE, "deficit": (0, 1)},
    "host_tier.statistics": {},
    "host_tier.allocate": {"pages": (1, 1)},
    "host_tier.free_slots": {"lane": 0},
    "host_tier.release": {"lane": 0, "pages": (0,)},
    "host_tier.admit": {"batch": ()},
    "copies.layer_end": {"layer": 0},
    "host_tier.insert": {"request": "smoke", "tokens": (), "pages": ()},
    "host_tier.match": {"tokens": TOKENS},
    "host_tier.lock": {"tokens": ()},
    "host_tier.unlock": {"lock": 0},
    "host_tier.make_room": {"required": (0, 0)},
    "host_tier.make_host_room": {"required": (0, 0)},
    "host_tier.evict": {"deficit": (0, 0)},
    "host_tier.evict_host": {"deficit": (0, 0)},
    "host_tier.load_back": {"tokens": TOKENS},
    "storage.keys": {"namespace": NAMESPACE, "tokens": TOKENS},
    "storage.save": {"tokens": TOKENS},
    "storage.query": {"tokens": TOKENS},
    "storage.fetch": {"tokens": TOKENS, "policy": "best_effort", "timeout": 0},
    "storage.quota": {},
    "host_tier.poll": {},
    "host_tier.reset": {},
    "probe.tree": {},
    "probe.copies": {},
    "probe.hold": {},
    "probe.objects": {},
    "probe.advance": {"ticks": 1},
    "probe.host_pool": {"layer": 0},
    "transfer.chunk": {"sent_tokens": 4, "end_tokens": 9, "is_last": True},
    "transfer.deal": {"pages": (1, 2), "first_position": 0, "destinations": (5, 3), "is_last": True},
    "transfer.blocks": {"sources": (1, 2), "destinations": (3, 4), "buffers": (BUFFER,)},
    "transfer.fingerprint": {},
    "transfer.shake_hands": {"peer": Fingerprint(fields=())},
    "transfer.open_room": {"room": 1, "sources": (0,), "parts": ("kv",)},
    "transfer.arrived": {"room": 1, "epoch": 0, "source": 0, "part": "kv", "chunk": 0, "is_last": True},
    "transfer.failed": {"room": 1, "epoch": 0, "source": 0},
    "transfer.status": {"room": 1},
    "transfer.close_room": {"room": 1},
    "probe.pool": {"layer": 0},
    "probe.collectives": {},
}
# Calls that the happy path leaves out, for the refusal of what is not claimed.
OTHER_CALLS: Mapping[str, Mapping[str, Any]] = {
    "allocation.release_locations": {"locations": (4,)},
    "allocation.allocate_flat": {"num_pages": 1},
    "host_tier.cancel": {"request": "smoke"},
    "storage.check": {"fetch": 0},
    "storage.end": {"fetch": 0},
    "storage.revoke": {"fetch": 0},
    "probe.inject": {"fault": "late_copies"},
    "probe.finish": {"copy": 0, "source": "target", "rank": -1},
    "probe.arrive": {"fetch": 0, "part": "kv", "pages": 1},
    "probe.spoil": {"key": "", "part": "kv", "how": "lost"},
    "probe.land": {"flight": 0},
    "probe.fail": {"flight": 0, "pages": 0, "is_definite": True},
    "probe.deliver": {"message": 0},
    "probe.garble": {"message": 0, "how": "noise"},
    "probe.scribble": {"rank": 0, "slot": 0, "room": 2, "epoch": 0, "data": b""},
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
        cp_size=2,
        page_size=min(4, limits.get("max_page_size", 4)),
        pages=min(8, limits.get("max_pages", 8)),
        host_pages=min(4, limits.get("max_host_pages", 4)),
        transfer=TransferConfig(decode_pages=8, slots=1),
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
    """Return the arguments with pages, snapshots and leases that the implementation gave."""
    args = dict(written)
    if "allocation.extend" in answers:
        args |= _with_pages(name, args, answers["allocation.extend"].pages)
    if name == "host_tier.release" and "host_tier.allocate" in answers:
        args["pages"] = answers["host_tier.allocate"].pages[args["lane"]]
    if name == "allocation.restore" and "allocation.snapshot" in answers:
        args["snapshot"] = answers["allocation.snapshot"]
    if name == "host_tier.unlock" and "host_tier.lock" in answers:
        args["lock"] = answers["host_tier.lock"]
    if "epoch" in args and "transfer.open_room" in answers and name.startswith("transfer."):
        args["epoch"] = answers["transfer.open_room"]
    if "peer" in args and "transfer.fingerprint" in answers:
        args["peer"] = answers["transfer.fingerprint"]
    if "lease" in args and "prefetch.consume" in answers:
        args["lease"] = answers["prefetch.consume"]
    return args


def _with_pages(name: str, args: Mapping[str, Any], pages: tuple[int, ...]) -> dict[str, Any]:
    """Return the arguments that name the pages of the batch, or how many there are."""
    if name == "transfer.reserve":
        return {"num_pages": len(pages)}
    if name == "transfer.send":
        return {"pages": pages, "state": pages}
    return {"pages": pages} if "pages" in args and name.startswith(("allocation.", "overlap.")) else {}


def _call_finding(session: Session, operation: Operation, args: Mapping[str, Any], answers: dict[str, Any]) -> Finding:
    subject = f"call: {operation.name}"
    asked = f"{operation.method}({', '.join(f'{key}={shown(value)}' for key, value in args.items())})"
    try:
        raw = operation.of(session)(*args.values())
    except Loss:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever leaves the implementation is told
        problem = f"{asked} raised {_named(error)}"
        return Finding(subject=subject, problem=problem, is_of_adapter=not _is_refusal(error))
    try:
        answers[operation.name] = decode(operation.result, raw, "the answer")
    except Malformed as error:
        return Finding(subject=subject, problem=f"{asked}: {error}")
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
        found = operation.of(session)(*args.values())
    except Loss:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever leaves the implementation is told
        try:
            known = recognise_error(error, "the error") if isinstance(error, Exception) else None
        except Malformed as malformed:
            return f"{wanted}; {malformed}"
        return "" if isinstance(known, Unsupported) else f"{wanted}; it raised {_named(error)}"
    return f"{wanted}; it answered {shown(found)}"


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
