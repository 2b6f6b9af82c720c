"""What single calls of the host cache do, each on a small tree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType

import pytest

from sharedkv import eviction
from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.copy_engine import InstantEngine, PageMove
from sharedkv.copy_ledger import CopyKind, CopyLedger, LocalAgreement, Progress
from sharedkv.errors import CapacityWaitError, Refusal, RefusedError
from sharedkv.eviction import EvictionPlan
from sharedkv.eviction_counts import CountedNodes
from sharedkv.geometry import Geometry, PageId
from sharedkv.host_cache import HostCache
from sharedkv.host_pool import HostPool
from sharedkv.stored_pages import StoredPages
from sharedkv.tier_values import BackupRequest, CachePolicy, LoadBack, WritePolicy, require_host_order, write_policy
from sharedkv.tree_node import HostPage, Node

SIZE = 2
SKIPPED = LoadBack(copy=-1, pages=())


class NotedEngine(InstantEngine):
    """Moves nothing, and notes what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[PageMove] = []
        self.backed_up: list[tuple[str | None, int]] = []

    def submit_backups(self, copies: Sequence[Sequence[PageMove]], request: str | None) -> Sequence[Progress]:
        self.backed_up.append((request, len(copies)))
        return super().submit_backups(copies, request)

    def submit_load(self, moves: Sequence[PageMove]) -> Progress:
        self.loaded += moves
        return super().submit_load(moves)


class World:
    """A cache of two lanes, and prefixes given by one number a page."""

    def __init__(self, policy: CachePolicy | None = None, *, lane_pages: int = 8, host_pages: int = 8) -> None:
        geometry = Geometry(cp_size=2, page_size=SIZE, pages=2 * lane_pages)
        ledger: CopyLedger[Node] = CopyLedger(range(2), LocalAgreement())
        self.engine = NotedEngine()
        self.cache = HostCache(
            OwnerLaneAllocator(geometry, FreeRoom()),
            HostPool(lanes=2, lane_pages=host_pages, page_size=SIZE),
            policy or CachePolicy(),
            self.engine,
            ledger,
        )

    def tokens(self, *pages: int) -> tuple[int, ...]:
        return tuple(token for page in pages for token in (page, page))

    def allocated(self, count: int) -> tuple[int, ...]:
        request = ExtendRequest(request="r", prefix_tokens=0, extend_tokens=count * SIZE)
        return tuple(self.cache.allocator.extend([request]).pages)

    def put(self, *pages: int) -> tuple[int, ...]:
        """Compute a prefix and give it to the tree; return the copies that were submitted."""
        return self.cache.insert("r", self.tokens(*pages), self.allocated(len(pages))).backups

    def put_on_host(self, *pages: int) -> None:
        """Bring it about that a prefix is on the host alone."""
        self.put(*pages)
        self.cache.poll()
        self.cache.evict((99, 99))

        assert self.cache.match(self.tokens(*pages)).host == len(pages)


def refusal_of(call: Callable[[], object]) -> Refusal:
    with pytest.raises(RefusedError) as caught:
        call()
    return caught.value.reason


def test_a_load_takes_device_pages_of_the_lanes_of_the_host_pages_in_order() -> None:
    world = World()
    world.put_on_host(1, 2, 3, 4, 5)
    lanes = [page.lane for node in world.cache.tree.nodes.values() for page in node.host]
    world.allocated(3)
    loaded = world.cache.load_back(world.tokens(1, 2, 3, 4, 5))

    assert lanes == [0, 0, 1, 1, 0]
    assert [world.cache.tree.lane(page) for page in loaded.pages] == lanes
    assert [(move.lane, move.device_page) for move in world.engine.loaded] == [*zip(lanes, loaded.pages, strict=True)]


def test_a_load_ends_where_the_tokens_do() -> None:
    world = World()
    world.put_on_host(1, 2, 3, 4)

    assert len(world.cache.load_back(world.tokens(1, 2, 9)).pages) == 2
    assert world.cache.match(world.tokens(1, 2, 3, 4)).host == 2


@pytest.mark.parametrize(
    ("policy", "pages"),
    [(CachePolicy(load_back_least=3), (1, 2)), (CachePolicy(load_back_most=2), (1, 2, 3)), (CachePolicy(), (7,))],
)
def test_a_load_that_is_skipped_changes_nothing(policy: CachePolicy, pages: tuple[int, ...]) -> None:
    world = World(policy)
    world.put_on_host(1, 2, 3, 4)
    nodes = len(world.cache.tree.nodes)

    assert world.cache.load_back(world.tokens(*pages)) == SKIPPED
    assert len(world.cache.tree.nodes) == nodes


def test_what_is_in_flight_counts_against_the_bound_of_loads() -> None:
    world = World(CachePolicy(load_back_most=3))
    world.put_on_host(1, 2, 3, 4)
    first = world.cache.load_back(world.tokens(1, 2))

    assert world.cache.load_back(world.tokens(1, 2, 3, 4)) == SKIPPED
    assert world.cache.poll() == (first.copy,)
    assert len(world.cache.load_back(world.tokens(1, 2, 3, 4)).pages) == 2


def test_a_load_that_finds_no_room_says_what_would_have_become_free() -> None:
    world = World(lane_pages=3)
    world.put_on_host(1, 2, 3, 4)
    world.put(8)
    world.cache.poll()
    held = world.allocated(3)
    with pytest.raises(CapacityWaitError) as caught:
        world.cache.load_back(world.tokens(1, 2, 3, 4))

    assert sorted(map(world.cache.tree.lane, held)) == [0, 1, 1]
    assert (caught.value.required, caught.value.available, caught.value.deficit) == ((2, 2), (2, 1), (0, 1))


@pytest.mark.parametrize(
    ("write", "backups"),
    [
        (WritePolicy.WRITE_THROUGH, (1, 0)),
        (WritePolicy.WRITE_THROUGH_SELECTIVE, (0, 1)),
        (WritePolicy.WRITE_BACK, (0, 0)),
    ],
)
def test_a_node_is_backed_up_with_as_many_inserts_as_the_policy_asks_for(
    write: WritePolicy, backups: tuple[int, int]
) -> None:
    world = World(CachePolicy(write=write))

    assert (len(world.put(1, 2)), len(world.put(1, 2))) == backups


def test_all_nodes_of_a_way_are_backed_up_with_one_call_of_the_engine() -> None:
    world = World(CachePolicy(write=WritePolicy.WRITE_THROUGH_SELECTIVE))
    world.put(1, 2)
    world.put(1)
    world.cache.evict_host((9, 9))
    world.engine.backed_up.clear()
    backups = world.put(1, 2, 3)

    assert len(backups) == 1
    assert world.engine.backed_up == [(None, 1)]
    assert len(world.put(1, 2, 3)) == 1


def test_write_back_saves_what_it_evicts_under_what_is_above() -> None:
    world = World(CachePolicy(write=WritePolicy.WRITE_BACK))
    world.put(1, 2)
    world.put(1, 2, 3, 3)
    freed = world.cache.evict((1, 0)).freed

    assert freed == (1, 1)
    assert world.engine.backed_up == [(None, 2)]
    assert world.cache.match(world.tokens(1, 2, 3, 3)).host == 2
    assert world.cache.ledger.in_flight() == ()


def test_nodes_with_a_pinned_page_do_not_give_way() -> None:
    world = World(lane_pages=2)
    world.put(1, 2)
    world.put(3)
    world.cache.poll()
    (pinned,) = (node.pages for node in world.cache.tree.nodes.values() if len(node.pages) == 2)
    world.cache.allocator.pin(pinned[:1])
    evicted = world.cache.evict((2, 2))

    assert sum(evicted.freed) == 1
    assert set(pinned).isdisjoint(evicted.pages)
    world.cache.allocator.unpin(pinned[:1])

    assert sum(world.cache.evict((2, 2)).freed) == 2


def test_a_batch_is_admitted_after_one_eviction_for_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(host_pages=2)
    for page in (1, 2, 3, 4):
        world.put(page)
        world.cache.poll()
    plans: list[Sequence[int]] = []

    def noted(nodes: CountedNodes, deficit: Sequence[int]) -> EvictionPlan:
        plans.append(deficit)
        return plan(nodes, deficit)

    plan = eviction.plan_load_back
    monkeypatch.setattr(eviction, "plan_load_back", noted)
    pages = world.allocated(4)
    batch = [BackupRequest(request=str(page), extend_tokens=SIZE, pages=(page,)) for page in pages]
    admitted = world.cache.admit(batch)

    assert (admitted.reserved, admitted.evicted) == ((1, 1, 1, 1), (2, 0))
    assert plans == [(2, 0)]


def test_requests_that_do_not_fit_together_get_theirs_in_order_and_evict_nothing() -> None:
    world = World(host_pages=2)
    world.put(1)
    pages = world.allocated(8)
    lane_0, lane_1 = pages[0:2], pages[2:6]
    batch = [
        BackupRequest(request="large", extend_tokens=8, pages=lane_1),
        BackupRequest(request="small", extend_tokens=2, pages=lane_0[:1]),
        BackupRequest(request="partial", extend_tokens=1, pages=lane_0[1:]),
    ]
    admitted = world.cache.admit(batch)

    assert admitted.reserved == (0, 1, 0)
    assert admitted.evicted == (0, 0)
    assert refusal_of(lambda: world.cache.cancel("large")) is Refusal.REQUEST_UNKNOWN


def test_cancelling_one_request_frees_its_pages_alone() -> None:
    world = World()
    for request in ("a", "b"):
        pages = world.allocated(3)
        world.cache.admit([BackupRequest(request=request, extend_tokens=6, pages=pages)])
    before = sum(world.cache.pool.statistics().free)
    world.cache.cancel("a")

    assert sum(world.cache.pool.statistics().free) == before + 3
    assert len(world.cache.reserved_pages()) == 3


def test_a_page_that_is_retained_cannot_be_given_to_the_tree() -> None:
    world = World()
    (page,) = world.allocated(1)
    world.cache.allocator.retain([PageId(page)])

    assert refusal_of(lambda: world.cache.insert("r", (1, 1), (page,))) is Refusal.PAGE_NOT_ALLOCATED


def test_an_unlocked_way_can_go_whatever_was_split_since() -> None:
    world = World()
    world.put(1, 2, 3)
    world.cache.poll()
    lock = world.cache.lock(world.tokens(1, 2, 3))
    world.cache.match(world.tokens(1))
    world.cache.match(world.tokens(1, 2))

    assert world.cache.evict((9, 9)).pages == ()

    world.cache.unlock(lock)

    assert len(world.cache.evict((9, 9)).pages) == 3


def test_a_reset_frees_everything_of_the_tree_and_goes_on_counting() -> None:
    world = World()
    world.put_on_host(1, 2)
    world.cache.load_back(world.tokens(1))
    world.cache.admit([BackupRequest(request="a", extend_tokens=2, pages=world.allocated(1))])
    heard: list[str] = []
    world.cache.on_reset.append(lambda: heard.append("reset"))
    tick = world.cache.tree.tick
    world.cache.reset()

    assert heard == ["reset"]
    assert world.cache.pool.statistics().free == (8, 8)
    assert sum(world.cache.allocator.lanes().in_use) == 1
    assert (world.cache.poll(), world.cache.tree.tick, world.cache.invariants()) == ((), tick, [])


def test_what_was_fetched_hangs_below_what_the_tree_has_then() -> None:
    world = World()
    stored = StoredPages(world.cache)
    pages = stored.reserve((1, 0, 1), world.tokens(1, 2, 3))
    assert pages is not None
    world.put(1, 5)
    taken = stored.attach(world.tokens(1, 2, 3), 0, pages)
    stored.free([pages[0]])

    assert taken == range(1, 3)
    assert world.cache.match(world.tokens(1, 2, 3)).host == 2
    assert world.cache.invariants() == []


def test_what_was_fetched_is_not_taken_behind_a_gap_or_below_a_node_without_host_pages() -> None:
    world = World(CachePolicy(write=WritePolicy.WRITE_BACK))
    stored = StoredPages(world.cache)
    world.put(1)
    pages = stored.reserve((0, 1), world.tokens(1, 2, 3))
    assert pages is not None

    assert len(stored.attach(world.tokens(1, 2, 3), 1, pages)) == 0
    assert len(stored.attach(world.tokens(7, 2, 3), 1, pages)) == 0

    stored.free(pages)

    assert world.cache.pool.statistics().free == (8, 8)


def test_pages_that_a_save_reads_stay_on_the_host() -> None:
    world = World()
    stored = StoredPages(world.cache)
    world.put_on_host(1, 2)
    world.cache.ledger.hold()
    copy = stored.submit_save(world.tokens(1, 2), [1], InstantEngine().submit_load([]), ["target"])

    assert stored.backed_up(world.tokens(1, 2, 3)) == [HostPage(0, 0), HostPage(1, 0)]
    assert world.cache.evict_host((9, 9)).freed == (0, 0)
    assert world.cache.ledger.in_flight()[0].kind is CopyKind.SAVE

    world.cache.ledger.finish(copy, "target", -1)

    assert world.cache.poll() == (copy,)
    assert world.cache.evict_host((9, 9)).freed == (1, 1)


def calls_of(work: Callable[[], object]) -> int:
    """Count the Python functions that work calls."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001 - the shape of a profiler
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_a_call_costs_what_its_way_has_whatever_else_the_tree_has() -> None:
    costs = []
    for others in (10, 1_000):
        world = World(lane_pages=2_000, host_pages=2_000)
        for other in range(others):
            world.put(100 + other)
        world.put(1, 2)
        world.cache.poll()
        tokens = world.tokens(1, 2)
        costs.append(
            (
                calls_of(lambda: world.cache.match(tokens)),  # noqa: B023 - called at once
                calls_of(lambda: world.cache.unlock(world.cache.lock(tokens))),  # noqa: B023
                calls_of(lambda: world.cache.evict((1, 0))),  # noqa: B023
                calls_of(world.cache.poll),
            )
        )

    assert costs[0] == costs[1]


def test_words_that_nobody_knows_are_refused() -> None:
    assert refusal_of(lambda: write_policy("write_around")) is Refusal.HOST_CONFIG_INVALID
    assert refusal_of(lambda: require_host_order("token_first")) is Refusal.HOST_CONFIG_INVALID
    assert write_policy("write_back") is WritePolicy.WRITE_BACK


def test_nobody_but_the_cache_gives_its_pages_up() -> None:
    world = World()
    world.put(1, 2)
    world.cache.poll()
    (node,) = world.cache.tree.nodes.values()
    allocator, device = world.cache.allocator, [PageId(page) for page in node.pages]
    (mine,) = world.allocated(1)
    before = allocator.lanes()
    named = [PageId(mine), *device]

    assert refusal_of(lambda: allocator.release(named)) is Refusal.PAGE_IN_TREE
    assert refusal_of(lambda: allocator.retain(named)) is Refusal.PAGE_IN_TREE
    assert refusal_of(lambda: allocator.release_locations([page * SIZE for page in named])) is Refusal.PAGE_IN_TREE
    assert refusal_of(lambda: world.cache.pool.release(node.host[0].lane, [node.host[0].page])) is Refusal.PAGE_IN_TREE
    assert allocator.lanes() == before


def test_a_reserved_host_page_is_not_given_back_but_by_its_request() -> None:
    world = World()
    world.cache.admit([BackupRequest(request="a", extend_tokens=2, pages=world.allocated(1))])
    (page,) = world.cache.reserved_pages()

    assert refusal_of(lambda: world.cache.pool.release(page.lane, [page.page])) is Refusal.PAGE_IN_TREE

    world.cache.cancel("a")

    assert world.cache.pool.statistics().free == world.cache.pool.statistics().capacity


def test_what_the_cache_gave_up_is_anybodys() -> None:
    world = World()
    world.put(1, 2)
    freed = world.cache.evict((9, 9)).pages
    taken = [PageId(page) for page in world.allocated(8)]
    world.cache.allocator.release(taken)

    assert set(freed) <= set(taken)
    assert world.cache.invariants() == []


@pytest.mark.parametrize("change", ["insert", "evict", "load_back", "reset"])
def test_a_snapshot_at_which_the_cache_had_other_pages_is_not_gone_back_to(change: str) -> None:
    world = World()
    world.put(1, 2)
    world.cache.poll()
    if change == "load_back":
        world.cache.evict((9, 9))
    snapshot = world.cache.allocator.snapshot()
    if change == "insert":
        world.put(3)
    elif change == "evict":
        world.cache.evict((9, 9))
    elif change == "load_back":
        world.cache.load_back(world.tokens(1, 2))
    else:
        world.cache.reset()
    before = world.cache.allocator.pages()

    assert refusal_of(lambda: world.cache.allocator.restore(snapshot)) is Refusal.PAGE_IN_TREE
    assert world.cache.allocator.pages() == before
    assert world.cache.invariants() == []


def test_a_snapshot_at_which_the_cache_had_the_same_pages_is_gone_back_to() -> None:
    world = World(lane_pages=2)
    world.put(1, 2)
    world.cache.poll()
    first = world.cache.allocator.snapshot()
    (node,) = world.cache.tree.nodes.values()
    kept = node.pages
    world.cache.evict((9, 9))
    taken = world.allocated(4)
    world.cache.insert("r", world.tokens(1, 2), kept)

    world.cache.allocator.restore(first)

    assert set(taken) > set(kept)
    assert sum(world.cache.allocator.lanes().in_use) == 2
    assert world.cache.invariants() == []
    assert len(world.cache.evict((9, 9)).pages) == 2
