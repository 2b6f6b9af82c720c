"""What a shared run over one facet judges and counts. A value: knows nothing of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sharedkv_conformance.marks import Law, Witness


@dataclass(frozen=True, kw_only=True)
class Ground:
    """The laws that judge one kind of history of a facet, and the witnesses that are counted in it."""

    facet: str
    laws: Sequence[Law]
    witnesses: Sequence[Witness]
