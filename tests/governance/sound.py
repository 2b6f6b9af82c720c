"""The files of the sound tree: one RFC in phase stable, proven in full.

Knows its text. The lock and the evidence are made from it, and are not here.
"""

from __future__ import annotations

CONFIG = "gov/govctl.toml"
RFC = "gov/rfc/RFC-0001.toml"
SUMMARY = "gov/clauses/RFC-0001/C-SUMMARY.toml"
RULE = "gov/clauses/RFC-0001/C-RULE.toml"
LOCK = "gov/statements.lock"
SUITE = "suite/checks.py"
MODEL = "suite/model.py"
MUTANTS = "suite/mutants.py"
REFERENCE = "suite/reference.py"
EVIDENCE = "evidence/conformance/RFC-0001.json"

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
model = ["suite/model.py"]
mutants = ["suite/mutants.py"]
reference = ["suite/reference.py"]
""",
    RFC: """\
#:schema ../../schema/rfc.schema.json
[govctl]
id = "RFC-0001"
title = "Free room"
version = "0.2.0"
status = "normative"
phase = "stable"
facet = "room"
created = "2026-06-03"
updated = "2026-06-04"
backlog = ["ROOM-01..ROOM-02"]

[[sections]]
title = "Specification"
clauses = ["C-SUMMARY", "C-RULE"]

[[changelog]]
version = "0.2.0"
date = "2026-06-04"
notes = "Two pages."

[[changelog]]
version = "0.1.0"
date = "2026-06-03"
notes = "One page."
""",
    SUMMARY: """\
#:schema ../../../schema/clause.schema.json
[govctl]
id = "C-SUMMARY"
title = "Summary"
kind = "informative"
since = "0.1.0"

[content]
text = "How many pages of a lane stay free. It does not say which."
""",
    RULE: """\
#:schema ../../../schema/clause.schema.json
[govctl]
id = "C-RULE"
title = "Rule"
kind = "normative"
since = "0.1.0"

[content]
text = "Every lane has pages, see [[RFC-0001:C-SUMMARY]]."
rationale = "A lane without a free page stalls every rank."

[[content.statements]]
id = "S1"
text = "A lane MUST keep one page free."
origin = ["ROOM-01"]

[[content.statements]]
id = "S2"
text = "A lane SHOULD keep two pages free."
since = "0.2.0"
origin = ["ROOM-02"]
""",
    SUITE: """\
@check("room.one-page", "RFC-0001:C-RULE#S1")
def test_one_page(): ...


@check("room.two-pages", "RFC-0001:C-RULE#S2")
def test_two_pages(): ...
""",
    MODEL: "PAGES = 2\n",
    MUTANTS: """\
@mutant("room.takes-all", kills="RFC-0001:C-RULE#S1")
class TakesAll: ...
""",
    REFERENCE: "PAGES = 3\n",
}
