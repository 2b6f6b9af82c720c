import re
from dataclasses import replace

import pytest

from sharedkv_conformance.contract import Description
from sharedkv_conformance.contract.operations import OPERATIONS
from sharedkv_conformance.profiles import FULL, Profile, ProfileError, load_profiles, parse_profiles, profile_named
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.statements import load_specification
from sharedkv_conformance.status import Status
from sharedkv_conformance.verdict import Conformance, ProfileVerdict, claims_not_met, statement_verdicts, verdict_in
from tests.conformance.small_world import (
    ADVICE,
    COUNT,
    HIDDEN,
    OWNERS,
    PLANNING,
    PROBED,
    small_catalogue,
    specification,
)

CORE = {"name": '"core"', "meaning": '"The split."', "rfcs": '{ RFC-0002 = "0.1.0" }', "features": '["planning"]'}
SMALL = Profile(name="core", meaning="The split.", rfcs={"RFC-0002": "0.1.0"}, features=PLANNING)


def text(*entries: dict[str, str]) -> str:
    return "".join(
        "[[profiles]]\n" + "".join(f"{key} = {value}\n" for key, value in entry.items()) for entry in entries
    )


def judged(
    profile: Profile, features: frozenset[str] = PLANNING, *, complete: bool = True, **statuses: Status
) -> ProfileVerdict:
    catalogue = small_catalogue()
    described = Description(name="scripted", version="1", features=features)
    results = {
        check.slug: CheckResult(
            check=check.slug,
            status=statuses.get(check.slug.partition(".")[2], Status.PASS)
            if check.required_features <= features
            else Status.INAPPLICABLE,
        )
        for check in catalogue.checks
    }
    verdicts = statement_verdicts(catalogue, described, results)
    return verdict_in(profile, verdicts, results, described, catalogue, complete=complete)


@pytest.mark.parametrize("name", load_profiles())
def test_each_profile_is_frozen_for_the_specification_of_the_package(name: str) -> None:
    profile = profile_named(name, load_specification(), load_profiles())

    assert any(profile.counts(load_specification(), s) for s in load_specification().statements.values())


def test_the_core_of_allocation_asks_for_no_optional_feature() -> None:
    known, core = load_specification(), load_profiles()["allocation-core"]
    counted = {name for name, statement in known.statements.items() if core.counts(known, statement)}
    optional = {name for name, s in known.statements.items() if s.features - {"allocation"} and s.rfc == "RFC-0001"}

    assert {f"RFC-0001:C-FREE-ROOM#S{number}" for number in (1, 2, 3)} <= optional
    assert counted == {name for name, s in known.statements.items() if s.rfc == "RFC-0001"} - optional


def test_the_whole_of_allocation_asks_for_all_that_the_contract_has_of_it() -> None:
    of_allocation = frozenset(op.feature for op in OPERATIONS if op.facet == "allocation")
    probes = {"probe.cost", "probe.events", "probe.pages"}

    assert load_profiles()["allocation"].features == of_allocation | probes


def test_another_version_of_an_rfc_is_an_error_until_somebody_looked() -> None:
    moved = replace(SMALL, rfcs={"RFC-0002": "0.2.0"})

    with pytest.raises(ProfileError, match=re.escape("frozen for RFC-0002 0.2.0, and the specification has 0.1.0")):
        profile_named("core", specification(), {"core": moved})


def test_an_rfc_that_is_gone_is_an_error() -> None:
    gone = replace(SMALL, rfcs={"RFC-0009": "1.0.0"})

    with pytest.raises(ProfileError, match="the specification has missing"):
        profile_named("core", specification(), {"core": gone})


def test_a_name_that_is_none_is_told_with_the_nearest_one() -> None:
    with pytest.raises(ProfileError, match="did you mean allocation-core"):
        profile_named("allocation-cores", load_specification(), load_profiles())


def test_profiles_are_read_in_order_after_full() -> None:
    assert list(parse_profiles(text(CORE)).values()) == [FULL, SMALL]


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([{**CORE, "probes": "[]"}], "wanted the keys"),
        ([{key: value for key, value in CORE.items() if key != "rfcs"}], "wanted the keys"),
        ([{**CORE, "name": '" "'}], "name: wanted a text"),
        ([{**CORE, "name": '"full"'}], "full stands twice"),
        ([CORE, CORE], "core stands twice"),
        ([{**CORE, "rfcs": "{}"}], "rfcs: wanted a table"),
        ([{**CORE, "rfcs": "{ RFC-0002 = 1 }"}], "rfcs: wanted a table"),
        ([{**CORE, "features": "[]"}], "features: wanted a list"),
        ([{**CORE, "features": '["planing"]'}], "the contract has no feature 'planing'"),
    ],
)
def test_what_is_no_profile_is_told(entries: list[dict[str, str]], problem: str) -> None:
    with pytest.raises(ProfileError, match=re.escape(problem)):
        parse_profiles(text(*entries))


@pytest.mark.parametrize("broken", ["profiles = 1", "[[profiles", 'version = 1\n[[profiles]]\nname = "a"'])
def test_a_file_that_holds_something_else_is_told(broken: str) -> None:
    with pytest.raises(ProfileError, match=r"profiles\.toml"):
        parse_profiles(broken)


def test_a_statement_that_does_not_count_does_not_matter() -> None:
    elsewhere = replace(SMALL, rfcs={"RFC-0001": "0.1.0"})

    assert judged(SMALL, count=Status.FAIL).conformance is Conformance.NOT_CONFORMANT
    assert sum(judged(elsewhere, count=Status.FAIL).must.values()) == 0


def test_a_profile_of_which_nothing_applies_is_never_conformant() -> None:
    assert judged(replace(SMALL, rfcs={"RFC-0001": "0.1.0"})).conformance is Conformance.INCOMPLETE


def test_a_probe_that_is_not_required_leaves_a_statement_unproven() -> None:
    verdict = judged(SMALL)

    assert verdict.conformance is Conformance.CONFORMANT
    assert "1 unproven for want of a probe" in verdict.headline()


def test_a_probe_that_is_required_has_to_be_claimed() -> None:
    verdict = judged(replace(SMALL, features=PLANNING | {"probe.cost"}))

    assert verdict.conformance is Conformance.NOT_CONFORMANT
    assert "not conformant to core" in verdict.headline()
    assert "not claimed: probe.cost" in verdict.headline()


def test_a_filtered_run_is_incomplete_in_every_profile() -> None:
    assert judged(SMALL, complete=False).conformance is Conformance.INCOMPLETE


def test_every_statement_counts_in_full() -> None:
    known = specification()

    assert [name for name, s in known.statements.items() if FULL.counts(known, s)] == [
        COUNT,
        OWNERS,
        PROBED,
        ADVICE,
        HIDDEN,
    ]


def not_met(*features: str, **statuses: Status) -> tuple[str, ...]:
    catalogue = small_catalogue()
    results = {
        check.slug: CheckResult(check=check.slug, status=statuses.get(check.slug.partition(".")[2], Status.PASS))
        for check in catalogue.checks
    }
    return claims_not_met(catalogue, Description(name="x", version="1", features=frozenset(features)), results)


def test_claims_that_checks_bear_out_are_met() -> None:
    assert not_met("planning", "probe.cost") == ()


def test_a_claim_without_a_check_is_not_met() -> None:
    assert not_met("planning", "teleport") == ("teleport",)


@pytest.mark.parametrize("status", [Status.FAIL, Status.VACUOUS, Status.BLOCKED, Status.UNMET, Status.INAPPLICABLE])
def test_a_claim_whose_check_does_not_pass_is_not_met(status: Status) -> None:
    assert "probe.cost" in not_met("planning", "probe.cost", probed=status)


def test_of_a_claim_whose_checks_were_not_selected_nothing_is_said() -> None:
    assert not_met("probe.cost", probed=Status.NOT_RUN) == ()
