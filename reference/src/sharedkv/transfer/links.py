"""Messages of both sides over sockets: one outbox for each rank of the other side.

Knows who listens where. Does not know rooms. A message to a rank that is gone is lost, and counted: rooms have
deadlines for that. Needs the package `pyzmq`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from sharedkv.control_messages import Message
from sharedkv.control_plane import MessageUnsentError, Outbox

_LOGGER = logging.getLogger(__name__)


class Links:
    """Outboxes by rank of the other side; `send` fits the ports of both sides. Used from one thread.

    Give it outboxes that do not wait (`waits=False`): a rank that is gone would hold up what goes to all others.
    """

    def __init__(self, outboxes: Mapping[int, Outbox] | None = None) -> None:
        self._outboxes = dict(outboxes or {})
        self.num_lost = 0

    def add(self, rank: int, outbox: Outbox) -> None:
        """Make a rank known; an outbox that was there before is closed."""
        if rank in self._outboxes:
            self._outboxes[rank].close()
        self._outboxes[rank] = outbox

    def send(self, own_rank: int, rank: int, message: Message) -> None:
        """Send a message to a rank, or lose it."""
        try:
            self._outboxes[rank].send(message)
        except (KeyError, ValueError, MessageUnsentError) as error:
            self.num_lost += 1
            _LOGGER.warning("rank %d to rank %d: %s is lost: %s", own_rank, rank, type(message).__name__, error)

    def close(self) -> None:
        """Close every outbox."""
        for outbox in self._outboxes.values():
            outbox.close()
