"""What is known before a call of a history of copies: the tree with its copies, and which rows each page has to have.

What is known of rows is what was written, and which pages the answers of the tree named: a page of a prefix has, on
either tier, the rows that were inserted for it. Once a byte is wrong nothing more is known, as with the tree.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import CopyInFlight, Event, HostBuffer
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.model.copies_watched import WatchedCopies
from sharedkv_conformance.model.direct_write_refusals import dealt
from sharedkv_conformance.model.host_tier_copies import BACKUP, LOAD
from sharedkv_conformance.model.host_tier_tree_state import COPIES, TREE, GuidedModel, HostTreeState
from sharedkv_conformance.model.host_tier_tree_view import Path, TreeView
from sharedkv_conformance.model.pool import buffers_of, computed_row_bytes, row_spans, stored_row_bytes
from sharedkv_conformance.model.pool_findings import is_stored
from sharedkv_conformance.step import Answer, Call, Ok, is_unsupported

HOST_POOL, READ, EVENTS, INJECT = "probe.host_pool", "direct_write.read", "probe.events", "probe.inject"
WRITE, LAYER_END, LOAD_BACK = "direct_write.write", "copies.layer_end", "host_tier.load_back"
DENSE, COMPOSE = "reuse.dense", "reuse.compose"
START, CONSUME, LEASE_READ = "prefetch.start", "prefetch.consume", "prefetch.read"
LOOKS = (HOST_POOL, READ, EVENTS, DENSE, LEASE_READ)


class Cell(NamedTuple):
    """The place of a row on the device: a token location in one buffer of one layer."""

    location: int
    layer: int
    buffer: str


@dataclass(frozen=True, kw_only=True)
class WrongRow:
    """A row that is not what it has to be.

    `told` says how layers came to the host (see `WatchedCopies`), `is_loaded` that the row was loaded back, and
    `is_acknowledged` that its load was acknowledged. `is_former` says that what stood there before was found.
    """

    where: str
    expected: bytes
    found: bytes
    told: str = ""
    is_loaded: bool = False
    is_acknowledged: bool = False
    is_former: bool = False

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected[:8].hex()}..., found {self.found[:8].hex()}..."


class GuidedCopies(GuidedModel):
    """The tree with its copies, following the answers."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.watch = WatchedCopies(config, self.reserved_pairs)
        self.mover = self.watch

    def guided_by(self, answer: Answer) -> Self:
        """Return an independent copy that follows an answer."""
        twin = super().guided_by(answer)
        twin.watch = self.watch.twin(twin.reserved_pairs)
        twin.mover = twin.watch
        return twin


class CopiesState(HostTreeState):
    """The state before a call.

    `rows` has the row of each cell in the order of calls, `former` that of a loaded cell before its load, `older` all
    before. `content` has the rows of every page of a prefix that was ever inserted, `origin` the page it came from,
    `under` what was late then. `is_copied` and `is_loaded` say that, with nothing late, a backup of every layer, a load
    of every buffer was seen to be right. `abandoned` are pages of reservations that were given up with layers
    submitted, `has_freed` says that one was by an insert; `given_up_by` are the calls that gave one up before any layer
    of it was told. `ahead` has the pages that were loaded since a dense prefix was started, `reloaded` those that were
    between the start of what is under a lease and its consume. `outlived` are loads that were in flight when an earlier
    one was acknowledged. `is_unread` says that nothing was read since the latest load.
    Whoever draws calls keeps its `script` here, and the call that it `asked` for.
    """

    model_type = GuidedCopies
    model: GuidedCopies

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.pool = config.pool
        self.faults: set[str] = set()
        self.rows: dict[Cell, bytes] = {}
        self.former: dict[Cell, bytes | None] = {}
        self.older: dict[Cell, set[bytes | None]] = {}
        self.content: dict[tuple[Path, int, str], tuple[bytes, ...]] = {}
        self.origin: dict[Path, int] = {}
        self.under: dict[Path, frozenset[str]] = {}
        self.loaded: set[int] = set()
        self.loaded_by: dict[int, int] = {}
        self.outlived: set[int] = set()
        self.is_unread = False
        self.abandoned: set[int] = set()
        self.has_freed = False
        self.given_up_by: set[str] = set()
        self.split: set[Path] = set()
        self.shown: TreeView | None = None
        self.copied_layers: set[int] = set()
        self.loaded_buffers: set[tuple[int, str]] = set()
        self.was_reset = self.was_reset_under_backups = False
        self.events_seen = 0
        self.told_since: list[tuple[int, int]] = []
        self.loads_since = 0
        self.views: dict[tuple[int, int], tuple[ReuseRequest, ...]] = {}
        self.leases: dict[int, tuple[int, tuple[ReuseRequest, ...]]] = {}
        self.ahead: dict[tuple[int, int, tuple[ReuseRequest, ...]], set[int]] = {}
        self.reloaded: dict[int, set[int]] = {}
        self._found: tuple[Answer, tuple[WrongRow, ...]] | None = None
        self.script: Generator[Call, Answer, Any] | None = None
        self.asked: tuple[Call, Answer | None] | None = None

    # -- what laws ask -----------------------------------------------------------------------------------------------

    @property
    def is_copied(self) -> bool:
        """Say whether backups were seen to be right."""
        return self.copied_layers == set(range(self.pool.all_layers))

    @property
    def is_loaded(self) -> bool:
        """Say whether loads were seen to be right."""
        return len(self.loaded_buffers) == self.pool.all_layers * len(buffers_of(self.pool))

    def wrong(self, call: Call, answer: Answer) -> tuple[WrongRow, ...]:
        """Return the rows of an answer that are not what they have to be, of pages that copies had to do with."""
        if self.diverged or not isinstance(answer, Ok):
            return ()
        if self._found is None or self._found[0] is not answer:
            self._found = answer, tuple(self._wrong(call, answer.value))
        return self._found[1]

    def page_paths(self) -> dict[int, Path]:
        """Return the prefix of each device page of the tree."""
        view = TreeView.of(self.model.nodes(), self.config.page_size)
        return {place.device: path for path, place in view.places.items() if place.device is not None}

    def is_loading(self, page: int) -> bool:
        """Say whether the latest load of a page was not acknowledged."""
        return self.loaded_by.get(page) in self.model.ledger.copies

    def paths_on_host(self) -> list[Path]:
        """Return the prefix of each host page of the tree."""
        view = TreeView.of(self.model.nodes(), self.config.page_size)
        return [path for path, place in view.places.items() if place.host is not None]

    def is_late(self, *faults: str) -> bool:
        """Say whether one of these kinds is late."""
        return not self.faults.isdisjoint(faults)

    def events(self, answer: Answer) -> Sequence[Event]:
        """Return the events since the last look."""
        return answer.value[self.events_seen :] if isinstance(answer, Ok) else ()

    # -- comparing ---------------------------------------------------------------------------------------------------

    def _wrong(self, call: Call, value: Any) -> Iterator[WrongRow]:
        if call.op == HOST_POOL and self.shown is not None:
            yield from self._wrong_on_host(call.layer, value)
        elif call.op == READ:
            yield from self._wrong_cells([Cell(where, call.layer, call.buffer) for where in call.locations], value)
        elif call.op == DENSE and (call.layer, call.epoch) in self.views:
            yield from self._wrong_prefixes(call.layer, call.buffer, self.views[call.layer, call.epoch], value)
        elif call.op == LEASE_READ and call.lease in self.leases:
            layer, batch = self.leases[call.lease]
            yield from self._wrong_prefixes(layer, call.buffer, batch, value)

    def _wrong_prefixes(
        self, layer: int, buffer: str, batch: Sequence[ReuseRequest], shown: Sequence[bytes]
    ) -> Iterator[WrongRow]:
        """Compare the prefix of a batch of one request as each rank has it."""
        size = self.config.page_size
        pages = batch[0].table[: batch[0].prefix_tokens // size]
        cells = [Cell(where, layer, buffer) for where in self.geometry.locations(pages, len(pages) * size)]
        for data in shown:
            yield from self._wrong_cells(cells, data[: len(cells) * stored_row_bytes(self.pool, buffer)])

    def _wrong_cells(self, cells: Sequence[Cell], data: bytes) -> Iterator[WrongRow]:
        size = stored_row_bytes(self.pool, cells[0].buffer) if cells and cells[0].buffer in buffers_of(self.pool) else 0
        for at, cell in enumerate(cells):
            found, expected = data[at * size : (at + 1) * size], self.rows.get(cell)
            if expected is None or is_stored(self.pool, cell.buffer, expected, found):
                continue
            is_former = cell in self.former and self._is_row(cell.buffer, self.former[cell], found)
            where = f"layer {cell.layer}, {cell.buffer}, location {cell.location}"
            page = cell.location // self.config.page_size
            own = WrongRow(where=where, expected=expected, found=found, is_former=is_former)
            yield replace(own, is_loaded=page in self.loaded, is_acknowledged=not self.is_loading(page))

    def _wrong_on_host(self, layer: int, shown: Sequence[HostBuffer]) -> Iterator[WrongRow]:
        data = {(buffer.lane, buffer.buffer): buffer.data for buffer in shown}
        for path, lane, page, told in self.host_copies():
            for buffer in buffers_of(self.pool):
                for offset, expected in enumerate(self.content.get((path, layer, buffer), ())):
                    found = self._host_row(data.get((lane, buffer), b""), buffer, page, offset)
                    if not is_stored(self.pool, buffer, expected, found):
                        cell = Cell(self.origin[path] * self.config.page_size + offset, layer, buffer)
                        yield self._wrong_host_row(cell, path, expected, found, told)

    def _wrong_host_row(self, cell: Cell, path: Path, expected: bytes, found: bytes, told: str) -> WrongRow:
        return WrongRow(
            where=f"host copy of the page to {list(path)}, layer {cell.layer}, {cell.buffer}",
            expected=expected,
            found=found,
            told=told,
            is_former=any(self._is_row(cell.buffer, older, found) for older in self.older.get(cell, {None})),
        )

    def host_copies(self) -> Iterator[tuple[Path, int, int, str]]:
        """Yield the pages of acknowledged backups that were shown: path, lane, host page, how layers were told."""
        if self.shown is None:
            return
        own = TreeView.of(self.model.nodes(), self.config.page_size).places
        pending = {self.model.tree.path(node) for node in self.model.tree.nodes.values() if node.backups}
        for path, place in self.shown.places.items():
            is_pending = any(end[: len(path)] == path for end in pending)
            if place.lane is None or place.host is None or path not in own or is_pending:
                continue
            told = self.model.watch.told.get((own[path].lane or 0, own[path].host or 0), "")
            yield path, place.lane, place.host, told

    def _host_row(self, data: bytes, buffer: str, page: int, offset: int) -> bytes:
        spans = row_spans(self.pool, self.config.page_size, buffer, page * self.config.page_size + offset)
        return b"".join(data[start : start + length] for start, length in spans)

    def _is_row(self, buffer: str, computed: bytes | None, found: bytes) -> bool:
        """Say whether a stored row is a computed one; None stands for a place that nobody wrote."""
        return not any(found) if computed is None else is_stored(self.pool, buffer, computed, found)

    # -- adopting answers --------------------------------------------------------------------------------------------

    def method(self, after: GuidedModel, op: str) -> Any:
        """Return what the model answers a call with."""
        if op == LAYER_END and isinstance(after, GuidedCopies):
            return after.watch.layer_end
        return super().method(after, op)

    def adopt(self, call: Call, answer: Answer) -> None:
        """Go on from an answer, or stop knowing anything."""
        if self.asked is not None and call is self.asked[0]:
            self.asked = call, answer
        if self.diverged or is_unsupported(answer):
            return
        if call.op in LOOKS:
            self._adopt_look(call, answer)
            return
        if call.op == TREE:
            super().adopt(call, answer)
            self.shown = TreeView.of(answer.value, self.config.page_size) if isinstance(answer, Ok) else None
            return
        if call.op == COPIES and isinstance(answer, Ok):
            self.diverged = unfinished(answer.value) != unfinished(self.model.ledger.view())
            return
        self.shown = None
        before, staged = self.model, set(self.model.watch.staged)
        super().adopt(call, answer)
        if isinstance(answer, Ok):
            self._adopt_rows(call, answer.value, before)
        if call.op != "host_tier.reset":
            given_up = self.model.watch.staged - staged
            self.abandoned |= given_up
            self.has_freed = self.has_freed or (call.op == "host_tier.insert" and bool(given_up))
        if self.model.watch.num_untold > before.watch.num_untold:
            self.given_up_by.add(call.op)
        self._note_splits()

    def _adopt_look(self, call: Call, answer: Answer) -> None:
        wrong = self.wrong(call, answer)
        self.is_unread = self.is_unread and call.op != READ
        if call.op == EVENTS and isinstance(answer, Ok):
            self.events_seen, self.told_since, self.loads_since = len(answer.value), [], 0
        elif wrong:
            self.diverged = True
        elif not self.faults and isinstance(answer, Ok):
            self._note_sound(call)

    def _note_sound(self, call: Call) -> None:
        if call.op == HOST_POOL and any(told == "told" for *_, told in self.host_copies()):
            self.copied_layers.add(call.layer)
        elif call.op == READ and self.is_fresh(call):
            self.loaded_buffers.add((call.layer, call.buffer))

    def is_fresh(self, call: Call) -> bool:
        """Say whether a read is of loaded rows that took the place of others."""
        cells = [Cell(where, call.layer, call.buffer) for where in call.locations]
        return any(cell in self.former and self.former[cell] != self.rows.get(cell) for cell in cells)

    def _note_splits(self) -> None:
        numbers = [number for node in self.model.tree.nodes.values() for number in node.backups]
        twice = {number for number in numbers if numbers.count(number) > 1}
        nodes = [node for node in self.model.tree.nodes.values() if node.backups & twice]
        self.split |= {self.model.tree.path(node) for node in nodes}

    def _adopt_rows(self, call: Call, value: Any, before: GuidedCopies) -> None:
        if call.op == WRITE:
            self._take_written(call)
        elif call.op == "host_tier.insert":
            self._take_inserted(call, value.adopted)
        elif call.op == LOAD_BACK:
            self._take_loaded(value.pages)
            self.loaded_by |= dict.fromkeys(value.pages, value.copy)
            self.loads_since, self.is_unread = self.loads_since + bool(value.pages), True
        elif call.op == "host_tier.poll":
            loads = [own.number for own in before.ledger.copies.values() if own.kind == LOAD]
            self.outlived |= {later for at, later in enumerate(loads) if set(loads[:at]) & set(value)}
        elif call.op == LAYER_END:
            self.told_since.append((call.layer, self.requests_due(before, call.layer)))
        elif call.op == "host_tier.reset":
            self.was_reset = self.was_reset or before.ledger.pages_of(LOAD) > 0
            self.was_reset_under_backups = self.was_reset_under_backups or before.ledger.pages_of(BACKUP) > 0
            self.loaded.clear()
            self.former.clear()
        elif call.op == INJECT:
            self.faults.add(call.fault)
        elif call.op in (COMPOSE, START, CONSUME):
            self._take_dense(call, value)

    def _take_dense(self, call: Call, value: Any) -> None:
        """Note what a dense view or prefix is made of, and what was loaded there since its start."""
        batch = tuple(call.batch)
        if call.op == COMPOSE:
            self.views[call.layer, call.epoch] = batch
        elif call.op == START:
            self.ahead[call.layer, call.epoch, batch] = set()
        else:
            self.leases[value] = call.layer, batch
            self.reloaded[value] = self.ahead.pop((call.layer, call.epoch, batch), set())

    def requests_due(self, tree: GuidedCopies, layer: int) -> int:
        """Count the requests with reservations for which a layer is due."""
        own = [[(lane, page, host) for page, (lane, host) in held.items()] for held in tree.reservations.values()]
        return sum(bool(tree.watch.due(layer, pairs)) for pairs in own)

    def _take_written(self, call: Call) -> None:
        """Note the rows of a write, and that what was loaded into their pages is gone."""
        for rank, tokens in enumerate(dealt(self.geometry, call.batch)):
            for given in call.rows[rank].buffers:
                size = computed_row_bytes(self.pool, given.buffer)
                for row, token in enumerate(tokens):
                    cell = Cell(call.locations[token], call.layer, given.buffer)
                    self._put(cell, given.data[row * size : (row + 1) * size])
                    self.former.pop(cell, None)
                    self.loaded.discard(cell.location // self.config.page_size)

    def _put(self, cell: Cell, row: bytes) -> None:
        self.older.setdefault(cell, set()).add(self.rows.get(cell))
        self.rows[cell] = row

    def _take_inserted(self, call: Call, adopted: Sequence[int]) -> None:
        """Note the rows of the pages that the tree took."""
        size = self.config.page_size
        for position, page in enumerate(call.pages):
            path = tuple(call.tokens[: (position + 1) * size])
            if page in adopted:
                self.origin[path], self.under[path] = page, frozenset(self.faults)
                self.content |= {(path, *key): rows for key, rows in self._page_rows(page).items()}

    def _page_rows(self, page: int) -> Mapping[tuple[int, str], tuple[bytes, ...]]:
        size = self.config.page_size
        places = [(layer, buffer) for layer in range(self.pool.all_layers) for buffer in buffers_of(self.pool)]
        cells = {place: [Cell(page * size + offset, *place) for offset in range(size)] for place in places}
        return {
            place: tuple(self.rows[cell] for cell in own)
            for place, own in cells.items()
            if self.rows.keys() >= set(own)
        }

    def _take_loaded(self, pages: Sequence[int]) -> None:
        """Note that pages have the rows of their prefix now, and what they had before."""
        size, paths = self.config.page_size, self.page_paths()
        self.loaded |= set(pages)
        for since in self.ahead.values():
            since |= set(pages)
        for page in pages:
            for layer in range(self.pool.all_layers):
                for buffer in buffers_of(self.pool):
                    for offset, row in enumerate(self.content.get((paths.get(page, ()), layer, buffer), ())):
                        cell = Cell(page * size + offset, layer, buffer)
                        self.former[cell] = self.rows.get(cell)
                        self._put(cell, row)


def unfinished(copies: Sequence[CopyInFlight]) -> dict[int, frozenset[str]]:
    """Return the sources of each copy in flight that are not finished."""
    return {own.copy: frozenset(own.sources) for own in copies}
