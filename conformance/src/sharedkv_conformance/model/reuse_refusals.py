"""Why a dense view cannot be composed or read: every reason at once, so that an implementation may name any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig, RankRows
from sharedkv_conformance.contract.reuse import RankQueries, RankTopK, ReuseRequest
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.reuse_batch import Place
from sharedkv_conformance.model.reuse_scores import QUERY_BYTES

Batch = tuple[ReuseRequest, ...]
Counts = dict[str, list[int]]
"""The rows of each rank by domain."""


@dataclass(frozen=True, kw_only=True)
class Composition:
    """The arguments of one composition."""

    layer: int
    epoch: int
    batch: Batch
    rows: Sequence[RankRows]


def compose_refusals(
    config: OpenConfig, asked: Composition, latest: tuple[int, Batch] | None, counts: Counts
) -> frozenset[Reason]:
    """Return every reason why a layer cannot be composed; `latest` is the last epoch that was, with its batch."""
    geometry = Geometry.of(config)
    of_batch = reuse_batch.batch_refusals(geometry, asked.batch)
    is_other = latest is not None and not same_batch(geometry, asked.batch, latest[1])
    faults = {
        Reason.LAYER_OUTSIDE_POOL: asked.layer not in range(config.pool.all_layers),
        Reason.EPOCH_STALE: latest is not None and asked.epoch < latest[0],
        Reason.EPOCH_OF_ANOTHER_BATCH: latest is not None and asked.epoch == latest[0] and is_other,
    }
    reasons = of_batch | {reason for reason, present in faults.items() if present}
    return reasons if of_batch else reasons | reuse_batch.rows_refusals(config.pool, asked.rows, counts)


def same_batch(geometry: Geometry, one: Batch, other: Batch) -> bool:
    """Say whether two batches are one: the same requests, lengths and pages, whatever is stale behind these."""
    return _named(geometry, one) == _named(geometry, other)


def _named(geometry: Geometry, batch: Batch) -> list[tuple[str, int, int, tuple[int, ...]]]:
    return [(r.request, r.prefix_tokens, r.extend_tokens, reuse_batch.own_pages(geometry, r)) for r in batch]


def query_refusals(
    pool: PoolConfig,
    call: str,
    queries: Sequence[RankQueries],
    counts: Counts,
    domains: Sequence[str] = ("valid", "compute"),
) -> frozenset[Reason]:
    """Return every reason why queries cannot be put to a view: no index, no such domain, or not the rows of one."""
    heads = pool.index_heads if call == "top_k" else pool.heads
    row_bytes = heads * QUERY_BYTES[call]
    weight_bytes = 4 * heads if call == "top_k" else 0
    faults = {
        Reason.BUFFER_UNKNOWN: pool.layout == "mha_bf16",
        Reason.DOMAIN_UNKNOWN: any(q.domain not in domains for q in queries),
        Reason.ROWS_MISMATCH: len(queries) != len(counts.get("valid", ()))
        or any(q.domain in counts and q.rows != counts[q.domain][rank] for rank, q in enumerate(queries)),
        Reason.ROW_BYTES_MISMATCH: any(
            (len(q.query), len(q.weights)) != (q.rows * row_bytes, q.rows * weight_bytes) for q in queries
        ),
    }
    return frozenset(reason for reason, present in faults.items() if present)


def attend_refusals(
    batch: Batch, places: Sequence[Sequence[Place | None]], indices: Sequence[RankTopK]
) -> frozenset[Reason]:
    """Return every reason why positions cannot be attended to: there is a selection a row, of the row's request."""
    if len(indices) != len(places) or any(len(i.indices) != len(p) for i, p in zip(indices, places, strict=True)):
        return frozenset({Reason.ROWS_MISMATCH})
    base = reuse_batch.bases(batch)
    outside = any(
        not _is_of(
            selected, place and range(base[place[0]], base[place[0]] + reuse_batch.request_tokens(batch[place[0]]))
        )
        for given, rows in zip(indices, places, strict=True)
        for selected, place in zip(given.indices, rows, strict=True)
    )
    return frozenset({Reason.POSITION_OUTSIDE_REQUEST}) if outside else frozenset()


def _is_of(selected: Sequence[int], tokens: range | None) -> bool:
    return all(position == -1 or (tokens is not None and position in tokens) for position in selected)


def read_refusals(
    layers: int, layer: int, epoch: int, latest: int | None, composed: Mapping[int, object]
) -> frozenset[Reason]:
    """Return every reason why a view cannot be read: it was not composed, or a later epoch has replaced it."""
    if epoch == latest and layer in composed:
        return frozenset()
    reasons = {Reason.VIEW_NOT_COMPOSED}
    reasons |= {Reason.EPOCH_STALE} if latest is not None and epoch < latest else set()
    reasons |= {Reason.LAYER_OUTSIDE_POOL} if layer not in range(layers) else set()
    return frozenset(reasons)
