"""Values that an answer holds inside its items are named by a path through them."""

from typing import Any

from sharedkv_conformance.contract import DecodePlace, Flight, Reservation
from sharedkv_conformance.contract.operations import OPERATION_BY_NAME
from sharedkv_conformance.reduction import _steps
from sharedkv_conformance.trace import References

RESERVE, SCRIBBLE = OPERATION_BY_NAME["transfer.reserve"], OPERATION_BY_NAME["probe.scribble"]
FLIGHTS, LAND = OPERATION_BY_NAME["probe.flights"], OPERATION_BY_NAME["probe.land"]


def reservation(epoch: int, *slots: int) -> Reservation:
    """Reserve a slot on each rank, the highest rank first."""
    ranks = range(len(slots) - 1, -1, -1)
    places = tuple(DecodePlace(rank=rank, pages=(1,), slot=slot) for rank, slot in zip(ranks, slots, strict=True))
    return Reservation(epoch=epoch, places=places)


def flight(number: int) -> Flight:
    return Flight(
        flight=number,
        room=1,
        epoch=0,
        source=0,
        destination=0,
        part="kv",
        layers=(0,),
        pages=(1,),
        is_in_doubt=False,
    )


def scribbled(rank: int, slot: int) -> dict[str, Any]:
    return {"rank": rank, "slot": slot, "room": 1, "epoch": 7, "data": b""}


def test_equal_slots_of_two_ranks_have_two_paths() -> None:
    known = References()
    known.learn(3, RESERVE, reservation(7, 5, 5))

    slots = [known.write(SCRIBBLE, scribbled(rank, 5))["slot"] for rank in (0, 1)]

    assert slots == [{"$": [3, "places", 1, "slot"]}, {"$": [3, "places", 0, "slot"]}]


def test_slot_is_named_by_the_reservation_that_gave_it_last() -> None:
    known = References()
    known.learn(3, RESERVE, reservation(7, 5))
    known.learn(9, RESERVE, reservation(8, 5))

    assert known.write(SCRIBBLE, scribbled(0, 5))["slot"] == {"$": [9, "places", 0, "slot"]}


def test_slot_of_another_implementation_is_that_of_the_same_place() -> None:
    known, other = References(), References()
    known.learn(3, RESERVE, reservation(7, 5, 6))
    other.learn(3, RESERVE, reservation(1, 0, 2))

    assert other.resolve(known.write(SCRIBBLE, scribbled(0, 6)))["slot"] == 2


def test_number_that_a_probe_shows_again_is_named_by_the_first_look() -> None:
    known = References()
    known.learn(4, FLIGHTS, (flight(20), flight(21)))
    known.learn(6, FLIGHTS, (flight(21),))

    assert known.write(LAND, {"flight": 21}) == {"flight": {"$": [4, 1, "flight"]}}


def test_number_that_nobody_answered_is_written_as_it_is() -> None:
    assert References().write(LAND, {"flight": 99}) == {"flight": 99}


def test_look_that_a_later_call_names_is_a_step_of_its_own() -> None:
    trace: list[dict[str, Any]] = [
        {"trace": 1},
        {"call": 0, "op": "session.open"},
        {"call": 1, "op": "transfer.fingerprint"},
        {"call": 2, "op": "probe.flights"},
        {"call": 3, "op": "probe.messages"},
        {"call": 4, "op": "probe.land", "args": {"flight": {"$": [2, 0, "flight"]}}},
    ]

    assert [step.call.op for step in _steps(trace, frozenset())] == [
        "transfer.fingerprint",
        "probe.flights",
        "probe.land",
    ]


def test_probe_without_arguments_that_does_something_is_a_step() -> None:
    trace: list[dict[str, Any]] = [{"trace": 1}, {"call": 0, "op": "session.open"}, {"call": 1, "op": "probe.hold"}]

    assert [step.call.op for step in _steps(trace, frozenset())] == ["probe.hold"]
