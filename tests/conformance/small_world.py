# ruff: noqa: ANN401 - laws, fakes and JSON values are of any type

"""A specification of a few sentences with laws, checks and implementations to match, small enough to know by heart."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from sharedkv_conformance.cases import Case
from sharedkv_conformance.catalogue import Catalogue, collect
from sharedkv_conformance.contract import Description, OpenConfig
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.marks import Check, Law, Witness, check, law, witness
from sharedkv_conformance.model.implementation import ModelImplementation, ModelSession
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.statements import Specification, parse_specification
from sharedkv_conformance.status import Status
from sharedkv_conformance.step import Ok

COUNT, OWNERS, PROBED, ADVICE, HIDDEN = (f"RFC-0002:C-SPLIT#S{number}" for number in range(1, 6))
PLANNING = frozenset({"planning"})


def statement(name: str, level: str = "MUST", **more: Any) -> dict[str, Any]:
    """Return one statement as `catalogue.json` has it."""
    text = f"The answer {level} follow {name.partition('#')[2]}."
    clause = name.partition("#")[0]
    return {"id": name, "rfc": "RFC-0002", "clause": clause, "level": level, "text": text, "digest": "0" * 64, **more}


def catalogue_json(*statements: Mapping[str, Any]) -> str:
    """Return the text of a `catalogue.json` with one RFC."""
    rfc = {"version": "0.1.0", "status": "draft", "phase": "test", "facet": "planning", "title": "Batch plan"}
    return json.dumps({"catalogue": 1, "rfcs": {"RFC-0002": rfc}, "statements": list(statements)})


def specification() -> Specification:
    """Return four sentences that apply, one of them only with a probe, and one that no check can show."""
    return parse_specification(
        catalogue_json(
            statement(COUNT),
            statement(OWNERS),
            statement(PROBED),
            statement(ADVICE, "SHOULD"),
            statement(HIDDEN, excluded={"class": "unobservable", "reason": "it leaves no trace"}),
        )
    )


@law(COUNT, on="planning.split")
def there_is_an_owner_a_page(before: Any, call: Any, answer: Any) -> list[str]:
    """Each page has an owner."""
    pages = -(-call.extend_tokens // before.geometry.page_size)
    wrong = isinstance(answer, Ok) and len(answer.value.owners) != pages
    return [f"{pages} pages, {len(answer.value.owners)} owners"] if wrong else []


@law(OWNERS, on="planning.split")
def owners_are_ranks(before: Any, call: Any, answer: Any) -> list[str]:
    """An owner is a rank."""
    del call
    strangers = [owner for owner in answer.value.owners if owner >= before.config.cp_size] if _ok(answer) else []
    return [f"owners {strangers} are no ranks"] if strangers else []


@law(ADVICE, on="planning.split")
def the_first_page_is_of_rank_0(before: Any, call: Any, answer: Any) -> list[str]:
    """The first page belongs to rank 0."""
    del before, call
    first = answer.value.owners[:1] if _ok(answer) else ()
    return [f"owner {first[0]}"] if first and first[0] else []


@witness(on="planning.split")
def something_was_split(before: Any, call: Any, answer: Any) -> bool:
    """A request was split."""
    del before, call
    return _ok(answer)


@witness(on="planning.split")
def pigs_flew(before: Any, call: Any, answer: Any) -> bool:
    """Never happens."""
    del before, call, answer
    return False


def _ok(answer: Any) -> bool:
    return isinstance(answer, Ok)


@check("planning.count", COUNT, witnesses=("something_was_split",), cases=("KV-01",))
def check_count(histories: Histories) -> None:
    """A page without an owner is written by nobody."""
    histories.run("planning", laws=[there_is_an_owner_a_page])


@check("planning.owners", OWNERS, witnesses=("something_was_split",), depends_on=("planning.count",))
def check_owners(histories: Histories) -> None:
    """A page of a rank that does not exist is lost."""
    histories.run("planning", laws=[owners_are_ranks])


@check("planning.probed", PROBED, needs=("probe.cost",))
def check_probed(histories: Histories) -> None:
    """Nobody sees what it costs."""
    histories.run("planning", laws=[there_is_an_owner_a_page])


@check("planning.advice", ADVICE, witnesses=("something_was_split",))
def check_advice(histories: Histories) -> None:
    """Rank 0 waits for the others."""
    histories.run("planning", laws=[the_first_page_is_of_rank_0])


LAWS: tuple[Law, ...] = (there_is_an_owner_a_page, owners_are_ranks, the_first_page_is_of_rank_0)
WITNESSES: tuple[Witness, ...] = (something_was_split, pigs_flew)
CHECKS: tuple[Callable[..., None], ...] = (check_count, check_owners, check_probed, check_advice)
CASES: Mapping[str, Case] = {
    name: Case(id=name, title="A page is lost", link="an/engine#1", summary="It was lost.", restated="C=2.")
    for name in ("KV-01", "KV-02")
}


def module(*members: Any) -> ModuleType:
    """Return a module that defines marked things, as a suite module does."""
    for member in members:
        if hasattr(member, "__module__") and callable(member) and not isinstance(member, Law):
            member.__module__ = __name__
    made = ModuleType(__name__)
    for number, member in enumerate(members):
        setattr(made, f"member_{number}", member)
    return made


def small_catalogue(
    *,
    checks: tuple[Callable[..., None], ...] = CHECKS,
    variants: tuple[type, ...] = (),
) -> Catalogue:
    """Return the catalogue of the small world."""
    return collect(
        specification=specification(),
        cases=CASES,
        suite=[module(*checks)],
        laws=[module(*LAWS, *WITNESSES)],
        mutants=[module(*variants)],
    )


class Scripted:
    """An executor that answers with statuses from a script; a check that it does not list passes."""

    def __init__(self, features: frozenset[str] = PLANNING, message: str = "scripted", **statuses: Status) -> None:
        self.description = Description(name="scripted", version="1", features=features)
        self.executed: list[str] = []
        self._message = message
        self._statuses = {name.replace("_", "."): status for name, status in statuses.items()}

    def execute(self, check: Check) -> CheckResult:
        """Answer from the script."""
        self.executed.append(check.slug)
        return CheckResult(check=check.slug, status=self._statuses.get(check.slug, Status.PASS), message=self._message)


class OnePageShort(PlanningModel):
    """Gives no owner to the last page."""

    def owners(self, extend_tokens: int) -> tuple[int, ...]:
        return super().owners(extend_tokens)[:-1]


class PlanningOnly:
    """The model, claiming its split alone, with one way to go wrong in each test."""

    def __init__(self, model: type[PlanningModel] = PlanningModel, **description: Any) -> None:
        self._model = ModelImplementation(planning=model)
        self._description = {"name": "planner", "version": "1", "features": PLANNING, **description}

    def describe(self) -> Description:
        return Description(**self._description)

    def open(self, config: OpenConfig) -> ModelSession:
        return self._model.open(config)
