"""Direct write on all ranks of a small group: who writes what where, and what is refused before a byte moves."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.batching import plan_batch
from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.layouts import MHA_BF16, MLA_BF16, MLA_FP8, Buffer, layout
from sharedkv.pools import Pool
from sharedkv.quantization import plain_quantize_latent, quantize_latent
from sharedkv.row_domains import COMPUTE, STATIC, VALID
from sharedkv.rows import (
    plain_gather_index_rows,
    plain_gather_rows,
    plain_write_index_rows,
    plain_write_rows,
)
from sharedkv.streams import OrderError, RecordingBackend
from sharedkv.writing import ComputedRows, GroupWriter, compute_stream, rows_of
from tests.data_plane.synchronization import WaitsError, no_waiting

GARBAGE = 0xAB
LAYER = 1


class Group:
    """Pools of all ranks and a batch with the pages that an allocator gave it."""

    def __init__(self, lengths: Sequence[tuple[int, int]], *, name: str = MLA_BF16, cp_size: int = 3) -> None:
        self.geometry = Geometry(cp_size=cp_size, page_size=4, pages=16 * cp_size)
        self.layout = layout(name)
        self.backend = RecordingBackend()
        self.pools = [Pool(self.geometry, self.layout, layers=2) for _ in range(cp_size)]
        self.heard: list[tuple[int, str]] = []
        self.writer = GroupWriter(self.geometry, self.pools, self.backend, self)
        self.batch = [
            ExtendRequest(request=f"r{at}", prefix_tokens=4 * prefix, extend_tokens=extend)
            for at, (prefix, extend) in enumerate(lengths)
        ]
        given = OwnerLaneAllocator(self.geometry, FreeRoom()).extend(self.batch)
        self.locations: list[int] = given.locations.tolist()

    def on_written(self, layer: int, buffer: str) -> None:
        self.heard.append((layer, buffer))

    def on_layer_end(self, layer: int) -> None:
        self.heard.append((layer, "end"))

    def rows(self, domain: str = VALID, *, padding: int = 0) -> list[ComputedRows]:
        """Return rows that name their request and position, garbage where a domain has more than valid rows."""
        plan = plan_batch(self.geometry, self.batch)
        count = {
            VALID: plan.valid_rows.tolist(),
            COMPUTE: plan.compute_rows.tolist(),
            STATIC: [plan.static_rows + padding] * plan.cp_size,
        }[domain]
        return [
            ComputedRows(
                domain=domain,
                num_rows=num_rows,
                buffers={
                    buffer.name: self._given(buffer, plan.tokens(rank).tolist(), num_rows)
                    for buffer in self.layout.buffers
                },
            )
            for rank, num_rows in enumerate(count)
        ]

    def token_row(self, buffer: Buffer, token: int) -> torch.Tensor:
        """Return what is computed for a token: as bf16, numbers of a usual size."""
        first = 0
        for at, request in enumerate(self.batch):
            if token < first + request.extend_tokens:
                position = request.prefix_tokens + token - first
                salt = len(buffer.name)
                values = torch.arange(buffer.computed_row_bytes // 2) % 13 + 64 * at + position + salt
                return values.to(torch.bfloat16).view(torch.uint8)
            first += request.extend_tokens
        raise IndexError(token)

    def _given(self, buffer: Buffer, tokens: Sequence[int], num_rows: int) -> torch.Tensor:
        rows = torch.full((num_rows, buffer.computed_row_bytes), GARBAGE, dtype=torch.uint8)
        for row, token in enumerate(tokens):
            rows[row] = self.token_row(buffer, token)
        return rows

    def expected(self) -> list[dict[str, torch.Tensor]]:
        """Return what each rank's layer holds, computed token by token."""
        size, ranks = self.geometry.page_size, self.geometry.cp_size
        pools = [
            {buffer.name: torch.zeros_like(pool.buffer(LAYER, buffer.name)) for buffer in self.layout.buffers}
            for pool in self.pools
        ]
        for token, location in enumerate(self.locations):
            page, offset = divmod(location, size)
            rank, physical = (page - 1) % ranks, (page - 1) // ranks + 1
            for buffer in self.layout.buffers:
                row = self.token_row(buffer, token)
                target = pools[rank][buffer.name]
                if buffer.is_paged:
                    target[physical, offset * 128 : offset * 128 + 128] = row[:128]
                    scale = size * 128 + 4 * offset
                    target[physical, scale : scale + 4] = row[128:]
                else:
                    stored = quantize_latent(row.view(1, -1))[0] if buffer.is_quantized else row
                    target[physical * size + offset] = stored
        return pools

    def found(self) -> list[dict[str, torch.Tensor]]:
        return [{buffer.name: pool.buffer(LAYER, buffer.name) for buffer in self.layout.buffers} for pool in self.pools]

    def is_as_expected(self) -> bool:
        return all(
            torch.equal(found[name], expected[name])
            for found, expected in zip(self.found(), self.expected(), strict=True)
            for name in expected
        )

    def is_untouched(self) -> bool:
        return not any(
            pool.buffer(layer, buffer.name).any()
            for pool in self.pools
            for layer in range(2)
            for buffer in self.layout.buffers
        )

    def write(self, rows: Sequence[ComputedRows]) -> None:
        self.writer.write(LAYER, self.batch, self.locations, len(self.locations), rows)


LENGTHS = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 40)), min_size=1, max_size=3)


@given(lengths=LENGTHS, name=st.sampled_from([MLA_BF16, MLA_FP8, MHA_BF16]), cp_size=st.sampled_from([2, 3]))
def test_the_ranks_together_keep_every_token_once_and_nothing_else(
    lengths: list[tuple[int, int]], name: str, cp_size: int
) -> None:
    group = Group(lengths, name=name, cp_size=cp_size)
    group.write(group.rows())

    assert group.is_as_expected()


@pytest.mark.parametrize("domain", [COMPUTE, STATIC])
@given(lengths=LENGTHS)
def test_dummies_and_padding_are_never_kept(domain: str, lengths: list[tuple[int, int]]) -> None:
    group = Group(lengths, name=MLA_FP8)
    group.write(group.rows(domain, padding=3))

    assert group.is_as_expected()


def test_a_rank_without_a_token_computes_one_row_that_is_not_kept() -> None:
    group = Group([(0, 3)])

    assert [rows.num_rows for rows in group.rows(COMPUTE)] == [3, 1, 1]


def test_a_proven_static_tail_is_dropped() -> None:
    group = Group([(0, 9)])
    group.writer.write(LAYER, group.batch, [*group.locations, 0, 0, 0], 12, group.rows())

    assert group.is_as_expected()


def test_every_buffer_is_told_before_the_end_of_its_layer() -> None:
    group = Group([(0, 9)])
    group.write(group.rows())

    assert group.heard == [(LAYER, "latent"), (LAYER, "index"), (LAYER, "end")]


Change = Callable[[Group], tuple[int, list[ExtendRequest], list[int], int, list[ComputedRows]]]


def change(**changes: object) -> Change:
    """Return the arguments of a write that is right but for some; a callable is given the group."""

    def arguments(group: Group) -> tuple[int, list[ExtendRequest], list[int], int, list[ComputedRows]]:
        right = {"layer": LAYER, "batch": group.batch, "locations": group.locations, "rows": group.rows()}
        values = {
            **right,
            **{name: value(group) if callable(value) else value for name, value in changes.items()},
        }
        values.setdefault("static_tokens", len(values["locations"]))  # type: ignore[arg-type]  # by name, of any type
        return tuple(values[name] for name in ("layer", "batch", "locations", "static_tokens", "rows"))  # type: ignore[return-value]

    return arguments


def moved(pages: dict[int, int], size: int = 4) -> Callable[[Group], list[int]]:
    """Return a change of pages, given by their place among the pages of the batch."""

    def locations(group: Group) -> list[int]:
        named = list(dict.fromkeys(location // size for location in group.locations))
        to = {named[at]: page for at, page in pages.items()}
        return [to.get(where // size, where // size) * size + where % size for where in group.locations]

    return locations


def resized(rank: int, **changes: object) -> Callable[[Group], list[ComputedRows]]:
    def rows(group: Group) -> list[ComputedRows]:
        given = group.rows()
        given[rank] = replace(given[rank], **changes)  # type: ignore[arg-type]  # by name, of any type
        return given

    return rows


def one_row_more(group: Group) -> list[ComputedRows]:
    given = group.rows()
    buffers = {name: torch.cat((rows, rows[:1])) for name, rows in given[0].buffers.items()}
    return [ComputedRows(domain=VALID, num_rows=given[0].num_rows + 1, buffers=buffers), *given[1:]]


def other_buffers(**changes: torch.Tensor | None) -> Callable[[Group], list[ComputedRows]]:
    def rows(group: Group) -> list[ComputedRows]:
        given = group.rows()
        buffers = {**given[0].buffers, **changes}
        kept = {name: rows for name, rows in buffers.items() if rows is not None}
        return [replace(given[0], buffers=kept), *given[1:]]

    return rows


# Pages of ranks 0, 1, 2, 2, 1, 0 (14 pages on 3 ranks would wrap); a page and its lane: 1 0, 2 1, 3 2, 4 0.
REFUSED: list[tuple[Refusal, Change]] = [
    (Refusal.LAYER_OUTSIDE_POOL, change(layer=2)),
    (Refusal.LAYER_OUTSIDE_POOL, change(layer=-1)),
    (Refusal.BATCH_EMPTY, change(batch=[])),
    (Refusal.PREFIX_NOT_PAGE_ALIGNED, change(batch=[ExtendRequest(request="r", prefix_tokens=1, extend_tokens=22)])),
    (Refusal.ROWS_MISMATCH, change(rows=one_row_more)),
    (Refusal.ROWS_MISMATCH, change(rows=lambda group: group.rows()[:2])),
    (Refusal.ROWS_MISMATCH, change(rows=resized(1, num_rows=3))),
    (Refusal.ROWS_MISMATCH, change(rows=resized(0, domain=STATIC, num_rows=5))),
    (Refusal.DOMAIN_UNKNOWN, change(rows=resized(2, domain="padded"))),
    (Refusal.BUFFER_UNKNOWN, change(rows=other_buffers(index=None))),
    (Refusal.BUFFER_UNKNOWN, change(rows=other_buffers(key=torch.zeros(1, dtype=torch.uint8)))),
    (Refusal.ROW_BYTES_MISMATCH, change(rows=other_buffers(latent=torch.zeros((8, 656), dtype=torch.uint8)))),
    (Refusal.LOCATIONS_MISMATCH, change(locations=lambda group: group.locations[:-1])),
    (Refusal.LOCATIONS_MISMATCH, change(static_tokens=24)),
    (Refusal.LOCATIONS_MISMATCH, change(locations=lambda group: [group.locations[1], *group.locations[1:]])),
    (Refusal.STATIC_TAIL_UNPROVEN, change(locations=lambda group: [*group.locations, 0], static_tokens=22)),
    (Refusal.STATIC_TAIL_UNPROVEN, change(locations=lambda group: [*group.locations, 4])),
    (Refusal.LANE_MISMATCH, change(locations=moved({0: 2}))),
    (Refusal.PAGE_OUTSIDE_POOL, change(locations=moved({0: 0}))),
    (Refusal.PAGE_OUTSIDE_POOL, change(locations=moved({0: -2}))),
    (Refusal.PAGE_OUTSIDE_POOL, change(locations=moved({0: 16 * 3 + 1}))),
    (Refusal.PAGE_OUTSIDE_POOL, change(locations=moved({0: 2**70}))),
    (Refusal.PAGE_NAMED_TWICE, change(locations=moved({0: 7, 5: 7}))),
]


@pytest.mark.parametrize(("reason", "arguments"), REFUSED)
def test_what_does_not_fit_is_refused_and_nothing_is_enqueued(reason: Refusal, arguments: Change) -> None:
    group = Group([(0, 22)])
    backend = RecordingBackend(late=True)
    writer = GroupWriter(group.geometry, group.pools, backend, group)
    with pytest.raises(RefusedError) as refused:
        writer.write(*arguments(group))
    backend.synchronize()

    assert refused.value.reason is reason
    assert group.is_untouched()
    assert group.heard == []
    assert not writer.page_writes(LAYER, np.arange(49)).any()


def test_a_late_write_reaches_the_pool_when_its_layer_end_is_waited_for() -> None:
    group = Group([(0, 9)])
    group.backend = RecordingBackend(late=True)
    group.writer = GroupWriter(group.geometry, group.pools, group.backend, group)
    ends = group.writer.write(LAYER, group.batch, group.locations, len(group.locations), group.rows())
    before = group.is_untouched()
    for end in ends:
        end.synchronize()

    assert before
    assert group.is_as_expected()


def test_a_reader_without_a_wait_is_caught_and_one_that_waits_is_not() -> None:
    group = Group([(0, 9)])
    backend = RecordingBackend(late=True)
    writer = GroupWriter(group.geometry, group.pools, backend, group)
    end, *_ = writer.write(LAYER, group.batch, group.locations, len(group.locations), group.rows())
    reads = [rows_of(0, LAYER, "latent", np.array([4, -1]))]
    hasty, patient = backend.stream("hasty"), backend.stream("patient")
    hasty.enqueue(lambda: None, "gather", reads=reads)
    with pytest.raises(OrderError, match="before it was written"):
        hasty.record().synchronize()
    patient.wait(end)
    patient.enqueue(lambda: None, "gather", reads=reads)

    patient.record().synchronize()


def test_rows_of_a_rank_are_written_on_its_compute_stream() -> None:
    group = Group([(0, 9)])

    assert group.writer.stream(1) is group.backend.stream(compute_stream(1))


@pytest.mark.parametrize("name", [MLA_BF16, MLA_FP8, MHA_BF16])
def test_a_write_looks_at_no_value_of_a_device(name: str) -> None:
    group = Group([(0, 9), (1, 2)], name=name)
    pools = [Pool(group.geometry, group.layout, layers=2, device="meta") for _ in group.pools]
    rows = [
        replace(given, buffers={name: buffer.to("meta") for name, buffer in given.buffers.items()})
        for given in group.rows(STATIC)
    ]
    writer = GroupWriter(group.geometry, pools, RecordingBackend(), group)
    with no_waiting():
        writer.write(LAYER, group.batch, group.locations, len(group.locations), rows)

    assert group.heard[-1] == (LAYER, "end")


def test_the_plain_functions_never_make_the_host_wait() -> None:
    buffer, pages = torch.zeros((8, 656), dtype=torch.uint8), torch.zeros((2, 4 * 132), dtype=torch.uint8)
    slots = torch.tensor([3, -1, 0])
    index_rows = torch.ones((3, 132), dtype=torch.uint8)
    with no_waiting():
        plain_write_rows(buffer, plain_quantize_latent(torch.ones((3, 576), dtype=torch.bfloat16)), slots)
        plain_write_index_rows(pages, index_rows, slots, 4)
        found = plain_gather_rows(buffer, slots)
        index_found = plain_gather_index_rows(pages, slots, 4)

    assert found[0].any()
    assert torch.equal(index_found[0], index_rows[0])


def _mask(rows: torch.Tensor) -> object:
    return rows[rows > 0]


def _assign_by_mask(rows: torch.Tensor) -> None:
    rows[rows > 0] = torch.ones(1)


@pytest.mark.parametrize(
    "wait",
    [
        torch.Tensor.item,
        torch.Tensor.tolist,
        bool,
        torch.Tensor.cpu,
        torch.Tensor.numpy,
        torch.nonzero,
        _mask,
        _assign_by_mask,
        lambda rows: rows.masked_select(rows > 0),
        lambda rows: torch.equal(rows, rows),
    ],
)
def test_the_guard_sees_what_makes_the_host_wait(wait: Callable[[torch.Tensor], object]) -> None:
    rows = torch.ones(1)
    with no_waiting(), pytest.raises(WaitsError):
        wait(rows)


def test_static_rows_are_at_least_those_that_the_rank_itself_computes() -> None:
    group = Group([(0, 22)])
    own = [replace(given, domain=STATIC) for given in group.rows(COMPUTE)]
    group.writer.write(LAYER, group.batch, group.locations, 22, own)
    group.backend.synchronize()

    assert len({given.num_rows for given in own}) > 1
    assert group.is_as_expected()
