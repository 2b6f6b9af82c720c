"""The laws of how a fetch ends: what is published where, what is free again, and what the quota says."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.laws.storage import got, judged, told, wrong
from sharedkv_conformance.laws.storage_fetches import END, REVOKE
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_tier_tree_state import STATISTICS, TREE
from sharedkv_conformance.model.storage_fetches import Fetch
from sharedkv_conformance.model.storage_state import QUOTA, StorageState
from sharedkv_conformance.step import Answer, Call, Err, Ok

RESET = "host_tier.reset"


def place(before: StorageState, fetch: Fetch) -> str:
    """Say how the tree lies to the arrived pages of a fetch: `nowhere`, `overlapping` or `below`."""
    storage = before.storage
    arrived = storage.tokens_to(fetch, fetch.first + storage.num_arrived(fetch))
    way = storage.tier.tree.walk(arrived)
    present = sum(held for _, held in way)
    if not storage.follows_on(fetch, way):
        return "nowhere"
    return "overlapping" if present > fetch.first else "below"


def _miscounted(before: StorageState, call: Call, answer: Answer, *places: str) -> Iterator[str]:
    step, fetch = judged(before, call, answer), before.fetches.get(call.fetch)
    if step and fetch and wrong(before, call, answer):
        found = place(before, fetch)
        is_more = isinstance(answer, Ok) and isinstance(step.expected, Ok) and answer.value > step.expected.value
        if (found if is_more else "below") in places:
            yield (
                f"end of fetch {call.fetch}, {before.storage.num_arrived(fetch)} of {len(fetch.plan)} pages arrived, "
                f"the tree is {found}: expected {told(step)}, got {got(answer)}"
            )


@law("RFC-0010:C-PUBLISH#S1", on=END)
def what_has_arrived_is_published(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """No page less, and no page of which a part is missing."""
    yield from _miscounted(before, call, answer, "below")


@law("RFC-0010:C-PUBLISH#S2", on=END)
def nothing_is_published_twice(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Another request may have inserted the same tokens meanwhile."""
    yield from _miscounted(before, call, answer, "overlapping")


@law("RFC-0010:C-PUBLISH#S3", on=END)
def nothing_is_published_without_what_is_before_it(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Below a node without host pages, or behind a gap, it would be lost or looked for in vain."""
    yield from _miscounted(before, call, answer, "nowhere")


@law("RFC-0010:C-PUBLISH#S4", on=TREE)
def what_is_published_is_a_node_on_the_host(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Backed up, not resident, and on the lanes that were kept."""
    step = judged(before, call, answer)
    if step and before.cause() == END:
        yield from (message for messages in step.differences.values() for message in messages)


@law("RFC-0010:C-PUBLISH#S5", on=(STATISTICS, TREE, REVOKE))
def every_page_of_a_fetch_goes_one_way(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Into the tree or back to the free ones, once."""
    step = judged(before, call, answer)
    if step is not None and call.op == REVOKE and isinstance(step.expected, Ok) and isinstance(answer, Err):
        yield f"revoke of fetch {call.fetch} was answered with {answer.error}"
    if step is None or before.cause() not in (END, REVOKE):
        return
    if call.op == TREE and before.cause() == REVOKE:
        yield from (message for messages in step.differences.values() for message in messages)
    elif call.op == STATISTICS and wrong(before, call, answer):
        yield f"after {before.cause()}: expected {told(step)}, got {got(answer)}"


@law("RFC-0010:C-PUBLISH#S6", on=(QUOTA, STATISTICS))
def a_reset_ends_every_fetch(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """What was asked for before a flush does not come back after it."""
    if before.cause() == RESET and wrong(before, call, answer):
        yield f"after a reset {call.op}: expected {told(before.step(call, answer))}, got {got(answer)}"


@law("RFC-0010:C-QUOTA#S1", on=QUOTA)
def the_quota_counts_what_is_in_flight(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """From the begin to the end of a fetch, however far it is."""
    if before.cause() not in (END, REVOKE, RESET) and wrong(before, call, answer):
        yield f"{len(before.fetches)} fetches hold {told(before.step(call, answer))} pages, got {got(answer)}"


@law("RFC-0010:C-QUOTA#S2", on=QUOTA)
def the_quota_is_given_back_once(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """All of it, however the fetch ended."""
    if before.cause() in (END, REVOKE) and wrong(before, call, answer):
        yield f"after {before.cause()} fetches hold {told(before.step(call, answer))} pages, got {got(answer)}"
