"""Severity follows life: how much a gap weighs in each phase.

Knows the ladders. Knows nothing of what the gap is.
"""

from __future__ import annotations

from govctl.findings import Severity
from govctl.specification import Rfc

_OFF = Severity.OFF
MUST_LADDER = {"spec": _OFF, "impl": Severity.NOTE, "test": Severity.WARNING, "stable": Severity.ERROR}
MUTANT_LADDER = {"spec": _OFF, "impl": _OFF, "test": Severity.NOTE, "stable": Severity.ERROR}
SHOULD_LADDER = {"spec": _OFF, "impl": _OFF, "test": Severity.NOTE, "stable": Severity.WARNING}


def on(ladder: dict[str, Severity], rfc: Rfc) -> Severity:
    """Return the severity that a gap has for an RFC; a deprecated RFC demands nothing."""
    return _OFF if rfc.status == "deprecated" else ladder[rfc.phase]
