"""Checked by mypy and never run: the reference meets the Protocols of the contract, as their users spell them."""

from sharedkv_adapter import cpu
from sharedkv_adapter.abort import ReferenceAbort
from sharedkv_adapter.copies import ReferenceCopies
from sharedkv_adapter.direct_write import ReferenceDirectWrite
from sharedkv_adapter.overlap import ReferenceOverlap
from sharedkv_adapter.prefetch import ReferencePrefetch
from sharedkv_adapter.reuse import ReferenceReuse
from sharedkv_adapter.session import ReferenceSession
from sharedkv_conformance.contract import (
    Abort,
    Allocation,
    Copies,
    Description,
    DirectWrite,
    Eviction,
    ExtendAllocation,
    ExtendRequest,
    HostTier,
    Implementation,
    OpenConfig,
    Overlap,
    Planning,
    Prefetch,
    Probe,
    RequestSplit,
    Reuse,
    Sending,
    Session,
    Storage,
    Transfer,
)

implementation: Implementation = cpu()
description: Description = implementation.describe()
opened: Session = implementation.open(OpenConfig(cp_size=2, page_size=4, pages=8))
session: ReferenceSession = cpu().open(OpenConfig(cp_size=2, page_size=4, pages=8))

planning: Planning = session.planning
allocation: Allocation = session.allocation
eviction: Eviction = session.eviction
host_tier: HostTier = session.host_tier
storage: Storage = session.storage
transfer: Transfer = session.transfer
sending: Sending = session.transfer
probe: Probe = session.probe

request = ExtendRequest(request="a", prefix_tokens=8, extend_tokens=13)
allocated: ExtendAllocation = allocation.extend([request])
pages: tuple[int, ...] = allocated.pages
split: RequestSplit = planning.split(prefix_tokens=8, extend_tokens=13)


def data_plane(
    copies: ReferenceCopies, writes: ReferenceDirectWrite, reuse: ReferenceReuse, prefetch: ReferencePrefetch
) -> tuple[Copies, DirectWrite, Reuse, Prefetch]:
    """Return what a session has only where there is torch."""
    return copies, writes, reuse, prefetch


def giving_up(overlap: ReferenceOverlap, abort: ReferenceAbort) -> tuple[Overlap, Abort]:
    """Return what a session of transfers has beside them."""
    return overlap, abort


class CannotBeOpened:
    """Lacks a method of the Protocol: the ignore below would be unused, and so an error, if mypy let it pass."""

    def describe(self) -> Description:
        return description


refused: Implementation = CannotBeOpened()  # type: ignore[assignment]  # open() is missing
