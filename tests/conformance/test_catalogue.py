from collections.abc import Callable

import pytest

from govctl.digests import catalogue_digest
from sharedkv_conformance.catalogue import CatalogueError, load_catalogue, load_laws, load_witnesses
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.marks import benign, check, mutant
from sharedkv_conformance.model.planning import PlanningModel
from tests.conformance.small_world import ADVICE, CHECKS, COUNT, OWNERS, check_owners, small_catalogue

CheckFunction = Callable[..., None]


def checked(slug: str, *statements: str, **more: tuple[str, ...]) -> CheckFunction:
    def function(histories: Histories) -> None:
        """Nothing goes wrong."""
        del histories

    return check(slug, *statements, **more)(function)


def problems(*checks: CheckFunction) -> str:
    with pytest.raises(CatalogueError) as caught:
        small_catalogue(checks=(*CHECKS, *checks))
    return str(caught.value)


def test_the_catalogue_of_the_package_fits_together() -> None:
    catalogue = load_catalogue()

    assert catalogue.checks
    assert catalogue.mutants


def test_laws_and_witnesses_of_the_package_can_be_loaded_alone() -> None:
    catalogue = load_catalogue()

    assert load_laws() == catalogue.laws
    assert load_witnesses() == catalogue.witnesses


def test_the_digest_is_the_one_that_govctl_computes() -> None:
    catalogue = load_catalogue()
    triples = [
        (statement, catalogue.statements[statement].digest, found.slug)
        for found in catalogue.checks
        for statement in found.statements
    ]

    assert catalogue.digest == catalogue_digest(triples)


def test_the_digest_changes_with_the_checks() -> None:
    assert small_catalogue().digest != small_catalogue(checks=CHECKS[:1]).digest


def test_dependencies_come_before_their_dependants() -> None:
    catalogue = small_catalogue(checks=(check_owners, *(found for found in CHECKS if found is not check_owners)))
    slugs = [found.slug for found in catalogue.checks]

    assert slugs.index("planning.count") < slugs.index("planning.owners")


def test_a_check_that_names_nothing_known_is_told_for_each_name() -> None:
    told = problems(
        checked("planning.odd", "RFC-0002:C-SPLIT#S99", witnesses=("x",), cases=("KV-9",), depends_on=("planning.y",))
    )

    assert "unknown statement RFC-0002:C-SPLIT#S99" in told
    assert "unknown witness x" in told
    assert "unknown case KV-9" in told
    assert "unknown check to depend on planning.y" in told


def test_a_slug_that_is_used_twice_is_told() -> None:
    assert "check planning.count is defined twice" in problems(checked("planning.count", COUNT))


def test_checks_that_wait_for_one_another_are_told() -> None:
    told = problems(
        checked("planning.hen", COUNT, depends_on=("planning.egg",)),
        checked("planning.egg", COUNT, depends_on=("planning.hen",)),
    )

    assert "depend on one another: planning.egg, planning.hen" in told


def test_a_check_without_a_statement_is_told() -> None:
    assert "check planning.idle names no statement" in problems(checked("planning.idle"))


def test_variants_are_collected_where_they_are_marked_and_not_where_they_are_inherited() -> None:
    @mutant("planning.wrong", kills=COUNT)
    class Wrong(PlanningModel):
        """Is wrong."""

    class Unmarked(Wrong):
        """Inherits the mark."""

    @benign("planning.odd", declines={ADVICE: "it may"})
    class Odd(PlanningModel):
        """Is odd."""

    catalogue = small_catalogue(variants=(Wrong, Unmarked, Odd))

    assert [found.slug for found in catalogue.mutants] == ["planning.wrong"]
    assert [found.slug for found in catalogue.benign] == ["planning.odd"]


def test_a_case_that_no_check_names_is_known() -> None:
    assert [case.id for case in small_catalogue().uncovered_cases()] == ["KV-02"]


def test_checks_are_found_by_statement() -> None:
    assert [found.slug for found in small_catalogue().checks_of[OWNERS]] == ["planning.owners"]


def test_every_witness_of_a_check_is_counted_in_some_kind_of_history() -> None:
    catalogue = load_catalogue()
    counted = {found.name for ground in catalogue.grounds.values() for found in ground.witnesses}
    assert counted == {name for check in catalogue.checks for name in check.witnesses}
    assert {catalogue.grounds[facet].facet for facet in ("host_tier", "copies", "storage")} == {
        "host_tier",
        "copies",
        "storage",
    }
