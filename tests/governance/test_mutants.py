"""Every broken tree dies by a check of the statement that it breaks, and by no other than its mark says."""

from __future__ import annotations

import pytest

from tests.governance.catalogue import checks, mutants
from tests.governance.matrix import on_mutant

BY_SLUG = {mutant.slug: mutant for mutant in mutants()}


@pytest.mark.parametrize("slug", BY_SLUG)
def test_a_mutant_dies_as_its_mark_says(slug: str) -> None:
    assert on_mutant(BY_SLUG[slug], checks()).problems == ()


def test_marks_have_slugs_of_their_own() -> None:
    slugs = [*(check.slug for check in checks()), *(mutant.slug for mutant in mutants())]

    assert sorted(set(slugs)) == sorted(slugs)
