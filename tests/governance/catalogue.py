"""All checks and mutants of this specification's own rules, in the order of their modules.

Knows which modules hold them. Runs nothing.
"""

from __future__ import annotations

from types import ModuleType

from tests.governance import broken_proof, broken_silence, broken_text, test_proof, test_text
from tests.governance.marks import Check, Mutant, mark_of

CHECK_MODULES = (test_text, test_proof)
MUTANT_MODULES = (broken_text, broken_proof, broken_silence)


def checks() -> list[Check]:
    """Return every check."""
    return [found for module in CHECK_MODULES for found in _marks(module) if isinstance(found, Check)]


def mutants() -> list[Mutant]:
    """Return every mutant."""
    return [found for module in MUTANT_MODULES for found in _marks(module) if isinstance(found, Mutant)]


def _marks(module: ModuleType) -> list[Check | Mutant]:
    return [found for value in vars(module).values() if (found := mark_of(value)) is not None]
