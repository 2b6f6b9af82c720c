"""A network whose writes land when a test says so, whole or in part, in time or late, and the carrier to it.

Knows batches and the bytes that they move. Does not know pages, rooms, nor who may write where: whoever looks on is
told of every write as it lands.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from sharedkv.engines.carrier import BatchFailedError
from sharedkv.engines.regions import Region
from sharedkv.page_mapping import Writes

_MOST_REQUESTS = 1024


@dataclass(frozen=True, kw_only=True)
class Row:
    """One write of consecutive bytes, by addresses."""

    source: int
    destination: int
    num_bytes: int


class HeldBatch:
    """A batch that stays under way until it is landed, failed or lost."""

    def __init__(self, number: int, rows: tuple[Row, ...]) -> None:
        self.number = number
        self.rows = rows
        self.has_landed = False
        self.failure: BatchFailedError | None = None

    def is_done(self) -> bool:
        """Say what the test decided."""
        if self.failure is not None:
            raise self.failure
        return self.has_landed


class HeldNetwork:
    """What all engines of a test share. `live` are the batches of which bytes may land, oldest first."""

    def __init__(self, on_posted: Callable[[HeldBatch], None], on_landed: Callable[[HeldBatch, Row], None]) -> None:
        self.live: dict[int, HeldBatch] = {}
        self._on_posted = on_posted
        self._on_landed = on_landed
        self._numbers = count()

    def post(self, rows: tuple[Row, ...]) -> HeldBatch:
        """Keep a batch."""
        batch = HeldBatch(next(self._numbers), rows)
        self.live[batch.number] = batch
        self._on_posted(batch)
        return batch

    def land(self, batch: HeldBatch) -> None:
        """Let all bytes land; the engine learns it, unless it was told of a failure before."""
        self._move(batch, batch.rows)
        batch.has_landed = True
        del self.live[batch.number]

    def fail(self, batch: HeldBatch, num_rows: int, *, is_definite: bool) -> None:
        """Let some rows land and fail; what is left may still `land`, unless the failure is definite."""
        self._move(batch, batch.rows[:num_rows])
        batch.failure = BatchFailedError("failed on purpose", is_definite)
        if is_definite:
            del self.live[batch.number]

    def lose(self, batch: HeldBatch) -> None:
        """Let nothing more of a batch land, ever; nobody is told."""
        del self.live[batch.number]

    def _move(self, batch: HeldBatch, rows: tuple[Row, ...]) -> None:
        for row in rows:
            ctypes.memmove(row.destination, row.source, row.num_bytes)
            self._on_landed(batch, row)


class HeldCarrier:
    """One engine's way into the network."""

    kind = "held"
    most_requests = _MOST_REQUESTS

    def __init__(self, network: HeldNetwork, name: str) -> None:
        self._network = network
        self._name = name

    def register(self, region: Region) -> None:
        """Take any region: what is registered is checked before."""

    def unregister(self, region: Region) -> None:
        """Give any region."""

    def contact(self) -> bytes:
        """Return the name of this engine."""
        return self._name.encode()

    def meet(self, contact: bytes) -> str:
        """Take any peer."""
        return contact.decode()

    def post(self, peer: str, batch: Writes) -> HeldBatch:  # noqa: ARG002 - addresses say it all
        """Hand a batch to the network."""
        columns = (batch.sources.tolist(), batch.destinations.tolist(), batch.lengths.tolist())
        return self._network.post(
            tuple(
                Row(source=source, destination=destination, num_bytes=num_bytes)
                for source, destination, num_bytes in zip(*columns, strict=True)
            )
        )

    def part(self, peer: str) -> None:
        """Nothing is kept of a peer."""

    def close(self) -> None:
        """Nothing is held but batches."""
