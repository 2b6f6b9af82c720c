"""One node of the prefix tree: whole pages of tokens, and where their rows are on both tiers.

Knows what a node has and which copies of it are in flight. Does not know how nodes are found or planned for.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from sharedkv.copy_ledger import CopyInFlight, CopyKind

ROOT_NUMBER = -1

Tokens: TypeAlias = tuple[int, ...]


class HostPage(NamedTuple):
    """A page of host memory: its lane, and its number within the lane."""

    lane: int
    page: int


class Node:
    """Tokens below those of the parent; `pages` on the device and `host` have an entry a page of them, or none.

    `slot` is the node's place in the columns of the tree, `children` are by the tokens of their first page.
    """

    __slots__ = (
        "children",
        "copies",
        "hits",
        "host",
        "last_tick",
        "locks",
        "number",
        "pages",
        "parent",
        "slot",
        "tokens",
    )

    def __init__(self, number: int, parent: Node | None, tokens: Tokens) -> None:
        self.number = number
        self.parent = parent
        self.tokens = tokens
        self.pages: tuple[int, ...] = ()
        self.host: tuple[HostPage, ...] = ()
        self.children: dict[Tokens, Node] = {}
        self.copies: list[CopyInFlight[Node]] = []
        self.slot = ROOT_NUMBER
        self.locks = 0
        self.hits = 0
        self.last_tick = 0

    @property
    def is_root(self) -> bool:
        """Say whether this is what all nodes are below: it has no tokens, and everything of nothing."""
        return self.parent is None

    @property
    def can_have_host_below(self) -> bool:
        """Say whether a node below may get host pages: those form a prefix of every way down."""
        return self.is_root or bool(self.host)

    @property
    def is_backed_up(self) -> bool:
        """Say whether every page is on the host, and known to be."""
        return bool(self.host) and not self.is_backup_pending

    @property
    def is_backup_pending(self) -> bool:
        """Say whether a backup was not acknowledged."""
        return self._has_copy(CopyKind.BACKUP)

    @property
    def is_load_pending(self) -> bool:
        """Say whether a load was not acknowledged."""
        return self._has_copy(CopyKind.LOAD)

    @property
    def readers(self) -> int:
        """Count the copies that read the host pages."""
        return sum(copy.kind is not CopyKind.BACKUP for copy in self.copies)

    def way_down(self) -> list[Node]:
        """List the nodes from the root, which is not among them, to this one."""
        way: list[Node] = []
        node = self
        while node.parent is not None:
            way.append(node)
            node = node.parent
        return way[::-1]

    def _has_copy(self, kind: CopyKind) -> bool:
        return any(copy.kind is kind for copy in self.copies)
