"""Streams as threads: in order within one, at the same time beside one another, ordered by events alone."""

import threading
from collections.abc import Iterator

import pytest
import torch

from sharedkv.host_memory import ORDERS
from sharedkv.streams import ForeignEventError, RecordingBackend
from sharedkv.thread_streams import ThreadBackend
from tests.data_plane.two_tiers import TwoTiers

PAIRS = ((1, 0), (2, 3), (4, 1), (7, 5))


@pytest.fixture
def backend() -> Iterator[ThreadBackend]:
    made = ThreadBackend()
    yield made
    made.close()


def test_work_of_a_stream_runs_in_order(backend: ThreadBackend) -> None:
    seen: list[int] = []
    for number in range(100):
        backend.stream("a").enqueue(lambda number=number: seen.append(number), "append")  # type: ignore[misc]
    backend.stream("a").record().synchronize()

    assert seen == list(range(100))


def test_two_streams_run_at_the_same_time(backend: ThreadBackend) -> None:
    both = threading.Barrier(2, timeout=60)
    for name in ("a", "b"):
        backend.stream(name).enqueue(both.wait, "meet")
    backend.synchronize()

    assert not both.broken


def test_an_event_orders_work_of_two_streams(backend: ThreadBackend) -> None:
    go, seen = threading.Event(), list[str]()
    first, second = backend.stream("first"), backend.stream("second")
    first.enqueue(go.wait, "wait")
    first.enqueue(lambda: seen.append("first"), "append")
    reached = first.record()
    second.wait(reached)
    second.enqueue(lambda: seen.append("second"), "append")
    was_done = reached.is_done()
    go.set()
    second.record().synchronize()

    assert (was_done, reached.is_done(), seen) == (False, True, ["first", "second"])


def fail() -> None:
    raise ZeroDivisionError


def test_who_waits_for_work_that_failed_gets_its_error(backend: ThreadBackend) -> None:
    seen: list[str] = []
    backend.stream("a").enqueue(fail, "fail")
    backend.stream("a").enqueue(lambda: seen.append("after"), "append")
    backend.stream("b").wait(backend.stream("a").record())
    backend.stream("b").enqueue(lambda: seen.append("behind"), "append")
    with pytest.raises(ZeroDivisionError):
        backend.stream("b").record().synchronize()

    assert seen == []


def test_an_event_of_another_backend_is_no_event(backend: ThreadBackend) -> None:
    with pytest.raises(ForeignEventError, match="RecordingEvent"):
        backend.stream("a").wait(RecordingBackend().stream("a").record())


@pytest.mark.parametrize("order", ORDERS)
def test_copies_beside_a_forward_bring_every_byte_back(backend: ThreadBackend, order: str) -> None:
    tiers = TwoTiers(order=order, backend=backend)
    moves = tiers.moves(PAIRS)
    pages = [page for page, _ in PAIRS]
    tiers.engine.admitted("a", moves)
    for layer in tiers.layers:
        tiers.fill(layer, pages, seed=1)
        tiers.engine.layer_end(layer)
    tiers.engine.submit_backups([moves], "a")
    tiers.fill_all(pages, seed=2)
    tiers.engine.submit_load(moves)
    found = tiers.reader.rows(2, tiers.layout.buffer("index"), torch.arange(4, 8).numpy())
    tiers.backend.synchronize()

    assert tiers.host_has(moves, seed=1)
    assert tiers.device_has({page: page for page in pages}, seed=1)
    assert len(found) == 4
