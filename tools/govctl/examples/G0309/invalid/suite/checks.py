"""The checks of the example."""


@check("room.one-page", "RFC-0001:C-RULE#S3")
def test_a_lane_keeps_one_page_free(lane):
    """A full lane could not take the next page."""


@law("RFC-0001:C-RULES#S1", on="room.take")
def one_page_stays_free(before, call, answer):
    """A full lane breaks it."""
