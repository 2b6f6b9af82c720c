"""What sending asks of the rest of its process: memory, messages out, pins, a clock, and points in a device's work.

Knows what is asked for. Does not know who answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sharedkv.control_messages import Message

KV, INDEX, AUX = "kv", "index", "aux"

Clock = Callable[[], float]
Send = Callable[[int, int, Message], None]
"""Hands over a message of a rank of this side to a rank of the other side. Never raises: what is lost is lost."""


@dataclass(frozen=True, kw_only=True)
class PlacedBuffer:
    """Where one buffer of one layer begins, the bytes of a page of it, and the part of a transfer that it is."""

    layer: int
    part: str
    address: int
    page_bytes: int


@dataclass(frozen=True, kw_only=True)
class RankSource:
    """The pool of one prefill rank: layer by layer, those of the draft last, in the order of the layout."""

    rank: int
    buffers: tuple[PlacedBuffer, ...]


class WriteEvent(Protocol):
    """A point in the work of a device: everything enqueued before it."""

    def synchronize(self) -> None:
        """Make the caller wait until everything before the point is done."""


class Pins(Protocol):
    """Who keeps pages from being used again. Pages are counted: each `pin` wants its `unpin`."""

    def require_allocated(self, pages: Sequence[int]) -> None:
        """Refuse pages outside the pool, named twice, or free."""

    def pin(self, pages: Sequence[int]) -> None:
        """Keep distinct pages, which are allocated."""

    def unpin(self, pages: Sequence[int]) -> None:
        """Keep pages once less."""


class NoPins:
    """Pins where somebody else keeps the pages."""

    def require_allocated(self, pages: Sequence[int]) -> None:
        """Accept any."""

    def pin(self, pages: Sequence[int]) -> None:
        """Do nothing."""

    def unpin(self, pages: Sequence[int]) -> None:
        """Do nothing."""


class SendListener(Protocol):
    """Who hears of choices of path."""

    def on_boundary(self, layer: int) -> None:
        """Hear that an event was recorded at the end of a layer."""

    def on_declined(self) -> None:
        """Hear that layers of a chunk will not be sent early."""


class Silent:
    """A listener that does not listen."""

    def on_boundary(self, layer: int) -> None:
        """Do nothing."""

    def on_declined(self) -> None:
        """Do nothing."""


_NO_PINS = NoPins()
_SILENT = Silent()


@dataclass(frozen=True, kw_only=True)
class PrefillPorts:
    """What prefill asks for.

    `record` returns a point behind all that was enqueued for the pools: computed rows, and pages on their way from the
    host. Without a `fingerprint` none is asked of decode. `pins` let pages go when this process needs them no more:
    where each rank has a mirror of one allocator that is too early on some, and `PrefillSender.agreed_idle` says when.
    """

    send: Send
    record: Callable[[], WriteEvent]
    pins: Pins = _NO_PINS
    now: Clock = time.monotonic
    listener: SendListener = _SILENT
    fingerprint: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class SendLimits:
    """How long prefill waits, in the unit of its clock, layers a group (0: no overlap), and the bytes of metadata.

    A flight, and a chunk from `send` on, has `deadline`; the engine is told so, whose clock runs alike. A flight that
    is given up keeps its pages for `quarantine`.
    """

    deadline: float = 30.0
    quarantine: float = 60.0
    group: int = 8
    aux_bytes: int = 1024


@dataclass(frozen=True, kw_only=True)
class DecodePorts:
    """What decode asks for."""

    send: Send
    now: Clock = time.monotonic


@dataclass(frozen=True, kw_only=True)
class DecodeLimits:
    """How long decode waits, in the unit of its clock.

    A room has `patience` from `reserve` on. What belonged to one that failed is free `quarantine` later at the latest.
    """

    patience: float = 300.0
    quarantine: float = 60.0
