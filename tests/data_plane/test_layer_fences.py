"""Whoever reads rows of a layer waits for the load of that layer; each reader that forgot to would be caught."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from sharedkv.collectives import LocalGroup
from sharedkv.composing import DenseViews
from sharedkv.dense_positions import ReuseRequest
from sharedkv.layer_fences import LayerFences, PendingLoads, no_loads
from sharedkv.layouts import MLA_FP8
from sharedkv.pool_rows import gather_pool_rows
from sharedkv.prefetching import Plumbing, Prefetcher
from sharedkv.reading import GroupReader
from sharedkv.rows import on_device
from sharedkv.streams import OrderError, RecordingBackend
from sharedkv.writing import ComputedRows
from tests.data_plane.two_tiers import PAGE_SIZE, RANKS, TwoTiers

LAYER = 1
PAGES = (1, 2)
NEW_PAGE = 3
BUFFERS = ("latent", "index")
PAIRS = tuple((page, 0) for page in PAGES)


def loading() -> TwoTiers:
    """Pages that were filled, backed up, overwritten and are being loaded: nothing of the load has run."""
    tiers = TwoTiers(name=MLA_FP8)
    tiers.backed_up(PAIRS, seed=1)
    tiers.fill_all(PAGES, seed=2)
    tiers.backend.synchronize()
    tiers.engine.submit_load(tiers.moves(PAIRS))
    return tiers


def locations() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return (np.array(PAGES)[:, None] * PAGE_SIZE + np.arange(PAGE_SIZE)).ravel()


def expected(tiers: TwoTiers, buffer: str) -> torch.Tensor:
    """The rows of the backup, read where nothing is late."""
    quiet = TwoTiers(name=MLA_FP8, backend=RecordingBackend())
    quiet.fill_all(PAGES, seed=1)
    slots = [np.where(np.array(PAGES) % RANKS == (rank + 1) % RANKS)[0] for rank in range(RANKS)]
    rows = torch.empty((len(PAGES) * PAGE_SIZE, tiers.layout.buffer(buffer).stored_row_bytes), dtype=torch.uint8)
    for rank, own in enumerate(slots):
        for at in own:
            first = ((PAGES[at] - 1) // RANKS + 1) * PAGE_SIZE
            at_slots = on_device(np.arange(first, first + PAGE_SIZE), torch.device("cpu"))
            found = gather_pool_rows(quiet.pools[rank], LAYER, quiet.layout.buffer(buffer), at_slots)
            rows[at * PAGE_SIZE : (at + 1) * PAGE_SIZE] = found
    return rows


def direct(tiers: TwoTiers, pending: PendingLoads, buffer: str) -> list[torch.Tensor]:
    reader = GroupReader(tiers.geometry, tiers.pools, tiers.backend, pending)
    return [reader.rows(LAYER, tiers.layout.buffer(buffer), locations())]


def request() -> ReuseRequest:
    return ReuseRequest(request="a", prefix_tokens=len(PAGES) * PAGE_SIZE, extend_tokens=1, table=(*PAGES, NEW_PAGE))


def composed(tiers: TwoTiers, pending: PendingLoads, buffer: str) -> list[torch.Tensor]:
    views = DenseViews(tiers.geometry, tiers.pools, LocalGroup(RANKS), tiers.backend, pending_loads=pending)
    rows = [
        ComputedRows(
            domain="valid",
            num_rows=count,
            buffers={
                each.name: torch.zeros((count, each.computed_row_bytes), dtype=torch.uint8)
                for each in tiers.layout.buffers
            },
        )
        for count in (1, 0)
    ]
    views.compose(LAYER, 1, [request()], rows)
    view = views.view(LAYER, 1)
    view.synchronize()
    return [found[: len(PAGES) * PAGE_SIZE] for found in view.rows(buffer)]


def prefetched(tiers: TwoTiers, pending: PendingLoads, buffer: str) -> list[torch.Tensor]:
    plumbing = Plumbing(
        pools=tiers.pools,
        group=LocalGroup(RANKS),
        backend=tiers.backend,
        page_writes=tiers.writer.page_writes,
        pending_loads=pending,
    )
    prefetcher = Prefetcher(plumbing, Deaf(), is_on=True)
    prefetcher.start(LAYER, 1, [request()])
    lease = prefetcher.consume(LAYER, 1, [request()])
    tiers.backend.synchronize()
    return list(prefetcher.rows(lease, buffer))


class Deaf:
    def on_fallback(self, reason: str, layer: int) -> None:
        raise AssertionError((reason, layer))


READERS = [direct, composed, prefetched]
Reader = Callable[[TwoTiers, PendingLoads, str], list[torch.Tensor]]


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_finds_what_was_loaded(reader: Reader, buffer: str) -> None:
    tiers = loading()
    wanted = expected(tiers, buffer)

    assert all(torch.equal(found, wanted) for found in reader(tiers, tiers.fences.events, buffer))


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_that_does_not_wait_is_caught(reader: Reader) -> None:
    tiers = loading()
    with pytest.raises(
        OrderError, match=r"layer 1.* read slot \d+ of \(0, 1, '(latent|index)'\) before it was written"
    ):
        reader(tiers, no_loads, "index")


def test_a_backup_of_a_page_that_is_loaded_waits_for_the_load() -> None:
    tiers = loading()
    others = tiers.moves([(page, 1) for page in PAGES])
    (progress,) = tiers.engine.submit_backups([others], None)
    progress.settle()

    assert tiers.host_has(others, seed=1)


def test_a_backup_that_does_not_wait_for_the_load_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    tiers = loading()
    monkeypatch.setattr(tiers.fences, "events", lambda _layer: ())
    (progress,) = tiers.engine.submit_backups([tiers.moves([(page, 1) for page in PAGES])], None)
    with pytest.raises(OrderError, match="backup of layer 0 read slot"):
        progress.settle()


def prefetch_before_load(tiers: TwoTiers) -> None:
    """Start a prefetch of pages, then load other rows into them; nothing of the prefetch has run when the load runs."""
    tiers.backed_up(PAIRS, seed=1)
    plumbing = Plumbing(
        pools=tiers.pools, group=LocalGroup(RANKS), backend=tiers.backend, page_writes=tiers.writer.page_writes
    )
    Prefetcher(plumbing, Deaf(), is_on=True).start(LAYER, 1, [request()])
    tiers.engine.submit_load(tiers.moves(PAIRS)).settle()


def test_a_load_waits_for_a_prefetch_that_still_reads_its_pages() -> None:
    tiers = TwoTiers(name=MLA_FP8)
    prefetch_before_load(tiers)
    tiers.backend.synchronize()

    assert tiers.device_has({page: page for page in PAGES}, seed=1)


def test_a_load_that_overtakes_the_prefetch_is_caught() -> None:
    tiers = TwoTiers(name=MLA_FP8)
    tiers.engine._tiers.other_readers = ()
    prefetch_before_load(tiers)
    with pytest.raises(OrderError, match=r"prefetch of layer 1 .* after it was written again"):
        tiers.backend.synchronize()


def test_readers_of_a_layer_wait_for_that_layer_alone() -> None:
    tiers = loading()
    tiers.reader.rows(0, tiers.layout.buffer("latent"), locations())

    assert tiers.device_has({}, seed=1)
    assert torch.equal(tiers.on_device(0, "latent", 1), tiers.expected(0, "latent", 1, 1))
    assert torch.equal(tiers.on_device(LAYER, "latent", 1), tiers.expected(LAYER, "latent", 1, 2))


def test_a_prefetch_that_came_before_the_load_is_old() -> None:
    tiers = TwoTiers(name=MLA_FP8)
    tiers.backed_up(PAIRS, seed=1)
    tiers.fill_all(PAGES, seed=2)
    before = tiers.writer.page_writes(LAYER, np.array(PAGES)).copy()
    tiers.engine.submit_load(tiers.moves(PAIRS[:1]))

    assert (tiers.writer.page_writes(LAYER, np.array(PAGES)) - before).tolist() == [1, 0]


def test_a_layer_without_loads_has_no_fence() -> None:
    assert (LayerFences().events(3), no_loads(3)) == ((), ())


def test_the_latest_load_of_a_layer_and_rank_stands_for_those_before() -> None:
    fences, stream = LayerFences(), RecordingBackend().stream("load 0")
    first, second, other = stream.record(), stream.record(), stream.record()
    fences.put(1, 0, first)
    fences.put(1, 0, second)
    fences.put(1, 1, other)
    fences.drop(1, 0, first)

    assert fences.events(1) == (second, other)


def test_a_fence_goes_with_its_load() -> None:
    fences, stream = LayerFences(), RecordingBackend().stream("load 0")
    end = stream.record()
    fences.put(1, 0, end)
    fences.drop(2, 0, end)
    fences.drop(1, 0, end)

    assert fences.events(1) == ()
