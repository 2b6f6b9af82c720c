"""Jobs are done in order, by a thread or by whoever asks; one that crashes harms no other."""

from __future__ import annotations

from threading import Event, get_ident

import pytest

from sharedkv.rooms import RoomState
from sharedkv.transfer.jobs import Job, JobCrashedError, JobQueue, WorkerThread
from sharedkv.transfer.prefill_rooms import SendState
from tests.reference.sending_world import Shape, World

WITHIN_S = 10.0


def job(done: list[int], number: int, *, is_wanted: bool = True) -> Job:
    return Job(begin=lambda: is_wanted, run=lambda: done.append(number), fail=lambda _error: done.append(-number))


def test_jobs_are_done_in_order_and_unwanted_ones_are_not_done() -> None:
    queue, done = JobQueue(), list[int]()
    queue.put([job(done, 1), job(done, 2, is_wanted=False), job(done, 3)])

    assert queue.run_all()
    assert done == [1, 3]
    assert not queue.run_next()


def test_a_crash_is_for_one_job_that_is_wanted(caplog: pytest.LogCaptureFixture) -> None:
    queue, done = JobQueue(), list[int]()
    queue.crash_next()
    queue.put([job(done, 1, is_wanted=False), job(done, 2), job(done, 3)])
    queue.run_all()

    assert done == [-2, 3]
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [JobCrashedError]


def test_a_thread_is_bound_first_and_does_what_was_handed_in_before_it_ends() -> None:
    queue, done, bound = JobQueue(), list[int](), list[int]()
    worker = WorkerThread(queue, lambda: bound.append(get_ident()))
    queue.put([job(done, number) for number in range(100)])

    assert worker.close(WITHIN_S)
    assert done == list(range(100))
    assert bound != [get_ident()]


class Gate:
    """An event of a device that has not happened until somebody says so."""

    def __init__(self) -> None:
        self.is_open = Event()
        self.is_waited_for = Event()

    def synchronize(self) -> None:
        """Wait for the rows."""
        self.is_waited_for.set()
        assert self.is_open.wait(WITHIN_S)


class GatedWorld(World):
    """A world whose rows are not written yet."""

    def __init__(self, shape: Shape) -> None:
        self.gates: list[Gate] = []
        super().__init__(shape)

    def _record(self) -> Gate:
        self.gates.append(Gate())
        return self.gates[-1]


@pytest.fixture
def world() -> GatedWorld:
    made = GatedWorld(Shape(layers=4, group=2))
    made.are_jobs_held = True
    return made


def start(world: World) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Send room 1, with the worker asleep; return its pages on both sides."""
    (places,) = world.open(1, 4)
    pages = world.allocate(4)
    world.sender.register(1, pages, 0, is_last=True)
    for layer in range(4):
        world.sender.layer_end(layer)
    world.chunk(1, pages, 0, is_last=True, whole=pages)
    return pages, places


def test_nothing_is_submitted_before_its_rows_are_written_and_nobody_else_waits(world: GatedWorld) -> None:
    pages, places = start(world)
    worker = WorkerThread(world.jobs)
    first, second, last = world.gates

    assert first.is_waited_for.wait(WITHIN_S)
    assert not world.sender.flights()
    for gate in (first, second, last):
        gate.is_open.set()

    assert worker.close(WITHIN_S)
    world.run()

    assert world.receiver.state(1) is RoomState.SUCCESS
    assert world.holds(pages, places)


def test_a_rank_whose_job_is_under_way_has_not_drained(world: GatedWorld) -> None:
    start(world)
    worker = WorkerThread(world.jobs)
    first = world.gates[0]
    assert first.is_waited_for.wait(WITHIN_S)
    world.receiver.abort(1)
    world.run()
    world.receiver.close_room(1)

    assert world.sender.state(1) is SendState.FAILED
    assert world.kinds().count("SourceDrained") == 1
    assert world.receiver.pools()[0].quarantined == 4
    for gate in world.gates:
        gate.is_open.set()

    assert worker.close(WITHIN_S)
    world.run()

    assert world.sender.report(1).submitted == 0
    assert world.is_clean()
