"""Remembers an interruption, and puts one off while something is half done that would be left behind.

Knows signals alone. A signal comes to a process and not to an object, so that there is one `INTERRUPTION` a process.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread

INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Whether this process was asked to end while somebody awaited that.

    The `KeyboardInterrupt` that tells of it may be lost on its way: a finalizer drops it, a context that cannot be left
    raises something else, an engine catches everything. What goes wrong afterwards is nobody's fault, and must not
    become a result: whoever comes to one checks first.
    """

    def __init__(self) -> None:
        self._came = False

    def check(self) -> None:
        """Raise `KeyboardInterrupt`, once more, where this process was asked to end."""
        if self._came:
            raise KeyboardInterrupt

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Take a request to end as an interruption, and remember it; what was ignored before stays ignored."""
        if current_thread() is not main_thread():
            yield
            return
        self._came = False
        before = {number: signal.getsignal(number) for number in INTERRUPTIONS}
        own = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
        for number in own:
            signal.signal(number, self._interrupt)
        try:
            yield
        finally:
            for number in own:
                signal.signal(number, before[number])
            self._came = False

    def _interrupt(self, _signal: int, _frame: object) -> None:
        self._came = True
        raise KeyboardInterrupt


INTERRUPTION = Interruption()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off an interruption: between the start of a program and the promise to end it there must be none.

    Handlers are exchanged and no signals blocked: another thread may be the one that takes a signal, and what is
    started would inherit the block.
    """
    if current_thread() is not main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in INTERRUPTIONS}
    own = [number for number, handler in before.items() if callable(handler)]
    for number in own:
        signal.signal(number, lambda arrived, _frame: came.append(arrived))
    try:
        yield
    finally:
        for number in own:
            signal.signal(number, before[number])
        for arrived in came:
            signal.raise_signal(arrived)
