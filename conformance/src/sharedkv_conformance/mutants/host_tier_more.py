"""Wrong variants of who is held: nodes that stood aside for one plan, and for the next one too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sharedkv_conformance.contract.host_tier import Evicted, HostEvicted, Inserted
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_tree import Node


class _Leaking(HostTierModel):
    """Holds nodes for the plans after the one for which they were to stand aside, until tokens are looked up again."""

    aside: Collection[int] = ()


@mutant("host_tier.way-held-after-a-load-back", kills="RFC-0006:C-DEVICE-EVICTION#S1")
class WayHeldAfterALoadBack(_Leaking):
    """Evicts nothing of the way of the last load-back that was short of device pages."""

    def make_device_fit(self, need: Sequence[int], kept: Sequence[Node]) -> None:
        self.aside = {node.number for node in kept}
        super().make_device_fit(need, kept)

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        self.aside = ()
        return super().insert(request, tokens, pages)

    def evict(self, deficit: Sequence[int]) -> Evicted:
        plan = self.planner.plan(self.tree.on_device(self.aside), self.device_deficit(deficit))
        self.begin()
        return self.carry_out(plan)


@mutant("host_tier.way-held-after-a-backup", kills="RFC-0006:C-HOST-EVICTION#S1")
class WayHeldAfterABackup(_Leaking):
    """Evicts on the host nothing of the way of the last insert that was short of host pages."""

    def make_host_fit(self, need: Sequence[int], kept: Iterable[Node] = ()) -> bool:
        way = list(kept)
        if not self.fits(need):
            self.aside = {node.number for node in way}
        return super().make_host_fit(need, way)

    def evict_host(self, deficit: Sequence[int]) -> HostEvicted:
        plan = self.planner.plan(self.tree.on_host(self.aside), self.host_deficit(deficit))
        self.begin()
        self.carry_out_on_host(plan)
        return HostEvicted(freed=plan.freed, remaining=plan.remaining)
