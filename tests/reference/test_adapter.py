"""The reference behind the contract: words, values and errors cross unchanged."""

from typing import Any

import pytest

from sharedkv.errors import Refusal
from sharedkv_adapter import cpu
from sharedkv_adapter.implementation import DATA_PLANE_FEATURES
from sharedkv_adapter.session import ReferenceSession, has_data_plane
from sharedkv_conformance.contract import (
    CapacityWait,
    ExtendRequest,
    FreeRoom,
    Implementation,
    OpenConfig,
    Reason,
    Rejected,
)
from sharedkv_conformance.contract.operations import OPERATIONS


def opened(pages: int = 16) -> ReferenceSession:
    return cpu().open(OpenConfig(cp_size=2, page_size=4, pages=pages, free_room=FreeRoom(target=1, min_chunk=2)))


def request(prefix: int, extend: int) -> ExtendRequest:
    return ExtendRequest(request="r", prefix_tokens=prefix, extend_tokens=extend)


def test_adapter_has_the_shape_of_the_contract() -> None:
    implementation: Implementation = cpu()
    session: Any = implementation.open(OpenConfig(cp_size=2, page_size=4, pages=8))

    assert session.allocation.lanes().capacity == (4, 4)


def test_refusals_are_the_reasons_of_the_contract() -> None:
    assert {refusal.value for refusal in Refusal} == {reason.value for reason in Reason}


def test_worked_batch_crosses_as_tuples_of_ints() -> None:
    given = opened().allocation.extend([request(8, 13), request(0, 5)])

    assert given.owners == (0, 1, 1, 0, 0, 1)
    assert given.pages == (1, 2, 4, 3, 5, 6)
    assert given.locations == (*range(4, 12), *range(16, 20), 12, *range(20, 25))
    assert {type(value) for value in (*given.owners, *given.pages, *given.locations)} == {int}


def test_page_sets_cross_as_ints() -> None:
    pages = opened(pages=4).probe.pages()

    assert pages.free == ((1, 3), (2, 4))
    assert {type(page) for lane in pages.free for page in lane} == {int}


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (OpenConfig(cp_size=1, page_size=4, pages=8), Reason.CP_SIZE_TOO_SMALL),
        (OpenConfig(cp_size=2, page_size=1, pages=8), Reason.PAGE_SIZE_TOO_SMALL),
        (OpenConfig(cp_size=2, page_size=4, pages=8, split="round_robin"), Reason.SPLIT_NOT_IN_SEQUENCE),
    ],
)
def test_geometry_without_owner_lanes_is_not_opened(config: OpenConfig, reason: Reason) -> None:
    with pytest.raises(Rejected) as caught:
        cpu().open(config)

    assert caught.value.reason is reason


def test_shortage_crosses_as_capacity_wait() -> None:
    with pytest.raises(CapacityWait) as caught:
        opened(pages=4).allocation.extend([request(0, 20)])

    assert (caught.value.required, caught.value.available, caught.value.deficit) == ((3, 2), (2, 2), (1, 0))


def test_refused_batches_are_events() -> None:
    session = opened()
    for call in (session.allocation.extend, session.allocation.admit, session.allocation.make_room):
        with pytest.raises(Rejected):
            call([request(0, 4), request(2, 4)])

    assert [(event.kind, event.reason) for event in session.probe.events()] == [
        ("rejected", "prefix_not_page_aligned")
    ] * 3


def test_probes_do_not_move_the_cost() -> None:
    session = opened()
    session.allocation.extend([request(0, 13)])
    cost = session.probe.cost()
    session.probe.pages()
    session.probe.events()

    assert session.probe.cost() == cost > 0


def test_unknown_snapshot_is_rejected() -> None:
    with pytest.raises(Rejected) as caught:
        opened().allocation.restore(7)

    assert caught.value.reason is Reason.SNAPSHOT_UNKNOWN


def test_free_room_policy_reaches_the_allocator() -> None:
    session = opened(pages=4)
    session.allocation.retain(session.allocation.extend([request(0, 16)]).pages)

    assert sorted(session.allocation.make_room([request(0, 4)]).evicted) == [1, 2, 3, 4]


def test_flat_allocation_is_rejected() -> None:
    with pytest.raises(Rejected) as caught:
        opened().allocation.allocate_flat(1)

    assert caught.value.reason is Reason.ALLOCATION_WITHOUT_OWNERS


def test_sessions_share_nothing() -> None:
    implementation = cpu()
    config = OpenConfig(cp_size=2, page_size=4, pages=4)
    first, second = implementation.open(config), implementation.open(config)
    first.allocation.extend([request(0, 16)])

    assert second.allocation.lanes().in_use == (0, 0)


def test_description_claims_what_the_session_answers() -> None:
    description = cpu().describe()
    session = opened()

    assert description.name == "sharedkv"
    assert description.version
    for operation in OPERATIONS:
        if has_data_plane() or operation.feature not in DATA_PLANE_FEATURES:
            assert operation.feature in description.features
            assert hasattr(getattr(session, operation.facet), operation.method)
