"""The laws of admission: which requests of a batch are given host pages, what gives way, and what is given back."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.laws.host_tier_backup import newly_pending
from sharedkv_conformance.laws.host_tier_decisions import (
    ADMIT,
    CANCEL,
    HISTORY,
    INSERT,
    asked,
    changed,
    is_error,
    is_on_way,
    last_call,
    miscounted,
    off,
    places,
    since,
    succeeds,
)
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_tree_state import LANES, STATISTICS, TREE, HostTreeState, Step
from sharedkv_conformance.step import Answer, Call, Ok


def evicts(step: Step) -> bool:
    """Say whether an admission has to make room."""
    return isinstance(step.expected, Ok) and any(step.expected.value.evicted)


def fits_at_once(before: HostTreeState, call: Call) -> bool:
    """Say whether a batch has its host pages free."""
    return before.model.fits(before.model.admission_need(call.batch))


def takes_reservation(model: HostTierModel, call: Call) -> bool:
    """Say whether the new node of an insert takes what was reserved for the request."""
    found = model.tree.walk(call.tokens)
    reserved = model.reservations.get(call.request, {})
    new = call.pages[sum(held for _, held in found) : len(call.tokens) // model.config.page_size]
    return bool(new) and all(page in reserved for page in new) and (not found or bool(found[-1][0].host))


def _given(before: HostTreeState, call: Call, answer: Answer) -> Step | None:
    """Return the step of an admission that has to succeed and evicted what it has to."""
    step = asked(before, call, answer, ADMIT)
    if step is None or not isinstance(step.expected, Ok):
        return None
    return step if not isinstance(answer, Ok) or answer.value.evicted == step.expected.value.evicted else None


def _beyond(before: HostTreeState, call: Call, answer: Answer) -> list[str]:
    """Return a message for each request that is given more than its full pages."""
    if not isinstance(answer, Ok):
        return []
    full = [len(before.model.full_pages(request)) for request in call.batch]
    return [
        f"request {request.request} with {request.extend_tokens} new tokens is given {got} host pages for {most} full"
        for request, got, most in zip(call.batch, answer.value.reserved, full, strict=False)
        if got > most
    ]


@law("RFC-0006:C-ADMISSION#S1", on=ADMIT, history=HISTORY)
def full_pages_alone_are_reserved(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A page that is not full is not backed up: its tokens change."""
    if _given(before, call, answer) is not None:
        yield from _beyond(before, call, answer)


@law("RFC-0006:C-ADMISSION#S2", on=STATISTICS, history=HISTORY)
def reservations_lie_on_the_lanes_of_their_pages(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Each lane gives the host pages of its own device pages."""
    if (step := since(before, ADMIT)) and succeeds(step):
        yield from miscounted(before, call, answer)


@law("RFC-0006:C-ADMISSION#S3", on=(ADMIT, TREE, LANES), history=HISTORY)
def one_eviction_makes_room_for_a_batch(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """What all requests lack together decides who goes, lane by lane."""
    if call.op != ADMIT:
        if (last := since(before, ADMIT)) and evicts(last):
            yield from changed(before, call, answer) if call.op == TREE else miscounted(before, call, answer)
    elif (step := asked(before, call, answer, ADMIT)) and evicts(step):
        wanted = step.expected.value.evicted if isinstance(step.expected, Ok) else ()
        if not isinstance(answer, Ok):
            yield f"a batch that fits after an eviction of {wanted} by lane is answered with {answer.error}"
        elif answer.value.evicted != wanted:
            yield f"host pages that gave way by lane: {answer.value.evicted}, expected {wanted}"


@law("RFC-0006:C-ADMISSION#S4", on=(ADMIT, TREE, LANES), history=HISTORY)
def nobody_goes_where_it_does_not_help(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A batch that fits needs no victims, and one that cannot fit must have none."""
    if call.op != ADMIT:
        if (last := since(before, ADMIT)) and succeeds(last) and not evicts(last):
            yield from changed(before, call, answer) if call.op == TREE else miscounted(before, call, answer)
    elif (step := asked(before, call, answer, ADMIT)) and not evicts(step):
        evicted = answer.value.evicted if isinstance(answer, Ok) else ()
        if isinstance(step.expected, Ok) and isinstance(answer, Ok) and evicted != step.expected.value.evicted:
            yield f"{evicted} host pages by lane gave way for a batch that fits without or not at all"


@law("RFC-0006:C-ADMISSION#S5", on=ADMIT, history=HISTORY)
def what_does_not_fit_is_served_in_batch_order(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Each request has all of its pages or none, and the first are asked first."""
    step = _given(before, call, answer)
    if step and not evicts(step) and not fits_at_once(before, call) and not _beyond(before, call, answer):
        yield from off(step, answer)


@law("RFC-0006:C-ADMISSION#S6", on=ADMIT, history=HISTORY)
def a_batch_that_fits_is_given_all(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """No request of a batch that fits goes without."""
    step = _given(before, call, answer)
    if step is None or _beyond(before, call, answer) or (evicts(step) and not isinstance(answer, Ok)):
        return
    if evicts(step) or fits_at_once(before, call):
        yield from off(step, answer)


@law("RFC-0006:C-ADMISSION#S7", on=(CANCEL, TREE, STATISTICS, LANES), history=HISTORY)
def a_cancel_gives_back_what_its_request_had(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """All of it, and nothing of another request."""
    if step := asked(before, call, answer, CANCEL):
        if succeeds(step):
            yield from off(step, answer)
    elif (last := since(before, CANCEL)) and succeeds(last):
        yield from changed(before, call, answer) if call.op == TREE else miscounted(before, call, answer)


@law("RFC-0006:C-ADMISSION#S8", on=(INSERT, TREE, STATISTICS), history=HISTORY)
def an_insert_uses_up_the_reservation_of_its_request(
    before: HostTreeState, call: Call, answer: Answer
) -> Iterator[str]:
    """The new node takes it, or it is free again."""
    if step := asked(before, call, answer, INSERT):
        if call.request in before.model.reservations and isinstance(step.expected, Ok) and isinstance(answer, Ok):
            yield from _miscounted_backups(step.expected, answer, taken=takes_reservation(before.model, call))
    elif (last := since(before, INSERT)) and last_call(before).request in last.earlier.reservations:
        if call.op == STATISTICS and succeeds(last):
            yield from miscounted(before, call, answer)
        elif call.op == TREE and isinstance(last.expected, Ok):
            yield from _misplaced_reservation(before, call, answer, last)


def _miscounted_backups(expected: Ok, answer: Ok, *, taken: bool) -> Iterator[str]:
    """Yield a reservation that was not taken, or taken where it must not be, where nothing else is backed up."""
    wanted, got = len(expected.value.backups), len(answer.value.backups)
    if wanted == taken and wanted != got:
        state = "is to be taken by the new node" if taken else "is to be given back"
        yield f"the reservation {state}, and the insert submits {got} backups"


def _misplaced_reservation(before: HostTreeState, call: Call, answer: Answer, last: Step) -> Iterator[str]:
    """Yield pages of the way that have another host page, where the reservation is all that is backed up."""
    insert = last_call(before)
    yield from newly_pending(before, call, answer)
    alone = isinstance(last.expected, Ok) and len(last.expected.value.backups) == 1
    if alone and takes_reservation(last.earlier, insert):
        for path, want, have in places(before, call, answer):
            if (want.lane is None) != (have.lane is None) and is_on_way(path, insert.tokens):
                yield f"page {list(path)} has its host page on lane {have.lane}, reserved on {want.lane}"


@law("RFC-0006:C-ADMISSION#S9", on=(ADMIT, CANCEL, TREE, STATISTICS, LANES), history=HISTORY)
def what_cannot_be_reserved_is_refused(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A fault is named, and nothing moves."""
    if step := asked(before, call, answer, ADMIT, CANCEL):
        if is_error(step) and call.args.get("request") not in before.ended_requests:
            yield from (f"{call.op} of {dict(call.args)}: {message}" for message in off(step, answer))
    elif (last := since(before, ADMIT, CANCEL)) and is_error(last):
        yield from changed(before, call, answer) if call.op == TREE else miscounted(before, call, answer)
