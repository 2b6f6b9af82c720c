"""Order between forwards and copies: no copy runs too early, none is overtaken, and a wait that is missing is seen."""

from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sharedkv.copying import CopyProgress
from sharedkv.host_memory import PAGE_FIRST_DIRECT
from sharedkv.layouts import MHA_BF16
from sharedkv.streams import OrderError, RecordingBackend
from sharedkv.tiers import backup_stream, load_stream
from sharedkv.writing import compute_stream
from tests.data_plane.synchronization import no_waiting
from tests.data_plane.two_tiers import PAGE_SIZE, RANKS, TwoTiers

PAIRS = ((1, 0), (2, 3), (4, 1), (7, 5))
"""Logical pages, two of each lane, and the host pages that they go to."""
PAGES = [page for page, _ in PAIRS]
ELSEWHERE = ((9, 0), (10, 3), (12, 1), (15, 5))
"""Other pages of the same lanes for the same host pages."""


def locations(pages: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return (np.array(pages)[:, None] * PAGE_SIZE + np.arange(PAGE_SIZE)).ravel()


def test_a_backup_that_does_not_wait_for_the_writes_of_its_layer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    tiers = TwoTiers()
    forget_waits(tiers, monkeypatch, backup_stream(0))
    tiers.fill_all(PAGES, seed=9)
    (progress,) = tiers.engine.submit_backups([tiers.moves(PAIRS)], None)
    with pytest.raises(
        OrderError, match=r"backup of layer 0 read slot \d+ of \(0, 0, 'latent'\) before it was written"
    ):
        progress.settle()


def forget_waits(tiers: TwoTiers, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let a stream wait for nothing from now on: as if whoever enqueues there had forgotten it."""
    monkeypatch.setattr(tiers.backend.stream(name), "wait", lambda _event: None)


def test_a_load_that_does_not_wait_for_the_backup_of_its_host_page_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    tiers = TwoTiers()
    forget_waits(tiers, monkeypatch, load_stream(0))
    tiers.fill_all(PAGES, seed=9)
    tiers.engine.submit_backups([tiers.moves(PAIRS)], None)
    progress = tiers.engine.submit_load(tiers.moves(ELSEWHERE))
    with pytest.raises(OrderError, match=r"load of layer 0 read slot 0 of \('host', 0, 0, 'latent'\) before it was"):
        progress.settle()


def test_a_load_comes_after_writes_that_were_enqueued_before_into_the_pages_it_fills() -> None:
    tiers = TwoTiers()
    tiers.backed_up(PAIRS, seed=1)
    tiers.fill_all(PAGES, seed=2)
    tiers.engine.submit_load(tiers.moves(PAIRS)).settle()
    tiers.backend.synchronize()

    assert tiers.device_has({page: page for page in PAGES}, seed=1)


def test_a_load_that_overtakes_those_writes_would_lose_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    tiers = TwoTiers()
    tiers.backed_up(PAIRS, seed=1)
    forget_waits(tiers, monkeypatch, load_stream(0))
    tiers.fill_all(PAGES, seed=2)
    tiers.engine.submit_load(tiers.moves(PAIRS)).settle()
    with pytest.raises(OrderError, match="read of latent, layer 0"):
        tiers.reader.rows(0, tiers.layout.buffer("latent"), locations(PAGES))


def test_a_load_comes_after_backups_of_the_pages_it_fills() -> None:
    tiers = TwoTiers()
    tiers.backed_up(PAIRS, seed=1)
    tiers.fill_all(PAGES, seed=2)
    others = tiers.moves([(page, host_page + 1 if host_page < 5 else 4) for page, host_page in PAIRS])
    (backup,) = tiers.engine.submit_backups([others], None)
    tiers.engine.submit_load(tiers.moves(PAIRS)).settle()
    backup.settle()

    assert tiers.host_has(others, seed=2)


def test_a_write_waits_for_the_backup_that_still_reads_its_page() -> None:
    tiers = TwoTiers()
    tiers.engine.admitted("a", tiers.moves(PAIRS))
    tiers.fill_all(PAGES, seed=1)
    for layer in tiers.layers:
        tiers.engine.layer_end(layer)
    tiers.engine.cancelled("a")
    tiers.fill_all(PAGES, seed=2)
    tiers.backend.synchronize()

    assert tiers.host_has(tiers.moves(PAIRS), seed=1)
    assert tiers.device_has({page: page for page in PAGES}, seed=2)


def test_a_write_that_did_not_wait_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    tiers = TwoTiers()
    monkeypatch.setattr(tiers.engine, "users_of", lambda _layer, _pages: [])
    tiers.engine.admitted("a", tiers.moves(PAIRS))
    tiers.fill(0, PAGES, seed=1)
    tiers.engine.layer_end(0)
    tiers.fill(0, PAGES, seed=2)
    with pytest.raises(OrderError, match=r"backup of layer 0 .* after it was written again"):
        tiers.backend.synchronize()


def test_a_write_waits_for_the_load_into_its_page() -> None:
    tiers = TwoTiers()
    tiers.backed_up(PAIRS, seed=1)
    tiers.engine.submit_load(tiers.moves(PAIRS))
    tiers.fill_all(PAGES, seed=2)
    tiers.backend.synchronize()

    assert tiers.device_has({page: page for page in PAGES}, seed=2)


def test_a_write_waits_for_no_copy_of_other_pages_or_layers() -> None:
    tiers = TwoTiers()
    tiers.fill_all(PAGES, seed=1)
    tiers.engine.submit_backups([tiers.moves(PAIRS[:2])], None)

    assert tiers.engine.users_of(0, np.array([4, 7, 9])) == []
    assert len(tiers.engine.users_of(0, np.array([2]))) == RANKS


def test_copies_that_are_settled_are_forgotten() -> None:
    tiers = TwoTiers()
    tiers.engine.admitted("gone", tiers.moves(PAIRS[2:]))
    tiers.engine.layer_end(0)
    tiers.engine.cancelled("gone")
    tiers.backed_up(PAIRS, seed=1)
    tiers.engine.submit_load(tiers.moves(PAIRS)).settle()

    assert tiers.engine.users_of(0, np.array(PAGES)) == []
    assert (len(tiers.engine._backup_flights), len(tiers.engine._load_flights)) == (0, 0)
    assert [tiers.fences.events(layer) for layer in tiers.layers] == [()] * 3


def test_the_fence_of_a_later_load_outlives_the_earlier_one() -> None:
    tiers = TwoTiers()
    tiers.backed_up(PAIRS, seed=1)
    first = tiers.engine.submit_load(tiers.moves(PAIRS[:2]))
    tiers.engine.submit_load(tiers.moves(PAIRS[2:]))
    first.settle()

    assert len(tiers.fences.events(0)) == RANKS


def test_a_host_page_that_was_given_away_gets_the_bytes_of_its_new_owner() -> None:
    tiers = TwoTiers()
    tiers.fill_all([1, 3], seed=1)
    tiers.engine.admitted("a", tiers.moves([(1, 0)]))
    for layer in tiers.layers:
        tiers.engine.layer_end(layer)
    tiers.engine.cancelled("a")
    moves = tiers.moves([(3, 0)])
    (progress,) = tiers.engine.submit_backups([moves], None)
    progress.settle()
    tiers.backend.synchronize()

    assert tiers.host_has(moves, seed=1)


def test_the_host_waits_for_copies_of_the_host_pages_it_uses_itself() -> None:
    tiers = TwoTiers()
    tiers.engine.admitted("a", tiers.moves(PAIRS))
    tiers.fill_all(PAGES, seed=1)
    for layer in tiers.layers:
        tiers.engine.layer_end(layer)
    tiers.engine.cancelled("a")
    tiers.engine.settle_host(0, [0])

    assert tiers.host_has(tiers.moves(PAIRS[:1]), seed=1)


def test_the_host_waits_for_no_copy_of_other_host_pages() -> None:
    tiers = TwoTiers()
    tiers.fill_all(PAGES, seed=1)
    tiers.engine.submit_backups([tiers.moves(PAIRS)], None)
    tiers.engine.settle_host(0, [1, 2, 3, 4])
    tiers.engine.settle_host(1, [0])

    assert not any(memory.pages(0, "latent").any() for memory in tiers.memories)


def test_draining_waits_also_for_layers_of_reservations_that_are_gone() -> None:
    tiers = TwoTiers()
    tiers.engine.admitted("a", tiers.moves(PAIRS))
    tiers.fill(1, PAGES, seed=1)
    tiers.engine.layer_end(1)
    tiers.engine.cancelled("a")
    tiers.engine.drain()

    assert tiers.host_has(tiers.moves(PAIRS), seed=1, layers=[1])


def test_submitting_waits_for_nothing() -> None:
    tiers = TwoTiers()
    tiers.engine.admitted("a", tiers.moves(PAIRS))
    tiers.fill_all(PAGES, seed=1)
    with no_waiting():
        tiers.engine.layer_end(0)
        tiers.engine.submit_backups([tiers.moves(PAIRS)], "a")
        tiers.engine.submit_load(tiers.moves(ELSEWHERE))

    backend = tiers.backend
    assert isinstance(backend, RecordingBackend)
    assert all(backend.stream(name(rank)).num_pending for name in (backup_stream, load_stream) for rank in range(RANKS))


@pytest.mark.parametrize("order", list(permutations(["compute", "backup", "load"])))
def test_streams_may_go_on_in_any_order(order: tuple[str, ...]) -> None:
    tiers = TwoTiers(order=PAGE_FIRST_DIRECT)
    tiers.engine.admitted("a", tiers.moves(PAIRS))
    for layer in tiers.layers:
        tiers.fill(layer, PAGES, seed=1)
        tiers.engine.layer_end(layer)
    tiers.engine.submit_backups([tiers.moves(PAIRS)], "a")
    tiers.engine.submit_load(tiers.moves(ELSEWHERE))
    tiers.fill_all(PAGES, seed=2)
    names = {"compute": compute_stream, "backup": backup_stream, "load": load_stream}
    for kind in order:
        for rank in reversed(range(RANKS)):
            tiers.backend.stream(names[kind](rank)).record().synchronize()

    assert tiers.host_has(tiers.moves(PAIRS), seed=1)
    assert tiers.device_has({new: old for (new, _), (old, _) in zip(ELSEWHERE, PAIRS, strict=True)}, seed=1)
    assert tiers.device_has({page: page for page in PAGES}, seed=2)


class Play:
    """Two tiers, and what each page of each has to hold in the end: the page and the seed of its fill."""

    def __init__(self) -> None:
        self.tiers = TwoTiers(name=MHA_BF16, layers=1, draft_layers=1)
        self.device: dict[int, tuple[int, int]] = {}
        self.host: dict[tuple[int, int], tuple[int, int]] = {}
        self.flights: list[CopyProgress] = []

    def write(self, page: int, host_page: int, seed: int) -> None:
        del host_page
        self.tiers.fill_all([page], seed)
        self.device[page] = page, seed

    def back_up(self, page: int, host_page: int, seed: int) -> None:
        del seed
        if page in self.device:
            self.flights += self.tiers.engine.submit_backups([self.tiers.moves([(page, host_page)])], None)
            self.host[(page - 1) % RANKS, host_page] = self.device[page]

    def load(self, page: int, host_page: int, seed: int) -> None:
        del seed
        if held := self.host.get(((page - 1) % RANKS, host_page)):
            self.flights.append(self.tiers.engine.submit_load(self.tiers.moves([(page, host_page)])))
            self.device[page] = held

    def settle(self, page: int, host_page: int, seed: int) -> None:
        del host_page, seed
        if self.flights:
            self.flights.pop(page % len(self.flights)).settle()

    def run(self, page: int, host_page: int, seed: int) -> None:
        del host_page
        name = (compute_stream, backup_stream, load_stream)[seed % 3]
        self.tiers.backend.stream(name(page % RANKS)).record().synchronize()

    def wrong_places(self) -> list[object]:
        """Return every place that does not hold what it has to."""
        tiers = self.tiers
        tiers.backend.synchronize()
        wrong: list[object] = [
            page for page, (by, seed) in self.device.items() if not tiers.device_has({page: by}, seed)
        ]
        for (lane, host_page), (by, seed) in self.host.items():
            for layer in tiers.layers:
                for buffer in tiers.layout.buffers:
                    found = tiers.memories[lane].pages(layer, buffer.name)[host_page]
                    if not torch.equal(found, tiers.expected(layer, buffer.name, by, seed)):
                        wrong.append((lane, host_page, layer, buffer.name))
        return wrong


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([Play.write, Play.back_up, Play.load, Play.settle, Play.run]),
            st.integers(1, 6),
            st.integers(0, 1),
        ),
        max_size=14,
    )
)
def test_whatever_is_enqueued_when_every_page_has_the_bytes_of_its_last_owner(
    calls: list[tuple[Callable[[Play, int, int, int], None], int, int]],
) -> None:
    play = Play()
    for seed, (call, page, host_page) in enumerate(calls):
        call(play, page, host_page, seed)

    assert play.wrong_places() == []
