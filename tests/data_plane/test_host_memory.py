"""Host memory of one lane: three orders of the same bytes, runs that are one object, and pairs that do not fit."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.errors import Refusal, RefusedError, TensorMismatchError
from sharedkv.geometry import Geometry
from sharedkv.host_memory import (
    LAYER_FIRST,
    ORDERS,
    PAGE_FIRST,
    PAGE_FIRST_DIRECT,
    HostMemory,
    HostShape,
    device_pages,
)
from sharedkv.layouts import FP8_ROW_BYTES, MHA_BF16, MLA_BF16, MLA_FP8, Buffer, Layout, layout
from sharedkv.pools import Pool

LAYOUTS = (MLA_BF16, MLA_FP8, MHA_BF16)
PAGES = 3


def shape(name: str = MLA_FP8, order: str = LAYER_FIRST, *, draft_layers: int = 1, page_size: int = 4) -> HostShape:
    return HostShape(layout=layout(name), page_size=page_size, layers=2, draft_layers=draft_layers, order=order)


def places(memory: HostMemory) -> list[tuple[int, str]]:
    return [(layer, buffer.name) for layer in range(memory.shape.all_layers) for buffer in memory.shape.layout.buffers]


def random_like(pages: torch.Tensor, seed: int) -> torch.Tensor:
    return torch.randint(0, 256, pages.shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(seed))


def filled(memory: HostMemory) -> HostMemory:
    """Every page of every buffer of every layer gets bytes of its own."""
    for seed, place in enumerate(places(memory)):
        memory.pages(*place).copy_(random_like(memory.pages(*place), seed))
    return memory


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_no_two_places_share_bytes(name: str, order: str) -> None:
    memory = filled(HostMemory(shape(name, order), PAGES))

    assert all(
        torch.equal(memory.pages(*place), random_like(memory.pages(*place), seed))
        for seed, place in enumerate(places(memory))
    )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_the_bytes_of_a_page_are_those_of_its_device_page(name: str, order: str) -> None:
    pool = Pool(Geometry(cp_size=2, page_size=4, pages=8), layout(name), layers=3)
    memory = HostMemory(shape(name, order), PAGES)
    device_bytes = sum(device_pages(pool, *_of(pool, place))[0].numel() for place in places(memory))

    assert memory.shape.page_bytes == device_bytes
    assert [memory.pages(*place).shape[1:] for place in places(memory)] == [
        device_pages(pool, *_of(pool, place)).shape[1:] for place in places(memory)
    ]


def _of(pool: Pool, place: tuple[int, str]) -> tuple[int, Buffer]:
    return place[0], pool.layout.buffer(place[1])


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("order", [PAGE_FIRST, PAGE_FIRST_DIRECT])
def test_a_page_of_all_layers_is_one_run_a_part_where_pages_come_first(name: str, order: str) -> None:
    memory = filled(HostMemory(shape(name, order), PAGES))
    for part in memory.parts:
        run = memory.page_run(part, 1)

        assert (run.is_contiguous(), run.numel()) == (True, memory.shape.part_bytes(part))
        assert sorted(run.tolist()) == sorted(memory.page_part(part, 1).tolist())


def test_no_page_is_a_run_where_layers_come_first() -> None:
    with pytest.raises(RefusedError, match="layers come first"):
        HostMemory(shape(), PAGES).page_run("kv", 0)


def test_rows_of_a_token_lie_together_where_pages_come_first_and_rows_of_a_layer_where_they_do_directly() -> None:
    strides = {order: HostMemory(shape(order=order), PAGES).pages(1, "latent").stride()[1] for order in ORDERS}

    assert strides == {LAYER_FIRST: FP8_ROW_BYTES, PAGE_FIRST: 2 * FP8_ROW_BYTES, PAGE_FIRST_DIRECT: FP8_ROW_BYTES}


@pytest.mark.parametrize(
    ("name", "draft_layers", "parts"),
    [
        (MLA_FP8, 1, ("kv", "index", "draft")),
        (MLA_BF16, 0, ("kv", "index")),
        (MHA_BF16, 0, ("kv",)),
        (MHA_BF16, 2, ("kv", "draft")),
    ],
)
def test_parts_are_those_that_the_model_has(name: str, draft_layers: int, parts: tuple[str, ...]) -> None:
    assert HostMemory(shape(name, draft_layers=draft_layers), PAGES).parts == parts


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_part_of_a_page_has_the_same_bytes_in_every_order(name: str) -> None:
    memories = [filled(HostMemory(shape(name, order), PAGES)) for order in ORDERS]
    first, *others = [torch.cat([memory.page_part(part, 2) for part in memory.parts]) for memory in memories]

    assert all(torch.equal(first, other) for other in others)


def test_a_part_is_its_buffers_one_after_another_each_layer_by_layer() -> None:
    memory = filled(HostMemory(shape(MHA_BF16, PAGE_FIRST), PAGES))
    expected = [memory.pages(layer, buffer)[2].reshape(-1) for buffer in ("key", "value") for layer in (0, 1)]

    assert torch.equal(memory.page_part("kv", 2), torch.cat(expected))


@given(name=st.sampled_from(LAYOUTS), orders=st.tuples(*(st.sampled_from(ORDERS),) * 2), page=st.integers(0, PAGES - 1))
def test_a_part_goes_from_memory_to_memory_and_changes_one_page(name: str, orders: tuple[str, str], page: int) -> None:
    source, target = filled(HostMemory(shape(name, orders[0]), PAGES)), HostMemory(shape(name, orders[1]), PAGES)
    for part in source.parts:
        target.put_page_part(part, page, source.page_part(part, page))

    for place in places(source):
        expected = torch.zeros_like(target.pages(*place))
        expected[page] = source.pages(*place)[page]

        assert torch.equal(target.pages(*place), expected)


def test_a_part_of_another_size_is_refused_and_names_both_sizes() -> None:
    memory = HostMemory(shape(), PAGES)
    with pytest.raises(TensorMismatchError, match=r"bytes of a page of kv: wanted 5248, found \(5247,\)"):
        memory.put_page_part("kv", 0, torch.zeros(5247, dtype=torch.uint8))

    assert not memory.page_part("kv", 0).any()


@pytest.mark.parametrize("order", ["", "page_head"])
def test_an_order_that_is_none_is_refused(order: str) -> None:
    with pytest.raises(RefusedError) as refused:
        shape(order=order)

    assert refused.value.reason is Refusal.HOST_CONFIG_INVALID


@pytest.mark.parametrize(("layer", "buffer"), [(3, "latent"), (-1, "latent"), (0, "key")])
def test_a_place_that_is_not_there_is_refused(layer: int, buffer: str) -> None:
    with pytest.raises(RefusedError):
        HostMemory(shape(), PAGES).pages(layer, buffer)


def pool_of(rows: Layout, *, page_size: int = 4, layers: int = 3) -> Pool:
    return Pool(Geometry(cp_size=2, page_size=page_size, pages=8), rows, layers)


def test_a_pool_of_the_same_pages_is_a_pair() -> None:
    HostMemory(shape(), PAGES).require_pair(pool_of(layout(MLA_FP8)))


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        (pool_of(layout(MLA_BF16)), "bytes of a row of latent of host and device: wanted 1152, found 656"),
        (pool_of(layout(MLA_FP8), page_size=8), "tokens of a page of host and device: wanted 8, found 4"),
        (pool_of(layout(MLA_FP8), layers=2), "layers of host and device: wanted 2, found 3"),
        (pool_of(layout(MHA_BF16)), "buffers of host and device: wanted .'key', 'value'., found .'latent', 'index'."),
    ],
)
def test_a_pool_of_other_pages_is_refused_and_both_numbers_are_named(pool: Pool, message: str) -> None:
    with pytest.raises(TensorMismatchError, match=message):
        HostMemory(shape(), PAGES).require_pair(pool)


def test_pages_are_counted_by_the_bytes_of_all_their_buffers() -> None:
    rows = layout(MHA_BF16, kv_heads=1, head_dim=16)
    key_and_value = HostShape(layout=rows, page_size=16, layers=1)

    assert (key_and_value.page_bytes, key_and_value.pages_in(4096)) == (1024, 4)


@pytest.mark.parametrize("order", ORDERS)
def test_a_lane_may_have_no_host_pages(order: str) -> None:
    memory = HostMemory(shape(order=order), 0)

    assert [memory.pages(*place).shape[0] for place in places(memory)] == [0] * 6


@pytest.mark.skipif(torch.cuda.is_available(), reason="speaks of machines without CUDA")
def test_pinned_memory_is_an_error_where_there_is_no_device_to_pin_it_for() -> None:
    with pytest.raises(RuntimeError):
        HostMemory(shape(), PAGES, is_pinned=True)
