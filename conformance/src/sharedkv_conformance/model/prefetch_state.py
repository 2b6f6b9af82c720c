"""What may be known of prefetch from calls and answers alone: the rows of a dense prefix, and what is live."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.model.direct_write_state import DirectWriteState
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.model.prefetch import prefetch_refusals
from sharedkv_conformance.model.reuse_batch import prefix_pages
from sharedkv_conformance.step import Answer, Call, Ok

Batch = tuple[ReuseRequest, ...]
Key = tuple[int, int, Batch]
Rows = Mapping[str, bytes]


@dataclass(frozen=True, kw_only=True)
class Started:
    """A prefetch that was begun after so many writes; `is_lost` where a fault says that it never finishes.

    `number` counts starts that were answered with true.
    """

    writes: int
    is_lost: bool
    number: int


@dataclass(kw_only=True)
class Lease:
    """A lease: what it is for, how it came about, which computed rows it has to hold, and what was read of it first.

    `kind` is `made` (now), `ahead` (prefetched, and nothing was written since), `rewritten` (prefetched, and pages of
    the prefix were written since, on `lanes`) or `lost` (prefetched in vain). `rows` has None for a token that nobody
    wrote, and `older` all rows that stood there before.
    """

    key: Key
    kind: str
    rows: list[Rows | None]
    older: list[tuple[Rows, ...]]
    lanes: frozenset[int] = frozenset()
    first: dict[str, tuple[bytes, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Untold:
    """Something that events have to tell of a layer, or must not: `miss`, `hit`, `first` or `skip`."""

    kind: str
    layer: int


class PrefetchState:
    """The state before a call; answers are adopted as they are, right or wrong.

    `replaced` has what was started and may have been given up, since another batch had the same layer after it;
    `latest` is the number of the latest start that was consumed.
    """

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.pool = config.pool
        self.geometry = Geometry.of(config)
        self.writes = DirectWriteState(config)
        self.written_at: dict[tuple[int, int], int] = {}
        self.older: dict[tuple[int, int], tuple[Rows, ...]] = {}
        self.started: dict[Key, Started] = {}
        self.consumed: set[Key] = set()
        self.replaced: set[Key] = set()
        self.starts = self.latest = 0
        self.leases: dict[int, Lease] = {}
        self.released: set[int] = set()
        self.made: dict[Key, Lease] = {}
        self.step: tuple[int, Batch] = (0, ())
        self.is_muddled = False
        self.loses_next = False
        self.events_seen = 0
        self.untold: list[Untold] = []
        self.due: list[Call] = []
        self.unwritten: list[tuple[int, tuple[ExtendRequest, ...], tuple[int, ...]]] = []

    # -- what laws ask -----------------------------------------------------------------------------------------------

    @property
    def is_on(self) -> bool:
        """Say whether prefetch is switched on."""
        return self.config.prefetch

    def reasons(self, call: Call) -> frozenset[Reason]:
        """Return every reason against a start or a consume."""
        return prefetch_refusals(self.config, call.layer, call.batch)

    def is_late(self) -> bool:
        """Say whether writes are late."""
        return "late_writes" in self.writes.faults

    def kind_of(self, key: Key) -> str:
        """Say how a lease that is asked for now comes about."""
        if key not in self.started or key in self.consumed:
            return "made"
        if self.started[key].is_lost:
            return "lost"
        return "rewritten" if self.rewritten_lanes(key) else "ahead"

    def rewritten_lanes(self, key: Key) -> frozenset[int]:
        """Return the lanes on which pages of a dense prefix were written since its start, if it was started."""
        if key not in self.started:
            return frozenset()
        since, size = self.started[key].writes, self.geometry.page_size
        places = [where for where in self.prefix_locations(key[2]) if self.written_at.get((key[0], where), 0) > since]
        return frozenset(self.geometry.lane(where // size) for where in places)

    def rivals(self, key: Key) -> list[Key]:
        """Return what waits in the same layer and epoch, for another batch."""
        return [other for other in self.outstanding() if other != key and other[:2] == key[:2]]

    def is_touched(self, key: Key) -> bool:
        """Say whether anything at all was written since a layer was started."""
        return key in self.started and self.started[key].writes != self.writes.writes

    def is_overwritten(self, lease: Lease) -> bool:
        """Say whether pages under a lease hold other rows than at its consume."""
        places = [(lease.key[0], where) for where in self.prefix_locations(lease.key[2])]
        return any(self._rows(*place) != rows for place, rows in zip(places, lease.rows, strict=True))

    def prefix_locations(self, batch: Batch) -> list[int]:
        """Return the locations of a dense prefix in order."""
        size = self.geometry.page_size
        pages = [page for request in batch for page in prefix_pages(self.geometry, request)]
        return [page * size + offset for page in pages for offset in range(size)]

    def outstanding(self) -> list[Key]:
        """Return what was started and not consumed."""
        return [key for key in self.started if key not in self.consumed]

    # -- adopting answers --------------------------------------------------------------------------------------------

    def adopt(self, call: Call, answer: Answer) -> None:
        """Take an answer as it is and go on from there."""
        if call.op == "direct_write.write":
            self._adopt_write(call, answer)
            return
        if call.op == "probe.inject":
            self.writes.adopt(call, answer)
        method: Callable[[Call, Any], None] | None = getattr(self, "_adopt_" + call.op.partition(".")[2], None)
        if isinstance(answer, Ok) and method is not None:
            method(call, answer.value)

    def _adopt_write(self, call: Call, answer: Answer) -> None:
        fine = isinstance(answer, Ok) and self.writes.reasons(call) == frozenset()
        tokens = sum(request.extend_tokens for request in call.batch) if fine else 0
        places = [(call.layer, where) for where in call.locations[:tokens]]
        before = {place: rows for place in places if (rows := self._rows(*place)) is not None}
        self.writes.adopt(call, answer)
        self.older |= {place: (*self.older.get(place, ()), rows) for place, rows in before.items()}
        self.written_at |= dict.fromkeys(places, self.writes.writes)
        self.unwritten = [item for item in self.unwritten if item[0] != call.layer]

    def _rows(self, layer: int, location: int) -> Rows | None:
        due = self.writes.due[layer].get(location)
        return None if due is None else due.rows

    def _adopt_inject(self, call: Call, _value: None) -> None:
        self.loses_next = self.loses_next or call.fault == "prefetch_lost"

    def _adopt_start(self, call: Call, value: bool) -> None:  # noqa: FBT001 - the answer
        key = self._key(call)
        if self._is_faulty(call):
            return
        self.step = (call.epoch, key[2])
        self._replace(key)
        if value:
            self.starts += 1
            self.started[key] = Started(writes=self.writes.writes, is_lost=self.loses_next, number=self.starts)
            self.consumed.discard(key)
            self.replaced.discard(key)
            self.loses_next = False
        elif self.is_on:
            self.untold.append(Untold(kind="skip", layer=call.layer))

    def _adopt_consume(self, call: Call, value: int) -> None:
        key = self._key(call)
        if self._is_faulty(call):
            return
        kind, again = self.kind_of(key), key in self.consumed
        self.step = (call.epoch, key[2])
        places = [(call.layer, where) for where in self.prefix_locations(key[2])]
        rows, older = [self._rows(*place) for place in places], [self.older.get(place, ()) for place in places]
        self.leases[value] = Lease(key=key, kind=kind, rows=rows, older=older, lanes=self.rewritten_lanes(key))
        self.released.discard(value)
        self._expect(key, kind, again=again)
        self._replace(key)
        self.latest = max(self.latest, self.started[key].number if key in self.started else self.starts)
        looks = [_read(value, buffer) for buffer in buffers_of(self.pool)]
        self.due = [*looks, *([call] if kind in ("ahead", "lost") else []), *self.due]
        self.consumed.add(key)

    def _replace(self, key: Key) -> None:
        """Note that what was started in a layer for other batches may be given up."""
        self.replaced |= {other for other in self.outstanding() if other != key and other[0] == key[0]}

    def _is_told_apart(self, key: Key, kind: str) -> bool:
        """Say whether it is certain that what waits is for this batch, or for none that is like it."""
        if kind != "made":
            return key not in self.replaced
        prefix = self.prefix_locations(key[2])
        return not any(self.prefix_locations(other[2]) == prefix for other in self.rivals(key))

    def _is_faulty(self, call: Call) -> bool:
        """Say whether something was answered that has to be refused; from then on nobody knows what is live."""
        self.is_muddled = self.is_muddled or bool(self.reasons(call))
        return bool(self.reasons(call))

    def _expect(self, key: Key, kind: str, *, again: bool) -> None:
        """Note what events have to tell of a consume."""
        if not self.is_on or again or (key[0] != 0 and not self._is_told_apart(key, kind)):
            return
        if key[0] == 0:
            self.untold.append(Untold(kind="first", layer=0))
        elif kind in ("made", "lost"):
            self.untold.append(Untold(kind="miss", layer=key[0]))
        elif kind == "ahead" and not self.is_touched(key):
            self.untold.append(Untold(kind="hit", layer=key[0]))

    def _adopt_read(self, call: Call, value: Sequence[bytes]) -> None:
        if (lease := self.leases.get(call.args.get("lease", -1))) is None or call.buffer in lease.first:
            return
        lease.first[call.buffer] = tuple(value)
        if lease.kind == "made":
            self.made[lease.key] = lease

    def _adopt_release(self, call: Call, _value: None) -> None:
        if self.leases.pop(call.lease, None) is not None:
            self.released.add(call.lease)

    def _adopt_events(self, _call: Call, value: Sequence[Any]) -> None:
        self.events_seen = len(value)
        self.untold.clear()

    def _key(self, call: Call) -> Key:
        return call.layer, call.epoch, tuple(call.batch)


def _read(lease: int, buffer: str) -> Call:
    return Call(op="prefetch.read", args={"lease": lease, "buffer": buffer})
