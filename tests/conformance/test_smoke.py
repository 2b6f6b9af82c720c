# ruff: noqa: ANN401 - laws, fakes and JSON values are of any type
# ruff: noqa: ARG002 - a fake takes what the contract gives it

from typing import Any

import pytest

from sharedkv_conformance.contract import OpenConfig, Unsupported
from sharedkv_conformance.contract.operations import OPERATIONS
from sharedkv_conformance.description import described
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.smoke import HAPPY_PATH, OTHER_CALLS, smoke
from tests.conformance.small_world import PlanningOnly


def found(implementation: Any) -> dict[str, str]:
    return {finding.subject: finding.problem for finding in smoke(described(implementation))}


class Unclaimed:
    """A facet that is not claimed."""

    def __init__(self, feature: str) -> None:
        self._feature = feature

    def __getattr__(self, method: str) -> Any:
        def refuse(*_arguments: object) -> None:
            raise Unsupported(f"{self._feature}.{method}")

        return refuse


class SplitAlone(Unclaimed):
    """A planning facet that has the split and refuses the plans of batches."""

    def __init__(self, planning: PlanningModel) -> None:
        super().__init__("planning.batch")
        self.split = planning.split


class Honest(PlanningOnly):
    """Claims its split and refuses everything else."""

    def open(self, config: OpenConfig) -> Any:
        session: Any = super().open(config)
        session.planning = SplitAlone(session.planning)
        for facet in {operation.facet for operation in OPERATIONS} - {"planning"}:
            setattr(session, facet, Unclaimed(facet))
        return session


class FewArguments(PlanningModel):
    def split(self, tokens: int) -> Any:  # type: ignore[override]
        return tokens


class NoShape(PlanningModel):
    def split(self, prefix_tokens: int, extend_tokens: int) -> Any:
        return {"owners": "abc"}


class Closed(Honest):
    def open(self, config: OpenConfig) -> Any:
        raise OSError("no device")


def test_every_operation_of_the_contract_has_a_call() -> None:
    assert set(HAPPY_PATH) | set(OTHER_CALLS) == {operation.name for operation in OPERATIONS}


@pytest.mark.parametrize("implementation", [ModelImplementation(), Honest()])
def test_a_right_adapter_has_no_problem(implementation: Any) -> None:
    assert {subject: problem for subject, problem in found(implementation).items() if problem} == {}


def test_a_facet_that_answers_though_it_is_not_claimed_is_told() -> None:
    problems = found(PlanningOnly())

    assert problems["not claimed: allocation.lanes"].startswith("wanted Unsupported, for allocation is not claimed; it")


def test_a_signature_is_held_against_the_contract() -> None:
    problems = found(PlanningOnly(FewArguments))

    assert (
        problems["signature: planning.split"]
        == "wanted split(prefix_tokens, extend_tokens), found split(tokens: int) -> Any"
    )


def test_an_answer_of_the_wrong_shape_is_told() -> None:
    problems = found(PlanningOnly(NoShape))

    assert "the answer.owners: wanted a sequence, found 'abc'" in problems["call: planning.split"]


def test_a_session_that_cannot_be_opened_is_told() -> None:
    assert list(smoke(described(Closed())))[-1].subject == "open"
    assert "OSError: no device" in found(Closed())["open"]
