"""The reference behind the contract answers as the executable specification does, call by call."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import sharedkv_adapter
from sharedkv.layouts import layout
from sharedkv_conformance.contract import (
    BufferRows,
    ExtendRequest,
    OpenConfig,
    PoolConfig,
    RankQueries,
    RankRows,
    RankTopK,
    Reason,
    Rejected,
    ReuseRequest,
)
from sharedkv_conformance.model.implementation import model
from tests.data_plane.small_batches import random_rows

COUNT = 6
COUNTS_OF_ROWS = ("valid", "compute")


class Both:
    """One session of the specification and one of the reference, which are asked the same."""

    def __init__(self, config: OpenConfig, seed: int) -> None:
        self.config = config
        self.generator = torch.Generator().manual_seed(seed)
        self.sessions: list[Any] = [model().open(config), sharedkv_adapter.cpu().open(config)]

    def ask(self, call: Callable[[Any], Any]) -> tuple[Any, Any]:
        """Return both answers; a rejection is one."""
        specified, found = (self._answer(call, session) for session in self.sessions)
        return specified, found

    @staticmethod
    def _answer(call: Callable[[Any], Any], session: Any) -> Any:  # noqa: ANN401 - of any call
        try:
            return call(session)
        except Rejected as rejected:
            return rejected.reason

    def rows(self, batch: list[ExtendRequest], domain: str) -> list[RankRows]:
        """Draw what each rank computes."""
        chosen = layout(self.config.pool.layout)
        rows = []
        for rank in self.plan(batch).ranks:
            count = rank.valid_rows if domain == "valid" else rank.compute_rows
            buffers = tuple(
                BufferRows(buffer=buffer.name, data=random_rows(buffer, count, self.generator).numpy().tobytes())
                for buffer in chosen.buffers
            )
            rows.append(RankRows(domain=domain, rows=count, buffers=buffers))
        return rows

    def plan(self, batch: list[ExtendRequest]) -> Any:  # noqa: ANN401 - the plan of the specification
        return self.sessions[0].planning.plan(batch, 1)

    def queries(self, batch: list[ExtendRequest], domain: str, *, of_index: bool) -> list[RankQueries]:
        """Draw queries of indexer or attention."""
        pool, queries = self.config.pool, []
        for rank in self.plan(batch).ranks:
            count = rank.valid_rows if domain == "valid" else rank.compute_rows
            heads = pool.index_heads if of_index else pool.heads
            values = torch.randn((count, heads, 128 if of_index else 576), generator=self.generator)
            codes = values.to(torch.float8_e4m3fn if of_index else torch.bfloat16).contiguous().view(torch.uint8)
            weights = torch.randn((count, heads), generator=self.generator).view(torch.uint8) if of_index else None
            queries.append(
                RankQueries(
                    domain=domain,
                    rows=count,
                    query=codes.numpy().tobytes(),
                    weights=weights.numpy().tobytes() if weights is not None else b"",
                )
            )
        return queries


def extend(both: Both, batch: list[ExtendRequest]) -> tuple[list[int], list[tuple[int, ...]]]:
    """Allocate a batch on both, which choose the same pages; return its locations, and the pages of each request."""
    given = both.sessions[1].allocation.extend(batch)
    pages, first = [], 0
    for request in batch:
        count = -(-request.extend_tokens // both.config.page_size)
        pages.append(given.pages[first : first + count])
        first += count
    return list(given.locations), pages


def second_chunks(both: Both, layer: int, prefixes: list[int], extends: list[int], domain: str) -> list[ReuseRequest]:
    """Write prefixes on both, then allocate and compose the chunks that follow."""
    names = [f"r{number}" for number in range(len(prefixes))]
    first = [
        ExtendRequest(request=name, prefix_tokens=0, extend_tokens=tokens)
        for name, tokens in zip(names, prefixes, strict=True)
        if tokens
    ]
    tables: dict[str, tuple[int, ...]] = {}
    if first:
        locations, pages = extend(both, first)
        tables = dict(zip((request.request for request in first), pages, strict=True))
        rows = both.rows(first, "valid")
        both.ask(lambda session: session.direct_write.write(layer, first, locations, len(locations), rows))
    second = lengths(names, prefixes, extends)
    _, pages = extend(both, second)
    batch = [
        ReuseRequest(
            request=request.request,
            prefix_tokens=request.prefix_tokens,
            extend_tokens=request.extend_tokens,
            table=(*tables.get(request.request, ()), *new, 1, 2),
        )
        for request, new in zip(second, pages, strict=True)
    ]
    rows = both.rows(second, domain)
    specified, found = both.ask(lambda session: session.reuse.compose(layer, 7, batch, rows))

    assert found == specified
    return batch


def lengths(names: list[str], prefixes: list[int], extends: list[int]) -> list[ExtendRequest]:
    return [
        ExtendRequest(request=name, prefix_tokens=prefix, extend_tokens=tokens)
        for name, prefix, tokens in zip(names, prefixes, extends, strict=True)
    ]


def floats(data: tuple[bytes, ...]) -> list[float]:
    return [value for each in data for value in struct.unpack(f"<{len(each) // 4}f", each)]


drawn_lengths = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 14)), min_size=1, max_size=3)


@given(
    seed=st.integers(0, 1 << 16),
    ranks=st.integers(2, 4),
    name=st.sampled_from(["mla_bf16", "mla_fp8"]),
    domain=st.sampled_from(COUNTS_OF_ROWS),
    drawn=drawn_lengths,
)
@settings(max_examples=15)
def test_views_selections_and_attention_are_those_of_the_specification(
    seed: int, ranks: int, name: str, domain: str, drawn: list[tuple[int, int]]
) -> None:
    pool = PoolConfig(layout=name, heads=2, index_heads=2)
    both = Both(OpenConfig(cp_size=ranks, page_size=4, pages=ranks * 16, pool=pool), seed)
    prefixes, extends = [4 * pages for pages, _ in drawn], [tokens for _, tokens in drawn]
    batch = second_chunks(both, 1, prefixes, extends, domain)
    asked = lengths([request.request for request in batch], prefixes, extends)
    index_queries = both.queries(asked, domain, of_index=True)
    queries = both.queries(asked, domain, of_index=False)

    specified, found = both.ask(lambda session: [session.reuse.dense(1, 7, buffer) for buffer in ("latent", "index")])
    assert found == specified
    specified, found = both.ask(lambda session: session.reuse.top_k(1, 7, index_queries, COUNT))
    assert [[sorted(row) for row in rank.indices] for rank in found] == [
        [sorted(row) for row in rank.indices] for rank in specified
    ]
    specified, found = both.ask(lambda session: session.reuse.attend(1, 7, queries, found))
    torch.testing.assert_close(torch.tensor(floats(found)), torch.tensor(floats(specified)), rtol=1e-4, atol=1e-4)


@pytest.fixture
def both() -> Both:
    return Both(OpenConfig(cp_size=2, page_size=4, pages=24), 0)


def test_a_position_of_another_request_is_refused(both: Both) -> None:
    batch = second_chunks(both, 0, [4, 0], [4, 4], "valid")
    queries = both.queries(lengths([request.request for request in batch], [4, 0], [4, 4]), "valid", of_index=False)
    wrong = [RankTopK(indices=((0,),) * queries[0].rows), RankTopK(indices=((0,),) * queries[1].rows)]

    specified, found = both.ask(lambda session: session.reuse.attend(0, 7, queries, wrong))

    assert found == specified == Reason.POSITION_OUTSIDE_REQUEST


def test_queries_of_a_domain_that_the_batch_does_not_have_are_refused(both: Both) -> None:
    second_chunks(both, 0, [0], [1], "valid")
    queries = both.queries(lengths(["r0"], [0], [1]), "valid", of_index=True)
    as_compute = [
        RankQueries(domain="compute", rows=asked.rows, query=asked.query, weights=asked.weights) for asked in queries
    ]

    specified, found = both.ask(lambda session: session.reuse.top_k(0, 7, as_compute, 2))

    assert found == specified == Reason.ROWS_MISMATCH


def test_queries_of_another_size_are_refused(both: Both) -> None:
    second_chunks(both, 0, [0], [4], "valid")
    queries = both.queries(lengths(["r0"], [0], [4]), "valid", of_index=False)

    specified, found = both.ask(lambda session: session.reuse.top_k(0, 7, queries, 2))

    assert found == specified == Reason.ROW_BYTES_MISMATCH


def test_a_layout_without_an_index_has_dense_views_alone() -> None:
    both = Both(OpenConfig(cp_size=2, page_size=4, pages=24, pool=PoolConfig(layout="mha_bf16")), 0)
    second_chunks(both, 0, [4], [4], "valid")

    specified, found = both.ask(lambda session: [session.reuse.dense(0, 7, buffer) for buffer in ("key", "value")])
    assert found == specified
    specified, found = both.ask(lambda session: session.reuse.top_k(0, 7, [], 2))
    assert found == specified == Reason.BUFFER_UNKNOWN


def test_exchanges_cover_every_position_of_a_view_once(both: Both) -> None:
    second_chunks(both, 0, [4, 8], [5, 3], "valid")

    exchanges = both.sessions[1].probe.collectives()

    assert [(exchange.kind, exchange.layer, exchange.buffer) for exchange in exchanges] == [
        ("all_reduce", 0, "latent"),
        ("all_reduce", 0, "index"),
    ]
    for exchange in exchanges:
        covered = [position for span in exchange.spans for position in range(span.start, span.end)]
        assert covered == list(range(20))


def test_missing_kernels_are_told_and_change_no_byte(both: Both) -> None:
    for session in both.sessions:
        session.probe.inject("no_kernels")
    second_chunks(both, 0, [4], [5], "valid")

    specified, found = both.ask(lambda session: session.reuse.dense(0, 7, "latent"))

    assert found == specified
    events = both.sessions[1].probe.events()
    assert ("fallback", "no_kernels", 0) in [(event.kind, event.reason, event.layer) for event in events]


def test_rows_that_reach_the_pool_late_are_in_the_view(both: Both) -> None:
    both.sessions[1].probe.inject("late_writes")
    second_chunks(both, 0, [8], [5], "valid")

    specified, found = both.ask(lambda session: session.reuse.dense(0, 7, "latent"))

    assert found == specified
