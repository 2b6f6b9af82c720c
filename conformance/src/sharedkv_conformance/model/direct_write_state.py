"""What may be known of the pools from calls and answers alone: the state that the laws of direct write judge against.

The bytes of a layer are known once `probe.pool` has shown them; a write makes rows due, and the next look at the layer
settles them. Answers are adopted as they are, right or wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.planning import BatchPlan
from sharedkv_conformance.contract.probe import PoolBuffer
from sharedkv_conformance.model.direct_write_refusals import Write, dealt, refusals
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.planning_batch import compute_rows, tail_refusals
from sharedkv_conformance.model.planning_state import is_usable
from sharedkv_conformance.model.pool import buffers_of, computed_row_bytes, row_spans, stored_row_bytes
from sharedkv_conformance.model.pool_findings import Due, Findings, findings, is_stored, misshapen
from sharedkv_conformance.step import Answer, Call, Err, Ok


@dataclass(frozen=True, kw_only=True)
class StaleRead:
    """A read, while writes are late, all of whose rows had just been written and were as before."""

    layer: int
    buffer: str
    locations: tuple[int, ...]


Seen = Mapping[tuple[int, str], bytes]


class DirectWriteState:
    """The state before a call.

    `seen` has the bytes of each layer that was looked at, `due` the rows that were written since, by location,
    `given` every row that ranks handed in since, `refused` the layers that no refused write may have touched, and
    `torn` the buffers of a layer in which rows were found that nobody wrote: there old bytes say nothing any more.
    """

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.pool = config.pool
        self.geometry = Geometry.of(config)
        self.seen: dict[int, Seen] = {}
        self.due: dict[int, dict[int, Due]] = {layer: {} for layer in range(config.pool.all_layers)}
        self.given: dict[tuple[int, int, str], set[bytes]] = {}
        self.refused: set[int] = set()
        self.torn: set[tuple[int, str]] = set()
        self.stored: dict[bytes, bytes] = {}
        self.live: dict[str, tuple[int, tuple[int, ...]]] = {}
        self.plan: tuple[tuple[ExtendRequest, ...], BatchPlan] | None = None
        self.faults: set[str] = set()
        self.stale_reads: list[StaleRead] = []
        self.writes = 0
        self.last_write: Write | None = None
        self.events_seen = 0
        self.untold: list[int] = []
        self.looks: list[Call] = [_look(layer) for layer in range(config.pool.all_layers)]
        self._found: tuple[Answer, Findings] | None = None
        self._reasons: tuple[Call, frozenset[Reason] | None] | None = None

    # -- what laws ask -----------------------------------------------------------------------------------------------

    def reasons(self, call: Call) -> frozenset[Reason] | None:
        """Return every reason for which a write is refused; None where that depends on a plan that is not known."""
        if self._reasons is None or self._reasons[0] is not call:
            write = Write(**call.args)
            found = refusals(self.geometry, self.pool, write, self.compute_rows(write.batch))
            self._reasons = call, found
        return self._reasons[1]

    def has_other_count(self, call: Call) -> bool:
        """Say whether a write has another number of locations than new tokens, and no proven tail."""
        return bool(tail_refusals(call.batch, call.locations, call.static_tokens))

    def compute_rows(self, batch: Sequence[ExtendRequest]) -> list[int] | None:
        """Return the rows that each rank computes by the plan that was answered for this very batch."""
        if (plan := self.planned(batch)) is None:
            return None
        return [compute_rows(plan.segments, rank) for rank in range(self.geometry.cp_size)]

    def planned(self, batch: Sequence[ExtendRequest]) -> BatchPlan | None:
        """Return the plan that was answered for a batch, where it was the last one."""
        return self.plan[1] if self.plan is not None and self.plan[0] == tuple(batch) else None

    def findings(self, call: Call, answer: Ok) -> Findings:
        """Return how a layer differs from what it has to hold."""
        if self._found is None or self._found[0] is not answer:
            self._found = answer, findings(self, call.layer, answer.value)
        return self._found[1]

    def known_row(self, layer: int, buffer: str, location: int) -> bytes | None:
        """Return the stored row of a location as it was last seen, if nothing was written there since."""
        if layer not in self.seen or location in self.due[layer]:
            return None
        return self.old_row(layer, buffer, location)

    def old_row(self, layer: int, buffer: str, location: int) -> bytes | None:
        """Return the stored row of a location as it was last seen."""
        if layer not in self.seen:
            return None
        lane, slot = self.slot(location)
        return self.cut(self.seen[layer][lane, buffer], buffer, slot)

    def slot(self, location: int) -> tuple[int, int]:
        """Return the lane and the physical token slot of a logical location."""
        page, offset = divmod(location, self.geometry.page_size)
        return self.geometry.lane(page), self.geometry.physical(page) * self.geometry.page_size + offset

    def cut(self, data: bytes, buffer: str, slot: int) -> bytes:
        """Return a stored row out of the bytes of its buffer."""
        spans = row_spans(self.pool, self.geometry.page_size, buffer, slot)
        return b"".join(data[start : start + length] for start, length in spans)

    def buffer_bytes(self, buffer: str) -> int:
        """Return the size of a buffer of one layer of one rank."""
        return (1 + self.geometry.lane_pages) * self.geometry.page_size * stored_row_bytes(self.pool, buffer)

    # -- what draws ask ----------------------------------------------------------------------------------------------

    def next_look(self) -> Call | None:
        """Return the next look that is due, each but once: whoever offers no such look is not asked again."""
        return self.looks.pop(0) if self.looks else None

    # -- adopting answers --------------------------------------------------------------------------------------------

    def adopt(self, call: Call, answer: Answer) -> None:
        """Take an answer as it is and go on from there."""
        method: Callable[[Call, Any], None] | None = getattr(self, "_adopt_" + call.op.partition(".")[2], None)
        if isinstance(answer, Ok) and method is not None:
            method(call, answer.value)
        elif call.op == "direct_write.write" and isinstance(answer, Err):
            self.refused.update(range(self.pool.all_layers))
            self.looks = [_look(layer) for layer in range(self.pool.all_layers)]
        self._found = self._reasons = None

    def _adopt_inject(self, call: Call, _value: None) -> None:
        self.faults.add(call.fault)

    def _adopt_plan(self, call: Call, value: BatchPlan) -> None:
        self.plan = (tuple(call.batch), value) if is_usable(self.geometry, call.batch, value) else None

    def _adopt_write(self, call: Call, _value: None) -> None:
        if self.reasons(call) != frozenset():  # what was done of it, nobody can tell
            self.seen.clear()
            self.due = {layer: {} for layer in range(self.pool.all_layers)}
            return
        write = Write(**call.args)
        self.writes += 1
        self.last_write = write
        self.untold.append(write.layer)
        self.stale_reads = [read for read in self.stale_reads if read.layer != write.layer]
        self._owe(write)
        self._enlist(write)
        self.looks = [_look(layer) for layer in range(self.pool.all_layers)]

    def _owe(self, write: Write) -> None:
        """Make the rows of a write due."""
        owned = dealt(self.geometry, write.batch)
        for rank, tokens in enumerate(owned):
            rows = write.rows[rank]
            computed = {given.buffer: self._rows(given.buffer, given.data) for given in rows.buffers}
            for buffer, all_rows in computed.items():
                self.given.setdefault((write.layer, rank, buffer), set()).update(all_rows)
            for token, row in zip(tokens, self.row_numbers(write, rank), strict=True):
                kept = {buffer: all_rows[row] for buffer, all_rows in computed.items()}
                self.due[write.layer][write.locations[token]] = Due(rank=rank, rows=kept)

    def _rows(self, buffer: str, data: bytes) -> list[bytes]:
        size = computed_row_bytes(self.pool, buffer)
        return [data[at : at + size] for at in range(0, len(data), size)]

    def row_numbers(self, write: Write, rank: int) -> list[int]:
        """Return which of the rows that a rank gives are its valid ones, in order."""
        plan = self.planned(write.batch)
        if write.rows[rank].domain == "valid" or plan is None:
            return list(range(len(dealt(self.geometry, write.batch)[rank])))
        mine = sorted((s for s in plan.segments if s.rank == rank), key=lambda s: s.first_row)
        return [s.first_compute_row + token for s in mine for token in range(s.end - s.start)]

    def _enlist(self, write: Write) -> None:
        """Keep which request holds which pages; pages that are written anew are no longer those of others."""
        base = 0
        for request in write.batch:
            locations = write.locations[base : base + request.extend_tokens]
            base += request.extend_tokens
            new = tuple(dict.fromkeys(where // self.geometry.page_size for where in locations))
            held = self.live.get(request.request, (0, ()))[1][: request.prefix_tokens // self.geometry.page_size]
            for other in [name for name, (_, pages) in self.live.items() if set(pages) & set(new)]:
                del self.live[other]
            self.live[request.request] = (request.prefix_tokens + request.extend_tokens, (*held, *new))

    def _adopt_read(self, call: Call, value: bytes) -> None:
        """Keep a read of rows that are late, if it shows none of them."""
        known = call.layer in self.due and call.buffer in buffers_of(self.pool)
        late = known and "late_writes" in self.faults and all(where in self.due[call.layer] for where in call.locations)
        size = stored_row_bytes(self.pool, call.buffer)
        if not late or not call.locations or len(value) != size * len(call.locations):
            return
        for at, location in enumerate(call.locations):
            computed, found = self.due[call.layer][location].rows[call.buffer], value[at * size : (at + 1) * size]
            if found != self.old_row(call.layer, call.buffer, location) or is_stored(
                self.pool, call.buffer, computed, found
            ):
                return
        self.stale_reads.append(StaleRead(layer=call.layer, buffer=call.buffer, locations=tuple(call.locations)))

    def _adopt_pool(self, call: Call, value: Sequence[PoolBuffer]) -> None:
        layer = call.layer
        if self._found is not None:
            self.torn |= {(layer, row.buffer) for row in self._found[1].rows("malformed")}
        if layer not in range(self.pool.all_layers):
            return
        self.seen.pop(layer, None)
        if not misshapen(self, value):
            self.seen[layer] = {(found.rank, found.buffer): found.data for found in value}
            self._remember(layer)
        self.due[layer] = {}
        self.stale_reads = [read for read in self.stale_reads if read.layer != layer]
        self.given = {key: rows for key, rows in self.given.items() if key[0] != layer}
        self.refused.discard(layer)

    def _remember(self, layer: int) -> None:
        """Keep in which bytes a row was stored first."""
        if "latent" not in buffers_of(self.pool):
            return
        for location, due in self.due[layer].items():
            computed, stored = due.rows["latent"], self.old_row(layer, "latent", location)
            if stored is not None and is_stored(self.pool, "latent", computed, stored):
                self.stored.setdefault(computed, stored)

    def _adopt_events(self, _call: Call, value: Sequence[Any]) -> None:
        self.events_seen = len(value)
        self.untold.clear()


def _look(layer: int) -> Call:
    return Call(op="probe.pool", args={"layer": layer})
