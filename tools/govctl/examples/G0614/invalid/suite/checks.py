"""The checks of the example."""


@check("room.one-page", "RFC-0001:C-RULE#S1")
def test_a_lane_keeps_one_page_free(lane):
    """A full lane could not take the next page."""


@check("room.even", "RFC-0001:C-RULE#S2")
def test_a_lane_is_even(lane):
    """An odd lane could not be split."""
