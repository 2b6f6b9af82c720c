"""The work that allocators are measured by: allocate a batch of 21 pages and give it back.

Knows the batch and what an allocator must offer. Does not know which allocator it is, nor the time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sharedkv.allocation import ExtendRequest
from sharedkv.geometry import PageId

PAGE_SIZE = 64
PAGES_ASKED = 21
BATCH = (
    ExtendRequest(request="a", prefix_tokens=0, extend_tokens=300),
    ExtendRequest(request="b", prefix_tokens=10 * PAGE_SIZE, extend_tokens=1000),
)


class Answer(Protocol):
    """What a batch was given: owners and pages by new page, locations by new token."""

    @property
    def owners(self) -> Sequence[int]:
        """The expected lane of each new page."""

    @property
    def pages(self) -> Sequence[PageId]:
        """The logical page ids."""

    @property
    def locations(self) -> NDArray[np.int64]:
        """The token locations, shape (new tokens,)."""


class Allocator(Protocol):
    """Gives pages to a batch and takes them back."""

    def extend(self, batch: Sequence[ExtendRequest]) -> Answer:
        """Allocate every new page of the batch."""

    def release(self, pages: Sequence[PageId]) -> None:
        """Give pages back."""


class Churn:
    """Batches that come and go: `allocate` one, `release` the oldest; so many more are held all the time.

    Call the two in turn.
    """

    def __init__(self, allocator: Allocator, *, held: int = 0) -> None:
        self._allocator = allocator
        self._answers: deque[Answer] = deque()
        for _ in range(held):
            self.allocate()

    def allocate(self) -> Answer:
        """Allocate one batch and hold it."""
        answer = self._allocator.extend(BATCH)
        self._answers.append(answer)
        return answer

    def release(self) -> None:
        """Give back the batch that is held longest."""
        self._allocator.release(self._answers.popleft().pages)
