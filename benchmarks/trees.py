"""Trees of specifications of any size, made to measure `govctl check`; equal sizes give equal bytes.

Knows the layout that govctl reads: RFCs of twenty clauses of about one kilobyte, one or two statements each, with
references to one another, and one check a clause. The lock is left to `govctl lock`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

SEED = 20261129
CLAUSES_AN_RFC = 20
CHECKS_A_FILE = 50
REFERENCES_A_CLAUSE = 8

NOUNS = (
    "cache",
    "index",
    "journal",
    "lane",
    "planner",
    "pool",
    "queue",
    "reader",
    "scheduler",
    "store",
    "tier",
    "writer",
)
VERBS = (
    "accept",
    "compare",
    "count",
    "keep",
    "order",
    "record",
    "refuse",
    "release",
    "report",
    "restore",
    "retry",
    "send",
)
THINGS = (
    "a batch without pages",
    "a full queue",
    "a late answer",
    "a page that is free",
    "a partial write",
    "a stale entry",
    "an empty request",
    "an unknown owner",
    "the oldest snapshot",
    "two equal requests",
)
TAILS = (
    "before it answers",
    "for each member of the batch",
    "in the order of the requests",
    "when the pool is short",
    "with the reason",
    "without changing another lane",
)
KEYWORDS = ("MUST", "MUST", "MUST NOT", "SHOULD")

CONFIG = """\
#:schema ../schema/config.schema.json

[project]
name = "Generated"

[sources]
checks = ["suite/*.py"]
"""


def files(num_clauses: int) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file of a tree."""
    rng = Random(SEED)  # noqa: S311 - words, not secrets
    yield "gov/govctl.toml", CONFIG
    numbers = range(num_clauses)
    for first in numbers[::CLAUSES_AN_RFC]:
        clauses = numbers[first : first + CLAUSES_AN_RFC]
        yield f"gov/rfc/{_rfc_id(first)}.toml", _rfc(clauses)
        for number in clauses:
            yield f"gov/clauses/{_rfc_id(number)}/{_clause_name(number)}.toml", _clause(number, num_clauses, rng)
    for first in numbers[::CHECKS_A_FILE]:
        checked = numbers[first : first + CHECKS_A_FILE]
        yield f"suite/test_part_{first // CHECKS_A_FILE:04d}.py", _checks(checked)


def write_tree(root: Path, num_clauses: int) -> None:
    """Write a tree below a folder that is empty."""
    for name, text in files(num_clauses):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def rfc_ids(num_clauses: int) -> list[str]:
    """List the RFCs of a tree."""
    return [_rfc_id(first) for first in range(0, num_clauses, CLAUSES_AN_RFC)]


def num_statements(number: int) -> int:
    """Return how many statements a clause has: one and two in turn."""
    return 1 + number % 2


def _rfc_id(number: int) -> str:
    return f"RFC-{number // CLAUSES_AN_RFC + 1:04d}"


def _clause_name(number: int) -> str:
    return f"C-RULE-{number:05d}"


def _clause_id(number: int) -> str:
    return f"{_rfc_id(number)}:{_clause_name(number)}"


def _rfc(clauses: range) -> str:
    names = "\n".join(f'    "{_clause_name(number)}",' for number in clauses)
    return f"""\
#:schema ../../schema/rfc.schema.json

[govctl]
id = "{_rfc_id(clauses.start)}"
title = "Behaviour of part {clauses.start // CLAUSES_AN_RFC + 1}"
version = "0.1.0"
status = "normative"
phase = "impl"
created = "2026-11-29"

[[sections]]
title = "Specification"
clauses = [
{names}
]

[[changelog]]
version = "0.1.0"
date = "2026-11-29"
notes = "Initial draft"
"""


def _clause(number: int, num_clauses: int, rng: Random) -> str:
    lines = "\n".join(
        f"- [[{_clause_id(rng.randrange(num_clauses))}]] keeps the order in which the {rng.choice(NOUNS)} asks."
        for _ in range(REFERENCES_A_CLAUSE)
    )
    statements = "\n".join(
        f'\n[[content.statements]]\nid = "S{place}"\ntext = "{_sentence(rng)}"'
        for place in range(1, 1 + num_statements(number))
    )
    return f"""\
#:schema ../../../schema/clause.schema.json

[govctl]
id = "{_clause_name(number)}"
title = "The {rng.choice(NOUNS)} and the {rng.choice(NOUNS)}, rule {number}"
kind = "normative"
status = "active"
since = "0.1.0"

[content]
text = \"\"\"
A {rng.choice(NOUNS)} meets {rng.choice(THINGS)} more often than one expects, so part {number} says what happens then.

{lines}
\"\"\"
{statements}
"""


def _sentence(rng: Random) -> str:
    words = (rng.choice(NOUNS), rng.choice(KEYWORDS), rng.choice(VERBS), rng.choice(THINGS), rng.choice(TAILS))
    return "The {} {} {} {} {}.".format(*words)


def _checks(numbers: range) -> str:
    return '"""Checks of generated clauses."""\n' + "".join(map(_check, numbers))


def _check(number: int) -> str:
    ids = ", ".join(f'"{_clause_id(number)}#S{place}"' for place in range(1, 1 + num_statements(number)))
    return f"""

@check("part.rule-{number:05d}", {ids})
def test_rule_{number:05d}(histories: Histories) -> None:
    \"\"\"Rule {number} holds.\"\"\"
    histories.run("part", laws=[rule_{number:05d}])
"""
