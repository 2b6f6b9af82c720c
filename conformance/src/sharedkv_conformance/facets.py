"""The facets that the suite covers: for each word, its state, how its sessions are opened and how calls are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws import (
    abort,
    abort_crossings,
    abort_crossings_drains,
    abort_scripts,
    abort_scripts_messages,
    abort_scripts_odd,
    allocation,
    copies,
    direct_write,
    eviction,
    host_tier,
    host_tree,
    host_tree_kept,
    host_tree_more,
    host_tree_prefixes,
    host_tree_room,
    host_tree_scripts,
    overlap,
    overlap_crossings,
    overlap_scripts,
    overlap_scripts_odd,
    planning,
    prefetch,
    reuse,
    sending,
    sending_crossings,
    sending_disorder,
    sending_orders,
    sending_pinned,
    sending_reported,
    sending_slotted,
    storage,
    transfer,
    transfer_rooms,
)
from sharedkv_conformance.history import State
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.model.copies_state import CopiesState
from sharedkv_conformance.model.direct_write_state import DirectWriteState
from sharedkv_conformance.model.eviction import EvictionState
from sharedkv_conformance.model.host_tier_state import HostTierState
from sharedkv_conformance.model.host_tier_tree_state import OBSERVATIONS, HostTreeState
from sharedkv_conformance.model.planning_state import PlanningState
from sharedkv_conformance.model.prefetch_state import PrefetchState
from sharedkv_conformance.model.reuse_state import ReuseState
from sharedkv_conformance.model.sending_state import OBSERVATIONS as SENDING_SEEN
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.model.storage_state import SEEN, StorageState
from sharedkv_conformance.model.transfer_state import TransferState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Facet:
    """One facet of the contract, for the history runner.

    `observations` are calls without arguments that show what the last call did; after each call of a history those
    are issued that a law of the run judges, and those of `always` whatever is judged. `scripts` are written histories
    that every run has before the drawn ones.
    """

    word: str
    state: type[State]
    opening: Callable[[Draw, Mapping[str, int]], OpenConfig]
    next_call: Callable[[Draw, Any], Call]
    observations: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    scripts: tuple[tuple[OpenConfig, Callable[[Any], None]], ...] = ()


FACETS: Mapping[str, Facet] = {
    facet.word: facet
    for facet in (
        Facet(
            word="planning",
            state=PlanningState,
            opening=planning.opening,
            next_call=planning.next_call,
        ),
        Facet(
            word="allocation",
            state=AllocationState,
            opening=allocation.opening,
            next_call=allocation.next_call,
            observations=("probe.cost", "allocation.lanes", "probe.pages", "probe.events"),
        ),
        Facet(
            word="eviction",
            state=EvictionState,
            opening=eviction.opening,
            next_call=eviction.next_call,
            observations=("probe.cost",),
        ),
        Facet(
            word="host_tier",
            state=HostTierState,
            opening=host_tier.opening,
            next_call=host_tier.next_call,
            observations=("probe.cost", "host_tier.statistics"),
        ),
        Facet(
            word="host_tree",
            state=HostTreeState,
            opening=host_tree.opening,
            next_call=host_tree.next_call,
            observations=OBSERVATIONS,
            always=OBSERVATIONS[:3],
            scripts=(
                *host_tree_scripts.SCRIPTS,
                *host_tree_prefixes.SCRIPTS,
                *host_tree_room.SCRIPTS,
                *host_tree_kept.SCRIPTS,
                *host_tree_more.SCRIPTS,
            ),
        ),
        Facet(
            word="copies",
            state=CopiesState,
            opening=copies.opening,
            next_call=copies.next_call,
            observations=("probe.events",),
        ),
        Facet(
            word="direct_write",
            state=DirectWriteState,
            opening=direct_write.opening,
            next_call=direct_write.next_call,
            observations=("probe.events",),
        ),
        Facet(
            word="reuse",
            state=ReuseState,
            opening=reuse.opening,
            next_call=reuse.next_call,
            observations=("probe.events", "probe.collectives"),
        ),
        Facet(
            word="prefetch",
            state=PrefetchState,
            opening=prefetch.opening,
            next_call=prefetch.next_call,
            observations=("probe.events",),
        ),
        Facet(
            word="storage",
            state=StorageState,
            opening=storage.opening,
            next_call=storage.next_call,
            observations=SEEN,
            always=("probe.tree", "host_tier.statistics", "probe.objects", "storage.quota"),
        ),
        Facet(
            word="transfer",
            state=TransferState,
            opening=transfer.opening,
            next_call=transfer.next_call,
        ),
        Facet(
            word="transfer_rooms",
            state=TransferState,
            opening=transfer.opening,
            next_call=transfer_rooms.next_call,
        ),
        Facet(
            word="sending",
            state=SendingState,
            opening=sending.opening,
            next_call=sending.next_call,
            observations=SENDING_SEEN,
            always=SENDING_SEEN[:2],
            scripts=(
                *sending_orders.SCRIPTS,
                *sending_disorder.SCRIPTS,
                *sending_crossings.SCRIPTS,
                *sending_pinned.SCRIPTS,
                *sending_slotted.SCRIPTS,
                *sending_reported.SCRIPTS,
            ),
        ),
        Facet(
            word="overlap",
            state=SendingState,
            opening=overlap.opening,
            next_call=overlap.next_call,
            observations=SENDING_SEEN,
            always=SENDING_SEEN[:2],
            scripts=(*overlap_scripts.SCRIPTS, *overlap_scripts_odd.SCRIPTS, *overlap_crossings.SCRIPTS),
        ),
        Facet(
            word="abort",
            state=SendingState,
            opening=abort.opening,
            next_call=abort.next_call,
            observations=SENDING_SEEN,
            always=SENDING_SEEN[:2],
            scripts=(
                *abort_scripts.SCRIPTS,
                *abort_scripts_messages.SCRIPTS,
                *abort_scripts_odd.SCRIPTS,
                *abort_crossings.SCRIPTS,
                *abort_crossings_drains.SCRIPTS,
                *sending_reported.ENDINGS,
            ),
        ),
    )
}
