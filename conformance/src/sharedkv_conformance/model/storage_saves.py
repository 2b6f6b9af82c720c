"""The executable specification of what is written of a page and what is a hit.

`StorageSaves` is one right answer to each call that needs no fetch; mutants override one of its small decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Self

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import StoredObject
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_copies import SAVE, sources_of
from sharedkv_conformance.model.host_tier_tree import HostPage, Node
from sharedkv_conformance.model.storage_fetches import PlannedPage
from sharedkv_conformance.model.storage_keys import StorageKeys, is_ambiguous, session_namespace
from sharedkv_conformance.model.storage_objects import Rows, Store, Stored, buffers_of_part, parts_of


@dataclass(frozen=True, kw_only=True)
class BackedUpPage:
    """A page that can be saved: its key, its node and its host page."""

    key: str
    node: Node
    host: HostPage


class StorageSaves(StorageKeys):
    """Saves and hits over the tree of a session, one small decision a method."""

    feature = "storage"

    def __init__(
        self, config: OpenConfig, tier: HostTierModel, store: Store | None = None, plane: DataPlane | None = None
    ) -> None:
        self.config = config
        self.tier = tier
        self.store = Store() if store is None else store
        self.plane = plane
        self.parts = parts_of(config.pool)
        self.saving: dict[int, frozenset[str]] = {}

    @classmethod
    def refuse_config(cls, config: OpenConfig) -> None:
        """Refuse a session whose namespace has a field that is named twice."""
        if is_ambiguous(config.storage.fields):
            raise Rejected(Reason.NAMESPACE_INVALID, f"a field of {config.storage.fields} is named twice")

    def twin(self, tier: HostTierModel) -> Self:
        """Return an independent copy over a copy of the tree."""
        other = copy(self)
        other.tier, other.store, other.saving = tier, self.store.twin(), dict(self.saving)
        return other

    # -- the calls of the contract ---------------------------------------------------------------------------------

    def save(self, tokens: Sequence[int]) -> int:
        """Write the pages that are to be written, and put one copy of all of them in flight."""
        pages = [page for page in self.backed_up(tokens) if self.is_to_write(page)]
        if not pages:
            return -1
        number = self.tier.number_copy()
        self.tier.ledger.submit(number, SAVE, sources_of(self.config), len(pages))
        self.saving[number] = frozenset(page.key for page in pages)
        for page in pages:
            self.keep(page.node, number)
            self.write(page)
        return number

    def query(self, tokens: Sequence[int]) -> int:
        """Count the leading pages that are stored."""
        return len(self.leading(self.own_keys(tokens)))

    # -- what probes do ----------------------------------------------------------------------------------------------

    def objects(self) -> tuple[StoredObject, ...]:
        """Return every object that is whole."""
        return self.store.whole()

    def spoil(self, key: str, part: str, how: str) -> None:
        """Spoil one object."""
        self.store.spoil(key, part, how)

    # -- the decisions of saves --------------------------------------------------------------------------------------

    def own_keys(self, tokens: Sequence[int]) -> tuple[str, ...]:
        """Return the keys of the pages of tokens in the namespace of the session."""
        return self.keys(session_namespace(self.config), self.tier.tree.whole(tokens))

    def backed_up(self, tokens: Sequence[int]) -> Iterator[BackedUpPage]:
        """Yield the pages of tokens up to the first that is not backed up."""
        keys = iter(self.own_keys(tokens))
        for node, held in self.tier.tree.walk(tokens):
            if not self.may_be_saved(node):
                return
            for host in node.host[:held]:
                yield BackedUpPage(key=next(keys), node=node, host=host)

    def may_be_saved(self, node: Node) -> bool:
        """Say whether a node is backed up."""
        return self.tier.is_backed_up(node)

    def is_to_write(self, page: BackedUpPage) -> bool:
        """Say whether a page is neither stored nor being written."""
        return not self.is_stored(page.key) and not any(page.key in keys for keys in self.saving.values())

    def keep(self, node: Node, number: int) -> None:
        """Keep the host pages of a node as long as a save reads them."""
        node.readers.add(number)

    def write(self, page: BackedUpPage) -> None:
        """Write every part of a page."""
        for part in self.parts_to_write(page):
            stored = Stored(lane=self.lane_kept(page), writer=self.writer(page), rows=self.rows(page.host, part))
            self.store.put(self.key_written(page), part, stored)

    def parts_to_write(self, page: BackedUpPage) -> tuple[str, ...]:
        """Return the parts of a page that are written."""
        del page
        return self.parts

    def lane_kept(self, page: BackedUpPage) -> int:
        """Return the lane that is kept with the objects of a page."""
        return page.host[0]

    def writer(self, page: BackedUpPage) -> int:
        """Return the rank that writes a page."""
        return page.host[0]

    def key_written(self, page: BackedUpPage) -> str:
        """Return the key under which a page is written."""
        return page.key

    def rows(self, host: HostPage, part: str) -> Rows:
        """Return the rows of a part of a host page; none where there is no data plane."""
        if self.plane is None:
            return {}
        memory, (lane, page) = self.plane.host, host
        return {
            (layer, buffer): memory.page(lane, layer, buffer, page)
            for layer, buffer in buffers_of_part(self.config.pool, part)
        }

    def acknowledged(self, copy: int) -> None:
        """Note that a copy is over."""
        self.saving.pop(copy, None)

    # -- the decisions of hits ---------------------------------------------------------------------------------------

    def leading(self, keys: Sequence[str]) -> list[PlannedPage]:
        """Return the leading pages that are stored."""
        found = []
        for key in keys:
            if not self.is_stored(key):
                break
            found.append(PlannedPage(key=key, lane=self.lane_of(key)))
        return found

    def is_stored(self, key: str) -> bool:
        """Say whether every part of a page is there and whole."""
        return all(self.is_whole(key, part) for part in self.parts_of_hit())

    def parts_of_hit(self) -> tuple[str, ...]:
        """Return the parts that a page must have to be a hit."""
        return self.parts

    def is_whole(self, key: str, part: str) -> bool:
        """Say whether an object is there, as it was written."""
        found = self.store.find(key, part)
        return found is not None and not found.fault

    def lane_of(self, key: str) -> int:
        """Return the lane that is kept with the objects of a page."""
        return next(stored.lane for (other, _), stored in self.store.objects.items() if other == key)
