"""Requests in random interleavings: forwards, chunks, aborts, failures, late writes, and pages that come again.

Knows what prefill and decode may be asked, and asks it. Does not judge: the cluster does, at every step. Equal seeds
give equal histories.

    open ─> forward: register, layer, layer, ... ─> send ─> forward of the next chunk ... ─> decode commits and closes
              └──────── given up by either side, failed, late, or never heard of: anywhere ────────┘
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from sharedkv import control_messages
from sharedkv.allocation import ExtendRequest
from sharedkv.control_messages import RoomAborted, RoomOpened
from sharedkv.errors import CapacityWaitError, RefusedError
from sharedkv.geometry import PageId
from sharedkv.rooms import RoomState
from sharedkv.transfer.chunks import Chunk
from sharedkv.transfer.prefill import PrefillSender
from sharedkv.transfer.prefill_rooms import SendState
from tests.transfer import cluster
from tests.transfer.cluster import GEOMETRY, Cluster, Lease, Letter, Shape
from tests.transfer.page_ledger import Claim, PageBrokenError

ROOMS = 6
MOST_REQUESTS = 5
MOST_PAGES = 7
QUIET_STEPS = 400


@dataclass(eq=False, kw_only=True)
class Request:
    """One request on both sides."""

    serial: int
    room: int
    chunks: list[range]
    lease: Lease
    pages: list[PageId] = field(default_factory=list)
    num_forwarded: int = 0
    num_sent: int = 0
    heard: set[tuple[int, int]] = field(default_factory=set)
    is_given_up: bool = False
    holds_pages: bool = True

    @property
    def is_known(self) -> bool:
        """Say whether prefill ranks have heard of all places, and of no end."""
        return not self.is_given_up and len(self.heard) == GEOMETRY.cp_size * len(self.lease.ranks)

    @property
    def has_sent_all(self) -> bool:
        """Say whether the last chunk was sent."""
        return self.num_sent == len(self.chunks)

    def chunk(self, number: int) -> Chunk:
        """Return a chunk as it is sent."""
        positions = self.chunks[number]
        is_last = number == len(self.chunks) - 1
        return Chunk(
            room=self.room,
            pages=tuple(self.pages[positions.start : positions.stop]),
            first_position=positions.start,
            is_last=is_last,
            state=tuple(self.pages) if is_last else (),
            aux=self.aux if is_last else b"early",
        )

    @property
    def aux(self) -> bytes:
        """Return what decode gets beside the pages."""
        return self.serial.to_bytes(cluster.AUX_BYTES, "little")


class History:
    """Steps of one seed; `seen` counts what happened."""

    def __init__(self, seed: int, shape: Shape) -> None:
        self._chance = Random(seed)  # noqa: S311 - histories, not secrets
        self._cluster = Cluster(self._chance, shape)
        self.seen = self._cluster.seen
        self._requests: list[Request] = []
        self._forward: list[Request] = []
        self._layer = 0
        self._serial = 0
        self._stalled: dict[str, float] = {}
        self._steps: list[tuple[int, Callable[[], None]]] = [
            (16, self._open),
            (30, self._begin_forward),
            (80, self._end_layer),
            (40, self._send),
            (60, self._run_job),
            (60, self._land),
            (110, self._deliver),
            (8, self._deliver_again),
            (6, self._tick),
            (60, self._finish),
            (20, self._let_pages_go),
            (5, self._forget),
            (2, self._fail),
            (1, self._stall),
            (1, self._abort_prefill),
            (1, self._abort_decode),
        ]
        self._weights = [weight for weight, _ in self._steps]

    def run(self, num_steps: int) -> None:
        """Take so many steps. `PageBrokenError` at the first after which something is wrong."""
        for _ in range(num_steps):
            ((_, step),) = self._chance.choices(self._steps, self._weights)
            step()
            self._cluster.look()

    def end(self) -> None:
        """Give up what is open, let everything come that is on the way, and see that nothing is left."""
        self._forward.clear()
        self._stalled.clear()
        for request in [*self._requests]:
            self._cluster.receiver.abort(request.room)
        for _ in range(QUIET_STEPS):
            for step in (self._deliver, self._run_job, self._land, self._finish, self._let_pages_go, self._forget):
                step()
                self._cluster.look()
        for _ in range(round(cluster.DEADLINE + cluster.QUARANTINE) + 2):
            self._tick()
            self._cluster.look()
        self._require_nothing_left()

    def _require_nothing_left(self) -> None:
        made = self._cluster
        for counts in made.receiver.pools():
            if (counts.free, counts.free_slots) != (cluster.DECODE_PAGES, cluster.SLOTS):
                raise PageBrokenError(f"something is left at the end: {counts}")
        if any(sender.flights() or sender.contexts() for sender in made.senders) or made.leases or made.network.live:
            raise PageBrokenError("flights, contexts or rooms are left at the end")
        evictable = [page for lane in made.allocator.pages().evictable for page in lane]
        made.allocator.release(evictable)
        free = sum(len(lane) for lane in made.allocator.pages().free)
        if free != GEOMETRY.pages:
            raise PageBrokenError(f"{GEOMETRY.pages - free} pages of prefill are pinned or in use at the end")

    def _open(self) -> None:
        room = self._chance.randrange(ROOMS)
        if len(self._requests) >= MOST_REQUESTS or any(request.room == room for request in self._requests):
            return
        num_pages = self._chance.randint(1, MOST_PAGES)
        ranks = self._chance.choice([[0], [1], [0, 1], [1, 0]] if self._chance.random() < 0.4 else [[0], [1]])
        try:
            lease = self._cluster.reserve(self._serial, room, num_pages, ranks)
        except CapacityWaitError:
            self.seen["decode is full"] += 1
            return
        cuts = sorted(self._chance.sample(range(1, num_pages), self._chance.randint(0, min(2, num_pages - 1))))
        ends = [*cuts, num_pages, *([num_pages] if self._chance.random() < 0.15 else [])]
        chunks = [range(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        self._requests.append(Request(serial=self._serial, room=room, chunks=chunks, lease=lease))
        self._serial += 1
        self.seen["opened"] += 1

    def _begin_forward(self) -> None:
        if self._forward:
            return
        ready = [each for each in self._requests if self._may_forward(each)]
        for request in self._chance.sample(ready, min(len(ready), self._chance.randint(1, 3))):
            if self._allocate(request):
                self._forward.append(request)
                if self._chance.random() < 0.7:
                    chunk = request.chunk(request.num_forwarded)
                    for sender in self._cluster.senders:
                        kept = sender.register(chunk.room, chunk.pages, chunk.first_position, is_last=chunk.is_last)
                        self.seen["registered" if kept else "declined"] += 1
        self._layer = 0

    def _may_forward(self, request: Request) -> bool:
        return request.holds_pages and request.num_forwarded < len(request.chunks) and not request.is_given_up

    def _allocate(self, request: Request) -> bool:
        """Take pages for the next chunk, which hold nobody's bytes yet."""
        positions = request.chunks[request.num_forwarded]
        if not positions:
            return True
        size = GEOMETRY.page_size
        wanted = ExtendRequest(
            request=str(request.serial), prefix_tokens=positions.start * size, extend_tokens=len(positions) * size
        )
        try:
            given = self._cluster.allocator.extend([wanted])
        except CapacityWaitError:
            self.seen["prefill is full"] += 1
            return False
        self.seen["evicted"] += len(given.evicted)
        self._cluster.require_unread(given.pages)
        for page in given.pages:
            self._cluster.sources[GEOMETRY.lane(page)].bytes[:, GEOMETRY.physical_page(page)] = 0
        request.pages.extend(given.pages)
        return True

    def _end_layer(self) -> None:
        if not self._forward:
            return
        for request in self._forward:
            positions = request.chunks[request.num_forwarded]
            for position in positions:
                page = request.pages[position]
                pool = self._cluster.sources[GEOMETRY.lane(page)]
                for part in range(len(cluster.PARTS)):
                    claim = Claim(serial=request.serial, position=position)
                    pool.fill(GEOMETRY.physical_page(page), self._layer * len(cluster.PARTS) + part, claim)
        if self._chance.random() < 0.9:
            for sender in self._cluster.senders:
                sender.layer_end(self._layer)
        self._layer += 1
        if self._layer == cluster.LAYERS:
            for request in self._forward:
                request.num_forwarded += 1
            self._forward.clear()

    def _send(self) -> None:
        ready = [each for each in self._requests if each.num_sent < each.num_forwarded and each.holds_pages]
        known = [each for each in ready if each.is_known or each.is_given_up]
        if not known:
            return
        request = self._chance.choice(known)
        for sender in self._cluster.senders:
            has_ended = request.is_given_up or state_of(sender, request.room) in {SendState.FAILED, None}
            try:
                sender.send(request.chunk(request.num_sent))
            except RefusedError:
                if not has_ended:
                    raise
                self.seen["refused"] += 1
        request.num_sent += 1
        self.seen["sent"] += 1

    def _run_job(self) -> None:
        if self._is_stalled("workers"):
            return
        if self._chance.random() < 0.01:
            self._chance.choice(self._cluster.jobs).crash_next()
            self.seen["a worker crashed"] += 1
        for _ in range(self._chance.randint(1, 3)):
            self._chance.choice(self._cluster.jobs).run_next()

    def _land(self) -> None:
        if self._is_stalled("writes"):
            return
        for _ in range(min(len(self._cluster.network.live), self._chance.randint(1, 3))):
            self._cluster.land(self._chance.choice([*self._cluster.network.live.values()]))

    def _fail(self) -> None:
        running = [each for each in self._cluster.network.live.values() if each.failure is None]
        if running:
            batch = self._chance.choice(running)
            is_definite = self._chance.random() < 0.4
            self._cluster.fail(batch, self._chance.randrange(len(batch.rows)), is_definite=is_definite)
            self.seen["failed" if is_definite else "in doubt"] += 1

    def _stall(self) -> None:
        """Let a worker stand still for a while, or the network."""
        self._stalled[self._chance.choice(["workers", "writes"])] = self._cluster.now + self._chance.randint(1, 7)

    def _is_stalled(self, what: str) -> bool:
        return self._cluster.now < self._stalled.get(what, 0)

    def _deliver(self) -> None:
        letters = self._cluster.letters
        for _ in range(min(len(letters), self._chance.randint(1, 3))):
            self._bring(letters[0] if self._chance.random() < 0.5 else self._chance.choice(letters), again=False)

    def _deliver_again(self) -> None:
        if self._cluster.letters:
            self._bring(self._chance.choice(self._cluster.letters), again=True)

    def _bring(self, letter: Letter, *, again: bool) -> None:
        self._cluster.deliver(letter, again=again)
        self._note(control_messages.decode(letter.data), letter.rank)

    def _note(self, message: object, rank: int) -> None:
        """Note what prefill knows of a request now."""
        if not isinstance(message, RoomOpened | RoomAborted):
            return
        for request in self._requests:
            if (request.room, request.lease.reservation.epoch) == (message.room, message.epoch):
                if isinstance(message, RoomAborted):
                    request.is_given_up = True
                else:
                    request.heard.add((rank, message.destination))

    def _tick(self) -> None:
        self._cluster.tick()

    def _finish(self) -> None:
        """Look at a request on decode, and close it if it has ended."""
        if not self._requests:
            return
        request = self._chance.choice(self._requests)
        if request in self._forward:
            return
        state = self._cluster.state(request.lease)
        if state is RoomState.SUCCESS:
            if set(self._cluster.commit(request.lease)) != {request.aux}:
                raise PageBrokenError(f"request {request.serial} got the aux of another")
        elif state is not RoomState.FAILED:
            return
        self.seen[state.value] += 1
        self._count_reasons(request)
        self._cluster.close_room(request.lease)
        self._let_go(request)
        self._requests.remove(request)

    def _count_reasons(self, request: Request) -> None:
        for sender in self._cluster.senders:
            if state_of(sender, request.room) is SendState.FAILED:
                self.seen[f"because of {sender.report(request.room).reason}"] += 1

    def _let_pages_go(self) -> None:
        """Give pages back as soon as nobody needs them, whatever is in flight."""
        done = [each for each in self._requests if each.has_sent_all and each.holds_pages]
        if done:
            self._let_go(self._chance.choice(done))

    def _let_go(self, request: Request) -> None:
        if request.holds_pages and request.pages:
            give = self._cluster.allocator.retain if self._chance.random() < 0.3 else self._cluster.allocator.release
            give(request.pages)
        request.holds_pages = False

    def _forget(self) -> None:
        room = self._chance.randrange(ROOMS)
        for sender in self._cluster.senders:
            if state_of(sender, room) in {SendState.SUCCESS, SendState.FAILED}:
                sender.forget(room)
                self.seen["forgotten"] += 1

    def _abort_prefill(self) -> None:
        if self._requests:
            request = self._chance.choice(self._requests)
            self._chance.choice(self._cluster.senders).abort(request.room)
            request.is_given_up = True
            self.seen["aborted by prefill"] += 1

    def _abort_decode(self) -> None:
        if self._requests:
            self._cluster.receiver.abort(self._chance.choice(self._requests).room)
            self.seen["aborted by decode"] += 1


def state_of(sender: PrefillSender, room: int) -> SendState | None:
    """Say how far a sender is with a room, and None where it knows none."""
    try:
        return sender.state(room)
    except RefusedError:
        return None


def run(seed: int, num_steps: int, shape: Shape) -> Counter[str]:
    """Run a history to its end, and return what happened."""
    history = History(seed, shape)
    history.run(num_steps)
    history.end()
    return history.seen
