"""Numbers, tables and goals as text."""

from io import StringIO

import pytest
from rich.console import Console

from benchmarks.page import page
from benchmarks.result import Goal
from benchmarks.show import cell_text, draw, goal_line, markdown_table, plain
from tests.benchmarks.records import RECORD, TABLE


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (0.0512, "0.051"),
        (1.0, "1.00"),
        (41.25, "41.2"),
        (123.4, "123"),
        (12345.6, "12,346"),
        (10_000, "10,000"),
        ("a", "a"),
    ],
)
def test_numbers_have_the_digits_that_mean_something(cell: float | str, text: str) -> None:
    assert cell_text(cell) == text


def test_plain_columns_line_up() -> None:
    lines = list(plain(RECORD))
    table = lines[lines.index("Two shapes") + 1 :][:3]

    assert table == [
        "pool          pages  time [us]  ratio",
        "fresh        60,000       41.2  0.051",
        "half | free       7      1,234",
    ]


def test_markdown_aligns_numbers_and_keeps_bars_in_cells() -> None:
    assert list(markdown_table(TABLE)) == [
        "| pool | pages | time [us] | ratio |",
        "| :-- | --: | --: | --: |",
        "| fresh | 60,000 | 41.2 | 0.051 |",
        "| half \\| free | 7 | 1,234 |  |",
    ]


def test_a_goal_is_met_up_to_its_limit() -> None:
    assert [Goal(text="", measured=measured, limit=1.0).is_met for measured in (0.9, 1.0, 1.1)] == [True, True, False]


def test_a_missed_goal_is_told_with_both_numbers() -> None:
    assert goal_line(Goal(text="time", measured=2.0, limit=1.0, unit="s")) == "missed: time: 2.00 s, goal 1.00 s"


def test_a_terminal_shows_every_row_and_goal() -> None:
    stream = StringIO()
    draw(RECORD, Console(file=stream, width=120))

    assert all(text in stream.getvalue() for text in ("half | free", "60,000", "met: is fast", "missed: is faster"))


def test_the_page_names_command_date_and_machine() -> None:
    text = page([RECORD])

    assert "`python -m benchmarks example`, 2026-11-29, on Example 9000, 2 cores, 16.0 GiB" in text
    assert "- missed: is faster: 0.200, goal 0.100" in text
    assert text.endswith(".\n")
