"""Results as text: plain for files and pipes, drawn on a terminal, Markdown for documents.

Knows how numbers are written. Does not know where they come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table as DrawnTable

from benchmarks.machine import Machine
from benchmarks.record import Record
from benchmarks.result import Cell, Column, Goal, Table

THREE_DIGITS_FROM = 100
TWO_DIGITS_FROM = 10


def number(value: float) -> str:
    """Write a number with three digits, or with all of those before the point."""
    size = abs(value)
    if size >= THREE_DIGITS_FROM:
        return f"{value:,.0f}"
    if size >= TWO_DIGITS_FROM:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 1 else f"{value:.3f}"


def cell_text(cell: Cell) -> str:
    """Write one cell: words as they are, counts with thousands apart."""
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else number(cell)


def heading(column: Column) -> str:
    """Write the head of a column with its unit."""
    return f"{column.name} [{column.unit}]" if column.unit else column.name


def goal_line(goal: Goal) -> str:
    """Write a goal and what came of it."""
    unit = f" {goal.unit}" if goal.unit else ""
    verdict = "met" if goal.is_met else "missed"
    return f"{verdict}: {goal.text}: {number(goal.measured)}{unit}, goal {number(goal.limit)}{unit}"


def machine_line(machine: Machine) -> str:
    """Write what was measured on."""
    packages = ", ".join(f"{name} {found}" for name, found in sorted(machine.packages.items()))
    return (
        f"{machine.cpu}, {machine.cores} cores, {number(machine.memory_gib)} GiB, {machine.system}, {machine.python}, "
        f"{packages}; load {machine.load} at the start"
    )


def plain(record: Record) -> Iterator[str]:
    """Yield the lines of a record for a file or a pipe."""
    yield record.result.title
    yield record.result.about
    for table in record.result.tables:
        yield ""
        yield table.title
        yield from _aligned(table)
    yield ""
    yield from map(goal_line, record.result.goals)
    yield machine_line(record.machine)


def _aligned(table: Table) -> Iterator[str]:
    lines = [[heading(column) for column in table.columns], *(list(map(cell_text, row)) for row in table.rows)]
    widths = [max(map(len, texts)) for texts in zip(*lines, strict=True)]
    words = _word_columns(table)
    for line in lines:
        padded = [
            text.ljust(width) if is_word else text.rjust(width)
            for text, width, is_word in zip(line, widths, words, strict=True)
        ]
        yield "  ".join(padded).rstrip()


def draw(record: Record, console: Console) -> None:
    """Draw a record on a terminal."""
    console.rule(record.result.title, align="left")
    console.print(record.result.about, markup=False)
    for table in record.result.tables:
        drawn = DrawnTable(title=table.title, title_justify="left")
        for column, is_word in zip(table.columns, _word_columns(table), strict=True):
            drawn.add_column(
                column.name + (f"\n{column.unit}" if column.unit else ""), justify="left" if is_word else "right"
            )
        for row in table.rows:
            drawn.add_row(*map(cell_text, row))
        console.print(drawn)
    for goal in record.result.goals:
        console.print(goal_line(goal), style="green" if goal.is_met else "red", markup=False, highlight=False)
    console.print(machine_line(record.machine), style="dim", markup=False, highlight=False)


def markdown_table(table: Table) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield _markdown_row([heading(column) for column in table.columns])
    yield _markdown_row([":--" if is_word else "--:" for is_word in _word_columns(table)])
    for row in table.rows:
        yield _markdown_row([cell_text(cell) for cell in row])


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _word_columns(table: Table) -> list[bool]:
    """Say of each column whether it holds words, which stand to the left; an empty cell is no word."""
    return [
        any(isinstance(row[place], str) and row[place] for row in table.rows) for place in range(len(table.columns))
    ]
