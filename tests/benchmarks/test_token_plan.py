"""The plan made token by token beside the reference's, and beside the words of the rule."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.errors import DisagreementError
from benchmarks.planning import require_equal_plans
from benchmarks.token_plan import plan_by_token
from sharedkv.allocation import ExtendRequest
from sharedkv.batching import plan_batch
from sharedkv.geometry import Geometry

batches = st.lists(
    st.builds(
        ExtendRequest, request=st.just("x"), prefix_tokens=st.sampled_from([0, 8]), extend_tokens=st.integers(1, 90)
    ),
    min_size=1,
    max_size=4,
)


@given(cp_size=st.integers(2, 9), batch=batches)
def test_both_variants_say_the_same(cp_size: int, batch: list[ExtendRequest]) -> None:
    geometry = Geometry(cp_size=cp_size, page_size=4, pages=0)

    require_equal_plans(plan_batch(geometry, batch), plan_by_token(geometry, batch))


def test_the_worked_batch_has_its_rows() -> None:
    batch = [ExtendRequest(request="x", prefix_tokens=p, extend_tokens=e) for p, e in ((8, 13), (0, 5))]
    plan = plan_by_token(Geometry(cp_size=2, page_size=4, pages=0), batch)

    assert plan.token_of_row.tolist() == [0, 1, 2, 3, *range(12, 17), *range(4, 12), 17]
    assert (plan.last_rank.tolist(), plan.last_row.tolist()) == ([0, 1], [4, 8])


def test_a_row_at_another_place_is_a_disagreement() -> None:
    geometry = Geometry(cp_size=2, page_size=4, pages=0)
    batch = [ExtendRequest(request="x", prefix_tokens=0, extend_tokens=9)]
    right = plan_by_token(geometry, batch)
    with pytest.raises(DisagreementError) as caught:
        require_equal_plans(plan_batch(geometry, batch), replace(right, row_of_token=right.row_of_token[::-1]))

    assert caught.value.what == "row_of_token of the two variants"
