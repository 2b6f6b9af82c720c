"""Order between streams, as late as events allow."""

from collections.abc import Callable

import numpy as np
import pytest

from sharedkv.streams import Access, ForeignEventError, OrderError, RecordingBackend


def rows(*slots: int) -> Access:
    return Access(buffer="pool", slots=np.array(slots, dtype=np.int64))


class Journal:
    """What ran, in order."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def work(self, name: str) -> Callable[[], None]:
        return lambda: self.names.append(name)


def test_an_eager_stream_runs_work_at_once() -> None:
    journal = Journal()
    RecordingBackend().stream("a").enqueue(journal.work("one"), "one")

    assert journal.names == ["one"]


def test_a_late_stream_runs_nothing_that_nobody_waits_for() -> None:
    journal, backend = Journal(), RecordingBackend(late=True)
    backend.stream("a").enqueue(journal.work("one"), "one")

    assert journal.names == []


def test_waiting_for_an_event_runs_what_came_before_it_and_nothing_after() -> None:
    journal, stream = Journal(), RecordingBackend(late=True).stream("a")
    stream.enqueue(journal.work("one"), "one")
    event = stream.record()
    stream.enqueue(journal.work("two"), "two")
    event.synchronize()

    assert journal.names == ["one"]


def test_a_stream_runs_what_it_waits_for_first_even_through_a_third_one() -> None:
    journal, backend = Journal(), RecordingBackend(late=True)
    first, second, third = (backend.stream(name) for name in ("first", "second", "third"))
    first.enqueue(journal.work("one"), "one")
    second.wait(first.record())
    second.enqueue(journal.work("two"), "two")
    third.wait(second.record())
    third.enqueue(journal.work("three"), "three")
    third.record().synchronize()

    assert journal.names == ["one", "two", "three"]


def test_an_eager_stream_that_waits_for_a_late_one_makes_it_run() -> None:
    journal, backend = Journal(), RecordingBackend()
    late = backend.stream("late")
    late.is_late = True
    late.enqueue(journal.work("one"), "one")
    backend.stream("eager").wait(late.record())

    assert journal.names == ["one"]
    assert late.num_pending == 0


def test_asking_whether_an_event_is_done_runs_what_came_before_it() -> None:
    journal, stream = Journal(), RecordingBackend(late=True).stream("a")
    stream.enqueue(journal.work("one"), "one")
    is_done = stream.record().is_done()
    stream.enqueue(journal.work("two"), "two")

    assert (is_done, journal.names) == (True, ["one"])


def test_synchronize_runs_everything() -> None:
    journal, backend = Journal(), RecordingBackend(late=True)
    for name in ("a", "b"):
        backend.stream(name).enqueue(journal.work(name), name)
    backend.synchronize()

    assert journal.names == ["a", "b"]


def test_the_stream_of_a_name_is_one() -> None:
    backend = RecordingBackend()

    assert backend.stream("a") is backend.stream("a")


def test_a_read_that_no_event_orders_after_the_write_is_an_error() -> None:
    backend = RecordingBackend(late=True)
    backend.stream("writer").enqueue(lambda: None, "write", writes=[rows(3, 4)])
    reader = backend.stream("reader")
    reader.enqueue(lambda: None, "gather", reads=[rows(1, 4)])
    with pytest.raises(OrderError, match="gather read slot 4 of pool before it was written") as order:
        reader.record().synchronize()

    assert (order.value.slot, order.value.wanted, order.value.found) == (4, 1, 0)


def test_a_read_that_an_event_orders_after_the_write_finds_it() -> None:
    backend = RecordingBackend(late=True)
    writer, reader = backend.stream("writer"), backend.stream("reader")
    writer.enqueue(lambda: None, "write", writes=[rows(4)])
    reader.wait(writer.record())
    reader.enqueue(lambda: None, "gather", reads=[rows(4)])

    reader.record().synchronize()

    assert (writer.num_pending, reader.num_pending) == (0, 0)


def test_rows_that_were_never_written_may_be_read() -> None:
    stream = RecordingBackend(late=True).stream("a")
    stream.enqueue(lambda: None, "gather", reads=[rows(9), rows()])

    stream.record().synchronize()

    assert stream.num_pending == 0


def test_rows_that_are_written_again_before_their_reader_ran_are_an_error() -> None:
    backend = RecordingBackend(late=True)
    backend.stream("reader").enqueue(lambda: None, "gather", reads=[rows(2)])
    writer = backend.stream("writer")
    writer.enqueue(lambda: None, "write", writes=[rows(2)])
    writer.record().synchronize()
    with pytest.raises(OrderError, match="after it was written again"):
        backend.synchronize()

    assert backend.stream("reader").num_pending == 0


def test_a_write_that_comes_after_a_later_one_shows_at_the_next_read() -> None:
    backend = RecordingBackend(late=True)
    early, other = backend.stream("early"), backend.stream("other")
    early.enqueue(lambda: None, "first write", writes=[rows(2)])
    other.enqueue(lambda: None, "second write", writes=[rows(2)])
    other.record().synchronize()
    early.record().synchronize()
    other.enqueue(lambda: None, "gather", reads=[rows(2)])
    with pytest.raises(OrderError) as order:
        other.record().synchronize()

    assert (order.value.wanted, order.value.found) == (2, 1)


def test_an_event_of_another_backend_is_no_event() -> None:
    class Elsewhere:
        def synchronize(self) -> None:
            """Nothing to wait for."""

        def is_done(self) -> bool:
            return True

    with pytest.raises(ForeignEventError, match="Elsewhere"):
        RecordingBackend().stream("a").wait(Elsewhere())
