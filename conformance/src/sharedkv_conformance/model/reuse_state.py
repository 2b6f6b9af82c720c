"""What may be known of dense views from calls and answers alone: the state that the laws of reuse judge against.

The oracle is one pool that holds everything: computed rows by logical location. A view is what that pool holds for the
prefixes, and the rows that were given for the new tokens. Where dummy rows are put is for the implementation to choose:
rows of the domain `compute` are judged by the plan that it gave. Answers are adopted as they are, right or wrong:
indexer and attention are judged by the dense view that was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.planning import BatchPlan, SegmentRows
from sharedkv_conformance.contract.pool import RankRows
from sharedkv_conformance.contract.reuse import RankTopK, ReuseRequest
from sharedkv_conformance.model import planning_batch, reuse_batch
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.planning_state import is_usable
from sharedkv_conformance.model.pool import buffers_of, computed_row_bytes, stored_row_bytes
from sharedkv_conformance.model.reuse_batch import Place, Places
from sharedkv_conformance.model.reuse_refusals import (
    Composition,
    attend_refusals,
    compose_refusals,
    query_refusals,
    read_refusals,
)
from sharedkv_conformance.step import Answer, Call, Err, Ok

Batch = tuple[ReuseRequest, ...]
Row = bytes | None
"""A row as it was computed; None where nothing was ever written."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What one buffer of a view has to hold, computed rows by position, and what is stale and would stand there."""

    rows: tuple[Row, ...]
    stale: Mapping[int, Sequence[bytes]]


@dataclass(kw_only=True)
class KnownView:
    """A layer that was composed in the present epoch, and what was shown of it, by buffer."""

    batch: Batch
    expected: dict[str, Expected] | None
    """None where the order of the rows that were given takes a plan and none is known."""
    seen: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    refused_since: bool = False


@dataclass(frozen=True, kw_only=True)
class SeenRow:
    """How one row was answered: the prefix of its request then, the rows that it could see, and the answer."""

    prefix_tokens: int
    visible: tuple[bytes, ...]
    answer: tuple[int, ...] | bytes


Asked = tuple[str, int, int, bytes, bytes, Any]
"""What a row was asked: call, layer, position in its request, query, weights, and the count or the selection."""


def plain_domain(domain: str) -> str:
    """Return the domain whose rows come first in a domain: padding follows the compute rows."""
    return "compute" if domain == "static" else domain


class ReuseState:
    """The state before a call."""

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.pool = config.pool
        self.geometry = Geometry.of(config)
        self.written: dict[tuple[int, str, int], bytes] = {}
        self.pages: set[int] = set()
        self.plans: dict[tuple[ExtendRequest, ...], BatchPlan] = {}
        self.epoch: int | None = None
        self.batch: Batch = ()
        self.rows_given: dict[int, tuple[RankRows, ...]] = {}
        self.persisted: set[int] = set()
        self.is_lost = False  # something was composed that should have been refused: laws wait for the next epoch
        self.views: dict[int, KnownView] = {}
        self.looked: set[tuple[int, str]] = set()
        self.past: list[KnownView] = []
        self.rows_seen: dict[Asked, list[SeenRow]] = {}
        self.faults: set[str] = set()
        self.late_pages: set[int] = set()  # those that were written while writes were late
        self.answered_without_kernels = False
        self.events_before_fault = 0
        self.events_seen = 0
        self.collectives_seen = 0
        self.gathered: dict[tuple[int, str], int] = {}
        self.carried: dict[tuple[int, str], list[Any]] = {}
        self.reasons_of_one: set[str] = set()
        self.last: tuple[Call, Answer] | None = None
        self.fresh = False
        self.memo: tuple[Any, Any] | None = None

    # -- what laws and draws ask -------------------------------------------------------------------------------------

    def latest(self) -> tuple[int, Batch] | None:
        """Return the last epoch that was composed, with its batch."""
        return None if self.epoch is None else (self.epoch, self.batch)

    def layout(self, batch: Sequence[ReuseRequest]) -> tuple[SegmentRows, ...] | None:
        """Return the rows of every segment by the plan that the implementation gave, or None where it gave none."""
        plan = self.plans.get(reuse_batch.lengths(batch))
        return None if plan is None else plan.segments

    def places(self, batch: Sequence[ReuseRequest], domain: str) -> Places | None:
        """Return the token of each row of each rank; None where that takes a plan and none is known."""
        plain = reuse_batch.lengths(batch)
        known = reuse_batch.layout(self.geometry, plain) if domain == "valid" else None
        if domain == "compute":
            known = self.layout(batch)
        return None if known is None else reuse_batch.places(self.geometry, plain, known, domain)

    def counts(self, batch: Sequence[ReuseRequest]) -> dict[str, list[int]]:
        """Return the rows of each rank in those domains that are known."""
        counts: dict[str, list[int]] = {}
        if not reuse_batch.batch_refusals(self.geometry, tuple(batch)):
            for domain in ("valid", "compute"):
                if places := self.places(batch, domain):
                    counts[domain] = [len(rows) for rows in places]
        return counts

    def compose_reasons(self, call: Call) -> frozenset[Reason] | None:
        """Return every reason against a composition; None where that takes a plan and none is known."""
        if self.is_lost and call.epoch <= (self.epoch or 0):
            return None
        batch, counts = tuple(call.batch), self.counts(call.batch)
        plannable = not reuse_batch.batch_refusals(self.geometry, batch)
        if plannable and any(plain_domain(r.domain) not in counts for r in call.rows):
            return None
        asked = Composition(layer=call.layer, epoch=call.epoch, batch=batch, rows=call.rows)
        return compose_refusals(self.config, asked, self.latest(), counts)

    def read_reasons(self, call: Call) -> frozenset[Reason] | None:
        """Return every reason why there is no view for a call to read; None where nothing is known."""
        if self.is_lost:
            return None
        return read_refusals(self.pool.all_layers, call.layer, call.epoch, self.epoch, self.views)

    def query_reasons(self, call: Call) -> frozenset[Reason] | None:
        """Return every reason against the queries of a call; None where that takes a plan and none is known."""
        if self.is_lost:
            return None
        counts = self.counts(self.batch)
        if any(q.domain == "compute" and "compute" not in counts for q in call.queries):
            return None
        return query_refusals(self.pool, call.op.partition(".")[2], call.queries, counts, ("valid", "compute"))

    def position_reasons(self, call: Call) -> frozenset[Reason] | None:
        """Return every reason against the selected positions of a call; None where their rows are not known."""
        by_rank = [self.places(self.batch, query.domain) for query in call.queries]
        if len(by_rank) != self.config.cp_size or any(places is None for places in by_rank):
            return None
        return attend_refusals(
            self.batch, [places[rank] for rank, places in enumerate(by_rank) if places], call.indices
        )

    def unwritten(self) -> list[int]:
        """Return the layers that were composed for the present batch and hold none of its new tokens yet."""
        return sorted(set(self.views) - self.persisted)

    def row_bytes(self, buffer: str) -> int:
        """Return the bytes of a stored row."""
        return stored_row_bytes(self.pool, buffer)

    def view(self, call: Call) -> KnownView | None:
        """Return the view that a call reads."""
        return self.views.get(call.layer) if call.epoch == self.epoch else None

    def shown(self, view: KnownView, buffer: str, rank: int) -> list[bytes] | None:
        """Return the rows of a view as a rank has shown them; None where it has not, or not as many as there are."""
        size, tokens = self.row_bytes(buffer), reuse_batch.tokens(view.batch)
        data = view.seen.get(buffer, ())[rank : rank + 1]
        if not data or len(data[0]) != size * tokens:
            return None
        return [data[0][at : at + size] for at in range(0, size * tokens, size)]

    def rows_of_top_k(self, call: Call, value: Sequence[RankTopK]) -> Iterator[tuple[Asked, SeenRow]]:
        """Yield each row that was answered from a view that was shown, its selection relative to its request."""
        for rank, row, place, base, visible in self._rows_of(call, "index"):
            query, weights = _row(call.queries[rank].query, row, call.queries[rank].rows), call.queries[rank].weights
            selected = value[rank].indices[row : row + 1] if rank < len(value) else ()
            answer = tuple(sorted(position - base for position in (selected[0] if selected else ()) if position != -1))
            asked = ("top_k", call.layer, place[1], query, _row(weights, row, call.queries[rank].rows), call.count)
            prefix = self.batch[place[0]].prefix_tokens
            yield asked, SeenRow(prefix_tokens=prefix, visible=visible, answer=answer)

    def rows_of_attend(self, call: Call, value: Sequence[bytes]) -> Iterator[tuple[Asked, SeenRow]]:
        """Yield each row that attended to a view that was shown, its selection relative to its request."""
        for rank, row, place, base, visible in self._rows_of(call, "latent"):
            query, selected = call.queries[rank].query, call.indices[rank].indices[row]
            relative = tuple(position - base for position in selected if position != -1)
            answer = _row(value[rank], row, call.queries[rank].rows) if rank < len(value) else b""
            asked = ("attend", call.layer, place[1], _row(query, row, call.queries[rank].rows), b"", relative)
            prefix = self.batch[place[0]].prefix_tokens
            yield asked, SeenRow(prefix_tokens=prefix, visible=visible, answer=answer)

    def _rows_of(self, call: Call, buffer: str) -> Iterator[tuple[int, int, Place, int, tuple[bytes, ...]]]:
        """Yield rank, row, place, base and visible rows of each query of the domain `valid`."""
        view, base = self.view(call), reuse_batch.bases(self.batch)
        for rank, given in enumerate(call.queries):
            shown = self.shown(view, buffer, rank) if view and given.domain == "valid" else None
            places = self.places(self.batch, "valid") if shown else None
            for row, place in enumerate(places[rank] if places else ()):
                if place and shown:
                    first = base[place[0]]
                    yield rank, row, place, first, tuple(shown[first : first + place[1] + 1])

    # -- adopting answers --------------------------------------------------------------------------------------------

    def adopt(self, call: Call, answer: Answer) -> None:
        """Take an answer as it is and go on from there."""
        method: Callable[[Call, Any], None] | None = getattr(self, "_adopt_" + call.op.partition(".")[2], None)
        if isinstance(answer, Ok) and method is not None:
            method(call, answer.value)
        if call.op == "reuse.dense" and call.epoch == self.epoch:
            self.looked.add((call.layer, call.buffer))
        if call.op == "reuse.compose" and isinstance(answer, Err):
            for view in self.views.values():
                view.refused_since = True
        if not call.op.startswith("probe.") or call.op == "probe.inject":
            self.last = (call, answer)
        if call.op.startswith("reuse.") and isinstance(answer, Ok) and "no_kernels" in self.faults:
            self.answered_without_kernels |= call.op != "reuse.dense"

    def _adopt_plan(self, call: Call, value: BatchPlan) -> None:
        """Keep a plan whose rows can be counted on."""
        plain = tuple(call.batch)
        if is_usable(self.geometry, plain, value):
            self.plans[plain] = value

    def _adopt_write(self, call: Call, _value: None) -> None:
        """Put the valid rows, given in that domain, where they belong."""
        plain = tuple(call.batch)
        rows = planning_batch.laid_out(planning_batch.listed(self.geometry, plain), {})
        for rank, tokens in enumerate(planning_batch.tokens_by_rank(self.geometry, plain, rows)):
            for given in call.rows[rank].buffers:
                size = computed_row_bytes(self.pool, given.buffer)
                for row, token in enumerate(tokens):
                    where = (call.layer, given.buffer, call.locations[token])
                    self.written[where] = given.data[row * size : (row + 1) * size]
        pages = {location // self.geometry.page_size for location in call.locations}
        self.pages |= pages
        self.late_pages |= pages if "late_writes" in self.faults else set()
        self.persisted.add(call.layer)

    def _adopt_compose(self, call: Call, _value: Any) -> None:
        if self.compose_reasons(call) != frozenset():
            self._lose(call)
            return
        self.is_lost = False
        if call.epoch != self.epoch:
            self._begin(call)
        self.fresh = call.layer not in self.views
        if self.fresh:
            self.views[call.layer] = KnownView(batch=tuple(call.batch), expected=self._expected(call))
            self.rows_given[call.layer] = tuple(call.rows)

    def _lose(self, call: Call) -> None:
        """Know nothing of views until the next epoch: something was composed that should have been refused."""
        self.is_lost, self.epoch = True, max(call.epoch, self.epoch or 0)
        self.batch, self.views, self.rows_given = (), {}, {}
        self.gathered, self.carried, self.looked = {}, {}, set()

    def _begin(self, call: Call) -> None:
        self.past += self.views.values()
        self.epoch, self.batch = call.epoch, tuple(call.batch)
        self.views, self.rows_given, self.persisted = {}, {}, set()
        self.gathered, self.carried, self.looked = {}, {}, set()

    def _expected(self, call: Call) -> dict[str, Expected] | None:
        known = {given.domain: self.places(call.batch, plain_domain(given.domain)) for given in call.rows}
        if any(places is None for places in known.values()):
            return None
        return {name: self._expected_buffer(call, name) for name in buffers_of(self.pool)}

    def _expected_buffer(self, call: Call, buffer: str) -> Expected:
        rows: list[Row] = [None] * reuse_batch.tokens(call.batch)
        for position, location in reuse_batch.prefix_slots(self.geometry, call.batch):
            rows[position] = self.written.get((call.layer, buffer, location))
        base, size = reuse_batch.bases(call.batch), computed_row_bytes(self.pool, buffer)
        for rank, given in enumerate(call.rows):
            data = next((b.data for b in given.buffers if b.buffer == buffer), b"")
            places = self.places(call.batch, plain_domain(given.domain)) or ()
            for row, place in enumerate(places[rank]):
                if place:
                    rows[base[place[0]] + place[1]] = data[row * size : (row + 1) * size]
        return Expected(rows=tuple(rows), stale=self._stale(call, buffer))

    def _stale(self, call: Call, buffer: str) -> dict[int, list[bytes]]:
        """Return what would stand at each position if tables were used as wide as they are."""
        found: dict[int, list[bytes]] = {}
        size = self.geometry.page_size
        for base, request in zip(reuse_batch.bases(call.batch), call.batch, strict=True):
            pages = len(reuse_batch.own_pages(self.geometry, request))
            for index, page in enumerate(reuse_batch.stale_pages(self.geometry, request)):
                for offset in range(size):
                    row = self.written.get((call.layer, buffer, page * size + offset))
                    for first in {base + pages * size, base + reuse_batch.request_tokens(request)} if row else ():
                        found.setdefault(first + index * size + offset, []).append(row or b"")
        return found

    def _adopt_dense(self, call: Call, value: tuple[bytes, ...]) -> None:
        if (view := self.view(call)) is not None:
            view.seen[call.buffer] = value

    def _adopt_top_k(self, call: Call, value: tuple[RankTopK, ...]) -> None:
        for asked, seen in self.rows_of_top_k(call, value):
            self.rows_seen.setdefault(asked, []).append(seen)

    def _adopt_attend(self, call: Call, value: tuple[bytes, ...]) -> None:
        for asked, seen in self.rows_of_attend(call, value):
            self.rows_seen.setdefault(asked, []).append(seen)

    def _adopt_inject(self, call: Call, _value: None) -> None:
        if call.fault not in self.faults:
            self.events_before_fault = self.events_seen
        self.faults.add(call.fault)

    def _adopt_events(self, _call: Call, value: Sequence[Any]) -> None:
        for event in value[self.events_seen :]:
            if event.kind == "materialized":
                key = (event.layer, event.reason)
                self.gathered[key] = self.gathered.get(key, 0) + 1
            if event.kind == "fallback" and len(self.batch) == 1 and not self.faults:
                self.reasons_of_one.add(event.reason)
        self.events_seen = len(value)

    def _adopt_collectives(self, _call: Call, value: Sequence[Any]) -> None:
        for collective in value[self.collectives_seen :]:
            self.carried.setdefault((collective.layer, collective.buffer), []).append(collective)
        self.collectives_seen = len(value)


def _row(data: bytes, row: int, rows: int) -> bytes:
    """Return one of so many rows of equal size."""
    size = len(data) // max(1, rows)
    return data[row * size : (row + 1) * size]
