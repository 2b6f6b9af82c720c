"""Suppressions: each has a scope, a reason and an end, and hides nothing else."""

from pathlib import Path

import pytest

from govctl import load_tree
from govctl.rules.run import judge
from tests.govctl.trees import CLAUSE, CONFIG, FILES, TODAY, edited, write_tree

PLACEHOLDER = edited(CLAUSE, "Every lane", "TODO: every lane")


def suppressed(root: Path, scope: str, code: str = "placeholder", until: str = "2026-12-31") -> tuple[list[str], int]:
    table = f'\n[[suppress]]\ncode = "{code}"\n{scope}\nreason = "It is being written."\nuntil = "{until}"\n'
    write_tree(root, {**PLACEHOLDER, CONFIG: FILES[CONFIG] + table})
    judgement = judge(load_tree(root, today=TODAY))
    return [finding.code for finding in judgement.findings], len(judgement.borne)


@pytest.mark.parametrize(
    "scope",
    [
        'id = "RFC-0001:C-RULE"',
        'id = "RFC-0001"',
        'path = "gov/clauses/RFC-0001/C-RULE.toml"',
        'path = "gov/**"',
        'id = "RFC-0001"\npath = "gov/clauses/*/C-*.toml"',
    ],
)
@pytest.mark.parametrize("code", ["G0412", "placeholder"])
def test_a_finding_in_scope_is_borne(tmp_path: Path, scope: str, code: str) -> None:
    assert suppressed(tmp_path, scope, code) == ([], 1)


@pytest.mark.parametrize(
    ("scope", "code"),
    [
        ('id = "RFC-0001:C-RUL"', "G0412"),
        ('id = "RFC-0002"', "G0412"),
        ('path = "gov/rfc/*"', "G0412"),
        ('id = "RFC-0001"\npath = "suite/*"', "G0412"),
        ('id = "RFC-0001"', "G0413"),
    ],
)
def test_a_finding_out_of_scope_stays_and_the_suppression_is_unused(tmp_path: Path, scope: str, code: str) -> None:
    assert suppressed(tmp_path, scope, code) == (["G0412", "G0206"], 0)


@pytest.mark.parametrize(("until", "found"), [(TODAY, []), ("2026-06-29", ["G0412", "G0207"])])
def test_a_suppression_ends_after_its_last_day(tmp_path: Path, until: str, found: list[str]) -> None:
    assert suppressed(tmp_path, 'id = "RFC-0001"', until=until)[0] == found


def test_a_suppression_without_a_scope_hides_nothing(tmp_path: Path) -> None:
    assert suppressed(tmp_path, "") == (["G0412", "G0208"], 0)


def test_a_suppression_of_no_rule_is_found_with_the_nearest_name(tmp_path: Path) -> None:
    found, _ = suppressed(tmp_path, 'id = "RFC-0001"', "placeholders")

    assert found == ["G0412", "G0205", "G0206"]


def test_an_unused_suppression_cannot_be_suppressed(tmp_path: Path) -> None:
    assert suppressed(tmp_path, 'path = "gov/**"', "suppression-unused")[0] == ["G0412", "G0206"]


def test_an_unquoted_last_day_is_a_date_too(tmp_path: Path) -> None:
    table = '\n[[suppress]]\ncode = "placeholder"\nid = "RFC-0001"\nreason = "Known."\nuntil = 2026-12-31\n'
    write_tree(tmp_path, {**PLACEHOLDER, CONFIG: FILES[CONFIG] + table})

    assert judge(load_tree(tmp_path, today=TODAY)).findings == ()


@pytest.mark.parametrize("key", ["code", "reason", "until"])
def test_a_suppression_without_reason_or_end_is_refused(tmp_path: Path, key: str) -> None:
    keys = {"code": "G0412", "id": "RFC-0001", "reason": "Known.", "until": "2026-12-31"}
    table = "\n[[suppress]]\n" + "".join(f'{name} = "{value}"\n' for name, value in keys.items() if name != key)
    write_tree(tmp_path, {**PLACEHOLDER, CONFIG: FILES[CONFIG] + table})

    assert [finding.code for finding in judge(load_tree(tmp_path, today=TODAY)).findings] == ["G0412", "G0203"]
