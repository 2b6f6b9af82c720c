"""Dense prefixes ahead of time: the same bytes with and without, in two buffers that nobody overwrites too early."""

from collections.abc import Callable, Sequence

import pytest
import torch

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.batching import plan_batch
from sharedkv.collectives import LocalGroup
from sharedkv.dense_positions import ReuseRequest
from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.layouts import MLA_FP8, layout
from sharedkv.pools import Pool
from sharedkv.prefetching import MISSED, SIDE_STREAM, SKIPPED, Plumbing, Prefetcher
from sharedkv.row_domains import VALID
from sharedkv.streams import OrderError, RecordingBackend
from sharedkv.writing import ComputedRows, GroupWriter, compute_stream
from tests.data_plane.synchronization import no_waiting

RANKS = 2
LAYERS = 4
PREFIX = 8
ROW_BYTES = 656 + 132


class Cache:
    """One request with a prefix of two pages that was written, and a prefetcher; work is late where it may be."""

    def __init__(self, *, is_on: bool = True, late: bool = True, allows_batches: bool = False) -> None:
        self.geometry = Geometry(cp_size=RANKS, page_size=4, pages=16)
        self.layout = layout(MLA_FP8)
        self.backend = RecordingBackend(late=late)
        self.pools = [Pool(self.geometry, self.layout, LAYERS) for _ in range(RANKS)]
        self.writer = GroupWriter(self.geometry, self.pools, self.backend)
        self.allocator = OwnerLaneAllocator(self.geometry, FreeRoom())
        plumbing = Plumbing(
            pools=self.pools,
            group=LocalGroup(RANKS),
            backend=self.backend,
            page_writes=self.writer.page_writes,
        )
        self.told: list[tuple[str, int]] = []
        self.prefetcher = Prefetcher(plumbing, self, is_on=is_on, allows_batches=allows_batches)
        self.writer.after_users(self.prefetcher.readers_of)
        self.pages = self.allocate(PREFIX)
        self.batch = [self.request("a", self.pages)]
        for layer in range(LAYERS):
            self.write(layer, seed=layer)

    def on_fallback(self, reason: str, layer: int) -> None:
        self.told.append((reason, layer))

    def allocate(self, tokens: int) -> list[int]:
        request = ExtendRequest(request="a", prefix_tokens=0, extend_tokens=tokens)
        return list(self.allocator.extend([request]).pages)

    def request(self, name: str, prefix_pages: Sequence[int]) -> ReuseRequest:
        """Return a request that adds one token behind a prefix."""
        prefix_tokens = 4 * len(prefix_pages)
        return ReuseRequest(
            request=name, prefix_tokens=prefix_tokens, extend_tokens=1, table=(*prefix_pages, *self.allocate(1))
        )

    def write(self, layer: int, seed: int) -> None:
        """Write the two pages of the prefix: page 1 on rank 0, then page 2 on rank 1."""
        batch = [ExtendRequest(request="a", prefix_tokens=0, extend_tokens=PREFIX)]
        locations = [page * 4 + offset for page in self.pages for offset in range(4)]
        generator = torch.Generator().manual_seed(seed)
        rows = [
            ComputedRows(
                domain=VALID,
                num_rows=num_rows,
                buffers={
                    "latent": torch.randn((num_rows, 576), generator=generator).to(torch.bfloat16).view(torch.uint8),
                    "index": torch.randint(0, 256, (num_rows, 132), dtype=torch.uint8, generator=generator),
                },
            )
            for num_rows in plan_batch(self.geometry, batch).valid_rows.tolist()
        ]
        self.writer.write(layer, batch, locations, PREFIX, rows)

    def read(self, lease: int, buffer: str = "latent") -> list[torch.Tensor]:
        """Read rows under a lease where ranks compute."""
        found: list[torch.Tensor] = []
        for rank, rows in enumerate(self.prefetcher.rows(lease, buffer)):
            stream = self.backend.stream(compute_stream(rank))
            stream.enqueue(
                lambda rows=rows: found.append(rows.clone()),  # type: ignore[misc]  # the rows of this rank
                "read",
                reads=[self.prefetcher.access(lease)],
            )
            stream.record().synchronize()
        return found

    def held(self, layer: int, buffer: str = "latent") -> torch.Tensor:
        """Return the prefix that the pools hold, page by page from its owner."""
        self.backend.synchronize()
        rows = []
        for page in self.pages:
            rank, physical = (page - 1) % RANKS, (page - 1) // RANKS + 1
            stored = self.pools[rank].buffer(layer, buffer)
            if buffer == "latent":
                rows.append(stored[physical * 4 : physical * 4 + 4])
            else:
                keys, scales = stored[physical, :512].view(4, 128), stored[physical, 512:].view(4, 4)
                rows.append(torch.cat((keys, scales), dim=1))
        return torch.cat(rows)

    def finds(self, lease: int, layer: int, buffer: str = "latent") -> bool:
        found, held = self.read(lease, buffer), self.held(layer, buffer)
        return len(found) == RANKS and bool(held.any()) and all(torch.equal(rows, held) for rows in found)


@pytest.mark.parametrize("buffer", ["latent", "index"])
@pytest.mark.parametrize("is_on", [False, True])
def test_every_rank_finds_the_prefix_that_the_pools_hold(buffer: str, is_on: bool) -> None:  # noqa: FBT001
    cache = Cache(is_on=is_on)
    is_started = cache.prefetcher.start(1, 7, cache.batch)
    lease = cache.prefetcher.consume(1, 7, cache.batch)

    assert is_started is is_on
    assert cache.finds(lease, 1, buffer)
    assert cache.told == []


def test_off_is_synchronous_and_silent() -> None:
    cache = Cache(is_on=False)
    lease = cache.prefetcher.consume(3, 7, cache.batch)

    assert cache.finds(lease, 3)
    assert cache.told == []


def test_a_layer_that_was_not_prefetched_is_told_and_answered() -> None:
    cache = Cache()
    lease = cache.prefetcher.consume(2, 7, cache.batch)

    assert cache.told == [(MISSED, 2)]
    assert cache.finds(lease, 2)


def test_the_first_layer_never_warns() -> None:
    cache = Cache()
    cache.prefetcher.consume(0, 7, cache.batch)

    assert cache.told == []


def test_a_batch_of_several_requests_is_skipped_until_it_is_allowed() -> None:
    cache = Cache()
    batch = [*cache.batch, cache.request("b", [])]
    is_started = cache.prefetcher.start(1, 7, batch)

    assert not is_started
    assert cache.told == [(SKIPPED, 1)]


def test_a_batch_of_several_requests_is_prefetched_where_it_is_allowed() -> None:
    cache = Cache(allows_batches=True)
    batch = [cache.request("b", []), *cache.batch]

    assert cache.prefetcher.start(1, 7, batch)
    assert cache.finds(cache.prefetcher.consume(1, 7, batch), 1)
    assert cache.told == []


def test_a_start_without_a_free_buffer_is_skipped_and_the_consume_still_answers() -> None:
    cache = Cache()
    leases = [cache.prefetcher.consume(layer, 7, cache.batch) for layer in (0, 1)]
    cache.told.clear()
    is_started = cache.prefetcher.start(2, 7, cache.batch)
    leases.append(cache.prefetcher.consume(2, 7, cache.batch))

    assert not is_started
    assert cache.told == [(SKIPPED, 2), (MISSED, 2)]
    assert all(cache.finds(lease, layer) for layer, lease in enumerate(leases))


def test_starting_again_what_was_started_changes_nothing() -> None:
    cache = Cache()
    cache.prefetcher.start(1, 7, cache.batch)
    live = cache.prefetcher.live_bytes()

    assert cache.prefetcher.start(1, 7, cache.batch)
    assert cache.prefetcher.live_bytes() == live


def test_a_prefetch_that_is_lost_is_a_miss() -> None:
    cache = Cache()
    cache.prefetcher.lose_next()
    is_started = cache.prefetcher.start(1, 7, cache.batch)
    lease = cache.prefetcher.consume(1, 7, cache.batch)

    assert is_started
    assert cache.told == [(MISSED, 1)]
    assert cache.finds(lease, 1)


def test_the_prefetch_after_a_lost_one_is_made() -> None:
    cache = Cache()
    cache.prefetcher.lose_next()
    for layer in (1, 2):
        cache.prefetcher.start(layer, 7, cache.batch)
    cache.prefetcher.consume(2, 7, cache.batch)

    assert cache.told == []


def test_a_start_that_is_repeated_can_be_lost_too() -> None:
    cache = Cache()
    cache.prefetcher.start(1, 7, cache.batch)
    cache.prefetcher.lose_next()
    cache.prefetcher.start(1, 7, cache.batch)
    lease = cache.prefetcher.consume(1, 7, cache.batch)

    assert cache.told == [(MISSED, 1)]
    assert cache.finds(lease, 1)


def test_pages_that_were_written_since_the_start_are_gathered_anew() -> None:
    cache = Cache()
    cache.prefetcher.start(1, 7, cache.batch)
    cache.write(1, seed=99)
    lease = cache.prefetcher.consume(1, 7, cache.batch)

    assert cache.finds(lease, 1)
    assert cache.told == [(MISSED, 1)]


def test_a_write_of_another_layer_spoils_nothing() -> None:
    cache = Cache()
    cache.prefetcher.start(1, 7, cache.batch)
    cache.write(0, seed=99)
    cache.prefetcher.consume(1, 7, cache.batch)

    assert cache.told == []


def test_a_write_waits_for_a_prefetch_that_still_reads_its_pages() -> None:
    cache = Cache()
    cache.prefetcher.start(1, 7, cache.batch)
    cache.write(1, seed=99)
    cache.backend.synchronize()

    assert cache.backend.stream(SIDE_STREAM).num_pending == 0


def test_a_write_that_did_not_wait_would_be_caught() -> None:
    cache = Cache()
    cache.writer = GroupWriter(cache.geometry, cache.pools, cache.backend)
    cache.prefetcher.start(1, 7, cache.batch)
    cache.write(1, seed=99)
    with pytest.raises(OrderError, match="prefetch of layer 1"):
        cache.backend.synchronize()


def test_a_new_epoch_gives_up_what_nobody_consumed() -> None:
    cache = Cache()
    for layer in (1, 2):
        cache.prefetcher.start(layer, 7, cache.batch)

    assert cache.prefetcher.start(3, 8, cache.batch)
    assert cache.told == []
    assert cache.finds(cache.prefetcher.consume(3, 8, cache.batch), 3)


def test_another_batch_of_the_same_epoch_is_not_taken_for_the_one_that_was_started() -> None:
    cache = Cache()
    cache.prefetcher.start(1, 7, [cache.request("b", [])])
    lease = cache.prefetcher.consume(1, 7, cache.batch)

    assert cache.told == [(MISSED, 1)]
    assert cache.finds(lease, 1)


def test_bytes_under_a_lease_stay_whatever_is_started() -> None:
    cache = Cache()
    cache.prefetcher.start(1, 7, cache.batch)
    lease = cache.prefetcher.consume(1, 7, cache.batch)
    before = cache.read(lease)
    for layer in (2, 3):
        cache.prefetcher.start(layer, 7, cache.batch)
    cache.prefetcher.consume(3, 7, cache.batch)
    cache.write(1, seed=99)
    cache.backend.synchronize()

    assert all(map(torch.equal, before, cache.read(lease)))


def test_a_buffer_is_filled_again_only_after_its_last_reader() -> None:
    cache = Cache()
    first = cache.prefetcher.consume(0, 7, cache.batch)
    found: list[torch.Tensor] = []
    rows = cache.prefetcher.rows(first, "latent")[0]
    compute = cache.backend.stream(compute_stream(0))
    compute.enqueue(lambda: found.append(rows.clone()), "late reader", reads=[cache.prefetcher.access(first)])
    cache.prefetcher.release(first)
    cache.prefetcher.start(1, 7, cache.batch)
    cache.prefetcher.start(2, 7, cache.batch)
    cache.backend.stream(SIDE_STREAM).record().synchronize()

    assert torch.equal(found[0], cache.held(0))


def test_released_buffers_serve_again_and_no_memory_is_added() -> None:
    cache = Cache()
    places = set()
    for epoch in range(4):
        for layer in (1, 2):
            lease = cache.prefetcher.consume(layer, epoch, cache.batch)
            places.add(cache.prefetcher.rows(lease, "latent")[0].data_ptr())
            cache.prefetcher.release(lease)

    assert len(places) == 2


def test_a_buffer_beyond_the_two_is_not_kept() -> None:
    cache = Cache()
    for lease in [cache.prefetcher.consume(layer, 7, cache.batch) for layer in (1, 2, 3)]:
        cache.prefetcher.release(lease)

    assert [cache.prefetcher.start(layer, 7, cache.batch) for layer in (1, 2, 3)] == [True, True, False]


def test_live_bytes_count_what_is_made_and_what_is_held() -> None:
    cache = Cache()
    one = PREFIX * ROW_BYTES * RANKS
    counts = [cache.prefetcher.live_bytes()]
    cache.prefetcher.start(1, 7, cache.batch)
    counts.append(cache.prefetcher.live_bytes())
    leases = [cache.prefetcher.consume(layer, 7, cache.batch) for layer in (1, 2, 3)]
    counts.append(cache.prefetcher.live_bytes())
    for lease in leases:
        cache.prefetcher.release(lease)
    counts.append(cache.prefetcher.live_bytes())

    assert counts == [0, one, 3 * one, 0]


def test_a_batch_without_a_prefix_has_an_empty_one() -> None:
    cache = Cache()
    batch = [cache.request("b", [])]
    cache.prefetcher.start(1, 7, batch)
    lease = cache.prefetcher.consume(1, 7, batch)

    assert [rows.shape for rows in cache.read(lease)] == [(0, 656)] * RANKS
    assert cache.told == []


def test_a_load_that_is_pending_is_waited_for() -> None:
    cache = Cache()
    order: list[str] = []
    loads = cache.backend.stream("loads")
    loads.enqueue(lambda: order.append("load"), "load of layer 1")
    loaded = loads.record()
    cache.prefetcher._plumbing.pending_loads = lambda layer: (loaded,) if layer == 1 else ()
    cache.prefetcher.start(1, 7, cache.batch)
    cache.backend.stream(SIDE_STREAM).record().synchronize()

    assert order == ["load"]


def test_starting_and_consuming_wait_for_nothing() -> None:
    cache = Cache()
    with no_waiting():
        cache.prefetcher.start(1, 7, cache.batch)
        lease = cache.prefetcher.consume(1, 7, cache.batch)
        cache.prefetcher.release(lease)

    assert cache.backend.stream(SIDE_STREAM).num_pending > 0


@pytest.mark.parametrize("call", ["rows", "access", "release"])
def test_a_lease_that_is_not_held_is_refused(call: str) -> None:
    prefetcher = Cache().prefetcher
    calls: dict[str, Callable[[], object]] = {
        "rows": lambda: prefetcher.rows(5, "latent"),
        "access": lambda: prefetcher.access(5),
        "release": lambda: prefetcher.release(5),
    }
    with pytest.raises(RefusedError) as refused:
        calls[call]()

    assert refused.value.reason is Refusal.LEASE_UNKNOWN


def test_a_lease_is_given_up_once() -> None:
    cache = Cache()
    lease = cache.prefetcher.consume(1, 7, cache.batch)
    cache.prefetcher.release(lease)
    with pytest.raises(RefusedError):
        cache.prefetcher.release(lease)


@pytest.mark.parametrize("call", ["start", "consume"])
@pytest.mark.parametrize("is_on", [False, True])
def test_an_unknown_layer_or_an_empty_batch_is_refused(call: str, is_on: bool) -> None:  # noqa: FBT001
    cache = Cache(is_on=is_on)
    for layer, batch, reason in (
        (LAYERS, cache.batch, Refusal.LAYER_OUTSIDE_POOL),
        (1, [], Refusal.BATCH_EMPTY),
    ):
        with pytest.raises(RefusedError) as refused:
            getattr(cache.prefetcher, call)(layer, 7, batch)

        assert refused.value.reason is reason
    assert cache.prefetcher.live_bytes() == 0


def test_layers_are_consumed_in_any_order() -> None:
    cache = Cache()
    for layer in (1, 2):
        cache.prefetcher.start(layer, 1, cache.batch)
    leases = {layer: cache.prefetcher.consume(layer, 1, cache.batch) for layer in (2, 1)}
    right = [cache.finds(lease, layer) for layer, lease in leases.items()]
    for lease in leases.values():
        cache.prefetcher.release(lease)

    assert (right, cache.told, cache.prefetcher.live_bytes()) == ([True, True], [], 0)


def test_a_layer_that_was_started_first_is_consumed_after_one_that_was_never_started() -> None:
    cache = Cache()
    cache.prefetcher.start(1, 1, cache.batch)
    cache.prefetcher.consume(2, 1, cache.batch)

    assert cache.finds(cache.prefetcher.consume(1, 1, cache.batch), 1)
