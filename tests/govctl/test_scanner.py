"""Marks are read from source without importing it."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from govctl.marks import MarkKind
from govctl.problems import ProblemKind, Problems
from govctl.scanner import Scan, _scan_tree, scan_source

ID = "RFC-0001:C-RULE#S1"
OTHER = "RFC-0001:C-RULE#S2"


def scanned(source: str) -> Scan:
    scan = Scan()
    scan_source("suite/x.py", source, scan, Problems())
    return scan


def test_a_check_has_its_slug_and_all_its_statements() -> None:
    (mark,) = scanned(f'@check("a.b", "{ID}", "{OTHER}", depends_on=("a.c",))\ndef test_x(): ...\n').marks

    assert (mark.kind, mark.slug, mark.statements) == (MarkKind.CHECK, "a.b", (ID, OTHER))
    assert mark.depends_on == ("a.c",)


def test_a_mark_is_found_on_an_attribute_in_a_class_and_under_a_condition() -> None:
    source = f'class C:\n    if True:\n        @marks.law("{ID}", on="a.b")\n        async def f(self): ...\n'
    (mark,) = scanned(source).marks

    assert (mark.function, mark.place.line, mark.place.column) == ("f", 3, 10)


def test_the_column_counts_characters_and_not_bytes() -> None:
    (bad,) = scanned('@check("ä.b", x)\ndef f(): ...\n').bad_marks

    assert bad.place.column == 15


def test_a_mutant_says_what_it_breaks_besides() -> None:
    source = f'@mutant("a.b", kills="{ID}", also={{"{OTHER}": "because"}})\nclass M: ...\n'
    (mark,) = scanned(source).marks

    assert (mark.statements, mark.also) == ((ID,), {OTHER: "because"})


def test_a_benign_variant_serves_no_statement() -> None:
    (mark,) = scanned(f'@benign("a.b", declines={{"{ID}": "because"}})\nclass M: ...\n').marks

    assert (mark.kind, mark.statements, mark.also) == (MarkKind.BENIGN, (), {ID: "because"})


@pytest.mark.parametrize(
    "source",
    [
        "@law(ID, on='x')",
        "@law(f'{ID}')",
        "@check('a.b', *IDS)",
        "@check(**all)",
        "@mutant('a.b', kills=ID)",
        f"@mutant('a.b', kills='{ID}', also=ALSO)",
        f"@mutant('a.b', kills='{ID}', also={{**ALSO}})",
        f"@check('a.b', '{ID}', depends_on=OTHERS)",
    ],
)
def test_what_is_not_literal_is_a_bad_mark(source: str) -> None:
    (bad,) = scanned(f"{source}\ndef f(): ...\n").bad_marks

    assert not bad.is_literal


@pytest.mark.parametrize(
    "source",
    [
        "@law",
        "@law()",
        f"@law('{ID}', '{OTHER}')",
        "@check('a.b')",
        f"@check('no slug', '{ID}')",
        f"@check('{ID}')",
        "@mutant('a.b')",
        f"@mutant('a.b', '{ID}')",
        "@benign()",
    ],
)
def test_what_has_the_wrong_arguments_is_a_bad_mark(source: str) -> None:
    (bad,) = scanned(f"{source}\ndef f(): ...\n").bad_marks

    assert bad.is_literal


def test_an_import_under_another_name_is_a_bad_mark() -> None:
    assert scanned("from marks import law as l\n").bad_marks
    assert scanned("from marks import law\n@property\ndef f(): ...\n").bad_marks == []


@pytest.mark.parametrize(
    "source",
    [
        '@pytest.mark.skip(reason="x")\n{check}',
        "@pytest.mark.skipif(True)\n{check}",
        "@mark.xfail\n{check}",
        "pytestmark = pytest.mark.skip\n{check}",
        "pytestmark = [pytest.mark.slow, pytest.mark.skipif(X)]\n{check}",
    ],
)
def test_a_check_that_does_not_run_is_known_as_skipped(source: str) -> None:
    (mark,) = scanned(source.replace("{check}", f'@check("a.b", "{ID}")\ndef test_x(): ...\n')).marks

    assert mark.skipped_by


def test_a_class_that_is_skipped_skips_its_checks() -> None:
    source = f'@pytest.mark.skip\nclass TestX:\n    @check("a.b", "{ID}")\n    def test_x(self): ...\n'
    (mark,) = scanned(source).marks

    assert mark.skipped_by == "pytest.mark.skip"


@pytest.mark.parametrize("source", ["@check(\n", "@check\x00\ndef f(): ...", "@check(" + "(" * 500 + ")" * 500 + ")\n"])
def test_what_is_not_python_is_a_problem(source: str) -> None:
    problems = Problems()
    scan_source("suite/x.py", source, Scan(), problems)

    assert [problem.kind for problem in problems.found] == [ProblemKind.PYTHON_SYNTAX]


PARTS = [
    f'@check("a.b", "{ID}")\ndef test_a():\n    """It says."""\n    assert True\n',
    f'@check(\n    "a.c",\n    "{ID}",\n    "{OTHER}",\n)\nasync def test_b(): ...\n',
    f'@marks.law("{ID}")\ndef law_a(before): ...\n',
    f'@law("{ID}", on="a.b")\n@other\ndef law_b(before):\n    x = [1]\n',
    f'@pytest.mark.skip\n@check("a.d", "{ID}")\ndef test_c(): ...\n',
    f'@check("a.e", "{ID}")\n@pytest.mark.xfail(reason="x")\ndef test_d(): ...\n',
    f'@mutant("a.f", kills="{ID}", also={{"{OTHER}": "so"}})\nclass M(Base):\n    x = 1\n',
    '@benign("a.g")\nclass B: ...\n',
    f'@skip\nclass C:\n    @check("a.h", "{ID}")\n    def test_e(self): ...\n',
    f'"""\n@check("a.i", "{ID}")\ndef test_f(): ...\n"""\n',
    "x = '''\n@check(1)\ndef test_g(): ...\n'''\n",
    'x = \'"""\'\n',
    '# it is """ here\n',
    f'@check("No slug", "{ID}")\ndef test_h(): ...\n',
    f'@law("{ID}", "{OTHER}")\ndef law_c(): ...\n',
    '@check("a.k", ID)\ndef test_i(): ...\n',
    "@fixture\ndef f(): ...\n",
    "pytestmark = pytest.mark.skipif(True)\n",
    "from marks import check as c\n",
    "def g(a=1):\n    if a:\n        return 2\n",
    "\n",
]


@given(parts=st.lists(st.sampled_from(PARTS), max_size=6))
def test_reading_headers_alone_gives_what_reading_the_whole_file_gives(parts: list[str]) -> None:
    text = "".join(parts)
    ast.parse(text)
    whole = Scan()
    _scan_tree("suite/x.py", text, text, whole, Problems())

    assert scanned(text) == whole
