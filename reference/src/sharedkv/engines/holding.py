"""An engine whose submissions wait for somebody's word: what a network does with them, said one by one.

Knows submissions and how each is to end. Does not know bytes, nor whose they are: the engine behind it moves them.
"""

from __future__ import annotations

from sharedkv.engines.engine import Engine, Peer, Transfer, TransferFailedError
from sharedkv.engines.regions import Region
from sharedkv.page_mapping import Writes


class HeldTransfer:
    """One submission that waits; `landed` is what became of it, `failure` how it ended without its bytes."""

    def __init__(self, peer: Peer, writes: Writes, deadline_s: float | None) -> None:
        self.peer = peer
        self.writes = writes
        self.deadline_s = deadline_s
        self.landed: Transfer | None = None
        self.failure: TransferFailedError | None = None

    def poll(self) -> bool:
        """Say whether every byte is where it should be, or raise why it is not going to be."""
        if self.failure is not None:
            raise self.failure
        return self.landed is not None and self.landed.poll()

    def wait(self) -> None:
        """Return when every byte is where it should be. One that is held never is: it fails, and may still land."""
        if self.failure is None and self.landed is None:
            self.failure = TransferFailedError(self.peer.name, "is held", False)  # noqa: FBT003 - in order, for pickle
        if self.failure is not None:
            raise self.failure
        if self.landed is not None:
            self.landed.wait()

    def is_settled(self) -> bool:
        """Say whether nothing of it can land any more."""
        if self.landed is not None:
            return self.landed.is_settled()
        return self.failure is not None and self.failure.is_definite


class HoldingEngine:
    """Another engine. While `is_holding`, what is submitted is held until `land` or `fail`."""

    def __init__(self, inner: Engine) -> None:
        self.is_holding = False
        self._inner = inner

    def register(self, region: Region) -> None:
        """Let the engine read from a region, and let peers write there."""
        self._inner.register(region)

    def unregister(self, region: Region) -> None:
        """Take a region back. What is held is not looked at: its sources are the caller's to keep."""
        self._inner.unregister(region)

    def describe(self) -> bytes:
        """Return what a peer has to be given to write here."""
        return self._inner.describe()

    def connect(self, description: bytes) -> Peer:
        """Make a peer known."""
        return self._inner.connect(description)

    def submit(self, peer: Peer, writes: Writes, deadline_s: float | None = None) -> Transfer:
        """Begin to write, or hold it."""
        if not self.is_holding:
            return self._inner.submit(peer, writes, deadline_s)
        return HeldTransfer(peer, writes, deadline_s)

    def land(self, transfer: Transfer) -> None:
        """Write all of a held transfer, each time, from what its sources hold now; one that failed stays so.

        Others are let be.
        """
        if isinstance(transfer, HeldTransfer):
            transfer.landed = self._inner.submit(transfer.peer, transfer.writes, transfer.deadline_s)
            transfer.landed.wait()

    def fail(self, transfer: Transfer, first: Writes | None, *, is_definite: bool) -> None:
        """Write a first part of a held transfer, or nothing, and let it fail. Unless definite, it may still land."""
        if not isinstance(transfer, HeldTransfer) or transfer.landed is not None:
            return
        if first is not None:
            self._inner.submit(transfer.peer, first, transfer.deadline_s).wait()
        transfer.failure = TransferFailedError(transfer.peer.name, "was told to fail", is_definite)

    def forget(self, peer: Peer) -> None:
        """Take a peer for gone."""
        self._inner.forget(peer)

    def close(self) -> None:
        """End."""
        self._inner.close()
