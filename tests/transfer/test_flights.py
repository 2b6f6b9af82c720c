"""Batches, their bound and their tickets, over a library that ends them in any order."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sharedkv.engines.carrier import BatchFailedError
from sharedkv.engines.engine import Peer, RegionRefusedError, Timing, Transfer, TransferFailedError
from sharedkv.engines.engine_of import CarriedEngine
from sharedkv.engines.regions import Region
from sharedkv.page_mapping import Writes
from tests.transfer.arena import writes_of

MOST_REQUESTS = 8
MEMORY = Region(address=1, num_bytes=1000)
DEADLINE_S = 3.0


class OpenTicket:
    """A batch that ends when the test says so, and minds a question after its end."""

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows
        self.ending: BatchFailedError | None = None
        self.has_ended = False
        self.was_told = False

    def is_done(self) -> bool:
        assert not self.was_told, "a ticket was asked again after its end"

        self.was_told = self.has_ended
        if self.has_ended and self.ending is not None:
            raise self.ending
        return self.has_ended


class OpenCarrier:
    """A library without memory."""

    kind = "open"
    most_requests = MOST_REQUESTS

    def __init__(self) -> None:
        self.tickets: dict[str, list[OpenTicket]] = {}
        self.refusal: BatchFailedError | None = None

    def register(self, region: Region) -> None: ...

    def unregister(self, region: Region) -> None: ...

    def contact(self) -> bytes:
        return b"peer"

    def meet(self, contact: bytes) -> str:
        return contact.decode()

    def post(self, peer: str, batch: Writes) -> OpenTicket:
        refusal, self.refusal = self.refusal, None
        if refusal is not None:
            raise refusal
        ticket = OpenTicket(batch.lengths.tolist())
        self.tickets.setdefault(peer, []).append(ticket)
        return ticket

    def part(self, peer: str) -> None: ...

    def close(self) -> None: ...


class Flights(RuleBasedStateMachine):
    """Transfers of writes whose lengths number them, so that a ticket shows whose writes it has."""

    peers: ClassVar = st.integers(0, 1)

    @initialize()
    def begin(self) -> None:
        self.now_s = 0.0
        self.carrier = OpenCarrier()
        self.engine = CarriedEngine(self.carrier, Timing(deadline_s=DEADLINE_S, now=lambda: self.now_s))
        self.engine.register(MEMORY)
        description = self.engine.describe()
        assert description.count(b"cGVlcg==") == 1

        self.peers_known: list[Peer] = [
            self.engine.connect(description.replace(b"cGVlcg==", name)) for name in (b"cGVlcjA=", b"cGVlcjE=")
        ]
        self.sent: list[tuple[int, int, list[int], float, Transfer]] = []
        self.next_length = 1

    @rule(peer=peers, number=st.integers(0, 11))
    def submit(self, peer: int, number: int) -> None:
        lengths = list(range(self.next_length, self.next_length + number))
        self.next_length += number
        if self.next_length > 900:
            return
        writes = writes_of([(1, 1, length) for length in lengths])
        transfer = self.engine.submit(self.peers_known[peer], writes)
        self.sent.append((len(self.sent), peer, lengths, self.now_s + DEADLINE_S, transfer))

    @rule(seconds=st.sampled_from([0.5, 2.0]))
    def pass_time(self, seconds: float) -> None:
        self.now_s += seconds

    @rule(is_definite=st.booleans())
    def refuse_next(self, is_definite: bool) -> None:  # noqa: FBT001 - drawn
        self.carrier.refusal = BatchFailedError("refused", is_definite)

    @precondition(lambda self: self.open_tickets())
    @rule(data=st.data(), failure=st.sampled_from([None, True, False]))
    def end_one(self, data: st.DataObject, failure: bool | None) -> None:  # noqa: FBT001 - drawn
        ticket = data.draw(st.sampled_from(self.open_tickets()))
        ticket.has_ended = True
        ticket.ending = None if failure is None else BatchFailedError("failed", failure)

    @rule()
    def look_at_all(self) -> None:
        for number, _, lengths, ends_at, transfer in self.sent:
            tickets = self.tickets_of(lengths)
            try:
                is_done = transfer.poll()
            except TransferFailedError as error:
                if error.is_definite:
                    assert all(ticket.was_told for ticket in tickets), number
                    assert not any(ticket.ending is not None and not ticket.ending.is_definite for ticket in tickets)
            else:
                landed = [row for ticket in tickets if ticket.was_told for row in ticket.rows]
                assert is_done == (landed == lengths), number
                assert is_done or self.now_s < ends_at, number

    @invariant()
    def no_more_than_the_bound_is_under_way_to_a_peer(self) -> None:
        for tickets in self.carrier.tickets.values():
            assert sum(len(ticket.rows) for ticket in tickets if not ticket.was_told) <= MOST_REQUESTS

    @invariant()
    def every_write_is_posted_at_most_once_and_in_order(self) -> None:
        for tickets in self.carrier.tickets.values():
            posted = [row for ticket in tickets for row in ticket.rows]

            assert posted == sorted(set(posted))

    @rule()
    def ask_which_have_settled(self) -> None:
        for _, _, lengths, _, transfer in self.sent:
            if transfer.is_settled():
                assert all(ticket.was_told for ticket in self.tickets_of(lengths))

    def tickets_of(self, lengths: list[int]) -> list[OpenTicket]:
        """Return the tickets of one transfer."""
        every = [ticket for tickets in self.carrier.tickets.values() for ticket in tickets]
        return [ticket for ticket in every if ticket.rows[0] in lengths]

    def open_tickets(self) -> list[OpenTicket]:
        """Return the tickets that have not ended."""
        return [ticket for tickets in self.carrier.tickets.values() for ticket in tickets if not ticket.has_ended]


TestFlights = Flights.TestCase


def connected(carrier: OpenCarrier) -> tuple[CarriedEngine, Peer]:
    """Make an engine over a carrier, and the peer that it is to itself."""
    engine = CarriedEngine(carrier, Timing(now=lambda: 0.0))
    engine.register(MEMORY)
    return engine, engine.connect(engine.describe())


def test_of_several_failures_the_first_is_told() -> None:
    carrier = OpenCarrier()
    engine, peer = connected(carrier)
    transfer = engine.submit(peer, writes_of([(1, 1, 1)] * MOST_REQUESTS))
    for ticket, what in zip(carrier.tickets["peer"], ("first", "second"), strict=False):
        ticket.has_ended, ticket.ending = True, BatchFailedError(what, is_definite=True)
        assert not transfer.poll()
    for ticket in carrier.tickets["peer"]:
        ticket.has_ended = True
    with pytest.raises(TransferFailedError, match="first"):
        transfer.poll()


def test_writes_of_no_bytes_never_reach_the_library() -> None:
    carrier = OpenCarrier()
    engine, peer = connected(carrier)
    engine.submit(peer, writes_of([(1, 1, 0), (1, 1, 5), (1, 1, 0), (1, 1, 6)]))

    assert [row for ticket in carrier.tickets["peer"] for row in ticket.rows] == [5, 6]


def test_the_source_of_a_transfer_that_waits_is_not_taken_back() -> None:
    carrier = OpenCarrier()
    engine, peer = connected(carrier)
    other = Region(address=2000, num_bytes=10)
    engine.register(other)
    engine.submit(peer, writes_of([(1, 1, 1)] * MOST_REQUESTS))
    waiting = engine.submit(peer, writes_of([(2000, 1, 1)]))
    with pytest.raises(RegionRefusedError, match="has not settled"):
        engine.unregister(other)
    for ticket in carrier.tickets["peer"]:
        ticket.has_ended = True

    assert not waiting.poll()
    carrier.tickets["peer"][-1].has_ended = True
    engine.unregister(other)
    assert waiting.poll()
