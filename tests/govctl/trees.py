"""Small trees for tests: a valid one, written to a folder, with whatever a test puts in the place of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from govctl import load_tree, run_rules
from govctl.acceptance import accept
from govctl.evidence import Evidence, MutantEvidence
from govctl.findings import Finding

Json = Any  # a parsed document, whatever its shape

CONFIG = "gov/govctl.toml"
RFC = "gov/rfc/RFC-0001.toml"
CLAUSE = "gov/clauses/RFC-0001/C-RULE.toml"
LOCK = "gov/statements.lock"
CHECKS = "suite/checks.py"
EVIDENCE = "evidence/conformance/RFC-0001.json"
CATALOGUE = "build/catalogue.json"
TODAY = "2026-06-30"
S1 = "RFC-0001:C-RULE#S1"
S2 = "RFC-0001:C-RULE#S2"

FILES: dict[str, str] = {
    CONFIG: """\
#:schema ../schema/config.schema.json
[project]
name = "example"

[sources]
checks = ["suite/*.py"]

[facets.room]
rfc = "RFC-0001"
suite = ["suite/checks.py"]
mutants = ["suite/mutants.py"]
""",
    RFC: """\
#:schema ../../schema/rfc.schema.json
[govctl]
id = "RFC-0001"
title = "Example"
version = "0.1.0"
status = "normative"
phase = "stable"
facet = "room"
created = "2026-06-03"

[[sections]]
title = "Specification"
clauses = ["C-RULE"]

[[changelog]]
version = "0.1.0"
date = "2026-06-03"
notes = "Initial draft"
""",
    CLAUSE: """\
#:schema ../../../schema/clause.schema.json
[govctl]
id = "C-RULE"
title = "Rule"
kind = "normative"
since = "0.1.0"

[content]
text = "Every lane has pages."

[[content.statements]]
id = "S1"
text = "A lane MUST keep one page free."

[[content.statements]]
id = "S2"
text = "A lane SHOULD keep two pages free."
""",
    CHECKS: """\
@law("RFC-0001:C-RULE#S1", on="room.take")
def one_page_stays_free(before, call, answer): ...


@check("room.one-page", "RFC-0001:C-RULE#S1")
def test_one_page(): ...


@check("room.two-pages", "RFC-0001:C-RULE#S2")
def test_two_pages(): ...
""",
    "suite/mutants.py": """\
@mutant("room.takes-all", kills="RFC-0001:C-RULE#S1", also={"RFC-0001:C-RULE#S2": "it takes two"})
class TakesAll: ...
""",
}


def write(root: Path, files: Mapping[str, str | bytes | None]) -> None:
    """Write files below a root; None removes one."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


def write_tree(root: Path, files: Mapping[str, str | bytes | None] | None = None) -> Path:
    """Write the valid tree with its lock and its evidence, and then the files of the test over it."""
    write(root, FILES)
    lock_all(root)
    evidence = Evidence(
        rfc="RFC-0001",
        implementation="example",
        checks={"room.one-page": "pass", "room.two-pages": "pass"},
        mutants={"room.takes-all": MutantEvidence(kills=S1, killed_by=("room.one-page",))},
        digests=load_tree(root).digests_of("RFC-0001"),
    )
    write(root, {EVIDENCE: evidence.canonical()})
    write(root, files or {})
    return root


def lock_all(root: Path) -> None:
    """Accept every new statement into the lock, and seal every version that has left phase spec."""
    tree = load_tree(root)
    sealed = [rfc.id for rfc in tree.rfcs if rfc.phase != "spec"]
    write(root, {LOCK: accept(tree, [], [], all_new=True, sealed=sealed).lock.text()})


def findings(root: Path) -> list[Finding]:
    """Return what govctl finds in a tree."""
    return run_rules(load_tree(root, today=TODAY))


def codes(root: Path) -> list[str]:
    """Return the codes of what govctl finds in a tree."""
    return sorted(finding.code for finding in findings(root))


def edited(file: str, old: str, new: str) -> dict[str, str]:
    """Return the file of the valid tree with one text in the place of another."""
    changed = FILES[file].replace(old, new)
    if changed == FILES[file]:
        raise AssertionError(f"{old!r} is not in {file}")
    return {file: changed}
