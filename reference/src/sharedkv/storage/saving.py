"""Host pages to objects: each written by the rank of its lane, all parts of a page or none that count.

Knows which pages want writing and how far that is. Does not know nodes, nor when a save is acknowledged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from threading import Condition
from typing import NamedTuple

from sharedkv.storage.fetch import BATCH_PAGES
from sharedkv.storage.objects import DRAFT, ObjectName
from sharedkv.storage.page_store import PageStore
from sharedkv.storage.ports import DRAFT_SOURCE, NOT_STORED, TARGET, HostSide
from sharedkv.storage.workers import JobQueue
from sharedkv.tree_node import HostPage

NO_COPY = -1


class _PageToSave(NamedTuple):
    key: str
    page: HostPage


class Saver:
    """Saves the pages of one tree."""

    def __init__(self, host: HostSide, store: PageStore, workers: JobQueue) -> None:
        self._host = host
        self._store = store
        self._workers = workers
        self._in_flight: Counter[str] = Counter()

    @property
    def sources(self) -> tuple[str, ...]:
        """Return what of a save finishes apart."""
        return (TARGET, DRAFT_SOURCE) if DRAFT in self._store.form.parts else (TARGET,)

    def save(self, tokens: Sequence[int]) -> int:
        """Write what is backed up, not stored and not being written; return the copy, `NO_COPY` where there is none."""
        pages = self._host.tree.backed_up(tokens)
        keys = self._store.keys(tokens)[: len(pages)]
        stored = self._host.agreed_lanes([self._store.lane(key) for key in keys])
        wanted = {
            position: _PageToSave(keys[position], page)
            for position, page in enumerate(pages)
            if stored[position] == NOT_STORED and not self._in_flight[keys[position]]
        }
        if not wanted:
            return NO_COPY
        mine = [each for each in wanted.values() if each.page.lane in self._host.ranks]
        self._host.page_bytes.settle([each.page for each in mine])
        progress = _Progress(self._forget([each.key for each in wanted.values()]))
        copy = self._host.tree.submit_save(tokens, sorted(wanted), progress, self.sources)
        self._in_flight.update(each.key for each in wanted.values())
        for rank in self._host.ranks:
            for batch in _batches(each for each in mine if each.page.lane == rank):
                for source in self.sources:
                    progress.expect(source, rank)
                    self._workers.submit(self._job(progress, source, rank, batch))
        return copy

    def _job(self, progress: _Progress, source: str, rank: int, pages: Sequence[_PageToSave]) -> Callable[[], None]:
        def write() -> None:
            try:
                for each in pages:
                    self._write(each, source, rank)
            finally:
                progress.finish(source, rank)

        return write

    def _write(self, each: _PageToSave, source: str, rank: int) -> None:
        for part in self._store.form.parts:
            if (part == DRAFT) == (source == DRAFT_SOURCE):
                payload = self._host.page_bytes.read(each.page, part)
                self._store.write(ObjectName(each.key, part), each.page.lane, rank, payload)

    def _forget(self, keys: Collection[str]) -> Callable[[], None]:
        def forget() -> None:
            self._in_flight -= Counter(keys)

        return forget


class _Progress:
    """The jobs of one save that have not ended, by source and rank."""

    def __init__(self, on_settled: Callable[[], None]) -> None:
        self._on_settled = on_settled
        self._open: Counter[tuple[str, int]] = Counter()
        self._changed = Condition()

    def expect(self, source: str, rank: int) -> None:
        with self._changed:
            self._open[source, rank] += 1

    def finish(self, source: str, rank: int) -> None:
        with self._changed:
            self._open -= Counter([(source, rank)])
            self._changed.notify_all()

    def is_finished(self, source: str, rank: int) -> bool:
        with self._changed:
            return not self._open[source, rank]

    def settle(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._open)
        self._on_settled()


def _batches(pages: Iterable[_PageToSave]) -> Iterable[list[_PageToSave]]:
    rest = iter(pages)
    while batch := list(islice(rest, BATCH_PAGES)):
        yield batch
