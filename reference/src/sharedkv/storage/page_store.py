"""Which pages a store has: every part whole, and all of them of one lane.

Knows what makes a page usable. Does not know host pages, or which store it is.

A page is as good as its worst part: what is missing, cut short, changed or another's makes the page one that is not
stored. To know that, every byte is read; a part that was found whole is not read again for as long as its stamp stays.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from threading import Lock

from sharedkv.storage.backend import Backend, StoreFailedError
from sharedkv.storage.keys import Namespace, page_keys
from sharedkv.storage.objects import ObjectName, PageForm, PageObject, SpoiledObjectError
from sharedkv.storage.ports import NOT_STORED

_LOGGER = logging.getLogger(__name__)
_KNOWN_OBJECTS = 1 << 16


class PageStore:
    """The pages of one form and one namespace in a store. May be used by many threads."""

    def __init__(self, backend: Backend, form: PageForm, namespace: Namespace) -> None:
        self.backend = backend
        self.form = form
        self.namespace = namespace
        self._known: OrderedDict[ObjectName, tuple[Hashable, int]] = OrderedDict()
        self._lock = Lock()
        self.num_failed_puts = 0

    def keys(self, tokens: Sequence[int]) -> tuple[str, ...]:
        """Return the key of each whole page of tokens."""
        return page_keys(self.namespace, tokens)

    def lane(self, key: str) -> int:
        """Return the lane of a page, `NOT_STORED` where it is not stored."""
        lane = NOT_STORED
        for part in self.form.parts:
            found = self._lane_of_part(ObjectName(key, part))
            if found is None or lane not in (NOT_STORED, found):
                return NOT_STORED
            lane = found
        return lane

    def leading_lanes(self, keys: Sequence[str]) -> list[int]:
        """Return the lanes of pages, up to the first that is not stored."""
        lanes = []
        for key in keys:
            lane = self.lane(key)
            if lane == NOT_STORED:
                break
            lanes.append(lane)
        return lanes

    def read(self, names: Sequence[ObjectName]) -> Iterator[PageObject | None]:
        """Yield each object, in order; None for one that is not there, or not whole and as it was written."""
        for name, data in zip(names, self.backend.get(names), strict=True):
            yield None if data is None else self._decoded(name, data)

    def write(self, name: ObjectName, lane: int, writer: int, payload: bytes | memoryview) -> None:
        """Put an object in place of any that is there. A store that fails is logged and counted: it is only a cache."""
        try:
            self.backend.put(name, self.form.object(name, lane, writer, payload).header(), payload)
        except StoreFailedError as error:
            _LOGGER.warning("not stored: %s", error)
            with self._lock:
                self.num_failed_puts += 1

    def _lane_of_part(self, name: ObjectName) -> int | None:
        stamp = self.backend.stamp(name)
        with self._lock:
            known = self._known.get(name)
        if stamp is not None and known is not None and known[0] == stamp:
            return known[1]
        (found,) = self.read([name])
        if found is None:
            return None
        if stamp is not None:
            self._remember(name, stamp, found.lane)
        return found.lane

    def _remember(self, name: ObjectName, stamp: Hashable, lane: int) -> None:
        with self._lock:
            self._known[name] = stamp, lane
            self._known.move_to_end(name)
            if len(self._known) > _KNOWN_OBJECTS:
                self._known.popitem(last=False)

    def _decoded(self, name: ObjectName, data: bytes) -> PageObject | None:
        try:
            return self.form.decode(name, data)
        except SpoiledObjectError as error:
            _LOGGER.warning("not used: %s", error)
            return None
