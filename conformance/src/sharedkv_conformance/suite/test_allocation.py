"""The checks of `allocation`: owners, lanes, locations and paths of an extend batch."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.allocation import (
    a_batch_without_owners_is_not_served,
    a_refusal_is_reported,
    a_single_request_gets_its_own_split,
    a_supported_batch_is_not_refused,
    an_unsupported_batch_is_refused_by_name,
    equal_calls_have_equal_answers_on_every_rank,
    locations_follow_the_tokens,
    multi_batch_is_no_reason_to_fall_back,
    new_pages_lie_on_the_expected_lane,
    no_batch_goes_through_legacy_allocation,
    owners_are_read_from_the_page_ids,
    owners_come_from_each_request_alone,
    pages_keep_their_order,
    requests_keep_their_order,
    the_dummy_page_is_never_given,
    there_is_one_owner_and_one_page_for_each_new_page,
)
from sharedkv_conformance.laws.allocation_accounting import a_refused_batch_touches_no_page
from sharedkv_conformance.marks import check
from sharedkv_conformance.model.allocation_state import batch_of

WORKED = OpenConfig(cp_size=2, page_size=4, pages=16)


@check(
    "allocation.request-local",
    "RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S1",
    witnesses=("two_requests", "partial_tail"),
)
def test_owners_come_from_each_request_alone(histories: Histories) -> None:
    """A batch planned as one sequence has the right token count and the wrong ranks."""
    histories.run("allocation", laws=[owners_come_from_each_request_alone])


@check(
    "allocation.worked-batch",
    "RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S1",
    "RFC-0001:C-OWNER-LANE-INVARIANT#S1",
    witnesses=("two_requests",),
)
def test_the_worked_batch_gets_its_lanes(histories: Histories) -> None:
    """Two requests on a fresh pool of two lanes get owners 0,1,1,0 and 0,1, and pages of those lanes."""
    laws = [owners_come_from_each_request_alone, new_pages_lie_on_the_expected_lane]
    with histories.written("allocation", WORKED, laws=laws) as call:
        call("allocation.extend", batch=batch_of((8, 13), (0, 5)))


@check(
    "allocation.unplannable-batch",
    "RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S2",
    witnesses=("unplannable_batch", "supported_batch", "question_about_an_unplannable_batch"),
    cases=("KV-35",),
)
def test_a_batch_without_owners_touches_nothing(histories: Histories) -> None:
    """An unaligned request that is served writes into a page whose owner is another rank."""
    histories.run("allocation", laws=[a_batch_without_owners_is_not_served, a_refused_batch_touches_no_page])


@check(
    "allocation.request-order",
    "RFC-0001:C-FLATTENED-OWNER-ORDER#S1",
    witnesses=("two_requests", "lanes_out_of_order"),
)
def test_requests_keep_their_order(histories: Histories) -> None:
    """A reordered batch looks right page by page and gives each request another's tokens."""
    histories.run("allocation", laws=[requests_keep_their_order])


@check(
    "allocation.page-order",
    "RFC-0001:C-FLATTENED-OWNER-ORDER#S2",
    witnesses=("two_requests", "lanes_out_of_order"),
)
def test_pages_keep_their_order(histories: Histories) -> None:
    """Pages sorted by lane have right owners one by one and hold the wrong tokens."""
    histories.run("allocation", laws=[pages_keep_their_order])


@check(
    "allocation.page-count",
    "RFC-0001:C-FLATTENED-OWNER-ORDER#S3",
    witnesses=("two_requests", "partial_tail"),
    cases=("KV-35", "KV-80"),
)
def test_each_new_page_has_one_owner(histories: Histories) -> None:
    """A list that is too short leaves the tail of the batch without a page."""
    histories.run("allocation", laws=[there_is_one_owner_and_one_page_for_each_new_page])


@check(
    "allocation.owner-lane",
    "RFC-0001:C-OWNER-LANE-INVARIANT#S1",
    witnesses=("two_requests", "lane_wrap", "reuse_after_release"),
    cases=("KV-47",),
)
def test_new_pages_lie_on_the_expected_lane(histories: Histories) -> None:
    """Whatever happened before, each new page has the lane that its position asks for."""
    histories.run("allocation", laws=[new_pages_lie_on_the_expected_lane])


@check(
    "allocation.dummy-page", "RFC-0001:C-OWNER-LANE-INVARIANT#S2", witnesses=("pool_exhausted", "reuse_after_release")
)
def test_the_dummy_page_is_never_given(histories: Histories) -> None:
    """Padded rows of every request are written to page 0; its owner would read them."""
    histories.run("allocation", laws=[the_dummy_page_is_never_given])


@check(
    "allocation.locations",
    "RFC-0001:C-OWNER-LANE-INVARIANT#S3",
    witnesses=("two_requests", "partial_tail"),
    cases=("KV-35", "KV-40"),
)
def test_locations_follow_the_tokens(histories: Histories) -> None:
    """A tail that is counted as a full page shifts every token behind it."""
    histories.run("allocation", laws=[locations_follow_the_tokens])


@check("allocation.supported-batch", "RFC-0001:C-NO-LEGACY-FALLBACK#S1", witnesses=("supported_batch", "two_requests"))
def test_a_supported_batch_is_not_refused(histories: Histories) -> None:
    """An engine that refuses batches of several requests serves them one by one, or elsewhere."""
    histories.run("allocation", laws=[a_supported_batch_is_not_refused])


@check(
    "allocation.no-legacy-path",
    "RFC-0001:C-NO-LEGACY-FALLBACK#S2",
    witnesses=("refusal_reported", "two_requests"),
    needs=("probe.events",),
)
def test_no_batch_goes_through_legacy_allocation(histories: Histories) -> None:
    """Legacy pages have no owner lane, and nothing downstream notices."""
    histories.run("allocation", laws=[no_batch_goes_through_legacy_allocation])


@check(
    "allocation.no-multi-batch-reason",
    "RFC-0001:C-NO-LEGACY-FALLBACK#S3",
    witnesses=("refusal_reported", "two_requests"),
    needs=("probe.events",),
)
def test_multi_batch_is_no_reason_to_fall_back(histories: Histories) -> None:
    """A fallback for the sake of batch size hides that the supported path is not taken."""
    histories.run("allocation", laws=[multi_batch_is_no_reason_to_fall_back])


@check("allocation.refusal-reason", "RFC-0001:C-NO-LEGACY-FALLBACK#S4", witnesses=("unplannable_batch",))
def test_an_unsupported_batch_is_refused_by_name(histories: Histories) -> None:
    """A refusal without its reason sends an engineer looking for weeks."""
    histories.run("allocation", laws=[an_unsupported_batch_is_refused_by_name])


@check(
    "allocation.refusal-reported",
    "RFC-0001:C-NO-LEGACY-FALLBACK#S4",
    witnesses=("refusal_reported",),
    needs=("probe.events",),
)
def test_a_refusal_is_reported(histories: Histories) -> None:
    """A refusal that leaves no event is invisible in production."""
    histories.run("allocation", laws=[a_refusal_is_reported])


@check("allocation.batch-of-one", "RFC-0001:C-BS1-COMPATIBILITY#S1", witnesses=("one_request", "lanes_out_of_order"))
def test_a_single_request_gets_its_own_split(histories: Histories) -> None:
    """A batch of one that takes another path has other owners than the same request in company."""
    histories.run("allocation", laws=[a_single_request_gets_its_own_split])


@check("allocation.owner-of-page", "RFC-0001:C-DOWNSTREAM-CONTRACT#S1", witnesses=("table_patched",), cases=("KV-50",))
def test_owners_are_read_from_the_page_ids(histories: Histories) -> None:
    """An owner remembered from the plan is wrong once de-duplication put another page into the table."""
    histories.run("allocation", laws=[owners_are_read_from_the_page_ids])


@check("allocation.same-on-every-rank", "RFC-0001:C-DETERMINISM#S1", witnesses=("on_a_second_rank",), cases=("KV-47",))
def test_equal_calls_have_equal_answers_on_every_rank(histories: Histories) -> None:
    """Ranks that choose different pages for one request never agree again."""
    histories.run("allocation", laws=[equal_calls_have_equal_answers_on_every_rank], ranks=None)
