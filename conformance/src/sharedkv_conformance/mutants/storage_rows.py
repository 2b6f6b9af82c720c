"""Wrong variants of the rows that are stored and come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.host_tier_tree import HostPage, Node
from sharedkv_conformance.model.storage import StorageModel
from sharedkv_conformance.model.storage_fetches import Fetch
from sharedkv_conformance.model.storage_objects import Rows


@mutant("storage.rows-of-the-index-left-out", kills="RFC-0010:C-BYTES#S1")
class RowsOfTheIndexLeftOut(StorageModel):
    """Writes objects of the index without rows."""

    def rows(self, host: HostPage, part: str) -> Rows:
        return {} if part == "index" else super().rows(host, part)


@mutant("storage.rows-of-the-draft-left-out", kills="RFC-0010:C-BYTES#S1")
class RowsOfTheDraftLeftOut(StorageModel):
    """Brings nothing of the draft back."""

    def bring(self, fetch: Fetch, at: int, part: str) -> None:
        if part != "draft":
            super().bring(fetch, at, part)


@mutant("storage.rows-of-the-first-pages", kills="RFC-0010:C-BYTES#S1")
class RowsOfTheFirstPages(StorageModel):
    """Reads the first objects of a prefix for the pages behind the tree."""

    def bring(self, fetch: Fetch, at: int, part: str) -> None:
        key = self.own_keys(fetch.tokens)[at]
        if self.store.find(key, part) is not None:
            wrong = replace(fetch, plan=[*fetch.plan[:at], replace(fetch.plan[at], key=key), *fetch.plan[at + 1 :]])
            super().bring(wrong, at, part)


@mutant("storage.rows-published-from-the-first-on", kills="RFC-0010:C-BYTES#S1")
class RowsPublishedFromTheFirstOn(StorageModel):
    """Gives the tree the first host pages of a fetch where it has the first pages of the prefix by now."""

    def publish(self, fetch: Fetch, taken: range) -> Node:
        node = super().publish(fetch, taken)
        if [lane for lane, _ in fetch.hosts[: len(taken)]] == [lane for lane, _ in node.host]:
            node.host = tuple(fetch.hosts[: len(taken)])
        return node

    def give_back(self, number: int, kept: Sequence[HostPage]) -> None:
        hosts = self.fetches[number].hosts
        mine = {host for node in self.tier.tree.nodes.values() for host in node.host}
        super().give_back(number, [host for host in hosts if host in mine] if kept else kept)


@mutant("storage.rows-of-another-page", kills="RFC-0010:C-BYTES#S1")
class RowsOfAnotherPage(StorageModel):
    """Writes the rows of each page of a lane into the host page of the first page there."""

    def bring(self, fetch: Fetch, at: int, part: str) -> None:
        first = next(other for other, host in enumerate(fetch.hosts) if host[0] == fetch.hosts[at][0])
        super().bring(fetch, first if part == "kv" else at, part)


@mutant("storage.rows-as-they-lie", kills="RFC-0010:C-BYTES#S1")
class RowsAsTheyLie(StorageModel):
    """Writes rows as host memory has them: right for sessions that lay it out alike, and wrong for all others."""

    def laid(self, rows: Rows) -> Rows:
        """Return rows in the order of the layout."""
        if self.config.host.layout == "layer_first":
            return rows
        return {place: data[::-1] for place, data in rows.items()}

    def rows(self, host: HostPage, part: str) -> Rows:
        return self.laid(super().rows(host, part))

    def bring(self, fetch: Fetch, at: int, part: str) -> None:
        found = self.store.find(fetch.plan[at].key, part)
        if found is not None and self.plane is not None:
            lane, page = fetch.hosts[at]
            for (layer, buffer), data in self.laid(found.rows).items():
                self.plane.host.put(lane, layer, buffer, page, data)


@mutant("storage.rows-of-one-layer", kills="RFC-0010:C-BYTES#S1")
class RowsOfOneLayer(StorageModel):
    """Writes the rows of the first layer for every layer."""

    def rows(self, host: HostPage, part: str) -> Rows:
        found = super().rows(host, part)
        first = {buffer: data for (layer, buffer), data in sorted(found.items(), reverse=True)}
        return {(layer, buffer): first[buffer] for layer, buffer in found}
