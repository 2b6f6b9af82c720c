"""A small host tier with storage behind it, and fakes with behaviour: a store in memory, host memory, jobs by hand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.copy_engine import InstantEngine
from sharedkv.copy_ledger import CopyLedger, LocalAgreement
from sharedkv.geometry import Geometry
from sharedkv.host_cache import HostCache
from sharedkv.host_pool import HostPool
from sharedkv.storage.backend import Backend, StoreFailedError
from sharedkv.storage.fetching import Fetcher, FetchLimits
from sharedkv.storage.keys import Namespace
from sharedkv.storage.objects import INDEX, KV, ObjectName, PageForm
from sharedkv.storage.page_store import PageStore
from sharedkv.storage.ports import Agreement, HostSide
from sharedkv.storage.saving import Saver
from sharedkv.storage.workers import Job, JobQueue
from sharedkv.stored_pages import StoredPages
from sharedkv.tier_values import CachePolicy
from sharedkv.tree_node import HostPage, Node

LANES, PAGE_SIZE = 2, 2
FORM = PageForm(part_bytes={KV: 6, INDEX: 2}, description="of a test")
NAMESPACE = Namespace(model="m", layout="l", layers=1, draft_layers=0, page_size=PAGE_SIZE, cp_size=LANES)


@dataclass
class MemoryStore:
    """Objects in a dict; a put fails while `is_full`, and `before_get` runs before a name is read."""

    objects: dict[ObjectName, bytes] = field(default_factory=dict)
    is_full: bool = False
    num_gets: int = 0
    before_get: Callable[[ObjectName], None] = lambda _name: None

    def put(self, name: ObjectName, *chunks: bytes | memoryview) -> None:
        if self.is_full:
            raise StoreFailedError(name, "full")
        self.objects[name] = b"".join(chunks)

    def get(self, names: Sequence[ObjectName]) -> Iterator[bytes | None]:
        for name in names:
            self.before_get(name)
            self.num_gets += 1
            yield self.objects.get(name)

    def remove(self, name: ObjectName) -> None:
        self.objects.pop(name, None)

    def stamp(self, name: ObjectName) -> Hashable | None:
        return self.objects.get(name)


@dataclass
class MemoryBytes:
    """Host memory by page and part; what was never written is zero. `written` lists every write."""

    pages: dict[tuple[HostPage, str], bytes] = field(default_factory=dict)
    written: list[HostPage] = field(default_factory=list)

    def settle(self, pages: Sequence[HostPage]) -> None:
        pass

    def read(self, page: HostPage, part: str) -> bytes:
        return self.pages.get((page, part), bytes(FORM.part_bytes[part]))

    def write(self, page: HostPage, part: str, data: bytes | memoryview) -> None:
        self.written.append(page)
        self.pages[page, part] = bytes(data)


@dataclass(frozen=True)
class Ranks:
    """The ranks that one process plays, and how it agrees with the others."""

    played: Sequence[int] = tuple(range(LANES))
    agreement: Agreement = field(default_factory=LocalAgreement)


class Others:
    """An agreement with a rank that sees the leading `pages` pages, and one of them on lane 0 where it is told so."""

    def __init__(self, pages: int, moved: int = -1) -> None:
        self.pages = pages
        self.moved = moved

    def least(self, counts: Sequence[Sequence[int]]) -> tuple[int, ...]:
        rows = [list(row) for row in counts]
        if len(rows[0]) % 2:
            return tuple(min(self.pages, *column) for column in zip(*rows, strict=True))
        half = len(rows[0]) // 2
        other = [lane if place < self.pages else -1 for place, lane in enumerate(rows[0][:half])]
        if self.moved >= 0:
            other[self.moved] = 0
        return tuple(map(min, zip(*rows, [*other, *(-lane for lane in other)], strict=True)))


class JobsByHand:
    """Jobs that run when the test says so."""

    def __init__(self) -> None:
        self.waiting: deque[Job] = deque()

    def submit(self, job: Job) -> None:
        self.waiting.append(job)

    def run(self, most: int = 1_000_000) -> None:
        for _ in range(min(most, len(self.waiting))):
            self.waiting.popleft()()


class SmallTier:
    """One cache over `host_pages` host pages a lane, whose objects are in `store`."""

    def __init__(
        self,
        store: Backend,
        *,
        host_pages: int = 8,
        pages: int = 64,
        limits: FetchLimits | None = None,
        jobs: JobQueue | None = None,
        ranks: Ranks | None = None,
    ) -> None:
        geometry = Geometry(cp_size=LANES, page_size=PAGE_SIZE, pages=pages)
        self.allocator = OwnerLaneAllocator(geometry, FreeRoom())
        self.pool = HostPool(lanes=LANES, lane_pages=host_pages, page_size=PAGE_SIZE)
        ranks = ranks or Ranks()
        self.ledger: CopyLedger[Node] = CopyLedger(ranks.played, ranks.agreement)
        self.cache = HostCache(self.allocator, self.pool, CachePolicy(), InstantEngine(), self.ledger)
        self.memory = MemoryBytes()
        self.by_hand = JobsByHand()
        self.ticks = 0
        self.pages = PageStore(store, FORM, NAMESPACE)
        self.tree = StoredPages(self.cache)
        host = HostSide(
            tree=self.tree,
            page_bytes=self.memory,
            ranks=ranks.played,
            agreement=ranks.agreement,
            next_number=self.ledger.next_number,
        )
        self.saver = Saver(host, self.pages, jobs or self.by_hand)
        self.fetcher = Fetcher(host, self.pages, jobs or self.by_hand, lambda: self.ticks, limits)
        self.cache.on_reset.append(self.fetcher.revoke_all)

    def insert(self, tokens: Sequence[int]) -> None:
        """Compute a prefix, give it to the tree, and let its backup be acknowledged."""
        request = ExtendRequest(request="r", prefix_tokens=0, extend_tokens=len(tokens))
        self.cache.insert("r", tokens, self.allocator.extend([request]).pages)
        self.cache.poll()

    def fill(self, tokens: Sequence[int]) -> None:
        """Set the bytes of the host pages of a prefix to what their place says."""
        for place, page in enumerate(self.tree.backed_up(tokens)):
            for part, num_bytes in FORM.part_bytes.items():
                self.memory.pages[page, part] = bytes([place + 1]) * num_bytes

    def save(self, tokens: Sequence[int]) -> int:
        """Save, write everything, and acknowledge."""
        copy = self.saver.save(tokens)
        self.by_hand.run()
        self.cache.poll()
        return copy

    def host_contents(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of the host pages that the tree has of a prefix."""
        pages = self.tree.backed_up(tokens)
        return [b"".join(self.memory.read(page, part) for part in FORM.parts) for page in pages]

    def free(self) -> tuple[int, ...]:
        """Count the free host pages of each lane."""
        return self.pool.statistics().free


def stored(tokens: Sequence[int]) -> MemoryStore:
    """Return a store that has all pages of a prefix, page i filled with i + 1."""
    store = MemoryStore()
    tier = SmallTier(store, host_pages=len(tokens))
    tier.insert(tokens)
    tier.fill(tokens)
    tier.save(tokens)
    return store
