"""Direct write: computed rows go to the pool of the rank that computed them, without a gather before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.pool import Placement, RankRows


class DirectWrite(Protocol):
    """The pools of all ranks, as far as writing goes. A call that raises wrote no byte."""

    def place(self, pages: Sequence[int]) -> tuple[Placement, ...]:
        """Return where each logical page lies, or raise `Rejected` for a page outside the pool."""

    def page_at(self, lane: int, physical: int) -> int:
        """Return the logical page that lies at a place, or raise `Rejected` when there is none; undoes `place`.

        Physical page 0 of a rank's own lane may be told as the dummy or refused.
        """

    def write(
        self,
        layer: int,
        batch: Sequence[ExtendRequest],
        locations: Sequence[int],
        static_tokens: int,
        rows: Sequence[RankRows],
    ) -> None:
        """Persist the valid rows of one layer, each on the rank that computed it.

        `locations` are logical token locations in flattened request-token order, perhaps with a static tail as in
        `planning.strip`, of which `static_tokens` is the recorded padded length. `rows` has one item a rank. Rows of
        the domains `compute` and `static` hold dummies and padding, which are not persisted.
        """

    def read(self, layer: int, buffer: str, locations: Sequence[int]) -> bytes:
        """Return the stored rows of logical token locations, each from its owner, in the order asked for."""
