"""The witnesses of prefetch: what must have happened before a law's silence proves anything."""

from __future__ import annotations

from sharedkv_conformance.laws.prefetch import CONSUME, EVENTS, LIVE_BYTES, READ, RELEASE, START, first_read
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.model.prefetch_state import PrefetchState
from sharedkv_conformance.model.reuse_batch import prefix_pages
from sharedkv_conformance.step import Answer, Call, Ok


@witness(on=READ)
def prefix_made_on_demand(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A dense prefix that was made on demand was read, and its rows had been written."""
    lease = first_read(before, call, answer)
    return lease is not None and lease.kind == "made" and bool(lease.rows) and None not in lease.rows


@witness(on=READ)
def prefixes_of_two_requests_read(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A dense prefix of several requests was read."""
    lease = first_read(before, call, answer)
    return lease is not None and sum(bool(request.prefix_tokens) for request in lease.key[2]) > 1


@witness(on=READ)
def pages_out_of_order_read(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A dense prefix was read whose pages are not in ascending order, with other pages behind them in the table."""
    lease = first_read(before, call, answer)
    pages = [prefix_pages(before.geometry, request) for request in lease.key[2]] if lease else []
    return any(list(each) != sorted(each) for each in pages)


@witness(on=READ)
def made_after_prefetched(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A dense prefix that had been prefetched was made once more, on demand, and read."""
    lease = first_read(before, call, answer)
    return lease is not None and any(
        o.kind == "ahead" and o.key == lease.key and o.rows for o in before.leases.values()
    )


@witness(on=READ)
def made_after_lost(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A dense prefix whose prefetch was lost was made once more, on demand, and read."""
    lease = first_read(before, call, answer)
    return lease is not None and any(o.kind == "lost" and o.key == lease.key and o.rows for o in before.leases.values())


@witness(on=READ)
def prefix_rewritten_since_start(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A dense prefix was read of which pages were written between its start and its consume."""
    lease = first_read(before, call, answer)
    return lease is not None and lease.kind == "rewritten"


@witness(on=READ)
def prefix_rewritten_on_the_last_lane(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """The same, and these pages were of the last lane alone."""
    lease = first_read(before, call, answer)
    return lease is not None and lease.kind == "rewritten" and lease.lanes == {before.geometry.cp_size - 1}


@witness(on=READ)
def late_prefix_rewritten(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """The same, while writes are late."""
    return prefix_rewritten_since_start.occurred(before, call, answer) and before.is_late()


@witness(on=READ)
def late_prefix_read(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A dense prefix of rows that took the place of others was read while writes are late."""
    lease = first_read(before, call, answer)
    return lease is not None and before.is_late() and any(lease.older)


@witness(on=READ)
def lease_read_again(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A lease was read again after another one was given out."""
    lease = before.leases.get(call.lease)
    return lease is not None and call.buffer in lease.first and bool(lease.rows) and len(before.leases) > 1


@witness(on=READ)
def lease_read_after_a_write(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A lease was read again after pages of its prefix were written anew."""
    lease = before.leases.get(call.lease)
    return lease is not None and call.buffer in lease.first and before.is_overwritten(lease)


@witness(on=(START, CONSUME))
def prefixless_batch(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A start or a consume named something that is not there."""
    return bool(before.reasons(call))


@witness(on=(START, CONSUME))
def prefixed_batch(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A start or a consume named a batch with a prefix, and nothing was wrong with it."""
    return not before.reasons(call) and any(request.prefix_tokens for request in call.batch)


@witness(on=CONSUME)
def consumed_after_a_later_start(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """What was started was consumed after what was started later."""
    key = (call.layer, call.epoch, tuple(call.batch))
    return key in before.outstanding() and before.started[key].number < before.latest and before.kind_of(key) == "ahead"


@witness(on=CONSUME)
def consumed_for_another_batch(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A layer was consumed that had been started in the same epoch, for another batch with as many prefix tokens."""
    key = (call.layer, call.epoch, tuple(call.batch))
    prefix = before.prefix_locations(key[2]) if not before.reasons(call) else []
    others = [before.prefix_locations(other[2]) for other in before.rivals(key)] if prefix else []
    return key not in before.started and any(len(o) == len(prefix) and o != prefix for o in others)


@witness(on=READ)
def unknown_buffer_read(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A buffer was read that is not there, under a lease that is held."""
    return call.lease in before.leases and call.buffer not in buffers_of(before.pool)


@witness(on=LIVE_BYTES)
def filling_counted(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """Live bytes were asked for while a buffer is being filled."""
    return any(any(request.prefix_tokens for request in key[2]) for key in before.outstanding())


@witness(on=LIVE_BYTES)
def leases_counted(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """Live bytes were asked for while something is leased."""
    return any(lease.rows for lease in before.leases.values())


@witness(on=LIVE_BYTES)
def nothing_counted(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """Live bytes were asked for after everything was released."""
    return bool(before.released) and not before.leases and not before.outstanding()


@witness(on=(READ, RELEASE))
def released_lease_named(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A lease was named that had been released."""
    return call.lease in before.released


@witness(on=EVENTS)
def off_and_consumed(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """Events were asked for after layers were consumed while prefetch is off."""
    return not before.is_on and any(layer > 0 for layer, _, _ in before.consumed)


@witness(on=EVENTS)
def layer_missed(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """Events were asked for after a layer was consumed that was not prefetched."""
    return any(told.kind == "miss" for told in before.untold)


@witness(on=EVENTS)
def layer_lost(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """Events were asked for after a layer was consumed whose prefetch was lost."""
    lost = {key[0] for key in before.consumed if key in before.started and before.started[key].is_lost}
    return any(told.kind == "miss" and told.layer in lost for told in before.untold)


@witness(on=EVENTS)
def layer_hit(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """Events were asked for after a layer was consumed that had been prefetched."""
    return any(told.kind == "hit" for told in before.untold)


@witness(on=EVENTS)
def first_layer_consumed(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """Events were asked for after the first layer was consumed."""
    return any(told.kind == "first" for told in before.untold)


@witness(on=START)
def several_requests_started(before: PrefetchState, call: Call, answer: Answer) -> bool:
    """A prefetch of several requests was started while prefetch is on: skipped and told, or done."""
    return before.is_on and len(call.batch) > 1 and not before.reasons(call) and isinstance(answer, Ok)
