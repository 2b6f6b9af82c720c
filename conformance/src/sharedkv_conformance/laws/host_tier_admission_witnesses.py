"""The witnesses of admission: which situation a batch, a cancel or an insert with a reservation is."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.host_tier import BackupRequest
from sharedkv_conformance.laws.host_tier_admission import evicts, fits_at_once, takes_reservation
from sharedkv_conformance.laws.host_tier_decisions import ADMIT, CANCEL, HISTORY, INSERT, asked, is_error, succeeds
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.host_tier_tree_state import HostTreeState
from sharedkv_conformance.step import Answer, Call


def _is_admission(before: HostTreeState, call: Call, answer: Answer) -> bool:
    step = asked(before, call, answer, ADMIT)
    return step is not None and succeeds(step)


def _evicts(before: HostTreeState, call: Call, answer: Answer) -> bool:
    step = asked(before, call, answer, ADMIT)
    return step is not None and evicts(step)


def _is_short(before: HostTreeState, call: Call, answer: Answer) -> bool:
    is_full = _is_admission(before, call, answer) and not fits_at_once(before, call)
    return is_full and not _evicts(before, call, answer)


def _need(before: HostTreeState, request: BackupRequest) -> tuple[int, ...]:
    return tuple(before.model.admission_need([request]))


def _short_lanes(before: HostTreeState, call: Call) -> list[int]:
    need, free = before.model.admission_need(call.batch), before.model.free()
    return [lane for lane, (want, have) in enumerate(zip(need, free, strict=True)) if want > have]


@witness(on=ADMIT, history=HISTORY)
def page_not_full_admitted(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A request asked for host pages whose last page is not full, where there was room for it too."""
    size = before.config.page_size
    return _is_admission(before, call, answer) and any(
        request.extend_tokens % size and before.model.fits([len(request.pages)] * before.config.cp_size)
        for request in call.batch
    )


@witness(on=ADMIT, history=HISTORY)
def admitted_on_unequal_lanes(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A batch that fits needed more of one lane than of another."""
    is_judged = _is_admission(before, call, answer) and fits_at_once(before, call)
    return is_judged and len(set(before.model.admission_need(call.batch))) > 1


@witness(on=ADMIT, history=HISTORY)
def two_requests_lack_a_lane(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A batch fits after an eviction on a lane that two of its requests need."""
    return _evicts(before, call, answer) and any(
        sum(_need(before, request)[lane] > 0 for request in call.batch) > 1 for lane in _short_lanes(before, call)
    )


@witness(on=ADMIT, history=HISTORY)
def batch_lacks_what_no_request_lacks(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A batch needed an eviction, and each of its requests alone would have fitted."""
    return _evicts(before, call, answer) and all(before.model.fits(_need(before, request)) for request in call.batch)


@witness(on=ADMIT, history=HISTORY)
def lane_short_amid_free_pages(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A batch needed an eviction, and had fewer pages in all than were free."""
    need = before.model.admission_need(call.batch)
    return _evicts(before, call, answer) and sum(need) <= sum(before.model.free())


@witness(on=ADMIT, history=HISTORY)
def victims_that_would_not_do(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A batch did not fit even after an eviction, and some node had pages of a lane that it lacked."""
    if not _is_short(before, call, answer):
        return False
    short = _short_lanes(before, call)
    return any(
        lane in short and not (node.locks or node.readers or node.backups or node.loads)
        for node in before.model.tree.nodes.values()
        for lane, _ in node.host
    )


@witness(on=ADMIT, history=HISTORY)
def later_request_fits(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Of a batch that does not fit, a request went without and a later one did not."""
    reserved = _reserved(before, call, answer) if _is_short(before, call, answer) else ()
    missed = [bool(before.model.full_pages(r)) and not count for r, count in zip(call.batch, reserved, strict=False)]
    return any(missed) and any(reserved[missed.index(True) :])


@witness(on=ADMIT, history=HISTORY)
def first_request_takes_the_last_pages(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Of a batch that does not fit, one request was served and a later one that would have fitted alone was not."""
    reserved = _reserved(before, call, answer) if _is_short(before, call, answer) else ()
    return any(
        any(reserved[:at]) and not count and any(_need(before, request)) and before.model.fits(_need(before, request))
        for at, (request, count) in enumerate(zip(call.batch, reserved, strict=False))
    )


def _reserved(before: HostTreeState, call: Call, answer: Answer) -> tuple[int, ...]:
    expected = before.step(call, answer).expected
    return tuple(getattr(getattr(expected, "value", None), "reserved", ()))


@witness(on=ADMIT, history=HISTORY)
def batch_of_two_fits(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A batch of two requests that both need host pages fitted at once."""
    needy = [request for request in call.batch if any(_need(before, request))]
    return len(needy) > 1 and _is_admission(before, call, answer) and fits_at_once(before, call)


@witness(on=CANCEL, history=HISTORY)
def cancelled_beside_another(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A reservation was given back while another request had one."""
    step = asked(before, call, answer, CANCEL)
    return step is not None and succeeds(step) and len(before.model.reservations) > 1


def _is_reserved_insert(before: HostTreeState, call: Call, answer: Answer) -> bool:
    step = asked(before, call, answer, INSERT)
    return step is not None and succeeds(step) and call.request in before.model.reservations


@witness(on=INSERT, history=HISTORY)
def reservation_taken(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert made a node of what was reserved for its request, while another request had a reservation."""
    is_judged = _is_reserved_insert(before, call, answer) and len(before.model.reservations) > 1
    return is_judged and takes_reservation(before.model, call)


@witness(on=INSERT, history=HISTORY)
def reservation_below_a_gap(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert had a reservation for its new node, whose parent has no host pages."""
    found = before.model.tree.walk(call.tokens) if _is_reserved_insert(before, call, answer) else []
    new = call.pages[sum(held for _, held in found) : len(call.tokens) // before.config.page_size]
    reserved = before.model.reservations.get(call.request, {})
    return bool(found) and bool(new) and all(page in reserved for page in new) and not found[-1][0].host


@witness(on=INSERT, history=HISTORY)
def reservation_too_small(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert made a node with a page more than was reserved for its request."""
    found = before.model.tree.walk(call.tokens) if _is_reserved_insert(before, call, answer) else []
    new = call.pages[sum(held for _, held in found) : len(call.tokens) // before.config.page_size]
    reserved = before.model.reservations.get(call.request, {})
    return bool(set(new) & reserved.keys()) and not set(new) <= reserved.keys()


@witness(on=INSERT, history=HISTORY)
def reservation_left_over(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert took a part of what was reserved for its request, or nothing."""
    if not _is_reserved_insert(before, call, answer):
        return False
    return len(before.model.reservations[call.request]) > len(call.tokens) // before.config.page_size


@witness(on=ADMIT, history=HISTORY)
def batch_refused_beside_a_good_request(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A batch had to be refused whose first request asked for host pages that were free."""
    step = asked(before, call, answer, ADMIT)
    if step is None or not is_error(step) or len(call.batch) < 2:  # noqa: PLR2004 - one good, one bad
        return False
    first = call.batch[0]
    return all(map(before.geometry.holds, first.pages)) and any(_need(before, first))


@witness(on=ADMIT, history=HISTORY)
def request_with_a_reservation_admitted_again(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A request was in a batch that had a reservation already."""
    return any(request.request in before.model.reservations for request in call.batch)


@witness(on=ADMIT, history=HISTORY)
def page_with_a_reservation_admitted(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A request named a page that another request had a reservation for, and nothing else was against its batch."""
    step = asked(before, call, answer, ADMIT)
    reserved = {page for pages in before.model.reservations.values() for page in pages}
    names = {request.request for request in call.batch}
    given = [page for request in call.batch for page in request.pages]
    alone = step is not None and is_error(step) and step.reasons == {Reason.PAGE_NAMED_TWICE}
    return alone and names.isdisjoint(before.model.reservations) and len(set(given)) == len(given) and bool(reserved)


@witness(on=CANCEL, history=HISTORY)
def unknown_request_cancelled(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A request without a reservation was cancelled while another had one."""
    step = asked(before, call, answer, CANCEL)
    return step is not None and is_error(step) and bool(before.model.reservations)
