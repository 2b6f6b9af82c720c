"""Sound trees that hold something without effect, and sound trees under programs that judge badly."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from govctl import cli
from tests.governance.marks import mutant
from tests.governance.small_tree import SmallTree
from tests.governance.sound import CONFIG, EVIDENCE

SUPPRESSION = """
[[suppress]]
code = "must-unchecked"
id = "RFC-0001:C-RULE#S1"
reason = "It was unchecked once."
until = "2026-12-31"
"""


@mutant("governance.stray-file", kills="RFC-0000:C-SILENCE#S1")
def stray_file(tree: SmallTree) -> None:
    """A clause in a misspelt file is left out."""
    tree.write("gov/clauses/RFC-0001/c-rule.toml.txt", "A lane MUST have a name.\n")


@mutant("governance.glob-of-nothing", kills="RFC-0000:C-SILENCE#S1")
def glob_of_nothing(tree: SmallTree) -> None:
    """A misspelt glob takes in no check."""
    tree.edit(CONFIG, 'checks = ["suite/*.py"]', 'checks = ["suite/*.py", "suit/*.py"]')


@mutant("governance.setting-of-no-rule", kills="RFC-0000:C-SILENCE#S1")
def setting_of_no_rule(tree: SmallTree) -> None:
    """A severity is set for a rule that does not exist."""
    tree.write(CONFIG, f'{tree.text(CONFIG)}\n[severity]\nmust-unchekced = "error"\n')


@mutant("governance.unused-suppression", kills="RFC-0000:C-SILENCE#S1")
def unused_suppression(tree: SmallTree) -> None:
    """A suppression waits for the next fault to hide."""
    tree.write(CONFIG, tree.text(CONFIG) + SUPPRESSION)


@mutant("governance.unlisted-clause", kills="RFC-0000:C-SILENCE#S1")
def unlisted_clause(tree: SmallTree) -> None:
    """A clause is written, and no section lists it."""
    text = tree.text("gov/clauses/RFC-0001/C-SUMMARY.toml").replace("C-SUMMARY", "C-ASIDE")
    tree.write("gov/clauses/RFC-0001/C-ASIDE.toml", text)


@mutant("governance.options-swallowed", kills="RFC-0000:C-SILENCE#S1")
def options_swallowed(tree: SmallTree) -> None:
    """A program runs without the options that it does not know."""
    tree.program = lambda arguments: cli.main([word for word in arguments if word != "--no-such-option"])


@mutant("governance.check-mends-evidence", kills="RFC-0000:C-EVIDENCE#S3")
def check_mends_evidence(tree: SmallTree) -> None:
    """A program throws stale evidence away when it should report it."""

    def program(arguments: Sequence[str]) -> int:
        exit_code = cli.main(arguments)
        if "check" in arguments and exit_code != 0:
            Path(tree.root, EVIDENCE).unlink(missing_ok=True)
        return exit_code

    tree.program = program


@mutant("governance.dry-run-that-writes", kills="RFC-0000:C-EVIDENCE#S3")
def dry_run_that_writes(tree: SmallTree) -> None:
    """A program leaves a note of what it would have done."""

    def program(arguments: Sequence[str]) -> int:
        if "--dry-run" in arguments:
            Path(tree.root, "would-be.lock").touch()
        return cli.main(arguments)

    tree.program = program


@mutant("governance.root-alone", kills="RFC-0000:C-EVIDENCE#S4")
def root_alone(tree: SmallTree) -> None:
    """A program knows the tree from its root alone."""

    def program(arguments: Sequence[str]) -> int:
        _, folder, *_ = arguments
        return cli.main(arguments) if Path(folder) == tree.root else 2

    tree.program = program


@mutant("governance.suspects-unnamed", kills="RFC-0000:C-AMENDMENT#S1")
def suspects_unnamed(tree: SmallTree) -> None:
    """A program says that a sentence changed, and not which checks are suspect."""

    def program(arguments: Sequence[str]) -> int:
        output = StringIO()
        with redirect_stdout(output):
            exit_code = cli.main(arguments)
        sys.stdout.write(output.getvalue().replace("look again at: check room.one-page", "look again"))
        return exit_code

    tree.program = program
