"""What the probes of the network do to the model of sending: stall and resume, land and fail, deliver and spoil."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.probe import ControlMessage, Flight, PoolBuffer
from sharedkv_conformance.model.sending_network import NetworkModel
from sharedkv_conformance.model.sending_parts import AUX, MESSAGES, WORKERS, WRITES, FlightModel, Notice, Slot

STALLS = (WORKERS, WRITES, MESSAGES)


class ProbedNetwork(NetworkModel):
    """The network as probes see and change it."""

    def stall(self, what: str) -> None:
        """Hold what begins from now on."""
        self.check_stall(what)
        self.stalled.add(what)

    def resume(self, what: str) -> None:
        """Let go on what was held."""
        self.check_stall(what)
        self.stalled.discard(what)
        for each in (*(self.flying if what == WRITES else ()), *(self.way if what == MESSAGES else ())):
            each.is_held = False
        self.settle()

    def check_stall(self, what: str) -> None:
        """Refuse to stall what there is not."""
        if what not in STALLS:
            raise Rejected(Reason.FAULT_UNKNOWN, f"{what!r}, known are {', '.join(STALLS)}")

    def flights(self) -> tuple[Flight, ...]:
        """Return what flies, oldest first."""
        return tuple(map(shown_flight, self.flying))

    def land(self, flight: int) -> None:
        """Land a flight; one that is in doubt stays so."""
        found = self.known_flight(flight)
        if found.is_in_doubt:
            self.write(found, len(found.pages))
        else:
            self.complete(found)
        self.settle()

    def fail(self, flight: int, pages: int, is_definite: bool) -> None:  # noqa: FBT001 - by contract
        """Let a flight fail behind its first pages."""
        found = self.known_flight(flight)
        if found.is_in_doubt:
            raise Rejected(Reason.FLIGHT_UNKNOWN, f"flight {flight} is in doubt")
        if found.part != AUX:
            self.write(found, max(0, pages))
        if is_definite:
            self.flying.remove(found)
            self.has_failed(found)
            self.has_left(found)
        else:
            self.doubt(found)
        self.settle()

    def known_flight(self, number: int) -> FlightModel:
        """Return a flight that flies."""
        for flight in self.flying:
            if flight.number == number:
                return flight
        raise Rejected(Reason.FLIGHT_UNKNOWN, f"flight {number}")

    def messages(self) -> tuple[ControlMessage, ...]:
        """Return what is on the way, oldest first."""
        return tuple(map(shown_message, self.way))

    def deliver(self, message: int) -> None:
        """Deliver a message, for the first time or again."""
        found = self.known_message(message)
        if found in self.way:
            self.way.remove(found)
        self.hear(found)
        self.settle()

    def garble(self, message: int, how: str) -> None:
        """Deliver what nobody can read."""
        self.hear_garbled(self.known_message(message), how)
        self.settle()

    def hear_garbled(self, notice: Notice, how: str) -> None:
        """Take note of nothing."""
        del notice, how

    def known_message(self, number: int) -> Notice:
        """Return a message that was ever sent."""
        if number not in self.posted:
            raise Rejected(Reason.MESSAGE_UNKNOWN, f"message {number}")
        return self.posted[number]

    def scribble(self, rank: int, slot: int, room: int, epoch: int, data: bytes) -> None:
        """Let metadata of anybody land in a slot."""
        if (rank, slot) not in self.memory.slots:
            raise Rejected(Reason.SLOT_UNKNOWN, f"slot {slot} of decode rank {rank}")
        self.memory.slots[rank, slot] = Slot(room=room, epoch=epoch, data=bytes(data))

    def decode_pool(self, rank: int, layer: int) -> tuple[PoolBuffer, ...]:
        """Return a layer of a decode rank."""
        return self.memory.view(rank, layer)


def shown_flight(flight: FlightModel) -> Flight:
    """Return a flight as it is shown."""
    return Flight(
        flight=flight.number,
        room=flight.room.room,
        epoch=flight.room.epoch,
        source=flight.source,
        destination=flight.destination,
        part=flight.part,
        layers=flight.layers,
        pages=flight.pages,
        is_in_doubt=flight.is_in_doubt,
    )


def shown_message(notice: Notice) -> ControlMessage:
    """Return a message as it is shown."""
    return ControlMessage(
        message=notice.number,
        kind=notice.kind,
        room=notice.room,
        epoch=notice.epoch,
        source=notice.source,
        destination=notice.destination,
        part=notice.part,
        chunk=notice.chunk,
        is_last=notice.is_last,
    )
