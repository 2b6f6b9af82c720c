"""Free runs under histories of takes, gives and carves: the open run is one of them, and nothing else knows it."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from sharedkv.cost import CostMeter
from sharedkv.extents import ExtentIndex

CAPACITY = 30


@dataclass(frozen=True, kw_only=True)
class Work:
    """One change, drawn before what is free is known: the numbers are taken modulo what is there."""

    kind: str
    place: int
    count: int


works = st.lists(
    st.builds(
        Work, kind=st.sampled_from(["take", "give", "undo"]), place=st.integers(0, 99), count=st.integers(1, CAPACITY)
    ),
    max_size=25,
)


def runs_of(free: set[int]) -> list[range]:
    starts = sorted(position for position in free if position - 1 not in free)
    ends = sorted(position + 1 for position in free if position + 1 not in free)
    return [range(start, end) for start, end in zip(starts, ends, strict=True)]


def part_of_what_is_taken(free: set[int], work: Work) -> range:
    taken = runs_of(set(range(1, CAPACITY + 1)) - free)
    run = taken[work.place % len(taken)]
    start = run.start + work.count % len(run)
    return range(start, min(run.stop, start + 1 + work.place % 4))


class Both:
    """An index and the set of what should be free."""

    def __init__(self) -> None:
        self.index = ExtentIndex(CAPACITY, CostMeter())
        self.free = set(range(1, CAPACITY + 1))

    def take(self, work: Work) -> None:
        if work.count <= len(self.free):
            lengths = [len(run) for run in runs_of(self.free) if len(run) >= work.count]
            runs = self.index.take(work.count)
            source = next(run for run in runs_of(self.free) if runs[0].start in run)

            assert not lengths or (len(runs), len(source)) == (1, min(lengths))

            self.free -= {position for run in runs for position in run}

    def give(self, work: Work) -> None:
        if len(self.free) < CAPACITY:
            run = part_of_what_is_taken(self.free, work)
            self.free |= set(run)
            joined_start = self.index.give(run)

            assert joined_start == next(joined.start for joined in runs_of(self.free) if run.start in joined)

    def undo(self, work: Work) -> None:
        if len(self.free) < CAPACITY:
            run = part_of_what_is_taken(self.free, work)
            self.index.carve(self.index.give(run), run)

    def do(self, work: Work) -> None:
        {"take": self.take, "give": self.give, "undo": self.undo}[work.kind](work)


@given(history=works)
def test_any_history_leaves_the_runs_of_what_is_free(history: list[Work]) -> None:
    both = Both()
    for work in history:
        both.do(work)

        assert both.index.runs() == runs_of(both.free)
        assert both.index.num_free == len(both.free)
        assert both.index.largest() == max(map(len, runs_of(both.free)), default=0)
        assert both.index.invariants() == []


def test_giving_back_what_was_cut_restores_the_open_run() -> None:
    index = ExtentIndex(CAPACITY, CostMeter())
    (first,) = index.take(3)
    (second,) = index.take(2)
    index.give(range(first.start, second.stop))

    assert index.runs() == [range(1, CAPACITY + 1)]
    assert index._length_at == {}


def test_a_smaller_listed_run_goes_before_the_open_one() -> None:
    index = ExtentIndex(CAPACITY, CostMeter())
    index.take(10)
    index.give(range(2, 6))

    assert index.take(3) == [range(2, 5)]
    assert index.runs() == [range(5, 6), range(11, CAPACITY + 1)]


def test_the_open_run_goes_before_an_equal_listed_one() -> None:
    index = ExtentIndex(CAPACITY, CostMeter())
    index.take(CAPACITY - 5)
    index.give(range(2, 7))

    assert index.take(4) == [range(CAPACITY - 4, CAPACITY)]
