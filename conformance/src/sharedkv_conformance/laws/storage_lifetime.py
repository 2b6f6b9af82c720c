"""The laws of host pages that a save reads, of what ranks answer, and of the rows that come back from the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sharedkv_conformance.laws.storage import got, judged, told, wrong
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_tier_tree_state import STATISTICS, TREE
from sharedkv_conformance.model.storage_state import READ, StorageState
from sharedkv_conformance.step import Answer, Call, Ok

EVICT_HOST, POLL = "host_tier.evict_host", "host_tier.poll"
LOOKS = (
    "storage.keys",
    "storage.save",
    "storage.query",
    "storage.check",
    "storage.quota",
    "probe.arrive",
    "probe.advance",
    "probe.spoil",
)
ALIKE = ("storage.save", "storage.query", "storage.fetch", "storage.check", "storage.end", "storage.quota")


def saved_places(before: StorageState) -> dict[tuple[int, ...], int]:
    """Return the pages that a save in flight reads, by the tokens up to their end, with the save."""
    return {
        path: save
        for node in before.model.tree.nodes.values()
        for save in node.readers.intersection(before.saves())
        for path in before.paths_of(node)
    }


def loses_saved_pages(before: StorageState, call: Call, answer: Answer) -> tuple[int, ...]:
    """Return the saves in flight whose host pages a tree that is shown has no more."""
    step = judged(before, call, answer)
    if step is None or call.op != TREE or step.seen is None:
        return ()
    seen = step.seen.places
    return tuple(save for path, save in saved_places(before).items() if path not in seen or seen[path].host is None)


def _too_many(before: StorageState, call: Call, answer: Answer) -> bool:
    step = judged(before, call, answer)
    if step is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return False
    return any(have > want for have, want in zip(answer.value.freed, step.expected.value.freed, strict=False))


def _evicted(before: StorageState, call: Call, answer: Answer, *, split: bool) -> Iterator[str]:
    saves = loses_saved_pages(before, call, answer) if call.op == TREE else ()
    if call.op == EVICT_HOST and before.saves() and wrong(before, call, answer) and _too_many(before, call, answer):
        saves = tuple(before.saves())
    if saves and any(map(before.is_split, saves)) == split:
        yield f"host pages that save {saves[0]} reads are evicted by {before.cause() or call.op}"


@law("RFC-0010:C-LIFETIME#S1", on=(EVICT_HOST, TREE))
def pages_under_a_save_stay(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Another node's rows would be stored under this one's key."""
    yield from _evicted(before, call, answer, split=False)


@law("RFC-0010:C-LIFETIME#S2", on=(EVICT_HOST, TREE))
def both_parts_of_a_split_node_stay(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """The save reads the pages of both."""
    yield from _evicted(before, call, answer, split=True)


@law("RFC-0010:C-LIFETIME#S3", on=POLL)
def a_save_is_acknowledged_when_all_of_it_is_done(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """On every rank, for each writes its own lane."""
    step = judged(before, call, answer)
    if step is None or not isinstance(step.expected, Ok):
        return
    told_of = set(answer.value) if isinstance(answer, Ok) else set()
    for save in before.saves():
        if (save in told_of) != (save in step.expected.value):
            is_due = "has to be" if save in step.expected.value else "must not be"
            yield f"save {save} {is_due} acknowledged, got {got(answer)}"


@law("RFC-0010:C-LIFETIME#S4", on=EVICT_HOST)
def pages_of_a_finished_save_can_go(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """A page that is kept for ever is lost."""
    if wrong(before, call, answer) and not _too_many(before, call, answer):
        yield f"expected {told(before.step(call, answer))}, got {got(answer)}"


@law("RFC-0010:C-LIFETIME#S5", on=(TREE, STATISTICS))
def looks_leave_the_tree_alone(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """A node that is split, refreshed or lost by a look is another one for whoever comes next."""
    if before.cause() not in LOOKS or loses_saved_pages(before, call, answer) or not wrong(before, call, answer):
        return
    step = before.step(call, answer)
    found = [message for messages in step.differences.values() for message in messages]
    yield f"after {before.cause()}: {'; '.join(found) or f'expected {told(step)}, got {got(answer)}'}"


def alike(call: Call, value: Any) -> Any:
    """Return what has to be equal on every rank: of a number, whether there is one."""
    return value >= 0 if call.op in ("storage.save", "storage.fetch") else value


@law("RFC-0010:C-RANKS#S1", on=ALIKE)
def every_rank_answers_alike(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Trees that drift apart end in a collective that not all ranks make."""
    other = before.peer_answer
    if isinstance(other, Ok) and (not isinstance(answer, Ok) or alike(call, answer.value) != alike(call, other.value)):
        yield f"{call.op}: rank {before.config.rank} answers {got(answer)}, rank 0 {got(other)}"


@law("RFC-0010:C-BYTES#S1", on=READ)
def rows_come_back_as_they_were(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Bit for bit, in the buffer and the place where they were."""
    path = before.path_of(call.locations)
    known = before.rows_read.get((path, call.layer, call.buffer))
    if before.diverged or not path or known is None:
        return
    if not isinstance(answer, Ok) or answer.value != known:
        found = answer.value[:8].hex() if isinstance(answer, Ok) else str(answer.error)
        yield f"layer {call.layer}, {call.buffer} behind {list(path)}: {found}..., and was {known[:8].hex()}..."
