"""What becomes of rooms when one of four prefill ranks, or decode, is slow, stands still, or is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.transfer import story
from tests.transfer.ranks import Ranks, processes_of
from tests.transfer.serving import RemoteProcess
from tests.transfer.times import SHORT

KINDS = ("nixl", "mooncake")
LOST = 1
ROOM, NEXT_ROOM, FIRST_ROOM = 7, 8, 11
CHUNKS = range(3)
LONGEST_S = 2 * (SHORT.deadline + SHORT.patience + SHORT.quarantine)
ALL_FREE = [story.DECODE_PAGES, 0, 0, story.SLOTS]
Processes = Ranks[RemoteProcess]


def send(ranks: Processes, room: int, *, leaving_out: int = -1) -> None:
    """Have ranks compute and send all of a room."""
    for chunk in CHUNKS:
        ranks.prefill("forward", leaving_out=leaving_out, rooms=[room], chunk=chunk, is_overlapped=True)


def succeed(ranks: Processes, room: int) -> None:
    """See that a room has succeeded, and close it."""
    assert ranks.decode.ask("wait", room=room) == ["success", True]
    ranks.decode.ask("close", room=room)


def wait_until_free(ranks: Processes) -> None:
    """Wait until every page and slot of decode is free."""
    ends_at = time.monotonic() + LONGEST_S
    while ranks.decode.ask("pools") != ALL_FREE and time.monotonic() < ends_at:
        pass
    assert ranks.decode.ask("pools") == ALL_FREE


def wait_until_unpinned(ranks: Processes, *, leaving_out: int = -1) -> None:
    """Wait until prefill keeps no page."""
    ends_at = time.monotonic() + LONGEST_S
    while any(ranks.prefill("pins", leaving_out=leaving_out)) and time.monotonic() < ends_at:
        pass
    assert not any(ranks.prefill("pins", leaving_out=leaving_out))


@pytest.fixture(scope="module", params=KINDS)
def surviving_ranks(request: pytest.FixtureRequest) -> Iterator[Processes]:
    """Processes that no test ends."""
    with processes_of(request.param, SHORT) as made:
        yield made


@pytest.fixture(params=KINDS)
def mortal_ranks(request: pytest.FixtureRequest) -> Iterator[Processes]:
    """Processes of one test."""
    with processes_of(request.param, SHORT) as made:
        yield made


@pytest.fixture
def ranks(surviving_ranks: Processes) -> Processes:
    """Processes that have transferred something, so that what follows is not the first contact."""
    surviving_ranks.decode.ask("reserve", room=FIRST_ROOM)
    send(surviving_ranks, FIRST_ROOM)
    succeed(surviving_ranks, FIRST_ROOM)
    for room in (ROOM, NEXT_ROOM, FIRST_ROOM):
        surviving_ranks.prefill("wait", room=room, within=SHORT.deadline)
    surviving_ranks.prefill("forget")
    surviving_ranks.decode.ask("clear")
    return surviving_ranks


def test_a_rank_that_is_killed_costs_its_rooms_and_no_page_for_good(mortal_ranks: Processes) -> None:
    ranks, begun_at = mortal_ranks, time.monotonic()
    ranks.decode.ask("reserve", room=ROOM)
    ranks.prefill("forward", rooms=[ROOM], chunk=0, is_overlapped=True)
    ranks.ranks[LOST].kill()
    ranks.prefill("forward", leaving_out=LOST, rooms=[ROOM], chunk=1, is_overlapped=True)
    state, _ = ranks.decode.ask("wait", room=ROOM)
    ranks.decode.ask("close", room=ROOM)
    ranks.prefill("forward", leaving_out=LOST, rooms=[ROOM], chunk=2, is_overlapped=True)

    assert state == "failed"
    assert ranks.decode.ask("pools")[2] == len(story.request(ROOM).pages), "the lost rank may still write"
    assert set(ranks.prefill("wait", leaving_out=LOST, room=ROOM, within=LONGEST_S)) == {"failed"}
    wait_until_free(ranks)
    wait_until_unpinned(ranks, leaving_out=LOST)
    assert time.monotonic() - begun_at < LONGEST_S


def test_prefill_outlives_decode_and_gives_its_pages_back(mortal_ranks: Processes) -> None:
    ranks, begun_at = mortal_ranks, time.monotonic()
    ranks.decode.ask("reserve", room=ROOM)
    ranks.prefill("forward", rooms=[ROOM], chunk=0, is_overlapped=True)
    ranks.decode.kill()
    for chunk in CHUNKS[1:]:
        ranks.prefill("forward", rooms=[ROOM], chunk=chunk, is_overlapped=True)

    assert set(ranks.prefill("wait", room=ROOM, within=LONGEST_S)) == {"failed"}
    wait_until_unpinned(ranks)
    assert time.monotonic() - begun_at < LONGEST_S


def test_a_slow_rank_costs_time_alone(ranks: Processes) -> None:
    ranks.decode.ask("reserve", room=ROOM)
    ranks.prefill("forward", rooms=[ROOM], chunk=0, is_overlapped=True)
    ranks.ranks[LOST].stop()
    for chunk in CHUNKS[1:]:
        ranks.prefill("forward", leaving_out=LOST, rooms=[ROOM], chunk=chunk, is_overlapped=True)
    ranks.ranks[LOST].go_on()
    for chunk in CHUNKS[1:]:
        ranks.ranks[LOST].ask("forward", rooms=[ROOM], chunk=chunk, is_overlapped=True)

    succeed(ranks, ROOM)
    assert ranks.decode.ask("pools") == ALL_FREE


def test_what_a_rank_writes_after_it_stood_still_lands_in_quarantine(ranks: Processes) -> None:
    request = story.request(ROOM)
    given = ranks.decode.ask("reserve", room=ROOM)
    stopped = ranks.ranks[LOST]
    stopped.tell("forward", rooms=[ROOM], chunk=0, stops=True)
    ranks.prefill("forward", leaving_out=LOST, rooms=[ROOM], chunk=0)
    assert ranks.decode.ask("wait", room=ROOM)[0] == "failed"
    ranks.decode.ask("close", room=ROOM)
    others = ranks.decode.ask("reserve", room=NEXT_ROOM)
    before = set(ranks.decode.ask("written"))
    stopped.go_on()
    stopped.hear()
    came_late = set(ranks.decode.ask("written")) - before
    send(ranks, NEXT_ROOM)

    own = [page for page in request.chunk(0) if story.GEOMETRY.lane(story.page_id(page)) == LOST]
    assert came_late == {given[request.pages.index(page)] for page in own}
    assert not set(given) & set(others)
    succeed(ranks, NEXT_ROOM)
    wait_until_free(ranks)
    wait_until_unpinned(ranks)


def test_ranks_agree_that_a_room_has_failed_while_decode_stands_still(ranks: Processes) -> None:
    ranks.decode.ask("reserve", room=ROOM)
    ranks.prefill("forward", rooms=[ROOM], chunk=0)
    ranks.decode.stop()
    ranks.ranks[LOST].ask("abort", room=ROOM)
    before = ranks.prefill("states", rooms=[ROOM])
    least = min(own for (own,) in before)
    ranks.prefill("agree", rooms=[ROOM], least=[least])
    after = ranks.prefill("states", rooms=[ROOM])
    ranks.decode.go_on()

    assert before == [[least if rank == LOST else max(before)[0]] for rank in range(story.GEOMETRY.cp_size)]
    assert after == [[least]] * story.GEOMETRY.cp_size
    assert set(ranks.prefill("wait", room=ROOM, within=0)) == {"failed"}
    assert ranks.decode.ask("wait", room=ROOM)[0] == "failed"
    ranks.decode.ask("close", room=ROOM)
    wait_until_free(ranks)
    wait_until_unpinned(ranks)
