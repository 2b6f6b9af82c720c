"""The laws of fetches: which are begun, what they take, what has arrived, and when they may end."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.storage import FetchStatus
from sharedkv_conformance.laws.storage import got, judged, told, wrong
from sharedkv_conformance.laws.storage_lifetime import loses_saved_pages
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_tier_tree_state import STATISTICS, TREE
from sharedkv_conformance.model.storage_fetches import BEST_EFFORT, POLICIES, TIMEOUT, WAIT_COMPLETE, Fetch
from sharedkv_conformance.model.storage_state import StorageState
from sharedkv_conformance.step import Answer, Call, Err, Ok

FETCH, CHECK, END, REVOKE = "storage.fetch", "storage.check", "storage.end", "storage.revoke"
OF_FETCH = (CHECK, END, REVOKE)


# -- what is begun ---------------------------------------------------------------------------------------------------


def obstacle(before: StorageState, call: Call) -> str:
    """Return why a fetch of a known policy must not be begun: `pages`, `quota`, `room`, or nothing."""
    storage = before.storage
    pages = len(storage.plan(call.tokens, storage.pages_in_tree(call.tokens)))
    if storage.is_too_small(pages):
        return "pages"
    if storage.exceeds_quota(pages):
        return "quota"
    return "room"


def _begun_against(before: StorageState, call: Call, answer: Answer, why: str) -> Iterator[str]:
    step = judged(before, call, answer) if call.policy in POLICIES else None
    if step and step.expected == Ok(-1) and answer != Ok(-1) and obstacle(before, call) == why:
        yield f"a fetch of {len(call.tokens)} tokens is answered with {got(answer)}, for want of {why} expected -1"


@law("RFC-0010:C-FETCH#S1", on=FETCH)
def a_fetch_that_can_be_made_is_begun(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """With a number that nothing in flight has; also where room has to be made first."""
    step = judged(before, call, answer) if call.policy in POLICIES else None
    if step and step.expected != Ok(-1) and wrong(before, call, answer):
        yield f"a fetch of {len(call.tokens)} tokens can be begun, got {got(answer)}"


@law("RFC-0010:C-FETCH#S2", on=FETCH)
def nothing_is_fetched_for_too_few_pages(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """A fetch of nothing is complete at once, and one of little is not worth its waiting."""
    yield from _begun_against(before, call, answer, "pages")


@law("RFC-0010:C-FETCH#S3", on=FETCH)
def no_fetch_exceeds_the_quota(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """All fetches together, not each for itself."""
    yield from _begun_against(before, call, answer, "quota")


@law("RFC-0010:C-FETCH#S4", on=FETCH)
def no_fetch_is_begun_without_room(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Room on its own lanes, for all its pages."""
    yield from _begun_against(before, call, answer, "room")


@law("RFC-0010:C-FETCH#S5", on=STATISTICS)
def a_fetch_takes_pages_of_the_lanes_kept(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Where the page lay when it was computed is where it can be loaded from."""
    if _has_begun(before) and wrong(before, call, answer):
        yield f"after the begin of a fetch: expected {told(before.step(call, answer))}, got {got(answer)}"


@law("RFC-0010:C-FETCH#S6", on=(TREE, STATISTICS))
def a_fetch_evicts_what_it_has_to(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """By the plan for what it lacks, nothing of its own way, and nothing where it is not begun."""
    if before.cause() != FETCH or loses_saved_pages(before, call, answer):
        return
    step = judged(before, call, answer)
    if step and call.op == TREE:
        yield from (message for messages in step.differences.values() for message in messages)
    elif not _has_begun(before) and wrong(before, call, answer):
        yield f"after a fetch that is not begun: expected {told(before.step(call, answer))}, got {got(answer)}"


def _has_begun(before: StorageState) -> bool:
    return before.cause() == FETCH and before.last is not None and before.last[1] != Ok(-1)


# -- how far it is ---------------------------------------------------------------------------------------------------


def differing(before: StorageState, call: Call, answer: Answer) -> tuple[Fetch, FetchStatus, str] | None:
    """Return the fetch, its status as it has to be, and the first field in which the answer differs."""
    step, fetch = judged(before, call, answer), before.fetches.get(call.fetch)
    if step is None or fetch is None or not isinstance(step.expected, Ok):
        return None
    wanted: FetchStatus = step.expected.value
    if isinstance(answer, Err):
        return fetch, wanted, "planned"
    names = ("planned", "arrived", "is_done")
    found = [name for name in names if getattr(answer.value, name) != getattr(wanted, name)]
    return (fetch, wanted, found[0]) if found else None


def _field(before: StorageState, call: Call, answer: Answer, field: str) -> Iterator[tuple[Fetch, str]]:
    found = differing(before, call, answer)
    if found and found[2] == field:
        yield found[0], f"fetch {call.fetch} of {len(found[0].plan)} pages: expected {found[1]}, got {got(answer)}"


@law("RFC-0010:C-FETCH#S7", on=CHECK)
def the_plan_is_known_when_every_rank_has_looked(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """And it is what was stored behind the tree when the fetch began."""
    for _, message in _field(before, call, answer, "planned"):
        yield message


@law("RFC-0010:C-FETCH#S8", on=CHECK)
def a_page_has_arrived_with_all_its_parts(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """And with all pages before it."""
    for fetch, message in _field(before, call, answer, "arrived"):
        if not is_unreadable(before, fetch, answer):
            yield message


@law("RFC-0010:C-FETCH#S9", on=CHECK)
def what_is_not_whole_does_not_arrive(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """An object may be spoiled after it was planned."""
    for fetch, message in _field(before, call, answer, "arrived"):
        if is_unreadable(before, fetch, answer):
            yield message


def is_unreadable(before: StorageState, fetch: Fetch, answer: Answer) -> bool:
    """Say whether a status counts a page of which an object cannot be read."""
    counted = answer.value.arrived if isinstance(answer, Ok) else 0
    pages = fetch.plan[min(fetch.arrived.values()) : counted]
    return any(not before.storage.is_readable(page, part) for page in pages for part in before.storage.parts)


def _done(before: StorageState, call: Call, answer: Answer, policy: str) -> Iterator[str]:
    for fetch, message in _field(before, call, answer, "is_done"):
        if fetch.policy == policy:
            yield f"{policy}, begun at {fetch.began}, timeout {fetch.timeout}, now {before.storage.clock}: {message}"


@law("RFC-0010:C-FETCH#S10", on=CHECK)
def best_effort_may_end_at_any_time(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """A request that can run does not wait for it."""
    yield from _done(before, call, answer, BEST_EFFORT)


@law("RFC-0010:C-FETCH#S11", on=CHECK)
def wait_complete_waits_for_a_plan_and_all_of_it(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """A plan that is not known yet is not complete with nothing."""
    yield from _done(before, call, answer, WAIT_COMPLETE)


@law("RFC-0010:C-FETCH#S12", on=CHECK)
def timeout_waits_no_longer_than_it_says(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """By the clock, from the begin of the fetch."""
    yield from _done(before, call, answer, TIMEOUT)


@law("RFC-0010:C-FETCH#S13", on=(FETCH, *OF_FETCH))
def unknown_policies_and_fetches_are_refused(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """A number that was given back may be another's now."""
    reason = misnamed(before, call)
    if judged(before, call, answer) is None or reason is None:
        return
    if not isinstance(answer, Err) or not isinstance(answer.error, Rejected) or answer.error.reason != reason:
        yield f"{call.op} of {dict(call.args)}: expected {reason}, got {got(answer)}"


def misnamed(before: StorageState, call: Call) -> Reason | None:
    """Return why a call names what nobody knows."""
    if call.op == FETCH:
        return None if call.policy in POLICIES else Reason.POLICY_UNKNOWN
    return None if call.fetch in before.fetches else Reason.FETCH_UNKNOWN
