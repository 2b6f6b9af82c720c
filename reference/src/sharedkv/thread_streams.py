"""Streams as threads: work of one stream runs in order, work of two at the same time, on the CPU.

Knows threads. Does not know what the work is, nor which rows it uses. What releases the lock of Python (copies and sums
of numpy and torch) runs in parallel, so that a copy hides behind a forward as it does on a GPU.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from queue import SimpleQueue

from sharedkv.streams import Access, Event, ForeignEventError, Work


class ThreadEvent:
    """A point in a stream: set by the thread when it comes there."""

    def __init__(self, stream: ThreadStream) -> None:
        self._stream = stream
        self._reached = threading.Event()

    def reach(self) -> None:
        """Be done: everything before the point is."""
        self._reached.set()

    def synchronize(self) -> None:
        """Make the caller wait until everything before the point is done.

        Raises what work of the stream raised; after that none of its work is done any more.
        """
        self._reached.wait()
        self._stream.raise_failure()

    def is_done(self) -> bool:
        """Say whether everything before the point is done, or has failed."""
        return self._reached.is_set()


class ThreadStream:
    """Work in order, on a thread that ends with `close` or with the program."""

    def __init__(self, name: str) -> None:
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def enqueue(self, work: Work, name: str, *, reads: Sequence[Access] = (), writes: Sequence[Access] = ()) -> None:
        """Do work after all that was enqueued or waited for before."""
        del name, reads, writes
        self._queue.put(lambda: None if self._failure else work())

    def record(self) -> ThreadEvent:
        """Return the point that the stream has reached."""
        event = ThreadEvent(self)
        self._queue.put(event.reach)
        return event

    def wait(self, event: Event) -> None:
        """Let everything that is enqueued from now on run after an event, and fail with it."""
        if not isinstance(event, ThreadEvent):
            raise ForeignEventError(event)
        self._queue.put(event.synchronize)

    def raise_failure(self) -> None:
        """Raise what work raised, if any did."""
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Do what was enqueued, and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (step := self._queue.get()) is not None:
            try:
                step()
            except Exception as failure:  # noqa: BLE001 - of any work: whoever waits raises it
                self._failure = self._failure or failure


class ThreadBackend:
    """A thread for each stream."""

    def __init__(self) -> None:
        self._streams: dict[str, ThreadStream] = {}

    def stream(self, name: str) -> ThreadStream:
        """Return the stream of a name, made when it is first asked for."""
        if name not in self._streams:
            self._streams[name] = ThreadStream(name)
        return self._streams[name]

    def synchronize(self) -> None:
        """Make the caller wait until all work of all streams is done."""
        for event in [stream.record() for stream in self._streams.values()]:
            event.synchronize()

    def close(self) -> None:
        """Do what was enqueued, and end every thread."""
        for stream in self._streams.values():
            stream.close()
