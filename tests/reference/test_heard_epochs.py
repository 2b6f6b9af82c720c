"""Old epochs stay old and dead ones dead, and what is kept of them does not grow."""

from __future__ import annotations

from random import Random

import pytest

from sharedkv.transfer.heard_epochs import HeardEpochs

MOST_KEPT = 8


@pytest.fixture
def epochs() -> HeardEpochs:
    return HeardEpochs(MOST_KEPT)


def test_a_room_has_only_later_epochs(epochs: HeardEpochs) -> None:
    epochs.note(1, 5, 0)

    assert [epochs.is_new(1, epoch, 0) for epoch in (4, 5, 6)] == [False, False, True]
    assert epochs.is_new(2, 4, 0)


def test_rooms_that_are_not_kept_any_more_have_no_old_epochs_either(epochs: HeardEpochs) -> None:
    for room in range(1000):
        epochs.note(room, room, 0)
        epochs.note(room, room, 1)

        assert len(epochs) <= MOST_KEPT
        assert epochs.is_new(room + 1, room + 1, 0)
    assert not any(epochs.is_new(room, room, destination) for room in range(1000) for destination in (0, 1))
    assert epochs.is_new(3, 1000, 0)


def test_decode_ranks_that_never_named_a_room_are_not_concerned(epochs: HeardEpochs) -> None:
    for room in range(1000):
        epochs.note(room, 5000 + room, 0)

    assert epochs.is_new(2000, 3, 1)
    assert not epochs.is_new(2000, 3, 0)


def test_an_epoch_that_was_given_up_is_dead_until_a_later_one(epochs: HeardEpochs) -> None:
    epochs.kill(1, 5, 0)

    assert epochs.dead(1, 5) is not None
    assert epochs.dead(1, 4) is None
    epochs.note(1, 6, 0)

    assert epochs.dead(1, 5) is None
    epochs.kill(1, 6, 0)

    assert epochs.dead(1, 6) is None


def test_dead_epochs_that_are_not_kept_any_more_are_old(epochs: HeardEpochs) -> None:
    for epoch in range(1000):
        epochs.kill(epoch % 50, epoch, epoch % 2)

        assert len(epochs) <= 2 * MOST_KEPT
    for epoch in range(1000):
        room = epoch % 50

        assert epochs.dead(room, epoch) is not None or not epochs.is_new(room, epoch, epoch % 2)


def test_a_history_is_judged_as_one_that_is_kept_whole() -> None:
    chance = Random(7)  # noqa: S311 - histories, not secrets
    bounded, whole = HeardEpochs(MOST_KEPT), HeardEpochs(10**6)
    named: list[tuple[int, int, int]] = []
    for epoch in range(2000):
        room = chance.randrange(12)
        if chance.random() < 0.2:
            bounded.kill(room, epoch, 0)
            whole.kill(room, epoch, 0)
        elif whole.is_new(room, epoch, 0) and bounded.is_new(room, epoch, 0):
            bounded.note(room, epoch, 0)
            whole.note(room, epoch, 0)
        named.append((room, epoch, 0))
        again = chance.choice(named)
        is_waited_for = whole.is_new(*again) and whole.dead(*again[:2]) is None

        assert (bounded.is_new(*again) and bounded.dead(*again[:2]) is None) is is_waited_for
