"""The engine over Mooncake's Transfer Engine: TCP, or RDMA where the machines have it.

Knows the calls of `mooncake.engine.TransferEngine` and what their answers mean. Does not know queues and deadlines.
Needs the package `mooncake-transfer-engine-non-cuda` (or one of its siblings) and libibverbs, when an engine is made.

    call                         answer                  what it means here
    batch_transfer_async_write   above 0                 a batch; anything else, or an exception: failed, unknown
    get_batch_transfer_status    0, when all is done     anything else, or an exception: failed, unknown
                                                         it blocks, for 30 seconds where a peer is stopped

A failure is never definite: requests that the library has queued go on after it. The number of a batch is an address
inside the library, which is free once the batch was asked for: a second question would end the process. Here the
thread that gets the number asks once, and nobody else ever sees it. The calls that put a transfer on a CUDA stream end
the process when it fails; they are not used.

The library listens on all addresses of the machine, whatever host it is given, on a port of its own choice.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any, Protocol

from sharedkv.engines.carrier import BatchFailedError
from sharedkv.engines.engine import DescriptionRefusedError, EngineUnavailableError, RegionRefusedError, Timing
from sharedkv.engines.engine_of import CarriedEngine
from sharedkv.engines.regions import Region
from sharedkv.page_mapping import Writes

OK = 0
_MOST_REQUESTS = 1024
_USED = ("batch_transfer_async_write", "get_batch_transfer_status", "get_rpc_port", "register_memory")
_REMEDY = "install the extra `mooncake`, and libibverbs (Debian: libibverbs1)"


@dataclass(frozen=True, kw_only=True)
class MooncakeOptions:
    """How peers reach this machine, by which protocol (`tcp` or `rdma`), and over which devices of RDMA."""

    host: str = "127.0.0.1"
    protocol: str = "tcp"
    devices: str = ""


class MooncakeEngine(Protocol):
    """What is used of the library."""

    def initialize(self, host: str, metadata: str, protocol: str, devices: str, /) -> int:
        """Start; 0 or a negative code."""

    def get_rpc_port(self) -> int:
        """Return the port that peers ask."""

    def register_memory(self, address: int, num_bytes: int, /) -> int:
        """Register a region; 0 or a negative code."""

    def unregister_memory(self, address: int, /) -> int:
        """Take a region back; 0 or a negative code."""

    def batch_transfer_async_write(
        self, peer: str, sources: list[int], destinations: list[int], lengths: list[int], /
    ) -> int:
        """Begin writes; the number of the batch, or what is not above 0."""

    def get_batch_transfer_status(self, numbers: list[int], /) -> int:
        """Wait for batches and free their numbers; 0 where all went well."""


@dataclass(eq=False, slots=True)
class _Ticket:
    """A batch, which the thread of its peer begins and waits for."""

    batch: Writes
    failure: str | None = None
    has_ended: bool = False

    def is_done(self) -> bool:
        if self.has_ended and self.failure is not None:
            raise BatchFailedError(self.failure, is_definite=False)
        return self.has_ended

    def end(self, failure: str | None) -> None:
        self.failure = failure
        self.has_ended = True


class _PeerThread:
    """Begins the batches to one peer and waits for each in turn, on one thread that lives while there are any.

    One thread, since the library spins while it waits; not a daemon, since a thread that comes back out of C++ after
    the end of the interpreter aborts the process.
    """

    def __init__(self, engine: MooncakeEngine, peer: str) -> None:
        self._engine = engine
        self._peer = peer
        self._queue: deque[_Ticket] = deque()
        self._is_running = False
        self._lock = Lock()

    def put(self, ticket: _Ticket) -> None:
        """Hand in a batch."""
        with self._lock:
            self._queue.append(ticket)
            if not self._is_running:
                self._is_running = True
                Thread(target=self._run, name="sharedkv-mooncake").start()

    def drop(self) -> None:
        """Begin nothing more."""
        with self._lock:
            self._queue.clear()

    def _run(self) -> None:
        while tickets := self._taken():
            begun = [(ticket, self._begun(ticket)) for ticket in tickets]
            for ticket, number in begun:
                if number is not None:
                    ticket.end(self._failure_of(number))

    def _taken(self) -> list[_Ticket]:
        with self._lock:
            tickets = list(self._queue)
            self._queue.clear()
            self._is_running = bool(tickets)
        return tickets

    def _begun(self, ticket: _Ticket) -> int | None:
        """Return the number of a batch that has begun; None where it has failed."""
        batch = ticket.batch
        columns = (batch.sources.tolist(), batch.destinations.tolist(), batch.lengths.tolist())
        try:
            number = self._engine.batch_transfer_async_write(self._peer, *columns)
        except Exception as error:  # noqa: BLE001 - whatever the library raises, the batch has failed
            ticket.end(f"batch_transfer_async_write: {error!r}")
            return None
        if number > 0:
            return number
        ticket.end(f"batch_transfer_async_write said {number}, wanted a number above 0")
        return None

    def _failure_of(self, number: int) -> str | None:
        """Wait for a batch, whose number is of no use after that, and return what went wrong."""
        try:
            code = self._engine.get_batch_transfer_status([number])
        except Exception as error:  # noqa: BLE001 - whatever the library raises, the batch has failed
            return f"get_batch_transfer_status: {error!r}"
        return None if code == OK else f"get_batch_transfer_status said {code}, wanted {OK}"


class _MooncakeCarrier:
    kind = "mooncake"
    most_requests = _MOST_REQUESTS

    def __init__(self, engine: MooncakeEngine, options: MooncakeOptions) -> None:
        self._engine = engine
        self._host = options.host
        code = engine.initialize(options.host, "P2PHANDSHAKE", options.protocol, options.devices)
        if code != OK:
            raise EngineUnavailableError(
                self.kind, f"initialize said {code} for {options}", "name another host or device"
            )
        self._threads: dict[str, _PeerThread] = {}

    def register(self, region: Region) -> None:
        code = self._engine.register_memory(region.address, region.num_bytes)
        if code != OK:
            raise RegionRefusedError(region, f"register_memory said {code}")

    def unregister(self, region: Region) -> None:
        code = self._engine.unregister_memory(region.address)
        if code != OK:
            raise RegionRefusedError(region, f"unregister_memory said {code}")

    def contact(self) -> bytes:
        return json.dumps({"host": self._host, "port": self._engine.get_rpc_port()}).encode()

    def meet(self, contact: bytes) -> str:
        try:
            parsed = json.loads(contact)
        except ValueError as error:
            raise DescriptionRefusedError(f"the contact is not JSON: {error}") from error
        match parsed:
            case {"host": str(host), "port": int(port)} if host and 0 < port < 1 << 16:
                return f"{host}:{port}"
        raise DescriptionRefusedError(f"no host and port: {parsed!r}")

    def post(self, peer: str, batch: Writes) -> _Ticket:
        ticket = _Ticket(batch)
        self._threads.setdefault(peer, _PeerThread(self._engine, peer)).put(ticket)
        return ticket

    def part(self, peer: str) -> None:
        """Begin nothing more; the library keeps what it knows of a peer, and asks anew where that does not fit."""
        thread = self._threads.pop(peer, None)
        if thread is not None:
            thread.drop()

    def close(self) -> None:
        """Drop the library; threads that wait for a batch keep it until their call returns."""
        for peer in list(self._threads):
            self.part(peer)
        del self._engine


def mooncake_engine(options: MooncakeOptions | None = None, timing: Timing | None = None) -> CarriedEngine:
    """Make an engine.

    Raises:
        EngineUnavailableError: Mooncake or libibverbs is not installed, is too old, or does not start.

    """
    return CarriedEngine(_MooncakeCarrier(_library()(), options or MooncakeOptions()), timing or Timing())


def _library() -> Any:  # noqa: ANN401 - no types
    try:
        from mooncake.engine import TransferEngine  # noqa: PLC0415 - an extra, which needs libibverbs
    except ImportError as error:
        raise EngineUnavailableError("mooncake", str(error), _REMEDY) from error
    missing = [name for name in _USED if not hasattr(TransferEngine, name)]
    if missing:
        raise EngineUnavailableError("mooncake", f"the library has no {', '.join(missing)}", "install 0.3.13 or newer")
    return TransferEngine
