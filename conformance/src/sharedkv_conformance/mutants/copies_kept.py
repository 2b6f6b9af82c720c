"""Wrong variants of copies: reservations that are kept too long, loads lost among others, pages taken for others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sharedkv_conformance.contract.host_tier import Inserted, LoadBack
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.copies import CopiesModel, Pairs
from sharedkv_conformance.model.data_plane import Enqueued
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_copies import LOAD, Mover, Pair
from sharedkv_conformance.model.host_tier_tree import HostPage, Node


class _Keeping(HostTierModel):
    """A tree that still names pages to who copies behind layers when their reservation is over."""

    kept: Mapping[str, tuple[Pair, ...]] = {}

    def keep(self, request: str) -> None:
        """Go on to name what a request has reserved now."""
        own = tuple((lane, page, host) for page, (lane, host) in self.reservations.get(request, {}).items())
        self.kept = {**self.kept, request: own}

    def reserved_pairs(self) -> list[Pair]:
        over = [pair for request, own in self.kept.items() if request not in self.reservations for pair in own]
        return [*super().reserved_pairs(), *over]


@mutant("copies.told-after-a-cancel", kills="RFC-0009:C-LAYERS#S3")
class ToldAfterACancel(_Keeping):
    """Gives the host pages of a cancelled request back, and goes on to copy its layers there."""

    def cancel(self, request: str) -> None:
        self.keep(request)
        super().cancel(request)


@mutant("copies.told-after-a-freed-insert", kills="RFC-0009:C-LAYERS#S3")
class ToldAfterAFreedInsert(_Keeping):
    """Gives host pages back that an insert does not take, and goes on to copy layers there."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        kept = self.kept
        self.keep(request)
        inserted = super().insert(request, tokens, pages)
        if set(inserted.adopted) & {page for _, page, _ in self.kept[request]}:
            self.kept = kept
        return inserted


@mutant("copies.told-after-a-reset", kills="RFC-0009:C-LAYERS#S3")
class ToldAfterAReset(_Keeping):
    """Empties both tiers, and goes on to copy the layers of what was reserved before."""

    def reset(self) -> None:
        for request in self.reservations:
            self.keep(request)
        super().reset()


class _Unfenced(CopiesModel):
    """Has loads that no reader waits for; they run when they are acknowledged, or when another one is submitted."""

    strays: Sequence[tuple[int, Enqueued]] = ()
    loads: Sequence[tuple[int, Enqueued]] = ()

    def load(self, copy: int, pairs: Pairs) -> None:
        known = len(self.plane.loads)
        super().load(copy, pairs)
        self.loads = [*self.loads, *((copy, load) for load in self.plane.loads[known:])]

    def unfence(self, loads: Sequence[tuple[int, Enqueued]]) -> None:
        """Let nobody wait for loads that did not run."""
        late = [(copy, load) for copy, load in loads if load in self.plane.loads]
        self.strays = [*self.strays, *late]
        self.plane.loads = [load for load in self.plane.loads if load not in [own for _, own in late]]

    def settle(self, numbers: Sequence[int]) -> None:
        due = [load for copy, load in self.strays if copy in numbers]
        self.strays = [(copy, load) for copy, load in self.strays if copy not in numbers]
        super().settle(numbers)
        for load in due:
            load.work()


@mutant("copies.first-load-waited-for", kills="RFC-0009:C-READERS#S1")
class FirstLoadWaitedFor(_Unfenced):
    """Keeps one load a layer to wait for, the one that is in flight the longest."""

    def load(self, copy: int, pairs: Pairs) -> None:
        is_first = not self.plane.loads
        super().load(copy, pairs)
        if not is_first:
            self.unfence([own for own in self.loads if own[0] == copy])


@mutant("copies.fence-taken-by-an-older", kills="RFC-0009:C-READERS#S1")
class FenceTakenByAnOlder(_Unfenced):
    """Forgets what to wait for in a layer when any load of the layer is acknowledged."""

    def settle(self, numbers: Sequence[int]) -> None:
        if any(self.kinds.get(number) == LOAD for number in numbers):
            self.unfence([own for own in self.loads if own[0] not in numbers])
        super().settle(numbers)


@mutant("copies.acknowledged-by-the-first-layer", kills="RFC-0009:C-ACKNOWLEDGEMENT#S4")
class AcknowledgedByTheFirstLayer(_Unfenced):
    """Acknowledges a load when its first layer is there, and waits for the others nowhere."""

    def settle(self, numbers: Sequence[int]) -> None:
        own = [(copy, load) for copy, load in self.loads if copy in numbers]
        self.unfence([(-1, load) for _, load in own if load.layer > 0])
        super().settle(numbers)

    def load(self, copy: int, pairs: Pairs) -> None:
        super().settle([-1])
        super().load(copy, pairs)


class _Elsewhere:
    """Passes copies on, with loads from other host pages."""

    def __init__(self, mover: Mover, homes: Mapping[HostPage, int]) -> None:
        self.backup, self.abandoned, self.settle = mover.backup, mover.abandoned, mover.settle
        self._load, self._homes = mover.load, homes

    def load(self, number: int, pairs: Sequence[Pair]) -> None:
        """Load pages from the host page that is taken for theirs."""
        self._load(number, [(lane, page, self._homes[lane, host]) for lane, page, host in pairs])


@mutant("copies.found-by-first-tokens", kills="RFC-0009:C-BYTES#S2")
class FoundByFirstTokens(HostTierModel):
    """Finds the bytes of a page by the first tokens of all pages up to it; prefixes that differ later are one."""

    def submit_load(self, nodes: Sequence[Node], pages: Sequence[int]) -> LoadBack:
        mover = self.mover
        self.mover = _Elsewhere(mover, self.homes())
        try:
            return super().submit_load(nodes, pages)
        finally:
            self.mover = mover

    def homes(self) -> dict[HostPage, int]:
        """Return for each host page the first one of its lane that has the same first tokens."""
        size = self.config.page_size
        first: dict[tuple[int, tuple[int, ...]], int] = {}
        found: dict[HostPage, int] = {}
        for node in self.tree.nodes.values():
            path = self.tree.path(node)
            above = len(path) // size - len(node.host)
            for at, (lane, host) in enumerate(node.host):
                starts = path[: (above + at + 1) * size : size]
                found[lane, host] = first.setdefault((lane, starts), host)
        return found
