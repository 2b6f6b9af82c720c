"""Random calls on a host cache near full, as a scheduler makes them, and what a caller knows of every page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.copy_engine import DRAFT, TARGET, InstantEngine, PageMove
from sharedkv.copy_ledger import Agreement, CopyLedger, Progress
from sharedkv.errors import CapacityWaitError, RefusedError
from sharedkv.geometry import Geometry, PageId
from sharedkv.host_cache import HostCache
from sharedkv.host_pool import HostPool
from sharedkv.stored_pages import StoredPages
from sharedkv.tier_values import BackupRequest, CachePolicy, LoadBack
from sharedkv.tree_node import HostPage, Node

PAGE_SIZE = 2
SOURCES = (TARGET, DRAFT)
MOST_AT_A_TIME = 3
NUM_LANES = 4
LANE_PAGES = 6
Tokens = tuple[int, ...]


class LateProgress:
    """Work that is done on each rank after so many questions; waiting for it ends it."""

    def __init__(self, left: dict[tuple[str, int], int]) -> None:
        self._left = left

    def is_finished(self, source: str, rank: int) -> bool:
        self._left[source, rank] -= 1
        return self._left[source, rank] < 0

    def settle(self) -> None:
        self._left = dict.fromkeys(self._left, 0)


class LateEngine(InstantEngine):
    """Copies that finish late, each on each rank in its own time."""

    def __init__(self, seed: int, ranks: Sequence[int]) -> None:
        super().__init__(SOURCES)
        self._random = Random(seed)  # noqa: S311 - examples, not secrets
        self._ranks = ranks

    def late(self) -> Progress:
        """Return the progress of work that is done sooner or later."""
        return LateProgress({(s, rank): self._random.choice((0, 0, 1, 3)) for s in SOURCES for rank in self._ranks})

    def submit_backups(self, copies: Sequence[Sequence[PageMove]], request: str | None) -> Sequence[Progress]:
        del request
        return [self.late() for _ in copies]

    def submit_load(self, moves: Sequence[PageMove]) -> Progress:
        del moves
        return self.late()


def cache_of(engine: InstantEngine, agreement: Agreement, ranks: Sequence[int], policy: CachePolicy) -> HostCache:
    """Return an empty cache of small lanes; the host has one page more on each."""
    geometry = Geometry(cp_size=NUM_LANES, page_size=PAGE_SIZE, pages=NUM_LANES * LANE_PAGES)
    pool = HostPool(lanes=NUM_LANES, lane_pages=LANE_PAGES + 1, page_size=PAGE_SIZE)
    ledger: CopyLedger[Node] = CopyLedger(ranks, agreement)
    return HostCache(OwnerLaneAllocator(geometry, FreeRoom()), pool, policy, engine, ledger)


@dataclass(kw_only=True)
class Running:
    """A request between its admission and its insert: the tree's pages that it locked, and its own."""

    request: str
    tokens: Tokens
    shared: tuple[int, ...]
    own: tuple[int, ...]
    lock: int


class CacheHistory:
    """One caller. Each `step` is a call or a few; equal seeds make equal calls of caches that answer alike."""

    def __init__(self, cache: HostCache, seed: int, late: Callable[[], Progress]) -> None:
        self.cache = cache
        self.stored = StoredPages(cache)
        self.random = Random(seed)  # noqa: S311 - examples, not secrets
        self.seen = Counter[str]()
        self.answers: list[object] = []
        self.running: list[Running] = []
        self.locks: list[int] = []
        self.fetched: list[tuple[Tokens, int, list[HostPage]]] = []
        self._late = late
        self._next_request = 0
        self._steps = [
            *[self.begin] * 6,
            *[self.insert] * 6,
            self.abort,
            *[self.match] * 2,
            *[self.load_back] * 3,
            *[self.poll] * 4,
            *[self.evict] * 2,
            *[self.evict_host] * 2,
            self.make_room,
            self.lock,
            self.unlock,
            self.save,
            self.fetch,
            self.publish,
            self.misuse,
        ]

    def step(self) -> str:
        """Make a call, or a few that go together, and return its name."""
        step = self.random.choice(self._steps)
        if self.random.randrange(1000) == 0:
            step = self.reset
        self.seen[step.__name__] += 1
        self.answers.append((step.__name__, step()))
        self.seen["several nodes of a copy"] += any(len(copy.owners) > 1 for copy in self.cache.ledger.in_flight())
        return step.__name__

    def callers_pages(self) -> list[int]:
        """List the device pages that are the caller's."""
        return [page for request in self.running for page in request.own]

    def callers_host_pages(self) -> list[HostPage]:
        """List the host pages that are the caller's."""
        return [page for _, _, pages in self.fetched for page in pages]

    def tokens(self) -> Tokens:
        """Draw a prefix that goes some way through the tree, then on by a few pages."""
        path: Tokens = ()
        if self.cache.tree.nodes and self.is_likely(0.8):
            path = self.path(self.random.choice(sorted(self.cache.tree.nodes)))
        if self.is_likely(0.5):
            path = path[: self.random.randint(0, len(path) // PAGE_SIZE) * PAGE_SIZE]
        new = [self.random.choice((0, 1, 2)) for _ in range(self.random.randint(0, 4))]
        return (path + tuple(token for page in new for token in (page, page)))[: 10 * PAGE_SIZE]

    def path(self, number: int) -> Tokens:
        """Return the tokens down to the end of a node."""
        return tuple(token for node in self.cache.tree.nodes[number].way_down() for token in node.tokens)

    def is_likely(self, share: float) -> bool:
        """Say yes so often."""
        return self.random.random() < share

    def deficit(self, most: int) -> list[int]:
        return [self.random.randint(0, most) for _ in range(self.cache.tree.geometry.cp_size)]

    def begin(self) -> object:
        """Lock what the device has of a prefix, allocate pages for the rest, and ask for host pages."""
        tokens = self.tokens() + (self.random.randrange(3),) * self.random.randint(0, 1)
        shared = self.cache.match(tokens).device
        rest = len(tokens) - len(shared) * PAGE_SIZE
        if not rest or len(self.running) > MOST_AT_A_TIME:
            return None
        request = ExtendRequest(request="r", prefix_tokens=len(shared) * PAGE_SIZE, extend_tokens=rest)
        try:
            own = tuple(self.cache.allocator.extend([request]).pages)
        except CapacityWaitError as wait:
            self.seen["waited"] += 1
            return self.cache.evict(wait.deficit)
        self._next_request += 1
        running = Running(
            request=f"r{self._next_request}",
            tokens=tokens,
            shared=shared,
            own=own,
            lock=self.cache.lock(tokens[: len(shared) * PAGE_SIZE]),
        )
        self.running.append(running)
        if self.is_likely(0.7):
            asked = BackupRequest(request=running.request, extend_tokens=rest, pages=own)
            given = self.cache.admit([asked])
            self.seen["reserved"] += sum(given.reserved) > 0
            self.seen["host pages gave way"] += any(given.evicted)
            return running, given
        return running

    def insert(self) -> object:
        """Give the pages of a request to the tree."""
        if not self.running:
            return None
        running = self.running.pop(self.random.randrange(len(self.running)))
        given = self.cache.insert(running.request, running.tokens, (*running.shared, *running.own))
        self.cache.allocator.release([PageId(page) for page in given.left])
        self.cache.unlock(running.lock)
        self.seen["backups"] += len(given.backups)
        self.seen["duplicates"] += len(given.freed)
        return given

    def abort(self) -> object:
        """Give everything of a request back."""
        if not self.running:
            return None
        running = self.running.pop(0)
        answer = self.attempt(lambda: self.cache.cancel(running.request))
        self.cache.allocator.release([PageId(page) for page in running.own])
        self.cache.unlock(running.lock)
        return answer

    def match(self) -> object:
        return self.cache.match(self.tokens())

    def load_back(self) -> object:
        """Ask for a node that is on the host alone, where there is one."""
        gone = [number for number, node in sorted(self.cache.tree.nodes.items()) if not node.pages]
        tokens = self.tokens()
        if gone:
            tokens = self.path(self.random.choice(gone))[: self.random.randint(1, 20)]
        answer = self.attempt(lambda: self.cache.load_back(tokens))
        if isinstance(answer, LoadBack) and answer.pages:
            self.seen["loads"] += 1
        return answer

    def poll(self) -> object:
        return self.cache.poll()

    def evict(self) -> object:
        return self.cache.evict(self.deficit(2))

    def evict_host(self) -> object:
        return self.cache.evict_host(self.deficit(2))

    def make_room(self) -> object:
        return self.cache.make_room(self.deficit(3)), self.cache.make_host_room(self.deficit(2))

    def lock(self) -> object:
        tokens = self.tokens()
        answer = self.attempt(lambda: self.cache.lock(tokens))
        if isinstance(answer, int):
            self.locks.append(answer)
        return answer if len(self.locks) < MOST_AT_A_TIME else self.unlock()

    def unlock(self) -> object:
        if self.locks:
            self.cache.unlock(self.locks.pop(0))
        return len(self.locks)

    def save(self) -> object:
        """Let storage read what is backed up of a prefix."""
        tokens = self.tokens()
        positions = range(len(self.stored.backed_up(tokens)))
        return self.stored.submit_save(tokens, positions, self._late(), SOURCES) if positions else None

    def fetch(self) -> object:
        """Let storage take host pages for what the tree does not have of a prefix."""
        tokens = self.tokens()
        first = self.stored.known_pages(tokens)
        num_lanes = self.cache.tree.geometry.cp_size
        lanes = [self.random.randrange(num_lanes) for _ in range(len(tokens) // PAGE_SIZE - first)]
        if not lanes or len(self.fetched) == MOST_AT_A_TIME:
            return None
        pages = self.stored.reserve(lanes, tokens)
        if pages:
            self.fetched.append((tokens, first, pages))
        return pages

    def publish(self) -> object:
        """Let storage give what it fetched to the tree as it is now."""
        if not self.fetched:
            return None
        tokens, first, pages = self.fetched.pop(0)
        taken = self.stored.attach(tokens, first, pages)
        self.seen["published"] += len(taken)
        self.stored.free([page for place, page in enumerate(pages, first) if place not in taken])
        return taken

    def reset(self) -> object:
        """Start again; what the caller has stays the caller's."""
        self.locks.clear()
        self.cache.reset()
        for running in self.running:
            self.cache.allocator.release([PageId(page) for page in running.own])
        self.running.clear()
        return None

    def misuse(self) -> object:
        """Ask for what has to be refused."""
        held = next(iter(self.cache.tree.nodes.values())).pages[:1] if self.cache.tree.nodes else ()
        page = self.random.choice([0, 10**6, *held, *self.callers_pages()[:1]])
        calls: list[Callable[[], object]] = [
            lambda: self.cache.insert("x", (5, 5, 5, 5), (page, page)),
            lambda: self.cache.insert("x", (5, 5, 5), (page,)),
            lambda: self.cache.insert("x", (5, 5), (0,)),
            lambda: self.cache.admit([BackupRequest(request="x", extend_tokens=4, pages=(page, page))]),
            lambda: self.cache.admit([BackupRequest(request="x", extend_tokens=-1, pages=())]),
            lambda: self.cache.cancel("x"),
            lambda: self.cache.unlock(10**6),
            lambda: self.cache.lock((9, 9)),
            lambda: self.cache.evict([1]),
            lambda: self.cache.evict_host([0, 0, 0, -1]),
            lambda: self.cache.make_room([0, -1, 0, 0]),
            lambda: self.cache.make_host_room([0, 0, 0]),
            lambda: self.cache.ledger.finish(10**6, TARGET, 0),
        ]
        answer = self.attempt(self.random.choice(calls))
        assert isinstance(answer, RefusedError)
        return answer.reason

    def attempt(self, call: Callable[[], object]) -> object:
        """Make a call that may be refused or have to wait; where it is, nothing may have changed."""
        before = self.fingerprint()
        try:
            return call()
        except (RefusedError, CapacityWaitError) as error:
            assert self.fingerprint() == before
            self.seen["refused" if isinstance(error, RefusedError) else "short"] += 1
            return error if isinstance(error, RefusedError) else error.args

    def fingerprint(self) -> object:
        """Return everything that a call that raises must leave as it was."""
        return (
            tree_of(self.cache),
            self.cache.allocator.pages(),
            [self.cache.pool.free_slots(lane).tolist() for lane in range(self.cache.tree.geometry.cp_size)],
            [copy.copy for copy in self.cache.ledger.in_flight()],
            self.cache.tree.tick,
        )


def tree_of(cache: HostCache) -> list[tuple[object, ...]]:
    """Return every node with all that it has, by number."""
    return [
        (
            node.number,
            node.parent.number if node.parent else None,
            node.tokens,
            node.pages,
            node.host,
            node.locks,
            node.hits,
            node.last_tick,
            [(copy.copy, copy.kind) for copy in node.copies],
        )
        for _, node in sorted(cache.tree.nodes.items())
    ]
