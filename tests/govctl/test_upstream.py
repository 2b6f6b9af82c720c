"""What the model of our file formats misses: each hole is a tree in which we find it."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.govctl.trees import (
    CHECKS,
    CLAUSE,
    CONFIG,
    EVIDENCE,
    FILES,
    LOCK,
    RFC,
    codes,
    edited,
    findings,
    write_tree,
)

EXAMPLES = Path(__file__).parents[2] / "tools" / "govctl" / "examples"
COPY = "gov/clauses/RFC-0001/C-COPY.toml"
INFORMATIVE = FILES[CLAUSE].partition("[[content")[0].replace('"normative"', '"informative"')
PROSE = FILES[CLAUSE].partition("[[content")[0]
LATER = edited(
    RFC,
    '[[changelog]]\nversion = "0.1.0"',
    '[[changelog]]\nversion = "0.0.9"\ndate = "2026-06-04"\nnotes = "x"\n\n[[changelog]]\nversion = "0.1.0"',
)
HOLES: dict[str, tuple[Mapping[str, str | bytes | None], str]] = {
    "a listed clause has no file": (edited(RFC, '["C-RULE"]', '["C-RULE", "C-GONE"]'), "G0303"),
    "a clause is in no section": ({COPY: FILES[CLAUSE].replace('"C-RULE"', '"C-COPY"')}, "G0304"),
    "a clause is listed twice": (edited(RFC, '["C-RULE"]', '["C-RULE", "C-RULE"]'), "G0305"),
    "two clauses have one id": ({COPY: FILES[CLAUSE]}, "G0302"),
    "two RFCs have one id": ({"gov/rfc/RFC-0002.toml": FILES[RFC]}, "G0302"),
    "two statements have one id": (edited(CLAUSE, '"S2"', '"S1"'), "G0302"),
    "a bracketed id does not exist": (edited(CLAUSE, "Every lane", "[[RFC-0001:C-GONE]]"), "G0307"),
    "a bare id does not exist": (edited(CLAUSE, "Every lane", "See RFC-0009:C-GONE, every lane"), "G0307"),
    "an id in the changelog does not exist": (edited(RFC, "Initial draft", "See [[RFC-0009]]"), "G0307"),
    "a bracketed id is malformed": (edited(CLAUSE, "Every lane", "[[rfc-1]]"), "G0308"),
    "a bracketed clause has a malformed RFC": (edited(CLAUSE, "Every lane", "[[RFC-1:C-X]]"), "G0308"),
    "a bare id has the wrong case": (edited(CLAUSE, "Every lane", "See rfc-0001, every lane"), "G0308"),
    "an id in source does not exist": (edited(CHECKS, "C-RULE#S2", "C-RULE#S9"), "G0309"),
    "an id in source is malformed": (edited(CHECKS, "RFC-0001:C-RULE#S2", "RFC-1:C-RULE#S2"), "G0313"),
    "a sealed text was amended": (edited(CLAUSE, "one page", "three pages"), "G0613"),
    "an RFC after spec has no seal": ({LOCK: "# nothing\n"}, "G0615"),
    "a stable RFC has no evidence": ({EVIDENCE: None}, "G0606"),
    "a stable RFC has an untested MUST": (
        edited(CHECKS, '"RFC-0001:C-RULE#S1")\ndef', '"RFC-0001:C-RULE#S2")\ndef'),
        "G0501",
    ),
    "a successor is named and the clause is active": (
        edited(CLAUSE, "since", 'superseded_by = "C-RULE"\nsince'),
        "G0409",
    ),
    "since is newer than the RFC": (edited(CLAUSE, '"0.1.0"', '"0.2.0"'), "G0406"),
    "since is no version of the changelog": (edited(CLAUSE, '"0.1.0"', '"0.0.5"'), "G0406"),
    "created is after the first version": (edited(RFC, 'created = "2026-06-03"', 'created = "2026-06-09"'), "G0415"),
    "created is after updated": (edited(RFC, "created", 'updated = "2026-06-02"\ncreated'), "G0415"),
    "the changelog is out of order": (LATER, "G0408"),
    "a date is no day": (edited(RFC, "2026-06-03", "2026-06-31"), "G0204"),
    "a draft is stable": (edited(RFC, '"normative"', '"draft"'), "G0410"),
    "a normative clause demands nothing": ({CLAUSE: PROSE}, "G0405"),
    "an informative clause demands": ({CLAUSE: INFORMATIVE.replace("has pages", "MUST have pages")}, "G0403"),
    "a word is vague": (edited(CLAUSE, "one page free", "an appropriate page free"), "G0413"),
    "must is in lower case": (edited(CLAUSE, "has pages", "must have pages"), "G0411"),
    "one sentence makes two demands": (
        edited(CLAUSE, "MUST keep one page", "MUST keep one and SHOULD keep two pages"),
        "G0401",
    ),
    "a text is a template's": (edited(CLAUSE, "Every lane has pages.", "TODO: describe the clause."), "G0412"),
    "a statement is past all measure": (edited(CLAUSE, "one page free", f"one page {'very ' * 120}free"), "G0414"),
    "a setting is misspelt": (edited(CONFIG, "checks", "cheks"), "G0202"),
    "a source glob matches nothing": (edited(CONFIG, "suite/*.py", "suit/*.py"), "G0108"),
    "a file begins with a byte order mark": ({CLAUSE: b"\xef\xbb\xbf" + FILES[CLAUSE].encode()}, "G0102"),
    "a file lies where none belongs": ({"gov/clauses/RFC-0001/notes.md": "x"}, "G0105"),
}


@pytest.mark.parametrize(("files", "code"), HOLES.values(), ids=HOLES)
def test_a_hole_of_the_model_is_found(tmp_path: Path, files: Mapping[str, str | bytes | None], code: str) -> None:
    assert code in codes(write_tree(tmp_path, files))


def test_the_tree_without_a_hole_is_clean(tmp_path: Path) -> None:
    assert codes(write_tree(tmp_path)) == []


def test_many_faults_are_all_found_in_one_run(tmp_path: Path) -> None:
    apart = ["a listed clause has no file", "an id in source does not exist", "a file lies where none belongs"]
    files = {name: text for hole in apart for name, text in HOLES[hole][0].items()}
    write_tree(tmp_path, {**files, "gov/clauses/RFC-0001/C-BAD.toml": "x"})

    assert {"G0103", *(HOLES[hole][1] for hole in apart)} <= set(codes(tmp_path))


@pytest.mark.parametrize("folder", sorted(EXAMPLES.glob("G*/invalid")), ids=lambda path: path.parent.name)
def test_every_finding_has_a_place_that_exists(folder: Path) -> None:
    for found in findings(folder):
        path = folder / found.place.file
        lines = re.split(b"\r\n|\n", path.read_bytes()) if path.is_file() else [b""]

        assert path.exists() or found.code in {"G0104", "G0612"}
        assert 1 <= found.place.line <= len(lines)
        assert 1 <= found.place.column <= len(lines[found.place.line - 1]) + 1


def test_a_fault_inside_a_long_text_is_shown_on_its_own_line(tmp_path: Path) -> None:
    text = FILES[CLAUSE].replace('"Every lane has pages."', '"""\nEvery lane has pages.\n\nSee [[RFC-0009]].\n"""')
    (found,) = findings(write_tree(tmp_path, {CLAUSE: text}))

    assert (found.place.line, found.place.column) == (12, 7)
