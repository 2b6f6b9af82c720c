"""An engine that notes when every submission was made and when it was done, and otherwise is the one that it holds.

Knows what every engine does. Does not know parts, rooms, nor who submits. It is done when somebody sees that it is: so
does whoever waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns

from sharedkv.engines.engine import Engine, Peer, Transfer
from sharedkv.engines.regions import Region
from sharedkv.page_mapping import Writes

NOT_DONE = 0


@dataclass(eq=False, slots=True)
class Submission:
    """One call of `submit`: what it had to write, when it began and returned, and when all was there."""

    num_writes: int
    num_bytes: int
    begun_ns: int
    returned_ns: int = NOT_DONE
    done_ns: int = NOT_DONE


class RecordingEngine:
    """Any engine, and its submissions since `forget_submissions`, in their order."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.submissions: list[Submission] = []

    def forget_submissions(self) -> None:
        """Begin anew."""
        self.submissions = []

    def register(self, region: Region) -> None:
        """Let the engine use a region."""
        self._engine.register(region)

    def unregister(self, region: Region) -> None:
        """Take a region back."""
        self._engine.unregister(region)

    def describe(self) -> bytes:
        """Return what a peer has to be given."""
        return self._engine.describe()

    def connect(self, description: bytes) -> Peer:
        """Make a peer known."""
        return self._engine.connect(description)

    def submit(self, peer: Peer, writes: Writes, deadline_s: float | None = None) -> Transfer:
        """Begin to write, and note it."""
        submission = Submission(
            num_writes=len(writes.lengths), num_bytes=int(writes.lengths.sum()), begun_ns=perf_counter_ns()
        )
        transfer = self._engine.submit(peer, writes, deadline_s)
        submission.returned_ns = perf_counter_ns()
        self.submissions.append(submission)
        return _RecordedTransfer(transfer, submission)

    def forget(self, peer: Peer) -> None:
        """Take a peer for gone."""
        self._engine.forget(peer)

    def close(self) -> None:
        """End."""
        self._engine.close()


class _RecordedTransfer:
    def __init__(self, transfer: Transfer, submission: Submission) -> None:
        self._transfer = transfer
        self._submission = submission

    def poll(self) -> bool:
        """Say whether it is done, and note the first time that it is."""
        is_done = self._transfer.poll()
        if is_done and self._submission.done_ns == NOT_DONE:
            self._submission.done_ns = perf_counter_ns()
        return is_done

    def wait(self) -> None:
        """Return when it is done, and note it."""
        self._transfer.wait()
        self.poll()

    def is_settled(self) -> bool:
        """Say whether nothing of it can land any more."""
        return self._transfer.is_settled()
