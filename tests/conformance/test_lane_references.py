"""Host pages of a trace are named by the answer and the lane that they came from."""

from sharedkv_conformance.contract import HostAllocation
from sharedkv_conformance.contract.operations import OPERATION_BY_NAME
from sharedkv_conformance.trace import References

ALLOCATE, RELEASE = OPERATION_BY_NAME["host_tier.allocate"], OPERATION_BY_NAME["host_tier.release"]


def references() -> References:
    """Remember two allocations that gave page 5 of lane 0 and page 5 of lane 1."""
    known = References()
    known.learn(3, ALLOCATE, HostAllocation(pages=((4, 5), ())))
    known.learn(7, ALLOCATE, HostAllocation(pages=((), (5,))))
    return known


def test_equal_numbers_of_two_lanes_have_two_paths() -> None:
    written = [references().write(RELEASE, {"lane": lane, "pages": (5,)})["pages"] for lane in (0, 1)]

    assert written == [[{"$": [3, "pages", 0, 1]}], [{"$": [7, "pages", 1, 0]}]]


def test_page_that_no_answer_gave_on_its_lane_is_written_as_it_is() -> None:
    assert references().write(RELEASE, {"lane": 1, "pages": (4, 9)}) == {"lane": 1, "pages": [4, 9]}


def test_paths_lead_to_the_pages_of_another_implementation() -> None:
    written = references().write(RELEASE, {"lane": 1, "pages": (5,)})
    other = References()
    other.learn(7, ALLOCATE, HostAllocation(pages=((), (0,))))

    assert other.resolve(written) == {"lane": 1, "pages": [0]}
