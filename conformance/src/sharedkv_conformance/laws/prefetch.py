"""The laws of prefetch: what is under a lease, for how long, what is told of misses, and what is counted as live."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.pool import buffers_of, stored_row_bytes
from sharedkv_conformance.model.pool_findings import is_stored
from sharedkv_conformance.model.prefetch import prefix_bytes
from sharedkv_conformance.model.prefetch_state import Lease, PrefetchState
from sharedkv_conformance.step import Answer, Call, Err, Ok

START, CONSUME, READ, RELEASE = "prefetch.start", "prefetch.consume", "prefetch.read", "prefetch.release"
LIVE_BYTES, EVENTS = "prefetch.live_bytes", "probe.events"


def first_read(before: PrefetchState, call: Call, answer: Answer) -> Lease | None:
    """Return the lease whose buffer is read for the first time, if that was answered."""
    lease = before.leases.get(call.lease)
    known = lease is not None and call.buffer in buffers_of(before.pool) and call.buffer not in lease.first
    return lease if known and isinstance(answer, Ok) else None


def _difference(before: PrefetchState, lease: Lease, buffer: str, shown: tuple[bytes, ...]) -> str:
    """Say where a dense prefix differs from the rows that were written, or nothing."""
    size = stored_row_bytes(before.pool, buffer)
    if len(shown) != before.geometry.cp_size:
        return f"{len(shown)} ranks, expected {before.geometry.cp_size}"
    for rank, data in enumerate(shown):
        if len(data) != size * len(lease.rows):
            return f"rank {rank} has {len(data)} bytes, expected {len(lease.rows)} rows of {size}"
        if data != shown[0]:
            return f"rank {rank} has other bytes than rank 0"
    for token, rows in enumerate(lease.rows):
        found = shown[0][token * size : (token + 1) * size]
        if rows is not None and not is_stored(before.pool, buffer, rows[buffer], found):
            return f"token {token} of the dense prefix is {found[:8].hex()}..., expected {rows[buffer][:8].hex()}..."
    return ""


def _staleness(before: PrefetchState, lease: Lease, buffer: str, shown: tuple[bytes, ...]) -> str:
    """Say whether the rows that differ are those that stood there before: `stale`, `other`, or `unclear`."""
    size = stored_row_bytes(before.pool, buffer)
    if any(len(data) != size * len(lease.rows) for data in shown):
        return "other"
    known = True
    for data in shown:
        for token, (rows, older) in enumerate(zip(lease.rows, lease.older, strict=True)):
            found = data[token * size : (token + 1) * size]
            if rows is None or is_stored(before.pool, buffer, rows[buffer], found):
                continue
            known = known and bool(older)
            if older and not any(is_stored(before.pool, buffer, earlier[buffer], found) for earlier in older):
                return "other"
    return "stale" if known else "unclear"


# -- what is under a lease -------------------------------------------------------------------------------------------


@law("RFC-0005:C-SYNCHRONOUS#S2", on=READ)
def a_dense_prefix_has_the_rows_of_the_pools(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """The tokens of all prefixes in logical order, requests one after another, on every rank; also when made again."""
    lease = first_read(before, call, answer)
    if lease is None or lease.kind not in ("made", "rewritten") or not isinstance(answer, Ok):
        return
    if lease.kind == "made" and before.is_late():
        return
    if lease.kind == "rewritten" and _staleness(before, lease, call.buffer, answer.value) != "other":
        return
    if problem := _difference(before, lease, call.buffer, answer.value):
        yield problem


@law("RFC-0005:C-SYNCHRONOUS#S3", on=READ)
def prefetched_bytes_are_synchronous_bytes(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """What was made ahead is what is made when nobody prefetched."""
    yield from _unequal(before, call, answer, "ahead")


@law("RFC-0005:C-MISSES#S5", on=READ)
def a_lost_prefetch_is_made_again(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """A prefetch that never finishes leaves neither a hole nor a hang."""
    yield from _unequal(before, call, answer, "lost")


def _unequal(before: PrefetchState, call: Call, answer: Answer, kind: str) -> Iterator[str]:
    """Compare the two leases of one prefix, prefetched and made, whose rows have not changed in between."""
    now = first_read(before, call, answer)
    if now is None or now.kind != "made" or before.is_late() or not isinstance(answer, Ok):
        return
    for other in before.leases.values():
        alike = other.kind == kind and other.key == now.key and other.rows == now.rows
        if alike and call.buffer in other.first and other.first[call.buffer] != tuple(answer.value):
            yield f"layer {now.key[0]}, {call.buffer}: the dense prefix that was {kind} differs from the one made now"
            return


@law("RFC-0005:C-SYNCHRONOUS#S4", on=(START, CONSUME))
def a_batch_without_a_prefix_is_refused(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """A table that is too short, a page or a layer that is not there; and nothing else is refused."""
    reasons = before.reasons(call)
    if not reasons:
        if isinstance(answer, Err):
            yield f"nothing is wrong with layer {call.layer} of the batch, got {answer.error}"
    elif isinstance(answer, Ok):
        yield f"expected {' or '.join(sorted(reasons))}, and it was done"
    elif not isinstance(answer.error, Rejected) or answer.error.reason not in reasons:
        yield f"expected {' or '.join(sorted(reasons))}, got {answer.error}"


@law("RFC-0005:C-ORDER#S1", on=READ)
def a_dense_prefix_waits_for_rows_that_are_late(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """Who gathers before the rows are there gathers those of the request before."""
    lease = first_read(before, call, answer)
    if lease is None or lease.kind == "rewritten" or not before.is_late() or not isinstance(answer, Ok):
        return
    if _staleness(before, lease, call.buffer, answer.value) != "stale":
        return
    if problem := _difference(before, lease, call.buffer, answer.value):
        yield f"rows that were late are missing: {problem}"


@law("RFC-0005:C-ORDER#S2", on=READ)
def a_dense_prefix_has_rows_written_since_its_start(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """What was made ahead of a write is not what the pools hold after it."""
    lease = first_read(before, call, answer)
    if lease is None or lease.kind != "rewritten" or not isinstance(answer, Ok):
        return
    problem = _difference(before, lease, call.buffer, answer.value)
    if problem and _staleness(before, lease, call.buffer, answer.value) != "other":
        yield f"pages of the prefix were written after the start: {problem}"


# -- buffers ---------------------------------------------------------------------------------------------------------


@law("RFC-0005:C-BUFFERS#S1", on=READ)
def a_lease_keeps_its_bytes(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """Until it is released nobody else writes into its buffer, whatever is started or written meanwhile."""
    lease = before.leases.get(call.lease)
    if lease is not None and call.buffer in lease.first:
        found = tuple(answer.value) if isinstance(answer, Ok) else answer.error
        if found != lease.first[call.buffer]:
            yield f"lease {call.lease}, {call.buffer}: other bytes than when it was read first"


@law("RFC-0005:C-BUFFERS#S2", on=LIVE_BYTES)
def every_live_buffer_is_counted(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """Who admits requests by what is left has to know what prefetch holds, on every rank and in every buffer."""
    if before.is_muddled:
        return
    keys = [lease.key for lease in before.leases.values()]
    waiting = [key for key in before.outstanding() if key[1] == before.step[0] and key not in before.replaced]
    keys += [key for key in waiting if before.kind_of(key) == "ahead"]
    wanted = sum(prefix_bytes(before.config, key[2]) for key in keys)
    found = answer.value if isinstance(answer, Ok) else answer.error
    if not isinstance(found, int) or found < wanted:
        yield f"{len(keys)} buffers are live and hold {wanted} bytes, got {found}"


@law("RFC-0005:C-BUFFERS#S3", on=LIVE_BYTES)
def what_is_released_is_not_counted(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """Where nothing is leased and nothing is being filled, nothing is live."""
    is_idle = not before.leases and not before.outstanding() and not before.is_muddled
    if is_idle and isinstance(answer, Ok) and answer.value != 0:
        yield f"nothing is leased or being filled, and {answer.value} bytes are live"


@law("RFC-0005:C-BUFFERS#S4", on=(READ, RELEASE))
def a_lease_that_is_not_held_is_refused(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """What was released belongs to somebody else; a buffer that nobody has is refused by name."""
    if call.lease not in before.leases:
        reason = Reason.LEASE_UNKNOWN
    elif call.op == READ and call.buffer not in buffers_of(before.pool):
        reason = Reason.BUFFER_UNKNOWN
    else:
        if call.op == RELEASE and isinstance(answer, Err):
            yield f"lease {call.lease} is held, got {answer.error}"
        return
    if isinstance(answer, Ok) or getattr(answer.error, "reason", None) != reason:
        found = "it was answered" if isinstance(answer, Ok) else str(answer.error)
        yield f"{call.op} of lease {call.lease}: expected {reason}, got: {found}"


# -- what is told ----------------------------------------------------------------------------------------------------


def _told(before: PrefetchState, answer: Answer, reason: str, layer: int | None = None) -> int:
    """Count the fallbacks of a reason among the new events."""
    new = answer.value[before.events_seen :] if isinstance(answer, Ok) else ()
    return sum(e.kind == "fallback" and e.reason == reason and layer in (None, e.layer) for e in new)


@law("RFC-0005:C-SYNCHRONOUS#S1", on=EVENTS)
def nothing_is_told_while_prefetch_is_off(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """Who did not ask for prefetch is not warned that there is none."""
    for reason in ("prefetch_miss", "prefetch_skip"):
        if not before.is_on and _told(before, answer, reason):
            yield f"prefetch is off, and {reason} was told"


@law("RFC-0005:C-MISSES#S1", on=EVENTS)
def a_miss_is_told(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """A prefetch that is on and does nothing shows in a profile alone."""
    for told in before.untold:
        if told.kind == "miss" and isinstance(answer, Ok) and not _told(before, answer, "prefetch_miss", told.layer):
            yield f"layer {told.layer} was not prefetched, and no miss was told"


@law("RFC-0005:C-MISSES#S2", on=EVENTS)
def the_first_layer_misses_nothing(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """Nothing runs before the first layer that could have prefetched it."""
    if (
        before.is_on
        and any(told.kind == "first" for told in before.untold)
        and _told(before, answer, "prefetch_miss", 0)
    ):
        yield "a miss of the first layer was told"


@law("RFC-0005:C-MISSES#S3", on=EVENTS)
def a_skip_is_told(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """A prefetch that is not even begun is told when it is skipped."""
    for told in before.untold:
        if told.kind == "skip" and isinstance(answer, Ok) and not _told(before, answer, "prefetch_skip", told.layer):
            yield f"a prefetch of layer {told.layer} was skipped, and that was not told"


@law("RFC-0005:C-MISSES#S4", on=EVENTS)
def a_hit_is_no_miss(before: PrefetchState, call: Call, answer: Answer) -> Iterator[str]:
    """A warning that always comes is switched off."""
    for told in before.untold:
        if told.kind == "hit" and _told(before, answer, "prefetch_miss", told.layer):
            yield f"layer {told.layer} was prefetched, and a miss was told"
