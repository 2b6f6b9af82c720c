"""The laws of objects and hits: what is written of a page, by whom, and what is found of a prefix."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_tier_tree_state import Step
from sharedkv_conformance.model.storage_keys import is_ambiguous
from sharedkv_conformance.model.storage_state import OBJECTS, StorageState
from sharedkv_conformance.step import Answer, Call, Err, Ok, is_unsupported
from sharedkv_conformance.trace import OPEN

SAVE, QUERY = "storage.save", "storage.query"


def judged(before: StorageState, call: Call, answer: Answer) -> Step | None:
    """Return what a call has to be answered with; None where nothing is known any more, or hangs on what is open."""
    if before.diverged or is_unsupported(answer) or before.is_unsure(call):
        return None
    return before.step(call, answer)


def wrong(before: StorageState, call: Call, answer: Answer) -> bool:
    """Say whether an answer may be judged, and is not the one that it has to be."""
    return judged(before, call, answer) is not None and before.deviates(call, answer)


def told(step: Step) -> str:
    """Return the answer that has to be, in words."""
    return str(step.expected.error) if isinstance(step.expected, Err) else str(getattr(step.expected, "value", ""))


def got(answer: Answer) -> str:
    """Return an answer in words."""
    return str(answer.value) if isinstance(answer, Ok) else str(answer.error)


def _shown(before: StorageState, call: Call, answer: Answer, *fields: str) -> Iterator[str]:
    step = judged(before, call, answer)
    for field in fields if step else ():
        yield from step.differences.get(field, ()) if step else ()


# -- objects ---------------------------------------------------------------------------------------------------------


@law("RFC-0010:C-OBJECTS#S1", on=SAVE)
def a_save_has_a_copy_where_there_is_a_page_to_write(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Whoever waits for a copy that is none waits for ever."""
    if wrong(before, call, answer):
        yield f"save of {len(call.tokens)} tokens: expected {told(before.step(call, answer))}, got {got(answer)}"


@law("RFC-0010:C-OBJECTS#S2", on=OBJECTS)
def every_part_of_a_saved_page_is_there(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """On every lane and in every part; before the save is acknowledged nobody may count on it."""
    yield from _shown(before, call, answer, "missing")


@law("RFC-0010:C-OBJECTS#S3", on=OBJECTS)
def the_lane_is_kept_with_the_object(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """It says where the page goes when it comes back."""
    yield from _shown(before, call, answer, "lane")


@law("RFC-0010:C-OBJECTS#S4", on=OBJECTS)
def the_owner_writes_its_pages(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """No other rank has them."""
    yield from _shown(before, call, answer, "writer")


@law("RFC-0010:C-OBJECTS#S5", on=OBJECTS)
def objects_stand_under_the_keys_of_the_session(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """What stands elsewhere is found by others, or by nobody."""
    yield from _shown(before, call, answer, "strange")


@law("RFC-0010:C-OBJECTS#S6", on=OBJECTS)
def nothing_else_is_written(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Half-filled pages, pages whose rows are not there yet, and objects that others fetch right now."""
    yield from _shown(before, call, answer, "extra", "rewritten")


@law("RFC-0010:C-OBJECTS#S7", on=OPEN)
def an_ambiguous_session_is_not_opened(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """A session whose namespace can be read in two ways would share objects with one of two others."""
    if is_ambiguous(before.config.storage.fields):
        reason = answer.error.reason if isinstance(answer, Err) and isinstance(answer.error, Rejected) else ""
        if reason != Reason.NAMESPACE_INVALID:
            yield f"fields {before.config.storage.fields}: expected {Reason.NAMESPACE_INVALID}, got {got(answer)}"


# -- hits ------------------------------------------------------------------------------------------------------------


def excess(before: StorageState, call: Call, answer: Answer) -> tuple[int, str]:
    """Return how many pages too many a query counts, and why the first of them is none: `absent` or `not whole`."""
    most = before.hits(call.tokens)[1]
    if not isinstance(answer, Ok) or answer.value <= most:
        return 0, ""
    keys = before.storage.own_keys(call.tokens)
    there = most < len(keys) and all(before.storage.store.find(keys[most], part) for part in before.storage.parts)
    return answer.value - most, "not whole" if there else "absent"


def is_strange(before: StorageState, call: Call, answer: Answer) -> bool:
    """Say whether a session finds objects that are not its own, or nothing of what another session wrote for it."""
    return before.is_shared and (answer == Ok(0) or excess(before, call, answer)[0] > 0)


def _overcounted(before: StorageState, call: Call, answer: Answer, reason: str) -> Iterator[str]:
    if wrong(before, call, answer) and not is_strange(before, call, answer):
        pages, why = excess(before, call, answer)
        if pages and why == reason:
            yield f"a hit of {got(answer)} pages; an object of page {answer.value - pages + 1} is {reason}"  # type: ignore[union-attr]


@law("RFC-0010:C-HITS#S1", on=QUERY)
def a_hit_ends_before_a_missing_part(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Rows without those beside them are no prefix."""
    yield from _overcounted(before, call, answer, "absent")


@law("RFC-0010:C-HITS#S2", on=QUERY)
def a_hit_ends_before_an_object_that_is_not_whole(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """What a disk did to an object is found out before anybody computes with it."""
    yield from _overcounted(before, call, answer, "not whole")


@law("RFC-0010:C-HITS#S3", on=QUERY)
def every_leading_page_counts(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """What was paid for is found again."""
    if wrong(before, call, answer) and not is_strange(before, call, answer) and not excess(before, call, answer)[0]:
        yield f"a hit of {got(answer)} pages, and {before.hits(call.tokens)[0]} leading pages are stored"


@law("RFC-0010:C-HITS#S4", on=QUERY)
def sessions_find_their_own_namespace(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """All of it, whoever wrote it, and nothing else."""
    if wrong(before, call, answer) and is_strange(before, call, answer):
        yield f"a hit of {got(answer)} pages, and {before.hits(call.tokens)[1]} were stored for this namespace"
