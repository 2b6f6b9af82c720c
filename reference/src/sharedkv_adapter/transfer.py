"""The facet `transfer` over the reference: mapping of pages, fingerprint, rooms, and requests that are sent.

Knows which call of the contract is which call of the reference. Does not know engines or messages. What sends is made
when it is first needed: until then every room is one of `open_room`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sharedkv.errors import Refusal, RefusedError
from sharedkv.fingerprint import require_same
from sharedkv.geometry import Geometry
from sharedkv.page_mapping import BufferAddresses, chunk_pages, deal, writes
from sharedkv.rooms import Rooms
from sharedkv.transfer.chunks import Chunk
from sharedkv_adapter.sides_on_demand import SidesOnDemand
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract


class ReferenceTransfer:
    """Both sides of one session."""

    def __init__(self, geometry: Geometry, fields: Mapping[str, str], rooms: Rooms, sides: SidesOnDemand) -> None:
        self._geometry = geometry
        self._fields = fields
        self._rooms = rooms
        self._sides = sides

    def chunk(self, sent_tokens: int, end_tokens: int, is_last: bool) -> contract.PageRange:  # noqa: FBT001 - by contract
        """Return what a chunk sends."""
        with contract_errors():
            pages = chunk_pages(self._geometry, sent_tokens=sent_tokens, end_tokens=end_tokens, is_last=is_last)
            return contract.PageRange(start=pages.start, end=pages.stop)

    def deal(
        self,
        pages: Sequence[int],
        first_position: int,
        destinations: Sequence[int],
        is_last: bool,  # noqa: FBT001 - by contract
    ) -> tuple[contract.RankPages, ...]:
        """Deal the pages of a chunk to ranks."""
        with contract_errors():
            dealt = deal(
                self._geometry, pages, first_position=first_position, destinations=destinations, is_last=is_last
            )
            return tuple(
                contract.RankPages(
                    rank=each.rank, sources=each.sources, positions=each.positions, destinations=each.destinations
                )
                for each in dealt
            )

    def blocks(
        self, sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[contract.LayerBuffers]
    ) -> tuple[contract.Block, ...]:
        """Return the writes that move pages."""
        addresses = [
            BufferAddresses(
                source=each.source,
                destination=each.destination,
                source_page_bytes=each.source_page_bytes,
                destination_page_bytes=each.destination_page_bytes,
            )
            for each in buffers
        ]
        with contract_errors():
            made = writes(sources, destinations, addresses)
        columns = (made.buffers, made.sources, made.destinations, made.lengths)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(
            contract.Block(buffer=buffer, source=source, destination=destination, length=length)
            for buffer, source, destination, length in rows
        )

    def fingerprint(self) -> contract.Fingerprint:
        """Return what the other side has to have."""
        return contract.Fingerprint(fields=tuple(sorted(self._fields.items())))

    def shake_hands(self, peer: contract.Fingerprint) -> None:
        """Accept a peer, or refuse it."""
        with contract_errors():
            if len(dict(peer.fields)) < len(peer.fields):
                raise RefusedError(Refusal.FINGERPRINT_DIFFERS, "a field is named twice")
            require_same(self._fields, dict(peer.fields))

    def open_room(self, room: int, sources: Sequence[int], parts: Sequence[str]) -> int:
        """Wait for parts of a request."""
        with contract_errors():
            return self._rooms.open(room, sources, parts)

    def arrived(self, room: int, epoch: int, source: int, part: str, chunk: int, is_last: bool) -> None:  # noqa: FBT001 - by contract
        """Hear that a chunk is there."""
        self._rooms.arrived(room, epoch, source, part, chunk, is_last=is_last)

    def failed(self, room: int, epoch: int, source: int) -> None:
        """Hear that a source gave up."""
        self._rooms.failed(room, epoch, source)

    def status(self, room: int) -> str:
        """Say how far a room is."""
        sides = self._sides.made
        if sides is None:
            with contract_errors():
                return self._rooms.state(room).value
        with sides.settled():
            return sides.receiver.state(room).value

    def close_room(self, room: int) -> None:
        """Forget a room that has ended."""
        sides = self._sides.made
        if sides is None:
            with contract_errors():
                self._rooms.close(room)
            return
        with sides.settled():
            sides.receiver.close_room(room)

    def reserve(self, room: int, num_pages: int, ranks: Sequence[int]) -> contract.Reservation:
        """Set aside pages and a slot on some decode ranks, and tell prefill."""
        sides = self._sides.get("transfer.requests")
        with sides.settled():
            given = sides.receiver.reserve(room, num_pages, ranks)
        places = tuple(contract.DecodePlace(rank=each.rank, pages=each.pages, slot=each.slot) for each in given.places)
        return contract.Reservation(epoch=given.epoch, places=places)

    def send(
        self,
        room: int,
        pages: Sequence[int],
        first_position: int,
        is_last: bool,  # noqa: FBT001 - by contract
        state: Sequence[int],
        aux: bytes,
    ) -> None:
        """Send one chunk from all prefill ranks."""
        sides = self._sides.get("transfer.requests")
        with sides.settled():
            sides.sender.send(
                Chunk(
                    room=room,
                    pages=tuple(pages),
                    first_position=first_position,
                    is_last=is_last,
                    state=tuple(state),
                    aux=bytes(aux),
                )
            )

    def send_status(self, room: int) -> str:
        """Say how far prefill is."""
        sides = self._sides.get("transfer.requests")
        with sides.settled():
            return sides.sender.state(room).value

    def forget(self, room: int) -> None:
        """Have prefill forget a room that has ended."""
        sides = self._sides.get("transfer.requests")
        with sides.settled():
            sides.sender.forget(room)

    def report(self, room: int) -> contract.SendReport:
        """Return what was sent."""
        sides = self._sides.get("transfer.requests")
        with sides.settled():
            told = sides.sender.report(room)
        return contract.SendReport(
            bytes=told.bytes,
            pages=told.pages,
            submitted=told.submitted,
            completed=told.completed,
            ticks=int(told.ticks),
            reason=told.reason,
        )

    def commit(self, room: int) -> tuple[bytes, ...]:
        """Return the metadata of each place, and give the slots back."""
        sides = self._sides.get("transfer.requests")
        with sides.settled():
            return sides.receiver.commit(room)

    def decode_pools(self) -> tuple[contract.DecodeStatistics, ...]:
        """Count pages and slots of each decode rank."""
        return tuple(
            contract.DecodeStatistics(
                rank=each.rank,
                free=each.free,
                reserved=each.reserved,
                quarantined=each.quarantined,
                free_slots=each.free_slots,
            )
            for each in self._sides.get("transfer.requests").receiver.pools()
        )
