"""The laws of owner-lane allocation: whose pages, in which order, on which lane, at which locations, by which path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Literal

from sharedkv_conformance.contract.allocation import ExtendAllocation
from sharedkv_conformance.contract.errors import CapacityWait, Rejected
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.step import Answer, Call, Err, Ok

EXTEND = "allocation.extend"
BATCH_CALLS = (EXTEND, "allocation.admit", "allocation.make_room")

Diagnosis = Literal["right", "count", "request order", "page order", "other plan"]


def granted(before: AllocationState, call: Call, answer: Answer) -> ExtendAllocation | None:
    """Return the allocation that a law may judge: one given to a batch that can be served."""
    return answer.value if isinstance(answer, Ok) and not before.refusals(call) else None


def diagnose(expected: Sequence[tuple[int, ...]], owners: tuple[int, ...]) -> Diagnosis:
    """Say in which single way an owner list differs from the expected lists of its requests."""
    if owners == (flat := tuple(lane for request in expected for lane in request)):
        return "right"
    if len(owners) != len(flat):
        return "count"
    if any(owners == sum(order, ()) for order in permutations(expected)):
        return "request order"
    position, slices = 0, []
    for request in expected:
        slices.append(owners[position : position + len(request)])
        position += len(request)
    if all(sorted(found) == sorted(wanted) for found, wanted in zip(slices, expected, strict=True)):
        return "page order"
    return "other plan"


def _diagnosis(before: AllocationState, call: Call, answer: Answer) -> tuple[Diagnosis, str] | None:
    """Return what is wrong with the owners of a batch, and the two lists side by side."""
    if (found := granted(before, call, answer)) is None:
        return None
    expected = before.expected_by_request(call)
    shown = f"owners {list(found.owners)}, expected {[list(request) for request in expected]} by request"
    return diagnose(expected, found.owners), shown


def _is_batch(call: Call) -> bool:
    return len(call.batch) > 1


@law("RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S1", on=EXTEND)
def owners_come_from_each_request_alone(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """No request's owners depend on the others of its batch."""
    found = _diagnosis(before, call, answer)
    if found and found[0] == "other plan" and _is_batch(call):
        yield found[1]


@law("RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S2", on=BATCH_CALLS)
def a_batch_without_owners_is_not_served(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """One request that cannot be planned refuses the whole batch."""
    reasons = before.refusals(call)
    if reasons and (isinstance(answer, Ok) or isinstance(answer.error, CapacityWait)):
        yield f"{call.op} of a {_lengths(call)}: expected {' or '.join(sorted(reasons))}, got {_short_text(answer)}"


@law("RFC-0001:C-FLATTENED-OWNER-ORDER#S1", on=EXTEND)
def requests_keep_their_order(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Owner lists stand one after the other as the requests do."""
    found = _diagnosis(before, call, answer)
    if found and found[0] == "request order":
        yield f"requests are out of order: {found[1]}"


@law("RFC-0001:C-FLATTENED-OWNER-ORDER#S2", on=EXTEND)
def pages_keep_their_order(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Nothing inside a request is sorted by lane, availability or contiguity."""
    found = _diagnosis(before, call, answer)
    if found and found[0] == "page order" and _is_batch(call):
        yield f"pages inside a request are out of order: {found[1]}"


@law("RFC-0001:C-FLATTENED-OWNER-ORDER#S3", on=EXTEND)
def there_is_one_owner_and_one_page_for_each_new_page(
    before: AllocationState, call: Call, answer: Answer
) -> Iterator[str]:
    """Lists are exactly as long as the number of new pages."""
    if found := granted(before, call, answer):
        wanted = len(before.expected_owners(call))
        if len(found.owners) != wanted or len(found.pages) != wanted:
            yield f"{wanted} new pages, got {len(found.owners)} owners and {len(found.pages)} pages"


@law("RFC-0001:C-OWNER-LANE-INVARIANT#S1", on=EXTEND)
def new_pages_lie_on_the_expected_lane(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Each new page has the lane that its position asks for; a wrong owner list is another law's business."""
    found = granted(before, call, answer)
    if found is None or found.owners != before.expected_owners(call):
        return
    for page, owner in zip(found.pages, before.expected_owners(call), strict=False):
        if page > 0 and (lane := before.geometry.lane(page)) != owner:
            yield f"page {page} lies on lane {lane}, expected {owner}"


@law("RFC-0001:C-OWNER-LANE-INVARIANT#S2", on=EXTEND)
def the_dummy_page_is_never_given(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Padded writes of every request go to page 0; whoever owned it would be overwritten."""
    if (found := granted(before, call, answer)) and 0 in found.pages:
        yield f"page 0 is given to a request: pages {list(found.pages)}"


@law("RFC-0001:C-OWNER-LANE-INVARIANT#S3", on=EXTEND)
def locations_follow_the_tokens(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Token locations go request by request, page by page, from offset 0, as far as the tail is filled."""
    found = granted(before, call, answer)
    if found is None or len(found.pages) != len(before.expected_owners(call)):
        return
    wanted: list[int] = []
    pages = iter(found.pages)
    for request in call.batch:
        own = [next(pages) for _ in range(before.geometry.pages_for(request.extend_tokens))]
        wanted += before.geometry.locations(own, request.extend_tokens)
    if list(found.locations) != wanted:
        token = next(
            (i for i, (a, b) in enumerate(zip(found.locations, wanted, strict=False)) if a != b),
            min(len(wanted), len(found.locations)),
        )
        at = f"{found.locations[token]}" if token < len(found.locations) else "missing"
        due = f"{wanted[token]}" if token < len(wanted) else "none"
        yield f"location of token {token}: {at}, expected {due}; {len(found.locations)} in all, expected {len(wanted)}"


@law("RFC-0001:C-NO-LEGACY-FALLBACK#S1", on=EXTEND)
def a_supported_batch_is_not_refused(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """A batch of several page-aligned requests is served, or waits for capacity."""
    supported = _is_batch(call) and not before.refusals(call)
    if (
        supported
        and isinstance(answer, Err)
        and not isinstance(answer.error, CapacityWait)
        and not _short(before, call)
    ):
        yield f"{_lengths(call)}: is supported, got {answer.error}"


@law("RFC-0001:C-NO-LEGACY-FALLBACK#S4", on=BATCH_CALLS)
def an_unsupported_batch_is_refused_by_name(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """The reason says which rule of the batch was broken."""
    reasons = before.refusals(call)
    if not reasons or not isinstance(answer, Err) or isinstance(answer.error, CapacityWait):
        return
    if not isinstance(answer.error, Rejected) or answer.error.reason not in reasons:
        yield f"{_lengths(call)}: expected the reason {' or '.join(sorted(reasons))}, got {answer.error}"


@law("RFC-0001:C-NO-LEGACY-FALLBACK#S2", on="probe.events")
def no_batch_goes_through_legacy_allocation(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Paged allocation without lanes breaks the owner contract while execution goes on."""
    if isinstance(answer, Ok):
        for event in answer.value[before.events_seen :]:
            if event.kind == "legacy_allocation":
                yield f"legacy allocation was used: {event.reason or 'no reason given'}"


@law("RFC-0001:C-NO-LEGACY-FALLBACK#S3", on="probe.events")
def multi_batch_is_no_reason_to_fall_back(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Several requests in a batch are supported."""
    if isinstance(answer, Ok):
        for event in answer.value[before.events_seen :]:
            if event.kind == "fallback" and event.reason == "multi_batch":
                yield "a fallback was reported with the reason multi_batch"


@law("RFC-0001:C-NO-LEGACY-FALLBACK#S4", on="probe.events")
def a_refusal_is_reported(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Each refused batch leaves its reason where operators look."""
    if not isinstance(answer, Ok):
        return
    reported = [event.reason for event in answer.value[before.events_seen :] if event.kind == "rejected"]
    for reason in before.refused:
        if reason not in reported:
            yield f"a batch was refused for {reason}, reported refusals: {reported}"
            return


@law("RFC-0001:C-BS1-COMPATIBILITY#S1", on=EXTEND)
def a_single_request_gets_its_own_split(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """A batch of one request gets the owners that the split of that request gives."""
    if _is_batch(call) or before.refusals(call):
        return
    found = _diagnosis(before, call, answer)
    if found and found[0] not in ("right", "count"):
        yield f"a single request: {found[1]}"
    elif isinstance(answer, Err) and not isinstance(answer.error, CapacityWait) and not _short(before, call):
        yield f"a single request: {_lengths(call)} is supported, got {answer.error}"


@law("RFC-0001:C-DOWNSTREAM-CONTRACT#S1", on="allocation.owners")
def owners_are_read_from_the_page_ids(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """After de-duplication a request's table can hold a page of another lane than its plan named."""
    if any(not before.geometry.holds(page) for page in call.pages):
        return
    wanted = tuple(before.geometry.lane(page) for page in call.pages)
    found = answer.value if isinstance(answer, Ok) else answer.error
    if found != wanted:
        yield f"request {call.request!r} holds pages {list(call.pages)}: owners {found}, expected {wanted}"


@law("RFC-0001:C-DETERMINISM#S1", on=(EXTEND, "allocation.make_room", "allocation.admit", "allocation.allocate_flat"))
def equal_calls_have_equal_answers_on_every_rank(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Ranks that hold different pages for one request read each other's garbage."""
    if before.peer_answer is not None and answer != before.peer_answer:
        yield f"rank {before.config.rank} answers {_short_text(answer)}, rank 0 {_short_text(before.peer_answer)}"


def _short(before: AllocationState, call: Call) -> bool:
    """Say whether some lane cannot serve the batch; then the kind of error is another law's business."""
    return any(need > have for need, have in zip(before.required(call), before.room, strict=True))


def _lengths(call: Call) -> str:
    requests = ", ".join(f"{r.prefix_tokens}+{r.extend_tokens}" for r in call.batch)
    return f"batch of prefix+extend tokens [{requests}]"


def _short_text(answer: Answer) -> str:
    text = str(answer.value if isinstance(answer, Ok) else answer.error)
    return text if len(text) <= 200 else text[:197] + "..."  # noqa: PLR2004 - enough to see the difference
