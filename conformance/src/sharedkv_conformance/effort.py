"""How hard a check tries: example counts, where they are drawn from, and what is done about a failure.

`quick` and `standard` are deterministic and keep no database: equal versions give equal examples. `deep` draws from a
seed, which its caller chooses and prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hypothesis import HealthCheck, Phase, Verbosity, settings

LARGEST_SEED = (1 << 32) - 1


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Bounds of the histories that a check runs.

    Without a `seed` examples are derandomized. The trace of a failure is issued `repeats` times more, to tell a
    reproducible one from a flaky one.
    """

    name: str
    examples: int
    steps: int
    reduce: bool
    seed: int | None = None
    repeats: int = 0

    def settings(self) -> settings:
        """Return hypothesis settings: equal runs give equal examples, and nothing is written to disk.

        Hypothesis finds failures and does not shrink them: the trace of one is reduced on its own.
        """
        return settings(
            derandomize=self.seed is None,
            database=None,
            deadline=None,
            print_blob=False,
            report_multiple_bugs=False,
            verbosity=Verbosity.quiet,
            max_examples=self.examples,
            stateful_step_count=self.steps,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )

    def seeded(self, seed: int) -> Effort:
        """Return the same effort, drawing from a seed."""
        return replace(self, seed=seed)


QUICK = Effort(name="quick", examples=60, steps=20, reduce=True)
STANDARD = Effort(name="standard", examples=80, steps=20, reduce=True)
DEEP = Effort(name="deep", examples=500, steps=40, reduce=True, repeats=3)
GATE = STANDARD
KILL = Effort(name="kill", examples=80, steps=20, reduce=False)
# Enough for a false alarm to show, too little for every rare situation.
ALARM = Effort(name="alarm", examples=24, steps=20, reduce=False)
EFFORTS: Mapping[str, Effort] = {effort.name: effort for effort in (QUICK, STANDARD, DEEP)}
