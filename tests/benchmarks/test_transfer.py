"""The transfers that the benchmark times: every byte at decode whichever way, and shares that say what they claim."""

import numpy as np
import pytest
import zmq

from benchmarks import transfer
from benchmarks.errors import DisagreementError
from benchmarks.transfer_content import Content
from benchmarks.transfer_decode import Decode, serve, untouched_memory
from benchmarks.transfer_engines import MEMORY, NIXL
from benchmarks.transfer_points import ALONE, ENGINE, MONOLITHIC, OVERLAPPED, Plan, Point, median_run, points_of
from benchmarks.transfer_prefill import COMMITTED, FORWARD, HEARD, LANDED, Run
from benchmarks.transfer_recording import NOT_DONE, RecordingEngine
from benchmarks.transfer_shape import PARTS, RANKS, Bytes, TransferShape, pages_of
from sharedkv.control_messages import Registration
from sharedkv.control_plane import Inbox
from sharedkv.engines.memory import Memory, memory_engine
from sharedkv.transfer.ports import AUX, INDEX, KV
from tests.transfer.arena import Arena, writes_of

SHAPE = TransferShape(layers=5, requests=2, tokens=1_000)
ONE_PAGE = TransferShape(layers=3, requests=1, tokens=64 * RANKS)


def quiet(_text: str) -> None:
    pass


def plan(engine: str, groups: tuple[int, ...]) -> Plan:
    return Plan(engine=engine, shape=SHAPE, groups=groups, lengths=(1.1,), rounds=1)


def run(forward: float, **others: float) -> Run:
    moments = {FORWARD: forward, **others}
    return Run(moments_us=moments, after_us={name: moment - forward for name, moment in moments.items()}, told_us=50.0)


def point(length: float) -> Point:
    runs = {
        ALONE: run(100.0),
        MONOLITHIC: run(100.0, kv=180.0, index=195.0, aux=196.0, landed=196.0, heard=200.0, committed=201.0),
        OVERLAPPED.format(8): run(104.0, kv=108.0, index=123.0, aux=124.0, landed=124.0, heard=125.0, committed=126.0),
        ENGINE: run(0.0, kv=75.0, index=90.0, landed=90.0),
    }
    return Point(name=MEMORY, length=length, shape=SHAPE, runs=runs)


def test_every_way_brings_every_byte_in_as_many_submits_as_there_are_groups() -> None:
    (measured,) = points_of(plan(MEMORY, (1, 2)), quiet)

    assert {name: run.submits for name, run in measured.runs.items()} == {
        ALONE: 0,
        MONOLITHIC: SHAPE.requests,
        OVERLAPPED.format(1): SHAPE.requests * 5,
        OVERLAPPED.format(2): SHAPE.requests * 3,
        ENGINE: SHAPE.requests,
    }
    assert measured.runs[MONOLITHIC].moments_us.keys() == {FORWARD, KV, INDEX, AUX, LANDED, HEARD, COMMITTED}


def test_decode_is_a_process_where_the_engine_reaches_one() -> None:
    (measured,) = points_of(plan(NIXL, (8,)), quiet)

    assert measured.runs[OVERLAPPED.format(8)].submits == SHAPE.requests


def test_each_page_belongs_to_one_rank_and_each_rank_has_its_share() -> None:
    _, pages = SHAPE.allocated()
    positions, places = SHAPE.owned(pages[0])

    assert len(pages) == SHAPE.requests
    assert len(positions) == SHAPE.request_pages // RANKS
    assert len({page for each in pages for page in each}) == SHAPE.requests * SHAPE.request_pages
    assert set(places.tolist()) <= set(range(1, SHAPE.geometry.lane_capacity + 1))


def test_buffers_of_a_memory_follow_one_another() -> None:
    buffers = SHAPE.buffers(0, 3)
    ends = [each.address + 4 * each.page_bytes for each in buffers]

    assert len(buffers) == SHAPE.layers * len(PARTS)
    assert [each.address for each in buffers[1:]] == ends[:-1]
    assert ends[-1] == SHAPE.memory_bytes(3)


def decode_memory_of(content: Content, numbers: list[int]) -> Bytes:
    """Return the memory of decode, page 5 as the rank computed page 1 of each layer in some round."""
    rank_pages = ONE_PAGE.geometry.lane_capacity
    memory = np.zeros(ONE_PAGE.memory_bytes(rank_pages), dtype=np.uint8)
    for layer, number in zip(content.layers_of(memory), numbers, strict=True):
        layer.write(number)
    decode = untouched_memory(ONE_PAGE.memory_bytes(ONE_PAGE.decode_pages))
    places = zip(ONE_PAGE.buffers(0, rank_pages), ONE_PAGE.buffers(0, ONE_PAGE.decode_pages), strict=True)
    for source, target in places:
        pages_of(decode, target, ONE_PAGE.decode_pages)[5] = pages_of(memory, source, rank_pages)[1]
    return decode


def test_bytes_of_a_round_pass() -> None:
    content = Content(ONE_PAGE, np.array([1]))

    content.require_at_decode(decode_memory_of(content, [3, 3, 3]), np.array([5]), 3)


@pytest.mark.parametrize("numbers", [[3, 3, 2], [3, 3, 4]])
def test_a_layer_of_another_round_does_not_pass(numbers: list[int]) -> None:
    content = Content(ONE_PAGE, np.array([1]))
    with pytest.raises(DisagreementError, match="layer 2"):
        content.require_at_decode(decode_memory_of(content, numbers), np.array([5]), 3)


def test_a_page_elsewhere_does_not_pass() -> None:
    content = Content(ONE_PAGE, np.array([1]))
    with pytest.raises(DisagreementError, match="part kv of layer 0"):
        content.require_at_decode(decode_memory_of(content, [3, 3, 3]), np.array([4]), 3)


def test_a_recording_engine_notes_what_was_submitted_and_that_it_is_done() -> None:
    memory = Memory()
    engine, other = RecordingEngine(memory_engine(memory)), memory_engine(memory)
    source, target = Arena(64), Arena(64)
    engine.register(source.region())
    other.register(target.region())
    peer = engine.connect(other.describe())
    transfer = engine.submit(
        peer, writes_of([(source.address, target.address, 8), (source.address, target.address + 8, 4)])
    )
    (submission,) = engine.submissions
    is_done_before = submission.done_ns
    transfer.wait()

    assert (submission.num_writes, submission.num_bytes, is_done_before) == (2, 12, NOT_DONE)
    assert submission.begun_ns <= submission.returned_ns <= submission.done_ns


def test_hidden_is_the_share_of_the_wait_that_is_gone() -> None:
    measured = point(1.1)

    assert measured.hidden(OVERLAPPED.format(8), KV) == pytest.approx(0.9)
    assert measured.hidden(OVERLAPPED.format(8)) == pytest.approx(0.75)


def test_medians_are_taken_moment_by_moment() -> None:
    found = median_run([run(1.0, heard=9.0), run(2.0, heard=4.0), run(3.0, heard=5.0)])

    assert found.moments_us == {FORWARD: 2.0, HEARD: 5.0}
    assert found.after_us == {FORWARD: 0.0, HEARD: 2.0}


def test_rows_fit_their_columns_and_say_what_a_request_cost() -> None:
    found = transfer.result([point(0.5), point(1.1)], [], 1, 0)
    lengths, finish, rates = found.tables

    assert all(len(row) == len(table.columns) for table in found.tables for row in table.rows)
    assert [len(table.rows) for table in (lengths, finish, rates)] == [4, 2, 1]
    assert finish.rows[1][3:] == pytest.approx((0.004, 0.019, 0.02, 0.021, 0.022))
    assert rates.rows[0][-2:] == pytest.approx((90 / 96, 90 / 100))


def test_goals_are_those_of_a_forward_that_is_as_long() -> None:
    assert [goal.is_met for goal in transfer.goals_of(point(1.1))] == [True, False, True, True, True]
    assert list(transfer.goals_of(point(0.5))) == []


def test_decode_answers_in_order_until_questions_end() -> None:
    answers: list[str] = []
    prefill_context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    inbox = Inbox(prefill_context)
    decode = Decode(ONE_PAGE, memory_engine(Memory()), prefill_context)
    serve(decode, [f"join {inbox.address}", "check 3"], answers.append)
    registered = inbox.receive(10)
    decode.close()
    inbox.close()
    prefill_context.term()

    assert isinstance(registered, Registration)
    assert answers[0] == ""
    assert len(registered.buffers) == ONE_PAGE.layers * len(PARTS)
