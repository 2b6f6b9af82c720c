"""Run the kill matrix of this specification's own rules and write it for `govctl evidence`.

`python -m tests.governance.selftest --output FILE`, from the root of the repository. Exit: 0 when every check passes
on the sound tree and every mutant dies as its mark says, 1 otherwise. Knows the form of a self-test's result.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from govctl.version import version
from tests.governance.catalogue import checks, mutants
from tests.governance.marks import Check
from tests.governance.matrix import PASS, Outcome, on_mutant, on_sound_tree


def main(argv: Sequence[str] | None = None) -> int:
    """Run everything, write the result, and say what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.governance.selftest", description="Run the kill matrix.")
    parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="where the result is written")
    output: Path = parser.parse_args(argv).output
    found = checks()
    statuses = on_sound_tree(found)
    outcomes = [on_mutant(mutant, found) for mutant in mutants()]
    problems = problems_of(statuses, outcomes)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(result(found, statuses, outcomes), indent=1) + "\n", encoding="utf-8")
    killed = sum(1 for outcome in outcomes if outcome.killed_by)
    lines = [*problems, f"{len(found)} checks, {killed} of {len(outcomes)} mutants killed, {len(problems)} problems"]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 1 if problems else 0


def problems_of(statuses: dict[str, str], outcomes: Sequence[Outcome]) -> list[str]:
    """Return what keeps the result from being proof."""
    failing = [f"{slug} is {status} on the sound tree" for slug, status in statuses.items() if status != PASS]
    return [*failing, *(problem for outcome in outcomes for problem in outcome.problems)]


def result(found: Sequence[Check], statuses: dict[str, str], outcomes: Sequence[Outcome]) -> dict[str, object]:
    """Return the result in the form of a self-test; each mutant met every check, so it is a full one."""
    return {
        "selftest": 1,
        "full": True,
        "implementation": {"name": "govctl", "version": version()},
        "checks": [
            {"check": check.slug, "statements": list(check.statements), "status": statuses[check.slug]}
            for check in found
        ],
        "mutants": [
            {
                "mutant": outcome.mutant.slug,
                "kills": outcome.mutant.kills,
                "killed_by": list(outcome.killed_by),
                "also": dict(outcome.mutant.also),
            }
            for outcome in outcomes
        ],
        "benign": [],
        "problems": problems_of(statuses, outcomes),
    }


if __name__ == "__main__":
    sys.exit(main())
