"""How hard a check tries: example counts and whether a failure is reduced. Deterministic, without a database."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, Verbosity, settings


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Bounds of the histories that a check runs."""

    name: str
    examples: int
    steps: int
    reduce: bool

    def settings(self, *, scale: float = 1.0) -> settings:
        """Return hypothesis settings: equal runs give equal examples, and nothing is written to disk.

        Hypothesis finds failures and does not shrink them: the trace of one is reduced on its own.
        """
        return settings(
            derandomize=True,
            database=None,
            deadline=None,
            print_blob=False,
            report_multiple_bugs=False,
            verbosity=Verbosity.quiet,
            max_examples=max(1, int(self.examples * scale)),
            stateful_step_count=self.steps,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )


GATE = Effort(name="gate", examples=80, steps=20, reduce=True)
KILL = Effort(name="kill", examples=80, steps=20, reduce=False)
