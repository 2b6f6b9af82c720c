"""Checked by mypy and never run: the reference meets the Protocols of the contract, as their users spell them."""

from sharedkv_adapter import cpu
from sharedkv_adapter.session import ReferenceSession
from sharedkv_conformance.contract import (
    Allocation,
    Description,
    Eviction,
    ExtendAllocation,
    ExtendRequest,
    HostTier,
    Implementation,
    OpenConfig,
    Planning,
    Probe,
    RequestSplit,
    Session,
)

implementation: Implementation = cpu()
description: Description = implementation.describe()
opened: Session = implementation.open(OpenConfig(cp_size=2, page_size=4, pages=8))
session: ReferenceSession = cpu().open(OpenConfig(cp_size=2, page_size=4, pages=8))

planning: Planning = session.planning
allocation: Allocation = session.allocation
eviction: Eviction = session.eviction
host_tier: HostTier = session.host_tier
probe: Probe = session.probe

request = ExtendRequest(request="a", prefix_tokens=8, extend_tokens=13)
allocated: ExtendAllocation = allocation.extend([request])
pages: tuple[int, ...] = allocated.pages
split: RequestSplit = planning.split(prefix_tokens=8, extend_tokens=13)


class CannotBeOpened:
    """Lacks a method of the Protocol: the ignore below would be unused, and so an error, if mypy let it pass."""

    def describe(self) -> Description:
        return description


refused: Implementation = CannotBeOpened()  # type: ignore[assignment]  # open() is missing
