"""The executable specification of transfer: which pages go where, as which writes, and what a room has heard.

`TransferModel` is one right answer to each call; mutants override one of its small decisions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.transfer import Block, Fingerprint, LayerBuffers, PageRange, RankPages
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.pool import buffers_of, stored_row_bytes
from sharedkv_conformance.model.transfer_rooms import Message, RoomModel

Pages = tuple[int, ...]


def chunk_faults(geometry: Geometry, sent_tokens: int, end_tokens: int) -> frozenset[Reason]:
    """Return every reason why so many tokens are no chunk."""
    faults = {
        Reason.PREFIX_NOT_PAGE_ALIGNED: sent_tokens % geometry.page_size != 0,
        Reason.CHUNK_BACKWARDS: not 0 <= sent_tokens <= end_tokens,
    }
    return frozenset(reason for reason, present in faults.items() if present)


def count_faults(pages: Sequence[int], first: int, destinations: Sequence[int], *, is_last: bool) -> frozenset[Reason]:
    """Return why so many pages are not those of the request from a position on."""
    end = first + len(pages)
    differs = end > len(destinations) or (is_last and end < len(destinations))
    return frozenset({Reason.PAGE_COUNTS_DIFFER} if differs else ())


def page_faults(geometry: Geometry, pages: Sequence[int], first: int) -> frozenset[Reason]:
    """Return every other reason why pages are no chunk of a request."""
    faults = {
        Reason.POSITION_OUTSIDE_REQUEST: first < 0,
        Reason.PAGE_OUTSIDE_POOL: not all(map(geometry.holds, pages)),
        Reason.PAGE_NAMED_TWICE: len(set(pages)) < len(pages),
    }
    return frozenset(reason for reason, present in faults.items() if present)


def list_faults(sources: Sequence[int], destinations: Sequence[int]) -> frozenset[Reason]:
    """Return every reason why two lists are no pages to move."""
    faults = {
        Reason.PAGE_COUNTS_DIFFER: len(sources) != len(destinations),
        Reason.PAGE_OUTSIDE_POOL: any(page < 0 for page in (*sources, *destinations)),
    }
    return frozenset(reason for reason, present in faults.items() if present)


def byte_faults(buffers: Sequence[LayerBuffers]) -> frozenset[Reason]:
    """Return why buffers cannot be copied page by page."""
    differs = any(each.source_page_bytes != each.destination_page_bytes for each in buffers)
    return frozenset({Reason.PAGE_BYTES_DIFFER} if differs else ())


def runs(sources: Sequence[int], destinations: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return (first source, first destination, pages) of each longest run that steps by one on both sides."""
    found: list[tuple[int, int, int]] = []
    for source, destination in zip(sources, destinations, strict=True):
        if found and (found[-1][0] + found[-1][2], found[-1][1] + found[-1][2]) == (source, destination):
            found[-1] = (*found[-1][:2], found[-1][2] + 1)
        else:
            found.append((source, destination, 1))
    return found


def numbers_of(config: OpenConfig) -> Mapping[str, str]:
    """Return the fields of a fingerprint whose values are known from the session's configuration."""
    pool = config.pool
    numbers = {
        "cp_size": config.cp_size,
        "draft_layers": pool.draft_layers,
        "layers": pool.layers,
        "page_size": config.page_size,
    }
    return {"layout": pool.layout, **{name: str(number) for name, number in numbers.items()}}


class TransferModel:
    """Both sides of one session, one small decision a method."""

    feature = "transfer"

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.geometry = Geometry.of(config)
        self.rooms: dict[int, RoomModel] = {}
        self.epochs = 0

    # -- the calls of the contract ---------------------------------------------------------------------------------

    def chunk(self, sent_tokens: int, end_tokens: int, is_last: bool) -> PageRange:  # noqa: FBT001 - by contract
        """Return the pages from what was sent on."""
        self.refuse(self.chunk_faults(sent_tokens, end_tokens), f"{sent_tokens} tokens sent of {end_tokens}")
        start = sent_tokens // self.geometry.page_size
        return PageRange(start=start, end=max(start, self.end(end_tokens, is_last=is_last)))

    def deal(
        self,
        pages: Sequence[int],
        first_position: int,
        destinations: Sequence[int],
        is_last: bool,  # noqa: FBT001 - by contract
    ) -> tuple[RankPages, ...]:
        """Deal a chunk to the ranks of its lanes."""
        faults = self.deal_faults(pages, first_position, destinations, is_last=is_last)
        self.refuse(faults, f"{len(pages)} pages from position {first_position}, {len(destinations)} destinations")
        return tuple(self.of_rank(rank, pages, first_position, destinations) for rank in self.senders(pages))

    def blocks(
        self, sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[LayerBuffers]
    ) -> tuple[Block, ...]:
        """Return a write for each run of each buffer."""
        faults = self.block_faults(sources, destinations, buffers)
        self.refuse(faults, f"{len(sources)} sources, {len(destinations)} destinations, {len(buffers)} buffers")
        found = self.runs(sources, destinations)
        return tuple(self.block(number, buffer, run) for number, buffer in enumerate(buffers) for run in found)

    def fingerprint(self) -> Fingerprint:
        """Return the fields by name."""
        return Fingerprint(fields=tuple(sorted(self.fields().items())))

    def shake_hands(self, peer: Fingerprint) -> None:
        """Refuse whoever differs."""
        if not self.is_same(peer):
            raise Rejected(Reason.FINGERPRINT_DIFFERS, f"{dict(peer.fields)}")

    def open_room(self, room: int, sources: Sequence[int], parts: Sequence[str]) -> int:
        """Begin to wait."""
        if room in self.rooms:
            raise Rejected(Reason.ROOM_IN_USE, f"room {room}")
        if any(not named or len(set(named)) < len(named) for named in (tuple(sources), tuple(parts))):
            raise Rejected(Reason.ROOM_INVALID, f"sources {list(sources)}, parts {list(parts)}")
        epoch = self.next_epoch(room)
        self.rooms[room] = self.new_room(epoch, tuple(sources), tuple(parts))
        return epoch

    def arrived(self, room: int, epoch: int, source: int, part: str, chunk: int, is_last: bool) -> None:  # noqa: FBT001 - by contract
        """Hear of a chunk."""
        message = Message(source=source, part=part, chunk=chunk, is_last=is_last)
        if (found := self.live(room, epoch)) is not None and self.is_awaited(found, message):
            found.hear(message)

    def failed(self, room: int, epoch: int, source: int) -> None:
        """Hear that a source gave up."""
        found = self.live(room, epoch)
        if found is not None and found.state() not in self.ends() and source in found.sources:
            found.has_failed = True

    def status(self, room: int) -> str:
        """Say how far a room is."""
        return self.require(room).state()

    def close_room(self, room: int) -> None:
        """Forget a room that has ended."""
        if self.require(room).state() not in self.ends():
            raise Rejected(Reason.ROOM_IN_USE, f"room {room}")
        del self.rooms[room]

    # -- the decisions ---------------------------------------------------------------------------------------------

    def refuse(self, faults: frozenset[Reason], detail: str) -> None:
        """Raise the first reason that there is."""
        for reason in sorted(faults):
            raise Rejected(reason, detail)

    def chunk_faults(self, sent_tokens: int, end_tokens: int) -> frozenset[Reason]:
        """Say what is wrong with a chunk."""
        return chunk_faults(self.geometry, sent_tokens, end_tokens)

    def end(self, end_tokens: int, *, is_last: bool) -> int:
        """Return the position behind the last page that can be sent."""
        return self.geometry.pages_for(end_tokens) if is_last else end_tokens // self.geometry.page_size

    def deal_faults(
        self, pages: Sequence[int], first: int, destinations: Sequence[int], *, is_last: bool
    ) -> frozenset[Reason]:
        """Say what is wrong with the pages of a chunk."""
        wrong = page_faults(self.geometry, pages, first)
        return wrong or count_faults(pages, first, destinations, is_last=is_last)

    def senders(self, pages: Sequence[int]) -> Sequence[int]:  # noqa: ARG002 - a variant looks
        """Return the ranks that have something to say."""
        return range(self.geometry.cp_size)

    def of_rank(self, rank: int, pages: Sequence[int], first: int, destinations: Sequence[int]) -> RankPages:
        """Return what one rank sends."""
        own = [index for index, page in enumerate(pages) if self.lane(page) == rank]
        positions = tuple(self.position(index, first) for index in own)
        return RankPages(
            rank=rank,
            sources=tuple(self.physical(pages[index]) for index in own),
            positions=positions,
            destinations=tuple(self.destination(position, destinations) for position in positions),
        )

    def lane(self, page: int) -> int:
        """Return who sends a page."""
        return self.geometry.lane(page)

    def physical(self, page: int) -> int:
        """Return where the sender has it."""
        return self.geometry.physical(page)

    def position(self, index: int, first: int) -> int:
        """Return the position in the request of a page of the chunk."""
        return first + index

    def destination(self, position: int, destinations: Sequence[int]) -> int:
        """Return the page of decode at a position."""
        return destinations[position]

    def block_faults(
        self, sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[LayerBuffers]
    ) -> frozenset[Reason]:
        """Say why pages cannot be moved."""
        return list_faults(sources, destinations) or byte_faults(buffers)

    def runs(self, sources: Sequence[int], destinations: Sequence[int]) -> list[tuple[int, int, int]]:
        """Find the runs of pages."""
        return runs(sources, destinations)

    def block(self, number: int, buffer: LayerBuffers, run: tuple[int, int, int]) -> Block:
        """Return the write of one run in one buffer."""
        source, destination, pages = run
        size = buffer.source_page_bytes
        return Block(
            buffer=number,
            source=buffer.source + source * size,
            destination=buffer.destination + destination * size,
            length=pages * size,
        )

    def fields(self) -> dict[str, str]:
        """Return every field of the fingerprint."""
        pool = self.config.pool
        page_bytes = [self.config.page_size * stored_row_bytes(pool, buffer) for buffer in buffers_of(pool)]
        return {
            **numbers_of(self.config),
            "protocol": "1",
            "page_bytes": "+".join(map(str, page_bytes)),
            "lane_rule": "(page-1)%cp_size",
            "split": self.config.split,
        }

    def is_same(self, peer: Fingerprint) -> bool:
        """Say whether a peer has every field, the same, and no other."""
        return peer == self.fingerprint()

    def next_epoch(self, room: int) -> int:  # noqa: ARG002 - a variant looks
        """Return an epoch that no room had."""
        self.epochs += 1
        return self.epochs

    def new_room(self, epoch: int, sources: Pages, parts: tuple[str, ...]) -> RoomModel:
        """Return a room that has heard nothing."""
        return RoomModel(epoch, sources, parts)

    def live(self, room: int, epoch: int) -> RoomModel | None:
        """Return the room that a message speaks of, if it is there."""
        found = self.rooms.get(room)
        return found if found is not None and found.epoch == epoch else None

    def is_awaited(self, room: RoomModel, message: Message) -> bool:
        """Say whether a room waits for a chunk."""
        return room.awaits(message)

    def ends(self) -> frozenset[str]:
        """Return the states that nothing follows."""
        return frozenset({"success", "failed"})

    def require(self, room: int) -> RoomModel:
        """Return an open room."""
        if room not in self.rooms:
            raise Rejected(Reason.ROOM_UNKNOWN, f"room {room}")
        return self.rooms[room]
