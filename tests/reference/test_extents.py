"""Free runs against a set of positions, and the bitmap against a set of integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.bitmap import NO_MEMBER, SparseBitmap
from sharedkv.cost import CostMeter
from sharedkv.errors import OutOfExtentsError
from sharedkv.extents import ExtentIndex

CAPACITY = 40


def runs_of(free: set[int]) -> list[range]:
    starts = sorted(position for position in free if position - 1 not in free)
    ends = sorted(position + 1 for position in free if position + 1 not in free)
    return [range(start, end) for start, end in zip(starts, ends, strict=True)]


def index_with(free: set[int]) -> ExtentIndex:
    index = ExtentIndex(CAPACITY, CostMeter())
    index.take(CAPACITY)
    for position in free:
        index.give(range(position, position + 1))
    return index


def fewest_lengths(free: set[int], count: int) -> list[int]:
    """Say how long the runs are that serve a count: one that fits best, after the largest while none is enough."""
    lengths = sorted(map(len, runs_of(free)))
    taken = []
    while count:
        length = min((length for length in lengths if length >= count), default=lengths[-1])
        lengths.remove(length)
        taken.append(min(length, count))
        count -= taken[-1]
    return sorted(taken)


free_sets = st.sets(st.integers(1, CAPACITY), min_size=1)


@given(free=free_sets)
def test_given_positions_join_into_maximal_runs(free: set[int]) -> None:
    index = index_with(free)

    assert index.runs() == runs_of(free)
    assert index.invariants() == []


@given(free=free_sets, data=st.data())
def test_taken_runs_are_the_fewest_and_fit_best(free: set[int], data: st.DataObject) -> None:
    index = index_with(free)
    count = data.draw(st.integers(1, len(free)))
    taken = index.take(count)

    assert sorted(map(len, taken)) == fewest_lengths(free, count)
    assert [run.start for run in taken] == sorted(run.start for run in taken)


@given(free=free_sets, data=st.data())
def test_one_run_comes_from_the_smallest_that_is_long_enough(free: set[int], data: st.DataObject) -> None:
    index = index_with(free)
    count = data.draw(st.integers(1, max(map(len, runs_of(free)))))
    (taken,) = index.take(count)
    (source,) = (run for run in runs_of(free) if taken.start in run)

    assert len(source) == min(len(run) for run in runs_of(free) if len(run) >= count)


@given(free=free_sets, data=st.data())
def test_taken_positions_are_no_longer_free(free: set[int], data: st.DataObject) -> None:
    index = index_with(free)
    count = data.draw(st.integers(1, len(free)))
    taken = {position for run in index.take(count) for position in run}

    assert taken <= free
    assert len(taken) == count
    assert index.runs() == runs_of(free - taken)
    assert index.num_free == len(free) - count
    assert index.invariants() == []


@given(free=st.sets(st.integers(1, CAPACITY), max_size=CAPACITY - 1), data=st.data())
def test_carve_undoes_give(free: set[int], data: st.DataObject) -> None:
    index = index_with(free)
    given_back = data.draw(st.sampled_from(runs_of(set(range(1, CAPACITY + 1)) - free)))
    start = data.draw(st.integers(given_back.start, given_back.stop - 1))
    given_back = range(start, data.draw(st.integers(start + 1, given_back.stop)))
    index.carve(index.give(given_back), given_back)

    assert index.runs() == runs_of(free)
    assert index.num_free == len(free)
    assert index.invariants() == []


@given(free=free_sets)
def test_largest_is_the_longest_run(free: set[int]) -> None:
    assert index_with(free).largest() == max(map(len, runs_of(free)))


def test_long_space_finds_a_run_across_bitmap_levels() -> None:
    index = ExtentIndex(1_000_000, CostMeter())
    index.take(1_000_000)
    index.give(range(10, 15))
    index.give(range(100, 500_100))

    assert index.take(6) == [range(100, 106)]
    assert index.take(5) == [range(10, 15)]
    assert index.invariants() == []


@pytest.mark.parametrize("count", [-1, 0, 5])
def test_more_than_is_free_is_refused_and_changes_nothing(count: int) -> None:
    index = ExtentIndex(4, CostMeter())
    with pytest.raises(OutOfExtentsError) as caught:
        index.take(count)

    assert (caught.value.wanted, caught.value.num_free) == (count, 4)
    assert index.runs() == [range(1, 5)]


def test_empty_space_has_no_run() -> None:
    index = ExtentIndex(0, CostMeter())

    assert (index.num_free, index.largest(), index.runs(), index.invariants()) == (0, 0, [], [])


def test_broken_table_is_named() -> None:
    index = ExtentIndex(8, CostMeter())
    index._start_of[9] = 2

    assert index.invariants() == ["the table by end differs from the table by start"]


members = st.sets(st.integers(0, 5000))


def bitmap_of(integers: set[int]) -> SparseBitmap:
    bitmap = SparseBitmap(5000, CostMeter())
    for member in integers:
        bitmap.add(member)
    return bitmap


@given(integers=members, lowest=st.integers(0, 5000))
def test_successor_is_the_smallest_member_not_below(integers: set[int], lowest: int) -> None:
    expected = min((member for member in integers if member >= lowest), default=NO_MEMBER)

    assert bitmap_of(integers).successor(lowest) == expected


@given(integers=members, data=st.data())
def test_bitmap_keeps_what_is_left_after_removals(integers: set[int], data: st.DataObject) -> None:
    bitmap = bitmap_of(integers)
    removed = data.draw(st.sets(st.sampled_from(sorted(integers)))) if integers else set()
    for member in removed:
        bitmap.remove(member)

    assert bitmap.members() == sorted(integers - removed)
    assert bitmap.largest() == max(integers - removed, default=NO_MEMBER)
    assert bitmap.invariants() == []


@given(integers=members, old=st.integers(0, 5000), new=st.integers(0, 5000))
def test_move_is_a_removal_and_an_addition(integers: set[int], old: int, new: int) -> None:
    others = integers - {old, new}
    bitmap = bitmap_of(others | {old})
    if old != new:
        bitmap.move(old, new)

    assert bitmap.members() == sorted(others | {new})
    assert bitmap.invariants() == []
