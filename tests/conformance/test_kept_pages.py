"""Tests of pages that the tree of the model has: nobody else gives them up, nor does a snapshot."""

from __future__ import annotations

import pytest

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.implementation import ModelSession, model

ALL = (3, 3)


@pytest.fixture
def session() -> ModelSession:
    opened = model().open(OpenConfig(cp_size=2, page_size=2, pages=6, host_pages=3))
    batch = (ExtendRequest(request="r", prefix_tokens=0, extend_tokens=4),)
    opened.host_tier.insert("r", (1, 1, 2, 2), opened.allocation.extend(batch).pages)
    opened.host_tier.poll()
    return opened


def test_a_snapshot_at_which_the_tree_had_other_pages_is_refused(session: ModelSession) -> None:
    snapshot = session.allocation.snapshot()
    session.host_tier.evict(ALL)
    before = session.allocation.page_sets()
    with pytest.raises(Rejected) as caught:
        session.allocation.restore(snapshot)

    assert caught.value.reason is Reason.PAGE_IN_TREE
    assert session.allocation.page_sets() == before


def test_a_snapshot_at_which_the_tree_had_the_same_pages_gives_back_what_was_taken_since(session: ModelSession) -> None:
    before = session.allocation.page_sets()
    snapshot = session.allocation.snapshot()
    session.allocation.extend((ExtendRequest(request="s", prefix_tokens=0, extend_tokens=2),))
    session.allocation.restore(snapshot)

    assert session.allocation.page_sets() == before


def test_a_reset_leaves_nothing_that_a_caller_could_not_take(session: ModelSession) -> None:
    session.host_tier.reset()

    assert session.allocation.lanes().free == ALL
    assert session.host_tier.statistics().free == ALL
