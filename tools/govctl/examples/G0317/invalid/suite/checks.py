"""The checks of the example."""


@check("room.one", "RFC-0001:C-RULE#S1", depends_on=("room.two", "room.three"))
def test_one(lane):
    """A full lane could not take the next page."""


@check("room.two", "RFC-0001:C-RULE#S1", depends_on=("room.one",))
def test_two(lane):
    """A full lane could not take the next page."""


@check("room.three", "RFC-0001:C-RULE#S1", depends_on=("room.two",))
def test_three(lane):
    """A full lane could not take the next page."""


@check("room.self", "RFC-0001:C-RULE#S1", depends_on=("room.self",))
def test_self(lane):
    """A full lane could not take the next page."""
