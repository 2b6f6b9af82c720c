"""Who is called when; never how long it takes."""

from benchmarks.timing import Timing, in_turn, one_by_one


def test_operations_of_a_round_follow_one_another() -> None:
    called: list[str] = []
    timings = one_by_one({"a": lambda: called.append("a"), "b": lambda: called.append("b")}, rounds=3)

    assert called == ["a", "b"] * 3
    assert [len(timing.calls_ns) for timing in timings.values()] == [3, 3]


def test_variants_take_turns_and_the_first_block_is_not_counted() -> None:
    called: list[str] = []
    variants = {name: {"call": lambda name=name: called.append(name)} for name in ("a", "b")}
    timings = in_turn(variants, blocks=2, rounds=3)

    assert called == ["a", "a", "a", "b", "b", "b"] * 3
    assert [len(timings[name]["call"].calls_ns) for name in variants] == [6, 6]


def test_minimum_and_median_are_in_microseconds() -> None:
    timing = Timing(calls_ns=(3_000, 1_000, 2_000, 9_000))

    assert (timing.minimum_us, timing.median_us) == (1.0, 2.5)


def test_times_of_a_round_add_up() -> None:
    assert (Timing(calls_ns=(1, 2)) + Timing(calls_ns=(10, 20))).calls_ns == (11, 22)


def test_the_first_call_of_each_block_is_told_apart() -> None:
    assert Timing(calls_ns=(9, 1, 1, 8, 1, 1)).first_of_each(3).calls_ns == (9, 8)


def test_percentile_is_the_time_that_so_many_of_a_hundred_stay_below() -> None:
    timing = Timing(calls_ns=tuple(range(200_000, 0, -1_000)))

    assert (timing.percentile_us(50), timing.percentile_us(99)) == (101.0, 199.0)
