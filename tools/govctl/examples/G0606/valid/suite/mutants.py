"""The mutants of the example."""


@mutant("room.takes-all", kills="RFC-0001:C-RULE#S1")
class TakesAll(Model):
    """Gives the last page away."""
