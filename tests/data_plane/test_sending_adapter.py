"""Requests that are sent, behind the contract: what decode gets is what prefill computed, whatever is late or lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch

import sharedkv_adapter
from sharedkv.batching import plan_batch
from sharedkv.geometry import Geometry, PageId
from sharedkv.layouts import INDEX, MHA_BF16, MLA_FP8, layout
from sharedkv_adapter.session import ReferenceSession
from sharedkv_conformance import contract
from tests.data_plane.small_batches import random_rows

PAGE_SIZE, RANKS, LAYERS, DRAFT_LAYERS = 2, 2, 3, 1
LAYER_RANGE = range(LAYERS + DRAFT_LAYERS)
ROOM = 7


class Conversation:
    """One session, asked as both sides of a transfer ask."""

    def __init__(self, *, rows: str = MHA_BF16, faults: Sequence[str] = (), group: int = 2) -> None:
        self.geometry = Geometry(cp_size=RANKS, page_size=PAGE_SIZE, pages=12)
        self.layout = layout(rows, head_dim=4)
        config = contract.OpenConfig(
            cp_size=RANKS,
            page_size=PAGE_SIZE,
            pages=self.geometry.pages,
            pool=contract.PoolConfig(layout=rows, layers=LAYERS, draft_layers=DRAFT_LAYERS, head_dim=4),
            host_pages=4,
            transfer=contract.TransferConfig(decode_pages=8, slots=2, group=group, deadline=3, quarantine=2),
        )
        self.session: ReferenceSession = sharedkv_adapter.cpu().open(config)
        for fault in faults:
            self.session.probe.inject(fault)

    def allocate(self, num_pages: int) -> tuple[int, ...]:
        batch = [contract.ExtendRequest(request="a", prefix_tokens=0, extend_tokens=num_pages * PAGE_SIZE)]
        return self.session.allocation.extend(batch).pages

    def compute(self, pages: Sequence[int], seed: int, *, told: Sequence[int] = ()) -> None:
        """Write every layer of pages, and tell the end of some layers."""
        batch = [contract.ExtendRequest(request="a", prefix_tokens=0, extend_tokens=len(pages) * PAGE_SIZE)]
        locations = [page * PAGE_SIZE + at for page in pages for at in range(PAGE_SIZE)]
        counts = plan_batch(self.geometry, batch).valid_rows.tolist()
        for layer in LAYER_RANGE:
            generator = torch.Generator().manual_seed(100 * seed + layer)
            rows = [
                contract.RankRows(
                    domain="valid",
                    rows=count,
                    buffers=tuple(
                        contract.BufferRows(
                            buffer=buffer.name, data=random_rows(buffer, count, generator).numpy().tobytes()
                        )
                        for buffer in self.layout.buffers
                    ),
                )
                for count in counts
            ]
            self.session.direct_write.write(layer, batch, locations, len(pages) * PAGE_SIZE, rows)
            if layer in told:
                self.session.overlap.layer_end(layer)

    def reserve(self, num_pages: int, room: int = ROOM) -> tuple[int, ...]:
        """Return the pages of decode."""
        return self.session.transfer.reserve(room, num_pages, [0]).places[0].pages

    def send(self, pages: Sequence[int], first: int = 0, *, is_last: bool = True, room: int = ROOM) -> None:
        has_index = any(buffer.name == INDEX for buffer in self.layout.buffers)
        self.session.transfer.send(room, pages, first, is_last, pages if has_index and is_last else (), b"first token")

    def prefill_bytes(self, pages: Sequence[int]) -> list[bytes]:
        """Return pages as they lie in the pools of their ranks, layer by layer and buffer by buffer."""
        places = [(self.geometry.lane(PageId(page)), self.geometry.physical_page(PageId(page))) for page in pages]
        return [
            self._page(found, name, lane, at)
            for layer in LAYER_RANGE
            for found in [self.session.probe.pool(layer)]
            for name in self._names
            for lane, at in places
        ]

    def decode_bytes(self, pages: Sequence[int]) -> list[bytes]:
        """Return pages as decode has them."""
        return [
            self._page(found, name, 0, at)
            for layer in LAYER_RANGE
            for found in [self.session.probe.decode_pool(0, layer)]
            for name in self._names
            for at in pages
        ]

    @property
    def _names(self) -> list[str]:
        return [buffer.name for buffer in self.layout.buffers]

    def _page(self, found: Sequence[contract.PoolBuffer], name: str, rank: int, page: int) -> bytes:
        size = PAGE_SIZE * self.layout.buffer(name).stored_row_bytes
        data = next(each.data for each in found if (each.rank, each.buffer) == (rank, name))
        return data[page * size : (page + 1) * size]


@pytest.mark.parametrize("rows", [MHA_BF16, MLA_FP8])
def test_decode_gets_what_was_computed_though_writes_are_late(rows: str) -> None:
    talk = Conversation(rows=rows, faults=["late_writes"])
    pages, places = talk.allocate(5), talk.reserve(5)
    talk.compute(pages, 1)
    talk.send(pages)
    sent = talk.decode_bytes(places)

    assert talk.session.transfer.commit(ROOM) == (b"first token",)
    assert sent == talk.prefill_bytes(pages)


@pytest.mark.parametrize("told", [(), (0, 1), (1, 3), tuple(LAYER_RANGE)])
@pytest.mark.parametrize("group", [1, 2, 3, 8])
def test_layers_that_go_early_are_those_of_a_whole_send(told: tuple[int, ...], group: int) -> None:
    talk = Conversation(faults=["late_writes"], group=group)
    pages, places = talk.allocate(4), talk.reserve(4)
    is_taken = talk.session.overlap.register(ROOM, pages, first_position=0, is_last=True)
    talk.compute(pages, 1, told=told)
    talk.send(pages)
    sent = talk.decode_bytes(places)

    assert is_taken
    assert talk.session.transfer.status(ROOM) == "success"
    assert sent == talk.prefill_bytes(pages)


def test_a_prefix_is_sent_as_it_was_loaded_back_though_loads_are_late() -> None:
    talk = Conversation(faults=["late_writes", "late_backups", "late_loads"])
    tier, tokens = talk.session.host_tier, list(range(4 * PAGE_SIZE))
    pages = talk.allocate(4)
    talk.compute(pages, 1)
    computed = talk.prefill_bytes(pages)
    tier.insert("a", tokens, pages)
    tier.poll()
    tier.evict([2, 2])
    loaded = tier.load_back(tokens).pages
    places = talk.reserve(4)
    talk.send(loaded)

    assert talk.decode_bytes(places) == computed


def test_the_first_pages_of_a_flight_that_fails_have_landed() -> None:
    talk = Conversation()
    pages, places = talk.allocate(4), talk.reserve(4)
    talk.compute(pages, 1)
    talk.session.probe.stall("writes")
    talk.send(pages)
    flight = talk.session.probe.flights()[0]
    talk.session.probe.fail(flight.flight, 1, is_definite=False)
    landed, first = talk.decode_bytes(flight.pages), talk.prefill_bytes([pages[0]])

    assert flight.pages == (places[0], places[3])
    assert landed[::2] == first
    assert not any(map(any, landed[1::2]))
    assert talk.session.transfer.report(ROOM).reason == "engine"


def test_spoilt_and_repeated_messages_change_nothing() -> None:
    talk = Conversation()
    pages, probe = talk.allocate(2), talk.session.probe
    probe.stall("messages")
    talk.reserve(2)
    for how in ("empty", "truncated", "noise"):
        probe.garble(0, how)
    waiting = probe.messages()
    probe.resume("messages")
    probe.deliver(0)
    talk.send(pages)

    assert [message.kind for message in waiting] == ["opened"] * RANKS
    assert talk.session.transfer.status(ROOM) == "success"


def test_a_worker_that_crashed_goes_on_with_the_next_room() -> None:
    talk = Conversation(faults=["worker_crash"])
    transfer, pages = talk.session.transfer, talk.allocate(2)
    for room in (ROOM, ROOM + 1):
        talk.reserve(2, room)
        talk.send(pages, room=room)

    assert [transfer.send_status(room) for room in (ROOM, ROOM + 1)] == ["failed", "success"]
    assert transfer.report(ROOM).reason == "worker"


def test_the_clock_gives_up_flights_then_their_room_then_frees_its_pages() -> None:
    talk = Conversation()
    session, pages = talk.session, talk.allocate(2)
    talk.reserve(2)
    session.probe.stall("writes")
    talk.send(pages)
    session.probe.advance(3)
    session.transfer.close_room(ROOM)
    kept = (session.transfer.decode_pools()[0], session.probe.flights()[0].is_in_doubt)
    session.probe.advance(2)
    freed = session.transfer.decode_pools()[0]

    assert (kept[0].quarantined, kept[1]) == (2, True)
    assert (freed.free, freed.quarantined, freed.free_slots) == (8, 0, 2)
    assert session.probe.flights() == ()


def test_source_pages_in_flight_are_kept_from_others() -> None:
    talk = Conversation()
    session, pages = talk.session, talk.allocate(2)
    talk.reserve(2)
    session.probe.stall("writes")
    talk.send(pages)
    session.allocation.release(pages)
    in_flight = session.allocation.lanes().in_use
    session.probe.resume("writes")

    assert in_flight == (1, 1)
    assert session.allocation.lanes().in_use == (0, 0)


def test_nothing_is_made_for_sessions_that_send_nothing() -> None:
    session = Conversation().session
    epoch = session.transfer.open_room(ROOM, [0], ["kv"])
    session.transfer.failed(ROOM, epoch, 0)
    session.transfer.status(ROOM)
    session.transfer.close_room(ROOM)
    session.overlap.layer_end(0)
    session.abort.decode(ROOM)
    session.abort.prefill(ROOM)
    session.probe.advance(1)

    assert session.overlap.contexts() == ()
    assert session.sides.made is None


def test_words_numbers_and_places_that_there_are_not_are_refused() -> None:
    probe = Conversation().session.probe
    calls: dict[str, Callable[[], object]] = {
        "fault_unknown": lambda: probe.stall("everything"),
        "flight_unknown": lambda: probe.land(0),
        "message_unknown": lambda: probe.deliver(0),
        "slot_unknown": lambda: probe.scribble(0, 2, ROOM, 0, b""),
        "room_invalid": lambda: probe.decode_pool(1, 0),
        "layer_outside_pool": lambda: probe.decode_pool(0, len(LAYER_RANGE)),
    }
    for reason, call in calls.items():
        with pytest.raises(contract.Rejected) as caught:
            call()

        assert caught.value.reason.value == reason
