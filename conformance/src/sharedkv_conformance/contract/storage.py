"""Storage: the third tier. Objects of full pages that outlive the session and are shared with others.

An object is one part of one page: `kv` (every buffer of the target but `index`), `index` where the layout has it,
`draft` where the pool has draft layers. It is written by the rank of the page's lane, which is kept with it. The key of
a page says what computed it: the namespace and all tokens up to its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class StorageNamespace:
    """What else than tokens decides the bytes of a page, or whose they are.

    `fields` are names and values, each name once; their order means nothing, and a field that is not there differs
    from one that is empty.
    """

    model: str
    layout: str
    layers: int
    draft_layers: int
    page_size: int
    cp_size: int
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class FetchStatus:
    """How far a fetch is.

    `planned` counts the pages that it is to bring, 0 until that is known; `arrived` those of them, from the first on,
    of which every part is there; `is_done` says whether the caller's policy lets it end now.
    """

    planned: int
    arrived: int
    is_done: bool


class Storage(Protocol):
    """The objects that one session can reach. Every call that raises leaves everything as it was."""

    def keys(self, namespace: StorageNamespace, tokens: Sequence[int]) -> tuple[str, ...]:
        """Return the key of each whole page of tokens; the same in every session, on every rank and on every day.

        Pages have the page size of the namespace. The session's own namespace is its `StorageConfig` and its geometry.

        `Rejected` (`namespace_invalid`) for a field named twice.
        """

    def save(self, tokens: Sequence[int]) -> int:
        """Write the objects of pages that are backed up and not stored; return the copy, -1 where there is none.

        Those are the pages of `tokens` up to the first that is not in the tree and backed up, of which a part is not
        stored as `query` counts it, and which no save in flight writes; all parts of each are written. No tick, and
        nothing is split: nodes with such a page count as read. Their host pages stay as they are until
        `host_tier.poll` acknowledges the copy, whose sources are those of a backup; its objects are all there then,
        and may be there before.
        """

    def query(self, tokens: Sequence[int]) -> int:
        """Count the leading pages of which every part is stored, whole and as it was written."""

    def fetch(self, tokens: Sequence[int], policy: str, timeout: int) -> int:
        """Begin to bring the stored pages that the tree has nowhere into host pages of their recorded lanes.

        Those are the leading pages that are stored behind what the tree has of `tokens`, on either tier; the plan, its
        host pages and its quota are decided here. Nothing is split, and it is no tick. Return the fetch, by a number
        that no copy has; -1, and nothing is changed, where there are none, fewer than `StorageConfig.least`, more
        than the quota or the host have room for (one host eviction that is all or nothing, which evicts nothing of
        the way). An object that is spoiled before it is read, or names another lane by then, never arrives, nor does
        what follows it.

        `policy` is `best_effort` (may end at any time), `wait_complete` (once all that was planned has arrived, and
        something was) or `timeout` (that, or after so many ticks of the clock); any other is `Rejected`
        (`policy_unknown`).
        """

    def check(self, fetch: int) -> FetchStatus:
        """Say how far a fetch is. `Rejected` (`fetch_unknown`) for one that has ended or never was."""

    def end(self, fetch: int) -> int:
        """End a fetch at any time, and return how many pages became nodes of the tree, backed up and not resident.

        Those are the pages that have arrived, as far as they follow on what the tree has now and are not in it: one
        node, below the root or a node with host pages (which is split where they follow on a part of it), of no hits
        and of the recency of the latest tick. All its other host pages are free, and nothing writes any of its pages
        when this returns. Its whole quota is given back here. It is `Rejected` (`fetch_unknown`) like `check`.
        """

    def revoke(self, fetch: int) -> None:
        """End a fetch and keep nothing of it; `host_tier.reset` does so with every one."""

    def quota(self) -> int:
        """Count the pages that fetches in flight hold of the quota."""
