"""Severity follows life: how much a gap weighs in each phase.

Knows the one table: a row a kind of gap, a column a phase. Knows nothing of what the gap is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from govctl.findings import Severity
from govctl.specification import Rfc

Ladder = Mapping[str, Severity]

PHASES = ("spec", "impl", "test", "stable")
_OFF, _NOTE, _WARNING, _ERROR = Severity.OFF, Severity.NOTE, Severity.WARNING, Severity.ERROR


def _ladder(*severities: Severity) -> Ladder:
    return MappingProxyType(dict(zip(PHASES, severities, strict=True)))


MUST_LADDER = _ladder(_OFF, _NOTE, _WARNING, _ERROR)
MUTANT_LADDER = _ladder(_OFF, _OFF, _NOTE, _ERROR)
SHOULD_LADDER = _ladder(_OFF, _OFF, _NOTE, _WARNING)
PLACEHOLDER_LADDER = _ladder(_NOTE, _WARNING, _ERROR, _ERROR)


def on(ladder: Ladder, rfc: Rfc) -> Severity:
    """Return the severity that a gap has for an RFC; a deprecated RFC demands nothing."""
    return _OFF if rfc.status == "deprecated" else ladder[rfc.phase]
