"""The witnesses of transfer: what must have happened before a law's silence proves anything."""

from __future__ import annotations

from itertools import pairwise

from sharedkv_conformance.contract.errors import Rejected
from sharedkv_conformance.laws.transfer import BLOCKS, CHUNK, DEAL, FINGERPRINT, SHAKE, deal_faults, is_same
from sharedkv_conformance.laws.transfer_rooms import ARRIVED, CLOSE, FAILED, OPEN_ROOM, STATUS
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.transfer import byte_faults, chunk_faults, count_faults, list_faults, page_faults, runs
from sharedkv_conformance.model.transfer_state import FRESH, GAVE_UP, REPEATED, STRANGE, TransferState
from sharedkv_conformance.step import Answer, Call, Ok, is_unsupported


def _is_chunk(before: TransferState, call: Call, answer: Answer) -> bool:
    return not is_unsupported(answer) and not chunk_faults(before.geometry, call.sent_tokens, call.end_tokens)


@witness(on=CHUNK)
def tail_of_a_chunk_waits(before: TransferState, call: Call, answer: Answer) -> bool:
    """A chunk that is not the last ends within a page, behind a full one."""
    size = before.geometry.page_size
    more = call.end_tokens // size > call.sent_tokens // size
    return _is_chunk(before, call, answer) and not call.is_last and call.end_tokens % size > 0 and more


@witness(on=CHUNK)
def tail_of_the_last_chunk(before: TransferState, call: Call, answer: Answer) -> bool:
    """The last chunk ends within a page, after earlier chunks."""
    size = before.geometry.page_size
    return _is_chunk(before, call, answer) and call.is_last and call.end_tokens % size > 0 and call.sent_tokens > 0


@witness(on=CHUNK)
def last_chunk_without_pages(before: TransferState, call: Call, answer: Answer) -> bool:
    """Every page had been sent when the last chunk came."""
    return _is_chunk(before, call, answer) and call.is_last and call.end_tokens == call.sent_tokens > 0


@witness(on=CHUNK)
def chunk_within_a_page(before: TransferState, call: Call, answer: Answer) -> bool:
    """A chunk that is not the last has no full page."""
    size = before.geometry.page_size
    less = 0 < call.end_tokens - call.sent_tokens < size
    return _is_chunk(before, call, answer) and not call.is_last and less


@witness(on=CHUNK)
def chunk_from_within_a_page(before: TransferState, call: Call, answer: Answer) -> bool:
    """Tokens were sent that do not end a page, and more are computed."""
    return (
        not is_unsupported(answer)
        and call.sent_tokens % before.geometry.page_size > 0
        and (call.sent_tokens < call.end_tokens)
    )


@witness(on=CHUNK)
def chunk_that_goes_back(before: TransferState, call: Call, answer: Answer) -> bool:
    """More tokens were sent than are computed."""
    return not is_unsupported(answer) and call.sent_tokens > call.end_tokens


def _is_dealt(before: TransferState, call: Call, answer: Answer) -> bool:
    return not is_unsupported(answer) and not deal_faults(before, call)


@witness(on=DEAL)
def pages_out_of_order(before: TransferState, call: Call, answer: Answer) -> bool:
    """A chunk's pages lie on a lane twice at least, a later one before an earlier one."""
    lanes: dict[int, list[int]] = {}
    for page in call.pages:
        lanes.setdefault(before.geometry.lane(page), []).append(page)
    return _is_dealt(before, call, answer) and any(pages != sorted(pages) for pages in lanes.values())


@witness(on=DEAL)
def later_chunk(before: TransferState, call: Call, answer: Answer) -> bool:
    """A chunk with pages does not begin the request."""
    return _is_dealt(before, call, answer) and call.first_position > 0 and len(call.pages) > 1


@witness(on=DEAL)
def destinations_out_of_order(before: TransferState, call: Call, answer: Answer) -> bool:
    """The pages of decode do not ascend from 0, and differ from the positions."""
    own = call.destinations[call.first_position : call.first_position + len(call.pages)]
    return _is_dealt(before, call, answer) and list(own) != sorted(own)


@witness(on=DEAL)
def rank_without_pages(before: TransferState, call: Call, answer: Answer) -> bool:
    """A chunk with pages has none on some lane."""
    lanes = {before.geometry.lane(page) for page in call.pages}
    return _is_dealt(before, call, answer) and 0 < len(lanes) < before.geometry.cp_size


@witness(on=DEAL)
def chunk_of_no_page(before: TransferState, call: Call, answer: Answer) -> bool:
    """A last chunk without pages was dealt to the ranks."""
    return _is_dealt(before, call, answer) and call.is_last and not call.pages and bool(call.destinations)


@witness(on=DEAL)
def fewer_pages_than_destinations(before: TransferState, call: Call, answer: Answer) -> bool:
    """A last chunk ends before the request."""
    short = call.first_position + len(call.pages) < len(call.destinations)
    return not is_unsupported(answer) and call.is_last and short and bool(deal_faults(before, call))


@witness(on=DEAL)
def more_pages_than_destinations(before: TransferState, call: Call, answer: Answer) -> bool:
    """A chunk that is not the last ends behind the request."""
    wrong = count_faults(call.pages, call.first_position, call.destinations, is_last=call.is_last)
    return not is_unsupported(answer) and not call.is_last and bool(wrong)


def _page_is_wrong(before: TransferState, call: Call, answer: Answer) -> bool:
    return not is_unsupported(answer) and bool(page_faults(before.geometry, call.pages, call.first_position))


@witness(on=DEAL)
def dummy_page_in_a_chunk(before: TransferState, call: Call, answer: Answer) -> bool:
    """The dummy page stood among pages of the pool."""
    return _page_is_wrong(before, call, answer) and 0 in call.pages and any(map(before.geometry.holds, call.pages))


@witness(on=DEAL)
def page_beyond_the_pool(before: TransferState, call: Call, answer: Answer) -> bool:
    """A page beyond the pool stood among those of it."""
    most = before.geometry.cp_size * before.geometry.lane_pages
    return _page_is_wrong(before, call, answer) and any(page > most for page in call.pages)


@witness(on=DEAL)
def page_at_two_positions(before: TransferState, call: Call, answer: Answer) -> bool:
    """A page stood at two positions of a chunk."""
    return _page_is_wrong(before, call, answer) and len(set(call.pages)) < len(call.pages)


def _is_moved(call: Call, answer: Answer) -> bool:
    return not is_unsupported(answer) and not list_faults(call.sources, call.destinations) | byte_faults(call.buffers)


@witness(on=BLOCKS)
def neighbours_on_one_side_only(before: TransferState, call: Call, answer: Answer) -> bool:
    """Two pages followed one another at one side and not at the other, on either side once."""
    steps = zip(pairwise(call.sources), pairwise(call.destinations), strict=False)
    kinds = {(b - a == 1, d - c == 1) for (a, b), (c, d) in steps}
    return _is_moved(call, answer) and {(True, False), (False, True)} <= kinds and bool(call.buffers)


@witness(on=BLOCKS)
def neighbours_on_both_sides(before: TransferState, call: Call, answer: Answer) -> bool:
    """A run of two pages at least stood beside another run, in several buffers."""
    found = runs(call.sources, call.destinations) if _is_moved(call, answer) else []
    return len(found) > 1 and any(pages > 1 for _, _, pages in found) and len(call.buffers) > 1


@witness(on=BLOCKS)
def buffers_of_different_pages(before: TransferState, call: Call, answer: Answer) -> bool:
    """Two buffers had pages of different sizes, equal on both sides."""
    sizes = {each.source_page_bytes for each in call.buffers}
    return _is_moved(call, answer) and len(sizes) > 1 and bool(call.sources)


@witness(on=BLOCKS)
def one_buffer_of_another_size(before: TransferState, call: Call, answer: Answer) -> bool:
    """A buffer behind the first had pages of other sizes on the two sides."""
    wrong = [each.source_page_bytes != each.destination_page_bytes for each in call.buffers]
    return not is_unsupported(answer) and any(wrong[1:]) and not wrong[0] and bool(call.sources)


@witness(on=BLOCKS)
def lists_of_different_length(before: TransferState, call: Call, answer: Answer) -> bool:
    """More sources than destinations, or fewer, and some of both."""
    differ = len(call.sources) != len(call.destinations)
    return not is_unsupported(answer) and differ and bool(call.sources) and bool(call.destinations)


@witness(on=BLOCKS)
def nothing_to_move(before: TransferState, call: Call, answer: Answer) -> bool:
    """Writes of no page were asked for."""
    return _is_moved(call, answer) and not call.sources and bool(call.buffers)


@witness(on=FINGERPRINT)
def fingerprint_with_a_draft(before: TransferState, call: Call, answer: Answer) -> bool:
    """A session with draft layers, and another number of layers than that, told its fingerprint."""
    pool = before.config.pool
    return not is_unsupported(answer) and 0 < pool.draft_layers != pool.layers


def _is_refused_peer(before: TransferState, call: Call, answer: Answer) -> bool:
    return not is_unsupported(answer) and is_same(before, call) is False


@witness(on=SHAKE)
def peer_with_one_other_value(before: TransferState, call: Call, answer: Answer) -> bool:
    """A peer had every name, and one other value."""
    own, peer = dict(before.fingerprint or ()), dict(call.peer.fields)
    differ = [name for name in own if own[name] != peer.get(name)]
    return _is_refused_peer(before, call, answer) and own.keys() == peer.keys() and len(differ) == 1


@witness(on=SHAKE)
def peer_with_fewer_fields(before: TransferState, call: Call, answer: Answer) -> bool:
    """A peer lacked a field, and had the same values otherwise."""
    own, peer = dict(before.fingerprint or ()), dict(call.peer.fields)
    return _is_refused_peer(before, call, answer) and peer.items() < own.items()


@witness(on=SHAKE)
def peer_with_more_fields(before: TransferState, call: Call, answer: Answer) -> bool:
    """A peer had a field more, and the same values otherwise."""
    own, peer = dict(before.fingerprint or ()), dict(call.peer.fields)
    return _is_refused_peer(before, call, answer) and own.items() < peer.items()


@witness(on=SHAKE)
def equal_peer(before: TransferState, call: Call, answer: Answer) -> bool:
    """A peer had the fields of this side."""
    return not is_unsupported(answer) and is_same(before, call) is True


def _is_status(before: TransferState, call: Call, answer: Answer, kind: str) -> bool:
    open_now = not before.diverged and before.is_open(call.room) and not is_unsupported(answer)
    return open_now and before.last_heard.get(call.room, FRESH) == kind


@witness(on=STATUS, history="transfer_rooms")
def all_but_one_part(before: TransferState, call: Call, answer: Answer) -> bool:
    """One part of one source was not complete, of several sources and parts."""
    room = before.rooms.get(call.room)
    few = room is not None and len(room.missing()) == 1 and len(room.sources) > 1 and len(room.parts) > 1
    return few and _is_status(before, call, answer, FRESH)


@witness(on=STATUS, history="transfer_rooms")
def last_chunk_before_an_earlier_one(before: TransferState, call: Call, answer: Answer) -> bool:
    """Of one source every part had its last chunk, and lacked an earlier one; nothing else was missing."""
    room = before.rooms.get(call.room)
    if room is None or not _is_status(before, call, answer, FRESH) or not room.missing():
        return False
    return all(any(message.is_last for message in room.of(*pair)) for pair in room.missing())


@witness(on=STATUS, history="transfer_rooms")
def every_part_is_there(before: TransferState, call: Call, answer: Answer) -> bool:
    """A room of several chunks was complete, and had not come in order."""
    room = before.rooms.get(call.room)
    if room is None or not _is_status(before, call, answer, FRESH) or room.state() != "success":
        return False
    chunks = [message.chunk for message in room.heard]
    return max(chunks) > 0 and chunks != sorted(chunks)


@witness(on=STATUS, history="transfer_rooms")
def chunk_told_again(before: TransferState, call: Call, answer: Answer) -> bool:
    """A chunk had been told of twice while the room was not complete."""
    return _is_status(before, call, answer, REPEATED)


@witness(on=ARRIVED, history="transfer_rooms")
def message_of_an_earlier_epoch(before: TransferState, call: Call, answer: Answer) -> bool:
    """A message of an earlier room came while another of that number is open."""
    found = before.rooms.get(call.room)
    return not is_unsupported(answer) and found is not None and call.epoch in before.epochs[call.room] - {found.epoch}


@witness(on=ARRIVED, history="transfer_rooms")
def message_of_a_stranger(before: TransferState, call: Call, answer: Answer) -> bool:
    """A source or a part that was not named told of a chunk."""
    found = before.truth.live(call.room, call.epoch)
    named = found is not None and (call.source in found.sources and call.part in found.parts)
    return not is_unsupported(answer) and found is not None and not named


@witness(on=STATUS, history="transfer_rooms")
def stranger_heard(before: TransferState, call: Call, answer: Answer) -> bool:
    """The status was asked for after a message that the room does not wait for."""
    return _is_status(before, call, answer, STRANGE)


@witness(on=FAILED, history="transfer_rooms")
def failure_after_success(before: TransferState, call: Call, answer: Answer) -> bool:
    """A source gave up after its room had succeeded."""
    found = before.truth.live(call.room, call.epoch)
    return not is_unsupported(answer) and found is not None and found.state() == "success"


@witness(on=STATUS, history="transfer_rooms")
def source_gave_up(before: TransferState, call: Call, answer: Answer) -> bool:
    """A source had given up when another had something to tell."""
    found = before.rooms.get(call.room)
    return found is not None and bool(found.heard) and _is_status(before, call, answer, GAVE_UP)


@witness(on=STATUS, history="transfer_rooms")
def room_in_the_middle(before: TransferState, call: Call, answer: Answer) -> bool:
    """Something had arrived, and nothing was complete."""
    found = before.rooms.get(call.room)
    return found is not None and found.state() == "transferring" and _is_status(before, call, answer, FRESH)


@witness(on=OPEN_ROOM, history="transfer_rooms")
def room_opened_twice(before: TransferState, call: Call, answer: Answer) -> bool:
    """A room was opened that is open."""
    return not is_unsupported(answer) and before.is_open(call.room)


@witness(on=OPEN_ROOM, history="transfer_rooms")
def room_for_nothing(before: TransferState, call: Call, answer: Answer) -> bool:
    """A room was opened without sources, or without parts, or with one twice."""
    bad = any(not named or len(set(named)) < len(named) for named in (call.sources, call.parts))
    return not is_unsupported(answer) and bad and not before.is_open(call.room)


@witness(on=OPEN_ROOM, history="transfer_rooms")
def room_number_again(before: TransferState, call: Call, answer: Answer) -> bool:
    """A number was used again after its room was closed."""
    return isinstance(answer, Ok) and call.room in before.closed


@witness(on=CLOSE, history="transfer_rooms")
def closing_before_the_end(before: TransferState, call: Call, answer: Answer) -> bool:
    """A room was to be closed that has not ended."""
    return not is_unsupported(answer) and before.is_open(call.room) and not before.has_ended(call.room)


@witness(on=CLOSE, history="transfer_rooms")
def closing_after_the_end(before: TransferState, call: Call, answer: Answer) -> bool:
    """A room was closed that has ended."""
    return not is_unsupported(answer) and before.has_ended(call.room)


@witness(on=(STATUS, CLOSE), history="transfer_rooms")
def room_of_yesterday(before: TransferState, call: Call, answer: Answer) -> bool:
    """A room was asked for that had been closed."""
    return not is_unsupported(answer) and call.room in before.closed and not before.is_open(call.room)


@witness(on=ARRIVED, history="transfer_rooms")
def message_without_a_room(before: TransferState, call: Call, answer: Answer) -> bool:
    """A message came whose room is not open."""
    refused = not isinstance(answer, Ok) and not isinstance(answer.error, Rejected)
    return not is_unsupported(answer) and not refused and not before.is_open(call.room)
