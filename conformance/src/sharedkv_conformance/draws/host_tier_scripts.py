"""Written tree histories: a script takes the whole pool first, then names pages by lane and tokens by letter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.host_tier import BackupRequest
from sharedkv_conformance.contract.implementation import FreeRoom, HostConfig, OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.step import Answer, Err, Ok

Tokens = tuple[int, ...]
EVERY_RANK = -1


class Calls(Protocol):
    """Who issues the calls of a written history."""

    def __call__(self, op: str, **args: Any) -> Any:
        """Issue a call and return its value; an error ends the history."""

    def attempt(self, op: str, **args: Any) -> Ok | Err:
        """Issue a call and return its answer."""


def tree_config(  # noqa: PLR0913 - one a setting of the host tier
    *,
    host: int,
    pages: int = 4,
    write: str = "write_through",
    least: int = 1,
    most: int = 0,
    room: FreeRoom | None = None,
    host_room: FreeRoom | None = None,
    draft: int = 0,
    cp_size: int = 2,
    page_size: int = 2,
) -> OpenConfig:
    """Return a small session: so many pages a lane on either tier."""
    return OpenConfig(
        cp_size=cp_size,
        page_size=page_size,
        pages=pages * cp_size,
        host_pages=host,
        free_room=room or FreeRoom(),
        host=HostConfig(write=write, free_room=host_room or FreeRoom(), load_back_least=least, load_back_most=most),
        pool=PoolConfig(draft_layers=draft),
    )


class TreeScript:
    """One written history. In `lanes` a digit is a page of that lane that nobody has yet, a dot the tree's own page."""

    def __init__(self, call: Calls, config: OpenConfig) -> None:
        self.call = call
        self.size = config.page_size
        self.home: dict[str, int] = {}
        self.admitted: dict[str, tuple[int, ...]] = {}
        geometry = Geometry.of(config)
        whole = ExtendRequest(request="all", prefix_tokens=0, extend_tokens=config.pages * config.page_size)
        taken = call("allocation.extend", batch=(whole,)).pages
        self.stock = [[page for page in taken if geometry.lane(page) == lane] for lane in range(config.cp_size)]

    def tokens(self, letters: str, extra: int = 0) -> Tokens:
        """Return a page of tokens a letter, and a few more.

        The pages of b and c, d and e, and so on differ in the last token alone, those of a letter and its capital in
        the others.
        """
        return (*(token for letter in letters for token in self._page(letter)), *[0] * extra)

    def _page(self, letter: str) -> Tokens:
        last = ord(letter.lower())
        return (*[ord(letter) - last % 2] * (self.size - 1), last)

    def take(self, lanes: str) -> tuple[int, ...]:
        """Take pages that nobody has yet, each on its lane."""
        return tuple(self.stock[int(lane)].pop() for lane in lanes)

    def extend(self) -> None:
        """Take one more page, which is on the first lane."""
        one = ExtendRequest(request="one", prefix_tokens=0, extend_tokens=self.size)
        self.stock[0] += self.call("allocation.extend", batch=(one,)).pages

    def free(self, lanes: str) -> None:
        """Give pages back to the pool of the device."""
        self.call("allocation.release", pages=self.take(lanes))

    def insert(self, letters: str, lanes: str, request: str = "r", extra: int = 0) -> Answer:
        """Insert a way; pages with a dot were inserted there before, and one page more holds what is `extra`."""
        paths = [letters[: end + 1] for end in range(len(letters))] + ["the rest"] * (extra > 0)
        pages = [
            self.home[path] if lane == "." else self.take(lane)[0] for path, lane in zip(paths, lanes, strict=True)
        ]
        return self._insert(letters, pages, request, extra)

    def backed_up(self, letters: str, lanes: str) -> tuple[int, ...]:
        """Insert a way, and return the copies that it submits."""
        return copies_of(self.insert(letters, lanes))

    def insert_pages(self, letters: str, pages: Sequence[int]) -> Answer:
        """Insert a way with pages that are named one by one."""
        return self.call.attempt("host_tier.insert", request="r", tokens=self.tokens(letters), pages=tuple(pages))

    def insert_admitted(self, letters: str, request: str, prefix: str = "", more: str = "") -> Answer:
        """Insert what was admitted for a request below a prefix that is on the device, and `more` pages after it."""
        own = [self.home[prefix[: end + 1]] for end in range(len(prefix))]
        admitted = self.admitted[request][: len(letters) - len(more)]
        return self._insert(prefix + letters, [*own, *admitted, *self.take(more)], request, 0)

    def _insert(self, letters: str, pages: Sequence[int], request: str, extra: int) -> Answer:
        self.home |= {letters[: at + 1]: page for at, page in enumerate(pages[: len(letters)])}
        given = self.tokens(letters, extra)
        return self.call.attempt("host_tier.insert", request=request, tokens=given, pages=tuple(pages))

    def admit(self, *batch: tuple[str, str, int]) -> Answer:
        """Admit requests: the name, the lane of each page, and how many tokens the last page lacks."""
        requests = []
        for name, lanes, lacking in batch:
            self.admitted[name] = self.take(lanes)
            new = len(lanes) * self.size - lacking
            requests.append(BackupRequest(request=name, extend_tokens=new, pages=self.admitted[name]))
        return self.call.attempt("host_tier.admit", batch=tuple(requests))

    def cancel(self, request: str) -> Answer:
        """Give a reservation back."""
        return self.call.attempt("host_tier.cancel", request=request)

    def hold(self) -> None:
        """Let no copy finish by itself."""
        self.call.attempt("probe.hold")

    def finish(self, copy: int, source: str = "target", rank: int = EVERY_RANK) -> None:
        """Let a source of a copy finish."""
        self.call.attempt("probe.finish", copy=copy, source=source, rank=rank)

    def poll(self) -> Answer:
        """Acknowledge what is finished."""
        return self.call.attempt("host_tier.poll")

    def match(self, letters: str) -> Answer:
        """Ask for a way."""
        return self.call.attempt("host_tier.match", tokens=self.tokens(letters))

    def free_slots(self) -> None:
        """Ask which slots of each lane of the host are free."""
        for lane in range(len(self.stock)):
            self.call.attempt("host_tier.free_slots", lane=lane)

    def lock(self, letters: str) -> int:
        """Lock a way."""
        lock: int = self.call("host_tier.lock", tokens=self.tokens(letters))
        return lock

    def unlock(self, lock: int) -> Answer:
        """Give a lock up."""
        return self.call.attempt("host_tier.unlock", lock=lock)

    def load_back(self, letters: str) -> Answer:
        """Load a way back."""
        return self.call.attempt("host_tier.load_back", tokens=self.tokens(letters))

    def evict(self, *deficit: int) -> Answer:
        """Evict from the device."""
        return self.call.attempt("host_tier.evict", deficit=deficit)

    def evict_host(self, *deficit: int) -> Answer:
        """Evict from the host."""
        return self.call.attempt("host_tier.evict_host", deficit=deficit)

    def make_room(self, *required: int) -> Answer:
        """Make room on the device."""
        return self.call.attempt("host_tier.make_room", required=required)

    def make_host_room(self, *required: int) -> Answer:
        """Make room on the host."""
        return self.call.attempt("host_tier.make_host_room", required=required)

    def reset(self) -> Answer:
        """Let the tree forget everything."""
        return self.call.attempt("host_tier.reset")


def copies_of(answer: Answer) -> tuple[int, ...]:
    """Return the copies that an insert or a load-back submitted."""
    if not isinstance(answer, Ok):
        return ()
    return tuple(answer.value.backups) if hasattr(answer.value, "backups") else (answer.value.copy,)


def copy_of(answer: Answer) -> int:
    """Return the first copy that an insert or a load-back submitted, -1 where there is none."""
    return next(iter(copies_of(answer)), -1)
