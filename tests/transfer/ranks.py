"""Four prefill ranks and a decode rank that know one another, as a test plays them.

Knows how they are started. Does not know what they send.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Generic, TypeVar

from sharedkv.engines.engine import Timing
from sharedkv.engines.memory import Memory, memory_engine
from tests.transfer import story
from tests.transfer.decode_process import DecodeRank
from tests.transfer.prefill_rank import PrefillRank
from tests.transfer.serving import Remote, RemoteProcess, RemoteThread
from tests.transfer.times import Times

_DRAINED_WITHIN_S = 20.0
AnyRemote_co = TypeVar("AnyRemote_co", bound=Remote, covariant=True)


class Ranks(Generic[AnyRemote_co]):
    """Ranks that have met."""

    def __init__(self, ranks: Sequence[AnyRemote_co], decode: AnyRemote_co) -> None:
        self.ranks = ranks
        self.decode = decode

    def meet(self) -> None:
        """Let decode make itself known."""
        self.decode.ask("meet", addresses=self.prefill("address"))
        assert all(self.prefill("met"))

    def prefill(self, do: str, *, leaving_out: int = -1, **arguments: object) -> list[Any]:
        """Ask all prefill ranks at once, but one."""
        asked = [rank for number, rank in enumerate(self.ranks) if number != leaving_out]
        for rank in asked:
            rank.tell(do, **arguments)
        return [rank.hear() for rank in asked]

    def wait_until_drained(self) -> None:
        """Return when decode keeps no page for nobody; at the latest after some time."""
        ends_at = time.monotonic() + _DRAINED_WITHIN_S
        while self.decode.ask("pools")[2] and time.monotonic() < ends_at:
            pass
        assert not self.decode.ask("pools")[2]


@contextmanager
def ranks_of(kind: str, times: Times) -> Iterator[Ranks[Remote]]:
    """Start ranks over an engine; nothing of them is left afterwards."""
    if kind != "memory":
        with processes_of(kind, times) as made:
            yield made
        return
    memory = Memory()

    def engine_of_rank(rank: int) -> RemoteThread:
        return RemoteThread(lambda: PrefillRank(rank, memory_engine(memory, Timing(deadline_s=times.deadline)), times))

    with ExitStack() as stack:
        started = [engine_of_rank(rank) for rank in range(story.GEOMETRY.cp_size)]
        decode = RemoteThread(lambda: DecodeRank(memory_engine(memory), times))
        for each in (*started, decode):
            stack.callback(each.close)
        ranks: Ranks[Remote] = Ranks(started, decode)
        ranks.meet()
        yield ranks


@contextmanager
def processes_of(kind: str, times: Times) -> Iterator[Ranks[RemoteProcess]]:
    """Start ranks as processes."""
    with ExitStack() as stack:
        started = [RemoteProcess("prefill_rank", kind, rank, times.encode()) for rank in range(story.GEOMETRY.cp_size)]
        decode = RemoteProcess("decode_process", kind, times.encode())
        for each in (*started, decode):
            stack.callback(each.close)
        ranks = Ranks(started, decode)
        ranks.meet()
        yield ranks
