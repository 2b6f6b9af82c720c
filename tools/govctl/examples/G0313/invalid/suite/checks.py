"""The checks of the example."""


@check("room.one-page")
def test_a_lane_keeps_one_page_free(lane):
    """A full lane could not take the next page."""


@law("RFC-0001:C-RULE", on="room.take")
def one_page_stays_free(before, call, answer):
    """A full lane breaks it."""


@mutant("room.takes-all")
class TakesAll(Model):
    """Gives the last page away."""
