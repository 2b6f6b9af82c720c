"""What a benchmark says: tables of numbers and goals.

Knows values only. Does not know how they were measured, where, or how they are shown.
"""

from __future__ import annotations

from dataclasses import dataclass

Cell = int | float | str


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column; its unit is empty for words and counts."""

    name: str
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of one shape, in the order in which they are read."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What was hoped for: `measured` is at most `limit`, both in `unit`."""

    text: str
    measured: float
    limit: float
    unit: str = ""

    @property
    def is_met(self) -> bool:
        """Say whether the hope came true."""
        return self.measured <= self.limit


@dataclass(frozen=True, kw_only=True)
class Result:
    """One benchmark, measured; `about` says what was done on what shape."""

    name: str
    title: str
    about: str
    tables: tuple[Table, ...]
    goals: tuple[Goal, ...] = ()
