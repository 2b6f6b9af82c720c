"""Four prefill ranks and one decode rank: processes over each engine that works between them, and threads in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests.transfer import story
from tests.transfer.kinds import BETWEEN_PROCESSES
from tests.transfer.ranks import Ranks, ranks_of
from tests.transfer.serving import Remote
from tests.transfer.times import AMPLE

ROOMS = [request.room for request in story.requests()]
ABORTED_BY_DECODE, ABORTED_BY_PREFILL = 8, 10
ABORTING_RANK = 2
AllRanks = Ranks[Remote]
MOST_CHUNKS = max(len(request.ends) for request in story.requests())


@pytest.fixture(scope="module", params=["memory", *BETWEEN_PROCESSES])
def shared_ranks(request: pytest.FixtureRequest) -> Iterator[AllRanks]:
    """Four ranks that know their decode rank."""
    with ranks_of(request.param, AMPLE) as made:
        yield made


@pytest.fixture
def ranks(shared_ranks: AllRanks) -> AllRanks:
    """Ranks that know no room, and pages of zeros."""
    shared_ranks.prefill("forget")
    shared_ranks.decode.ask("clear")
    return shared_ranks


def pages_of(rooms: Sequence[int]) -> int:
    """Count the pages of some rooms."""
    return sum(len(story.request(room).pages) for room in rooms)


def send(ranks: AllRanks, rooms: Sequence[int], *, is_overlapped: bool, first_chunk: int = 0) -> None:
    """Compute and send what there is of some rooms, all rooms in one forward."""
    for chunk in range(first_chunk, MOST_CHUNKS):
        ranks.prefill("forward", rooms=rooms, chunk=chunk, is_overlapped=is_overlapped)


def finish(ranks: AllRanks, rooms: Sequence[int]) -> None:
    """Commit and close rooms that have succeeded, and see that they have."""
    for room in rooms:
        assert ranks.decode.ask("wait", room=room) == ["success", True], room
        assert ranks.decode.ask("commit", room=room) == [story.request(room).aux.hex()], room
        ranks.decode.ask("close", room=room)


def forget(ranks: AllRanks, room: int, ending: str) -> None:
    """Have all prefill ranks forget a room once it has ended."""
    assert set(ranks.prefill("wait", room=room, within=10)) == {ending}
    ranks.prefill("forget")


@pytest.mark.parametrize("is_overlapped", [False, True], ids=["whole", "overlapped"])
def test_all_bytes_of_all_rooms_are_right_at_the_moment_of_success(ranks: AllRanks, is_overlapped: bool) -> None:  # noqa: FBT001 - a parameter
    for room in ROOMS:
        ranks.decode.ask("reserve", room=room)
    send(ranks, ROOMS, is_overlapped=is_overlapped)
    finish(ranks, ROOMS)
    reports = [ranks.prefill("wait", room=room, within=5) and ranks.prefill("report", room=room) for room in ROOMS]

    assert ranks.decode.ask("pools") == [story.DECODE_PAGES, 0, 0, story.SLOTS]
    assert [sum(report["pages"] for report in each) for each in reports] == [pages_of([room]) for room in ROOMS]
    assert ranks.prefill("pins") == [0] * story.GEOMETRY.cp_size


def test_rooms_that_either_side_gives_up_cost_nobody_else_anything(ranks: AllRanks) -> None:
    given = {room: ranks.decode.ask("reserve", room=room) for room in ROOMS}
    ranks.prefill("forward", rooms=ROOMS, chunk=0, is_overlapped=True)
    num_malformed = [ranks.decode.ask("malformed"), *ranks.prefill("malformed")]
    ranks.prefill("noise")
    ranks.decode.ask("noise", addresses=ranks.prefill("address"))
    ranks.decode.ask("abort", room=ABORTED_BY_DECODE)
    ranks.ranks[ABORTING_RANK].ask("abort", room=ABORTED_BY_PREFILL)
    send(ranks, ROOMS, is_overlapped=True, first_chunk=1)
    lost = [ABORTED_BY_DECODE, ABORTED_BY_PREFILL]
    for room in lost:
        state, _ = ranks.decode.ask("wait", room=room)

        assert state == "failed", room
        # A rank whose last flight landed before it heard of the end has succeeded, for its own part.
        assert set(ranks.prefill("wait", room=room, within=10)) <= {"failed", "success"}
        ranks.decode.ask("close", room=room)
    rest = [room for room in ROOMS if room not in lost]
    finish(ranks, rest)
    assert [set(ranks.prefill("wait", room=room, within=10)) for room in rest] == [{"success"}] * len(rest)
    ranks.wait_until_drained()

    assert ranks.prefill("pins") == [0] * story.GEOMETRY.cp_size
    assert [ranks.decode.ask("malformed"), *ranks.prefill("malformed")] == [
        num_malformed[0] + story.GEOMETRY.cp_size,
        *(number + 1 for number in num_malformed[1:]),
    ]
    assert set(ranks.decode.ask("written")) <= {page for pages in given.values() for page in pages}


def test_a_room_is_used_again_after_either_end(ranks: AllRanks) -> None:
    room = story.requests()[0].room
    for _ in range(2):
        ranks.decode.ask("reserve", room=room)
        ranks.prefill("forward", rooms=[room], chunk=0, is_overlapped=True)
        ranks.decode.ask("abort", room=room)
        ranks.decode.ask("close", room=room)
        forget(ranks, room, "failed")
        ranks.decode.ask("reserve", room=room)
        send(ranks, [room], is_overlapped=False)
        finish(ranks, [room])
        forget(ranks, room, "success")
    ranks.wait_until_drained()

    assert ranks.decode.ask("pools") == [story.DECODE_PAGES, 0, 0, story.SLOTS]
    assert ranks.prefill("pins") == [0] * story.GEOMETRY.cp_size
