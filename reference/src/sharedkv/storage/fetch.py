"""One fetch in flight: what it is to bring, what was asked for, and what is there.

Knows pages by their index in the plan, and who may write them. Does not know stores, the tree or host memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from threading import Condition

from sharedkv.errors import Refusal, RefusedError
from sharedkv.tree_node import HostPage

BATCH_PAGES = 128


class FetchPolicy(StrEnum):
    """When a caller may end a fetch: at any time; once all has arrived; that, or after some ticks."""

    BEST_EFFORT = "best_effort"
    WAIT_COMPLETE = "wait_complete"
    TIMEOUT = "timeout"


@dataclass(frozen=True, kw_only=True)
class FetchStatus:
    """How far a fetch is, in pages; `is_done` says that its policy lets it end now."""

    planned: int
    arrived: int
    is_done: bool


class Fetch:
    """One fetch in flight: the page at `first_page + i` of its tokens is `keys[i]`, and goes to `pages[i]`."""

    def __init__(self, tokens: Sequence[int], first_page: int, keys: Sequence[str], pages: Sequence[HostPage]) -> None:
        self.tokens = tuple(tokens)
        self.first_page = first_page
        self.keys = tuple(keys)
        self.pages = tuple(pages)
        self.policy = FetchPolicy.BEST_EFFORT
        self.ends_at = 0
        self.is_plan_known = True
        self._asked: dict[str, int] = {}
        self._arrived: dict[str, set[int]] = {}
        self._jobs = 0
        self._is_open = True
        self._changed = Condition()

    def expect(self, part: str, pages: int) -> range:
        """Note that so many more pages of a part are asked for, none beyond the plan; return which.

        What was asked for and failed is asked for again.
        """
        with self._changed:
            asked = self._asked.get(part, 0) if self._jobs else self._leading([part])
            more = range(asked, min(asked + max(pages, 0), len(self.keys)))
            self._asked[part] = more.stop
            self._jobs += -(-len(more) // BATCH_PAGES)
        return more

    @contextmanager
    def arriving(self, part: str, index: int) -> Iterator[bool]:
        """Note that a part of a page arrived, once the caller has written it.

        Yields whether the fetch is open: otherwise the page is somebody else's by now, and nothing may be written.
        """
        with self._changed:
            yield self._is_open
            if self._is_open:
                self._arrived.setdefault(part, set()).add(index)

    def job_ended(self) -> None:
        """Note that one job of reading has ended, well or not."""
        with self._changed:
            self._jobs -= 1
            self._changed.notify_all()

    def settle(self) -> None:
        """Return when all that was asked for has arrived or never will."""
        with self._changed:
            self._changed.wait_for(lambda: not self._jobs)

    def arrived(self, parts: Sequence[str]) -> int:
        """Count the leading pages of which every part is there."""
        with self._changed:
            return self._leading(parts)

    def close(self) -> None:
        """Let nobody write its pages any more."""
        with self._changed:
            self._is_open = False

    def _leading(self, parts: Sequence[str]) -> int:
        there = [self._arrived.get(part, set()) for part in parts]
        return next(index for index in count() if not all(index in arrived for arrived in there))


def fetch_policy(policy: str) -> FetchPolicy:
    """Return a policy, or refuse a word that is none."""
    if policy not in list(FetchPolicy):
        raise RefusedError(Refusal.POLICY_UNKNOWN, policy)
    return FetchPolicy(policy)
