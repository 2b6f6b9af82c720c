"""Streams and events: in which order work reaches a device.

Knows order. Does not know what the work is.

    stream A   write r0   write r1   record e ──┐
    stream B                         wait e  <──┘   gather r1        ordered after both writes

Work of one stream runs in the order in which it was enqueued; work of two streams is ordered by events alone. Nothing
but `synchronize` waits. `CudaBackend` has streams of a GPU. `RecordingBackend` plays them on the CPU: a late stream
runs nothing until something waits for it, and whoever then reads rows that are not those that he was promised gets an
error: a wait that is missing shows without a GPU.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

Work = Callable[[], object]
Versions = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Access:
    """Rows of one buffer that a piece of work reads or writes; `slots` are int64 (rows,), none of them negative."""

    buffer: Hashable
    slots: NDArray[np.int64]


class Event(Protocol):
    """A point in a stream: everything enqueued before it was recorded."""

    def synchronize(self) -> None:
        """Make the caller wait until everything before the point is done."""

    def is_done(self) -> bool:
        """Say whether everything before the point is done. Waits for nothing."""


class Stream(Protocol):
    """Work in order."""

    def enqueue(self, work: Work, name: str, *, reads: Sequence[Access] = (), writes: Sequence[Access] = ()) -> None:
        """Do work after all that was enqueued or waited for before; a backend may check what it reads and writes."""

    def record(self) -> Event:
        """Return the point that the stream has reached."""

    def wait(self, event: Event) -> None:
        """Let everything that is enqueued from now on run after an event of the same backend."""


class Backend(Protocol):
    """The streams of one device."""

    def stream(self, name: str) -> Stream:
        """Return the stream of a name, made when it is first asked for."""

    def synchronize(self) -> None:
        """Make the caller wait until all work of all streams is done."""


class OrderError(Exception):
    """Work read rows in another version than the latest that had been enqueued before it: a wait is missing."""

    def __init__(self, work: str, buffer: Hashable, slot: int, wanted: int, found: int) -> None:
        super().__init__(work, buffer, slot, wanted, found)
        self.work = work
        self.buffer = buffer
        self.slot = slot
        self.wanted = wanted
        self.found = found

    def __str__(self) -> str:
        when = "before it was written" if self.found < self.wanted else "after it was written again"
        versions = f"wanted write {self.wanted}, found {self.found}"
        return f"{self.work} read slot {self.slot} of {self.buffer} {when}: {versions}"


class ForeignEventError(Exception):
    """A stream was told to wait for an event of another backend."""

    def __init__(self, event: object) -> None:
        super().__init__(event)
        self.event = event

    def __str__(self) -> str:
        return f"an event of another backend: {type(self.event).__name__}"


class CudaEvent:
    """A point in a stream of a GPU."""

    def __init__(self, point: torch.cuda.Event) -> None:
        self.point = point

    def synchronize(self) -> None:
        """Make the caller wait until everything before the point is done."""
        self.point.synchronize()

    def is_done(self) -> bool:
        """Say whether everything before the point is done."""
        return bool(self.point.query())


class CudaStream:
    """Work in order on a GPU. What work uses is kept until it is done: no other stream reuses that memory early."""

    def __init__(self, stream: torch.cuda.Stream) -> None:
        self._stream = stream
        self._in_flight: deque[tuple[torch.cuda.Event, Work]] = deque()

    def enqueue(self, work: Work, name: str, *, reads: Sequence[Access] = (), writes: Sequence[Access] = ()) -> None:
        """Launch work on the stream."""
        del name, reads, writes
        with torch.cuda.stream(self._stream):
            work()
        self._in_flight.append((self.record().point, work))
        while self._in_flight and self._in_flight[0][0].query():
            self._in_flight.popleft()

    def record(self) -> CudaEvent:
        """Return the point that the stream has reached."""
        point = torch.cuda.Event()
        point.record(self._stream)
        return CudaEvent(point)

    def wait(self, event: Event) -> None:
        """Let everything that is enqueued from now on run after an event."""
        if not isinstance(event, CudaEvent):
            raise ForeignEventError(event)
        self._stream.wait_event(event.point)


class CudaBackend:
    """Streams of a GPU; `existing` names those that the caller has already.

    The stream on which a caller computes rows has to be among them, under the name that writing gives it: what is
    launched elsewhere is not ordered with what is enqueued here.
    """

    def __init__(
        self, device: torch.device | str = "cuda", existing: Mapping[str, torch.cuda.Stream] | None = None
    ) -> None:
        self._device = torch.device(device)
        self._streams = {name: CudaStream(stream) for name, stream in (existing or {}).items()}

    def stream(self, name: str) -> CudaStream:
        """Return the stream of a name, made when it is first asked for."""
        if name not in self._streams:
            self._streams[name] = CudaStream(torch.cuda.Stream(self._device))
        return self._streams[name]

    def synchronize(self) -> None:
        """Make the caller wait until all work of the device is done."""
        torch.cuda.synchronize(self._device)


class RecordingEvent:
    """A point in a recording stream: so many steps of it."""

    def __init__(self, stream: RecordingStream, steps: int) -> None:
        self.stream = stream
        self.steps = steps

    def synchronize(self) -> None:
        """Run everything before the point, and what that waits for."""
        self.stream.run_until(self.steps)

    def is_done(self) -> bool:
        """Run everything before the point and say that it is done: work goes on by itself on no CPU."""
        self.synchronize()
        return True


class RecordingStream:
    """Work in order on the CPU, run when it is enqueued; while `is_late`, only when something waits for it."""

    def __init__(self, versions: _RowVersions, *, is_late: bool) -> None:
        self.is_late = is_late
        self._versions = versions
        self._pending: deque[Work] = deque()
        self._done = 0

    @property
    def num_pending(self) -> int:
        """Count the steps that have not run."""
        return len(self._pending)

    def enqueue(self, work: Work, name: str, *, reads: Sequence[Access] = (), writes: Sequence[Access] = ()) -> None:
        """Do work in its turn, and look whether the rows that it reads are those that were promised."""
        promised = [(access, self._versions.promised(access)) for access in reads]
        written = [(access, self._versions.promise(access)) for access in writes]

        def step() -> None:
            for access, versions in promised:
                self._versions.require(name, access, versions)
            work()
            for access, versions in written:
                self._versions.settle(access, versions)

        self._add(step)

    def record(self) -> RecordingEvent:
        """Return the point that the stream has reached."""
        return RecordingEvent(self, self._done + len(self._pending))

    def wait(self, event: Event) -> None:
        """Let everything that is enqueued from now on run after an event."""
        if not isinstance(event, RecordingEvent):
            raise ForeignEventError(event)
        self._add(event.synchronize)

    def run_until(self, steps: int) -> None:
        """Run so many steps since the stream began, unless they have run."""
        while self._done < steps:
            self._done += 1
            self._pending.popleft()()

    def _add(self, step: Work) -> None:
        self._pending.append(step)
        if not self.is_late:
            self.run_until(self._done + len(self._pending))


class RecordingBackend:
    """Streams on the CPU that know which rows were written when.

    `late` says whether streams run nothing before something waits for it. Where it is false, work runs at once, in the
    order of the calls, and a missing wait does not show.
    """

    def __init__(self, *, late: bool = False) -> None:
        self._late = late
        self._versions = _RowVersions()
        self._streams: dict[str, RecordingStream] = {}

    def stream(self, name: str) -> RecordingStream:
        """Return the stream of a name, made when it is first asked for."""
        if name not in self._streams:
            self._streams[name] = RecordingStream(self._versions, is_late=self._late)
        return self._streams[name]

    def synchronize(self) -> None:
        """Run everything that has not run, stream by stream in the order in which they were made."""
        for stream in self._streams.values():
            stream.record().synchronize()


class _RowVersions:
    """For each row of each buffer the number of writes that were enqueued, and which of them ran last."""

    def __init__(self) -> None:
        self._enqueued: dict[Hashable, Versions] = {}
        self._settled: dict[Hashable, Versions] = {}

    def promised(self, access: Access) -> Versions:
        """Return the version of each row that work enqueued now has to find."""
        return self._rows(self._enqueued, access)[access.slots]

    def promise(self, access: Access) -> Versions:
        """Count one more write of each row, and return which one it is."""
        rows = self._rows(self._enqueued, access)
        rows[access.slots] += 1
        return rows[access.slots]

    def settle(self, access: Access, versions: Versions) -> None:
        """Note that a write ran."""
        self._rows(self._settled, access)[access.slots] = versions

    def require(self, work: str, access: Access, versions: Versions) -> None:
        """Raise unless each row is in the version that was promised."""
        found = self._rows(self._settled, access)[access.slots]
        for at in np.flatnonzero(found != versions)[:1]:
            raise OrderError(work, access.buffer, int(access.slots[at]), int(versions[at]), int(found[at]))

    @staticmethod
    def _rows(versions: dict[Hashable, Versions], access: Access) -> Versions:
        """Return the versions of a buffer's rows, as many as were ever named."""
        rows = versions.get(access.buffer, np.zeros(0, dtype=np.int64))
        needed = int(access.slots.max()) + 1 if len(access.slots) else 0
        if needed > len(rows):
            rows = np.concatenate((rows, np.zeros(max(needed, 2 * len(rows)) - len(rows), dtype=np.int64)))
            versions[access.buffer] = rows
        return rows
