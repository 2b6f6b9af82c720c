"""The laws of submissions, acknowledgements and lifetimes: what is enqueued, when it is done, what it protects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.copies import source_of
from sharedkv_conformance.model.copies_state import EVENTS, LAYER_END, LOAD_BACK, CopiesState
from sharedkv_conformance.model.host_tier_tree import Node
from sharedkv_conformance.step import Answer, Call, Err, Ok

POLL, COPIES, EXTEND, ADMIT = "host_tier.poll", "probe.copies", "allocation.extend", "host_tier.admit"
EVICT, MAKE_ROOM = "host_tier.evict", "host_tier.make_room"
EVICT_HOST, MAKE_HOST_ROOM = "host_tier.evict_host", "host_tier.make_host_room"


# -- layers ----------------------------------------------------------------------------------------------------------


def _submitted(before: CopiesState, answer: Answer, layer: int) -> int:
    """Count the backups of a layer that were told since the last look."""
    source = source_of(before.config, layer)
    new = before.events(answer)
    return sum(event.kind == "backup_submitted" and (event.layer, event.reason) == (layer, source) for event in new)


def _told(before: CopiesState, answer: Answer) -> tuple[int, int, int] | None:
    """Return the one layer that ended since the last look, for how many it was due, and how often it was submitted."""
    if before.diverged or len(before.told_since) != 1 or not isinstance(answer, Ok):
        return None
    layer, due = before.told_since[0]
    return layer, due, _submitted(before, answer, layer)


@law("RFC-0009:C-LAYERS#S1", on=EVENTS)
def one_set_of_descriptors_serves_all_requests(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """Descriptors cost the scheduler's time, by request as much as by batch."""
    told = _told(before, answer)
    if told is not None and told[2] > 1:
        yield f"layer {told[0]} ended once, and {told[2]} sets were submitted"


@law("RFC-0009:C-LAYERS#S2", on=EVENTS)
def the_end_of_a_layer_submits_what_is_due(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """A backup that waits for the end of the forward overlaps with nothing."""
    told = _told(before, answer)
    if told is not None and told[1] and not told[2]:
        yield f"layer {told[0]} ended, requests have reservations, and nothing was submitted"


@law("RFC-0009:C-LAYERS#S3", on=EVENTS)
def the_end_of_a_layer_submits_nothing_twice(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """A layer that is told again, or by a forward without reservations, has nothing to copy."""
    told = _told(before, answer)
    if told is not None and not told[1] and told[2] == 1:
        yield f"layer {told[0]} was due for nobody, and was submitted"


@law("RFC-0009:C-LAYERS#S5", on=LAYER_END)
def a_layer_that_is_not_there_is_refused(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """Layers are those of target and draft; and every one of them may be told."""
    if before.diverged:
        return
    if call.layer in range(before.pool.all_layers):
        if isinstance(answer, Err):
            yield f"layer {call.layer} is there, got {answer.error}"
    elif isinstance(answer, Ok) or getattr(answer.error, "reason", None) != Reason.LAYER_OUTSIDE_POOL:
        found = "it was taken" if isinstance(answer, Ok) else str(answer.error)
        yield f"layer {call.layer} of {before.pool.all_layers}: expected {Reason.LAYER_OUTSIDE_POOL}, got: {found}"


@law("RFC-0009:C-LAYERS#S6", on=EVENTS)
def a_load_is_submitted_layer_by_layer(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """The first layer is needed first."""
    if before.diverged or before.loads_since != 1 or not isinstance(answer, Ok):
        return
    found = [(event.layer, event.reason) for event in before.events(answer) if event.kind == "load_submitted"]
    wanted = [(layer, source_of(before.config, layer)) for layer in range(before.pool.all_layers)]
    if found != wanted:
        yield f"a load submitted {found}, expected {wanted}"


# -- acknowledgement -------------------------------------------------------------------------------------------------


@law("RFC-0009:C-ACKNOWLEDGEMENT#S1", on=POLL)
def no_copy_is_acknowledged_before_all_its_sources(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """Target and draft, on every rank."""
    if before.diverged or not isinstance(answer, Ok):
        return
    for number in answer.value:
        own = before.model.ledger.copies.get(number)
        if own is not None and (left := {source: sorted(ranks) for source, ranks in own.left.items() if ranks}):
            yield f"copy {number} was acknowledged; unfinished on ranks: {left}"


@law("RFC-0009:C-ACKNOWLEDGEMENT#S2", on=COPIES)
def sources_finish_by_themselves(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """The draft does not finish because the target did, nor a source because one rank did."""
    if before.diverged or not isinstance(answer, Ok):
        return
    known = {own.copy: set(own.sources) for own in before.model.ledger.view()}
    for shown in answer.value:
        wanted = known.get(shown.copy)
        if wanted is not None and set(shown.sources) != wanted:
            yield f"copy {shown.copy} is unfinished for {sorted(shown.sources)}, expected {sorted(wanted)}"


# -- lifetime --------------------------------------------------------------------------------------------------------


def _under(before: CopiesState) -> set[int]:
    """Return the device pages under copies."""
    return {page for node in before.model.tree.nodes.values() if node.backups or node.loads for page in node.pages}


@law("RFC-0009:C-LIFETIME#S1", on=(EVICT, MAKE_ROOM, EXTEND, LOAD_BACK))
def device_pages_under_copies_are_nobody_elses(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """The copy reads, or fills, the page when it runs, whatever the books say by then."""
    if before.diverged or not isinstance(answer, Ok):
        return
    if pages := sorted(_under(before).intersection(answer.value.pages)):
        yield f"{call.op}: pages {pages} are under a copy"


def _beyond(before: CopiesState, call: Call, answer: Answer, protected: Sequence[Node]) -> Iterator[str]:
    """Yield the lanes on which more host pages were freed than there are beside protected ones."""
    if before.diverged or not isinstance(answer, Ok) or not protected:
        return
    freed = answer.value.evicted if call.op == ADMIT else answer.value.freed
    others = [node for node in before.model.tree.nodes.values() if node not in protected]
    spare = Counter(lane for node in others for lane, _ in node.host)
    for lane, count in enumerate(freed):
        if count > spare[lane]:
            yield f"{call.op}: {count} host pages of lane {lane} gave way, and {spare[lane]} are not under a copy"


@law("RFC-0009:C-LIFETIME#S2", on=(EVICT_HOST, MAKE_HOST_ROOM, ADMIT))
def host_pages_under_loads_stay(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """A load reads its host pages until it is acknowledged."""
    yield from _beyond(before, call, answer, [node for node in before.model.tree.nodes.values() if node.loads])


@law("RFC-0009:C-LIFETIME#S3", on=(EVICT_HOST, MAKE_HOST_ROOM, ADMIT))
def host_pages_under_backups_stay(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """A backup fills its host pages until it is acknowledged."""
    yield from _beyond(before, call, answer, [node for node in before.model.tree.nodes.values() if node.backups])


@law("RFC-0009:C-LIFETIME#S6", on=LOAD_BACK)
def both_parts_of_a_split_are_backed_up(before: CopiesState, call: Call, answer: Answer) -> Iterator[str]:
    """The copy was made for the whole of the node, whoever splits it meanwhile."""
    if before.diverged or not isinstance(answer, Ok):
        return
    expected = before.step(call, answer).expected
    wanted = expected.value.pages if isinstance(expected, Ok) else ()
    is_split = any(tuple(call.tokens[: len(path)]) == path for path in before.split)
    if is_split and len(answer.value.pages) < len(wanted):
        yield f"{len(answer.value.pages)} pages were loaded of a node that was split under its backup, of {len(wanted)}"
