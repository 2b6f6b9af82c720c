"""Dense views of all ranks in one process, against one rank that has everything."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.attention import attend
from sharedkv.collectives import Exchange, LocalGroup
from sharedkv.composing import DenseViews
from sharedkv.dense_positions import ReuseRequest, dense_batch
from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.indexing import top_k
from sharedkv.pools import Pool
from sharedkv.streams import RecordingBackend
from sharedkv.writing import ComputedRows, GroupWriter
from tests.data_plane.small_batches import LAYERS, PAGE_SIZE, SmallBatch, small_batch

LAYOUTS = ("mla_bf16", "mla_fp8", "mha_bf16")
BATCHES: Sequence[tuple[tuple[int, int], ...]] = (
    ((8, 13), (0, 5)),
    ((0, 1),),
    ((4, 1), (12, 3), (0, 2)),
    ((16, 40), (4, 17)),
)
lengths = st.lists(
    st.tuples(st.integers(0, 3).map(lambda pages: pages * PAGE_SIZE), st.integers(1, 30)), min_size=1, max_size=3
)


def views_of(batch: SmallBatch, noted: list[Exchange] | None = None) -> DenseViews:
    group = LocalGroup(batch.geometry.cp_size, noted.append if noted is not None else lambda _: None)
    return DenseViews(batch.geometry, batch.pools, group, RecordingBackend())


def is_equal_on_all_ranks(batch: SmallBatch, views: DenseViews, layer: int, epoch: int) -> bool:
    view = views.view(layer, epoch)
    view.synchronize()
    names = [buffer.name for buffer in batch.layout.buffers]
    return all(torch.equal(dense, batch.expected(layer, name)) for name in names for dense in view.rows(name))


def refusal(views: DenseViews, layer: int, epoch: int, batch: SmallBatch, rows: Sequence[ComputedRows]) -> Refusal:
    with pytest.raises(RefusedError) as caught:
        views.compose(layer, epoch, batch.requests, rows)
    return caught.value.reason


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("number", range(len(BATCHES)))
def test_every_rank_has_the_view_of_one_rank_with_everything(name: str, number: int) -> None:
    batch = small_batch(number, ranks=3, lengths=BATCHES[number], name=name)
    views = views_of(batch)

    for layer in range(LAYERS):
        views.compose(layer, 1, batch.requests, batch.rows(layer))

        assert is_equal_on_all_ranks(batch, views, layer, 1)


@given(seed=st.integers(0, 1 << 20), ranks=st.integers(2, 4), drawn=lengths)
def test_any_batch_has_the_view_of_one_rank_with_everything(
    seed: int, ranks: int, drawn: list[tuple[int, int]]
) -> None:
    batch = small_batch(seed, ranks=ranks, lengths=drawn)
    views = views_of(batch)

    views.compose(0, 1, batch.requests, batch.rows(0))

    assert is_equal_on_all_ranks(batch, views, 0, 1)


@pytest.mark.parametrize("domain", ["compute", "static"])
def test_dummy_rows_and_padding_are_not_part_of_a_view(domain: str) -> None:
    batch = small_batch(5, ranks=4, lengths=((4, 3),))
    views = views_of(batch)

    views.compose(0, 1, batch.requests, batch.rows(0, domain, static_rows=8))

    assert is_equal_on_all_ranks(batch, views, 0, 1)


def test_positions_are_those_of_requests_one_after_another() -> None:
    batch = small_batch(1)

    made = views_of(batch).compose(0, 1, batch.requests, batch.rows(0))

    assert (made.bases.tolist(), made.tokens) == ([0, 21], 26)


@pytest.mark.parametrize("number", range(len(BATCHES)))
def test_a_buffer_of_a_layer_is_merged_by_one_exchange_whatever_the_batch(number: int) -> None:
    batch = small_batch(number, lengths=BATCHES[number])
    noted: list[Exchange] = []
    views = views_of(batch, noted)

    for layer in range(LAYERS):
        views.compose(layer, 1, batch.requests, batch.rows(layer))

    found = [(exchange.kind, exchange.purpose.layer, exchange.purpose.buffer) for exchange in noted]
    assert found == [("all_reduce", layer, name) for layer in range(LAYERS) for name in ("latent", "index")]


def test_an_exchange_names_exact_spans_and_no_token_twice() -> None:
    batch = small_batch(2)
    noted: list[Exchange] = []

    views_of(batch, noted).compose(0, 1, batch.requests, batch.rows(0))

    assert noted[0].purpose.spans == ((0, 8), (8, 21), (21, 26))


def test_a_layer_is_materialized_once_an_epoch() -> None:
    batch = small_batch(3)
    heard: list[tuple[int, str]] = []
    group = LocalGroup(2)
    views = DenseViews(
        batch.geometry, batch.pools, group, RecordingBackend(), lambda layer, name: heard.append((layer, name))
    )

    for epoch in (1, 1, 2):
        views.compose(0, epoch, batch.requests, batch.rows(0))

    assert heard == [(0, "latent"), (0, "index")] * 2


def test_a_batch_without_cached_tokens_materializes_nothing() -> None:
    batch = small_batch(4, lengths=((0, 9), (0, 2)))
    heard: list[tuple[int, str]] = []
    group = LocalGroup(2)
    views = DenseViews(
        batch.geometry, batch.pools, group, RecordingBackend(), lambda layer, name: heard.append((layer, name))
    )

    views.compose(0, 1, batch.requests, batch.rows(0))

    assert heard == []
    assert is_equal_on_all_ranks(batch, views, 0, 1)


def test_a_new_epoch_reads_the_pools_again() -> None:
    batch = small_batch(6)
    views = views_of(batch)
    views.compose(0, 1, batch.requests, batch.rows(0))
    for pool in batch.pools:
        pool.buffer(0, "latent").fill_(7)

    views.compose(0, 2, batch.requests, batch.rows(0))

    assert views.view(0, 2).rows("latent")[1][:8].tolist() == [[7] * 1152] * 8


def test_a_view_of_an_earlier_epoch_is_never_served() -> None:
    batch = small_batch(7)
    views = views_of(batch)
    views.compose(0, 1, batch.requests, batch.rows(0))
    views.compose(1, 2, batch.requests, batch.rows(1))

    for layer, epoch in ((0, 1), (0, 2), (1, 1), (1, 3)):
        with pytest.raises(RefusedError, match="view_not_composed"):
            views.view(layer, epoch)


def test_an_epoch_before_the_latest_is_refused() -> None:
    batch = small_batch(8)
    views = views_of(batch)
    views.compose(0, 5, batch.requests, batch.rows(0))

    assert refusal(views, 1, 4, batch, batch.rows(1)) == Refusal.EPOCH_STALE


def test_another_batch_under_the_same_epoch_is_refused() -> None:
    batch, other = small_batch(9), small_batch(9, lengths=((8, 13), (0, 6)))
    views = views_of(batch)
    views.compose(0, 1, batch.requests, batch.rows(0))

    assert refusal(views, 1, 1, other, other.rows(1)) == Refusal.EPOCH_OF_ANOTHER_BATCH


def test_a_batch_is_the_same_whatever_is_stale_in_its_tables() -> None:
    batch = small_batch(10)
    cleaned = tuple(
        ReuseRequest(
            request=request.request,
            prefix_tokens=request.prefix_tokens,
            extend_tokens=request.extend_tokens,
            table=request.table[:-3],
        )
        for request in batch.requests
    )
    views = views_of(batch)
    views.compose(0, 1, batch.requests, batch.rows(0))

    views.compose(1, 1, cleaned, batch.rows(1))

    assert is_equal_on_all_ranks(batch, views, 1, 1)


def test_a_refused_batch_leaves_the_views_of_the_latest_epoch() -> None:
    batch = small_batch(11)
    views = views_of(batch)
    views.compose(0, 1, batch.requests, batch.rows(0))

    assert refusal(views, 0, 2, batch, batch.rows(0)[:1]) == Refusal.ROWS_MISMATCH
    assert is_equal_on_all_ranks(batch, views, 0, 1)


def test_rows_that_the_batch_does_not_have_are_refused() -> None:
    batch = small_batch(12, lengths=((4, 1),))
    rows = [ComputedRows(domain="compute", num_rows=own.num_rows, buffers=own.buffers) for own in batch.rows(0)]

    assert refusal(views_of(batch), 0, 1, batch, rows) == Refusal.ROWS_MISMATCH


def test_rows_of_no_known_domain_are_refused() -> None:
    batch = small_batch(13)
    rows = [ComputedRows(domain="real", num_rows=own.num_rows, buffers=own.buffers) for own in batch.rows(0)]

    assert refusal(views_of(batch), 0, 1, batch, rows) == Refusal.DOMAIN_UNKNOWN


def test_rows_without_a_buffer_of_the_layout_are_refused() -> None:
    batch = small_batch(14)
    rows = [
        ComputedRows(domain=own.domain, num_rows=own.num_rows, buffers={"latent": own.buffers["latent"]})
        for own in batch.rows(0)
    ]

    assert refusal(views_of(batch), 0, 1, batch, rows) == Refusal.BUFFER_UNKNOWN


def test_rows_of_another_width_are_refused() -> None:
    batch = small_batch(19)
    rows = [
        ComputedRows(domain=own.domain, num_rows=own.num_rows, buffers={**own.buffers, "index": own.buffers["latent"]})
        for own in batch.rows(0)
    ]

    assert refusal(views_of(batch), 0, 1, batch, rows) == Refusal.ROW_BYTES_MISMATCH


def test_an_unknown_layer_is_refused() -> None:
    batch = small_batch(15)

    assert refusal(views_of(batch), LAYERS, 1, batch, batch.rows(0)) == Refusal.LAYER_OUTSIDE_POOL


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ((1, 2), Refusal.TABLE_TOO_SHORT),
        ((1, 0, 3), Refusal.PAGE_OUTSIDE_POOL),
        ((1, 2, 9), Refusal.PAGE_OUTSIDE_POOL),
        ((1, 2, 1 << 80), Refusal.PAGE_OUTSIDE_POOL),
    ],
)
def test_a_table_without_a_place_for_every_token_is_refused(table: tuple[int, ...], reason: Refusal) -> None:
    geometry = Geometry(cp_size=2, page_size=4, pages=8)
    request = ReuseRequest(request="a", prefix_tokens=4, extend_tokens=5, table=table)

    with pytest.raises(RefusedError) as caught:
        dense_batch(geometry, [request])

    assert caught.value.reason == reason


def test_queries_are_never_padded_to_static_rows() -> None:
    batch = small_batch(16)
    made = dense_batch(batch.geometry, batch.requests)

    with pytest.raises(RefusedError, match="domain_unknown"):
        made.windows(0, "static", 64)


def test_a_row_sees_its_own_request_up_to_itself() -> None:
    batch = small_batch(17, lengths=((8, 5), (4, 6)))
    made = dense_batch(batch.geometry, batch.requests)

    windows = [made.windows(rank, "valid", len(batch.positions_of(rank))) for rank in range(2)]

    assert [list(zip(own.request.tolist(), own.tokens.tolist(), strict=True)) for own in windows] == [
        [(0, 9), (0, 10), (0, 11), (0, 12), (1, 5), (1, 6), (1, 7), (1, 8)],
        [(0, 13), (1, 9), (1, 10)],
    ]
    assert windows[0].bases.tolist() == [0, 13]


def test_a_dummy_row_sees_nothing() -> None:
    batch = small_batch(18, lengths=((8, 1),))

    windows = dense_batch(batch.geometry, batch.requests).windows(1, "compute", 1)

    assert (windows.request.tolist(), windows.tokens.tolist()) == ([-1], [0])


def test_a_view_is_made_after_the_rows_that_were_written_before_it() -> None:
    first, second = small_batch(20, lengths=((0, 16),)), small_batch(20, lengths=((16, 1),))
    backend = RecordingBackend(late=True)
    allocator = OwnerLaneAllocator(first.geometry, FreeRoom())
    given = allocator.extend([ExtendRequest(request="a", prefix_tokens=0, extend_tokens=16)])
    writer = GroupWriter(first.geometry, first.pools, backend)
    views = DenseViews(first.geometry, first.pools, LocalGroup(2), backend)
    hit = ReuseRequest(request="a", prefix_tokens=16, extend_tokens=1, table=(*given.pages, 5))

    writer.write(0, first.requests, given.locations.tolist(), 16, first.rows(0))
    views.compose(0, 1, [hit], second.rows(0))
    views.view(0, 1).synchronize()

    for name in ("latent", "index"):
        for rows in views.view(0, 1).rows(name):
            assert torch.equal(rows[:16], first.expected(0, name))


def test_nothing_is_composed_before_somebody_waits_for_it() -> None:
    batch = small_batch(21)
    views = DenseViews(batch.geometry, batch.pools, LocalGroup(2), RecordingBackend(late=True))
    views.compose(0, 1, batch.requests, batch.rows(0))

    assert views.view(0, 1).rows("latent") == []


@pytest.mark.parametrize("rank", range(3))
def test_whoever_waits_for_one_rank_alone_has_what_all_ranks_brought(rank: int) -> None:
    batch = small_batch(23, ranks=3, lengths=BATCHES[0])
    views = DenseViews(batch.geometry, batch.pools, LocalGroup(3), RecordingBackend(late=True))
    views.compose(0, 1, batch.requests, batch.rows(0))
    views.view(0, 1).ready[rank].synchronize()

    assert torch.equal(views.view(0, 1).rows("latent")[rank], batch.expected(0, "latent"))


def test_a_buffer_that_the_layout_does_not_have_is_refused() -> None:
    batch = small_batch(22)
    views = views_of(batch)
    views.compose(0, 1, batch.requests, batch.rows(0))

    with pytest.raises(RefusedError, match="buffer_unknown"):
        views.view(0, 1).rows("key")


@pytest.mark.parametrize("name", ["mla_bf16", "mla_fp8"])
@pytest.mark.parametrize("number", range(len(BATCHES)))
def test_nothing_waits_for_a_device(name: str, number: int) -> None:
    """On a device without values whoever needs one to go on gets an error, as he would have to wait on a GPU."""
    batch = small_batch(number, lengths=BATCHES[number], name=name)
    pools = [Pool(batch.geometry, batch.layout, LAYERS, device="meta") for _ in range(2)]
    views = DenseViews(batch.geometry, pools, LocalGroup(2), RecordingBackend())
    rows = [
        ComputedRows(
            domain=own.domain,
            num_rows=own.num_rows,
            buffers={buffer: computed.to("meta") for buffer, computed in own.buffers.items()},
        )
        for own in batch.rows(0, "compute")
    ]

    made = views.compose(0, 1, batch.requests, rows)

    view, count = views.view(0, 1), rows[0].num_rows
    queries = torch.empty((count, 256), dtype=torch.uint8, device="meta")
    weights = torch.empty((count, 2), device="meta")
    selected = top_k(queries, weights, view.rows("index")[0], made.windows(0, "compute", count), 5)
    output = attend(torch.empty((count, 2304), dtype=torch.uint8, device="meta"), view.rows("latent")[0], selected)
    assert (output.device.type, tuple(output.shape)) == ("meta", (count, 2, 512))
