"""Evidence: projected from a self-test, compared, never written unasked."""

import json
from pathlib import Path

import pytest

from govctl import load_tree
from govctl.comparison import differences
from govctl.selftest import SelfTestError, parse_selftest, project
from tests.govctl.trees import CHECKS, CLAUSE, EVIDENCE, S1, S2, Json, codes, edited, write, write_tree


def selftest(**changes: Json) -> str:
    data = {
        "selftest": 1,
        "full": True,
        "implementation": {"name": "example", "version": "9"},
        "checks": [
            {"check": "room.one-page", "status": "pass", "statements": [S1], "seconds": 1},
            {"check": "room.two-pages", "status": "pass", "statements": [S2]},
        ],
        "mutants": [{"mutant": "room.takes-all", "kills": S1, "killed_by": ["room.one-page"]}],
        "benign": [],
    }
    return json.dumps(data | changes)


def compared(root: Path, text: str) -> list[str]:
    return [difference.message for difference in differences(parse_selftest(text), load_tree(root))]


def test_what_is_projected_is_what_is_committed(tmp_path: Path) -> None:
    write_tree(tmp_path)
    evidence = project(parse_selftest(selftest()), load_tree(tmp_path))["RFC-0001"]

    assert evidence.canonical() == (tmp_path / EVIDENCE).read_text()
    assert compared(tmp_path, selftest()) == []


def test_each_difference_is_named(tmp_path: Path) -> None:
    write_tree(tmp_path)
    checks = [{"check": "room.one-page", "status": "fail", "statements": [S1]}]
    mutants = [{"mutant": "room.takes-all", "kills": S1, "killed_by": []}]

    assert compared(tmp_path, selftest(checks=checks, mutants=mutants, implementation={"name": "other"})) == [
        "implementation is example, the self-test has other",
        "check room.one-page is pass in the evidence, fail in the self-test",
        "check room.two-pages is pass in the evidence, absent in the self-test",
        "mutant room.takes-all is killed by room.one-page in the evidence, by nothing in the self-test",
    ]


def test_moved_sources_are_a_difference(tmp_path: Path) -> None:
    write_tree(tmp_path, edited(CHECKS, "...", "pass"))

    assert compared(tmp_path, selftest()) == ["suite changed since the evidence was written"]


@pytest.mark.parametrize(("is_full", "count"), [(True, 1), (False, 0)])
def test_a_run_that_stops_at_the_first_kill_may_show_fewer_killers(
    tmp_path: Path, *, is_full: bool, count: int
) -> None:
    write_tree(tmp_path)
    text = (tmp_path / EVIDENCE).read_text()
    more = text.replace('        "room.one-page"', '        "room.one-page",\n        "room.two-pages"')
    write(tmp_path, {EVIDENCE: more})

    assert len(compared(tmp_path, selftest(full=is_full))) == count


def test_a_killer_that_the_evidence_does_not_know_is_always_a_difference(tmp_path: Path) -> None:
    write_tree(tmp_path)
    mutants = [{"mutant": "room.takes-all", "kills": S1, "killed_by": ["room.two-pages"]}]

    assert len(compared(tmp_path, selftest(full=False, mutants=mutants))) == 1


def test_a_self_test_without_results_is_a_difference(tmp_path: Path) -> None:
    write_tree(tmp_path)

    assert compared(tmp_path, selftest(checks=[], mutants=[])) == ["RFC-0001: the self-test has no result for it"]


def test_results_without_evidence_are_a_difference(tmp_path: Path) -> None:
    write_tree(tmp_path, {EVIDENCE: None})

    assert compared(tmp_path, selftest()) == ["RFC-0001: there is no usable evidence to compare with"]


def test_results_of_an_rfc_without_a_facet_are_a_difference(tmp_path: Path) -> None:
    other = [{"check": "x.y", "status": "pass", "statements": ["RFC-0007:C-A#S1"]}]
    write_tree(tmp_path)
    checks = json.loads(selftest())["checks"] + other

    assert compared(tmp_path, selftest(checks=checks)) == ["RFC-0007: no facet of the settings describes it"]


@pytest.mark.parametrize(
    "changes",
    [
        {"selftest": 2},
        {"implementation": None},
        {"checks": None},
        {"checks": [1]},
        {"checks": [{"check": "a.b", "status": "pass", "statements": []}]},
        {"checks": [{"check": 1, "status": "pass", "statements": [S1]}]},
        {"checks": [{"check": "a.b", "status": "pass", "statements": [S1]}] * 2},
        {"mutants": [{"mutant": "a.b", "kills": "x", "killed_by": []}]},
        {"mutants": [{"mutant": "a.b", "kills": S1, "killed_by": "x"}]},
    ],
)
def test_a_self_test_of_another_shape_is_refused(changes: dict[str, Json]) -> None:
    with pytest.raises(SelfTestError):
        parse_selftest(selftest(**changes))


@pytest.mark.parametrize(
    "change",
    [
        ('"evidence": 1', '"evidence": 2'),
        ('"rfc": "RFC-0001"', '"rfc": "RFC-0002"'),
        ('"implementation": "example"', '"implementation": 1'),
        ('"pass"', "1"),
        ('"suite"', '"suites"'),
        ('"killed_by": [\n        "room.one-page"\n      ]', '"killed_by": "room.one-page"'),
        ("{", "["),
        ("\n}\n", "\n}"),
    ],
)
def test_evidence_that_govctl_did_not_write_is_a_finding(tmp_path: Path, change: tuple[str, str]) -> None:
    write_tree(tmp_path)
    text = (tmp_path / EVIDENCE).read_text()
    write(tmp_path, {EVIDENCE: text.replace(*change)})

    assert "G0607" in codes(tmp_path)


def test_a_check_that_is_not_in_the_evidence_is_a_finding(tmp_path: Path) -> None:
    more = edited(CHECKS, "@check(", f'@check("room.more", "{S1}")\ndef test_more(): ...\n\n\n@check(')
    write_tree(tmp_path, {CHECKS: more[CHECKS]})

    assert "G0609" in codes(tmp_path)


def test_a_changed_sentence_makes_evidence_stale(tmp_path: Path) -> None:
    write_tree(tmp_path, edited(CLAUSE, "one page", "three pages"))

    assert "G0608" in codes(tmp_path)


def test_line_ends_of_sources_do_not_count(tmp_path: Path) -> None:
    write_tree(tmp_path)
    write(tmp_path, {CHECKS: (tmp_path / CHECKS).read_bytes().replace(b"\n", b"\r\n")})

    assert codes(tmp_path) == []
