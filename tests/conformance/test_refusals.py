# ruff: noqa: ANN401 - a fake answers whatever it likes
# ruff: noqa: ARG001 - each way to refuse is given the session and the call

from collections.abc import Callable
from typing import Any

import pytest

from sharedkv_conformance.catalogue import load_catalogue
from sharedkv_conformance.contract import Description, ExtendRequest, OpenConfig, Unsupported
from sharedkv_conformance.contract.operations import OPERATIONS
from sharedkv_conformance.description import described
from sharedkv_conformance.effort import GATE
from sharedkv_conformance.loss import Loss
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.refusals import unclaimed, with_refusals
from sharedkv_conformance.status import Status
from sharedkv_conformance.verdict import Claims

CATALOGUE = load_catalogue()
CLAIMED = frozenset({"allocation", "probe.pages"})
FEATURE_OF = {operation.name: operation.feature for operation in OPERATIONS}
Refusing = Callable[[Any, str], Any]


def refuse(session: Any, op: str) -> Any:
    raise Unsupported(FEATURE_OF[op])


def raise_something_else(session: Any, op: str) -> Any:
    raise NotImplementedError(op)


def be_lost(session: Any, op: str) -> Any:
    raise Loss(Status.CRASH, "killed by signal 9")


def refuse_and_keep_a_page(session: Any, op: str) -> Any:
    session.allocation.extend([ExtendRequest(request="more", prefix_tokens=0, extend_tokens=1)])
    raise Unsupported(FEATURE_OF[op])


class Counting:
    """An implementation that counts its sessions."""

    def __init__(self, inner: Any) -> None:
        self.describe = inner.describe
        self.opened = self.closed = 0
        self._inner = inner

    def open(self, config: OpenConfig) -> Any:
        session = self._inner.open(config)
        close = session.close

        def closed() -> None:
            self.closed += 1
            close()

        session.close = closed
        self.opened += 1
        return session


class _Facet:
    def __init__(self, session: Any, facet: str, refusing: Refusing | None, features: frozenset[str]) -> None:
        self._session, self._facet, self._refusing, self._features = session, facet, refusing, features

    def __getattr__(self, method: str) -> Any:
        op = f"{self._facet}.{method}"
        if self._refusing is None or FEATURE_OF[op] in self._features:
            return getattr(getattr(self._session, self._facet), method)
        refusing = self._refusing
        return lambda *_arguments: refusing(self._session, op)


class _Session:
    def __init__(self, session: Any, refusing: Refusing | None, features: frozenset[str]) -> None:
        self.planning, self.allocation, self.probe = (
            _Facet(session, facet, refusing, features) for facet in ("planning", "allocation", "probe")
        )
        self.close = session.close


class Modest:
    """The model, claiming a part of what it has; without a way to refuse, it answers what it does not claim."""

    def __init__(self, refusing: Refusing | None, features: frozenset[str] = CLAIMED) -> None:
        self._refusing, self._features = refusing, features

    def describe(self) -> Description:
        return Description(name="modest", version="1", features=self._features)

    def open(self, config: OpenConfig) -> Any:
        return _Session(ModelImplementation().open(config), self._refusing, self._features)


def claims(refusing: Refusing | None, features: frozenset[str] = CLAIMED) -> Claims:
    return with_refusals(Claims(), described(Modest(refusing, features)), CATALOGUE, GATE)


def test_there_is_one_refusal_check_for_each_feature_that_is_not_claimed() -> None:
    features = dict.fromkeys(operation.feature for operation in OPERATIONS)

    assert unclaimed(Modest(None).describe()) == tuple(f for f in features if f not in ("allocation", "probe.pages"))


def test_what_claims_everything_has_nothing_to_refuse() -> None:
    assert with_refusals(Claims(), described(ModelImplementation()), CATALOGUE, GATE) == Claims()


def test_refusals_that_change_nothing_pass() -> None:
    found = claims(refuse)

    assert {result.status for result in found.refusals.values()} == {Status.PASS}
    assert list(found.refusals) == [f"refusal.{feature}" for feature in unclaimed(Modest(None).describe())]
    assert found.hold


def test_without_allocation_there_is_nothing_to_look_at_and_refusing_is_enough() -> None:
    assert claims(refuse, frozenset({"planning"})).hold


def test_a_refusal_that_changes_something_fails() -> None:
    found = claims(refuse_and_keep_a_page)

    assert not found.hold
    assert "was refused, and changed" in found.refusals["refusal.allocation.snapshot"].message
    assert found.refusals["refusal.allocation.snapshot"].status is Status.FAIL


@pytest.mark.parametrize(
    ("refusing", "status", "message"),
    [
        (raise_something_else, Status.ERROR, "wanted Unsupported, for probe.cost is not claimed; it raised NotImpl"),
        (be_lost, Status.CRASH, "killed by signal 9"),
    ],
)
def test_an_exception_of_another_kind_is_no_refusal(refusing: Refusing, status: Status, message: str) -> None:
    result = claims(refusing).refusals["refusal.probe.cost"]

    assert result.status is status
    assert message in result.message


@pytest.mark.parametrize("refusing", [refuse, refuse_and_keep_a_page, raise_something_else])
def test_a_refusal_check_closes_its_session_however_it_ends(refusing: Refusing) -> None:
    counting = Counting(Modest(refusing))
    with_refusals(Claims(), described(counting), CATALOGUE, GATE)

    assert counting.opened == counting.closed > 0


def test_a_failure_to_close_does_not_hide_what_was_found() -> None:
    class Stuck(Counting):
        def open(self, config: OpenConfig) -> Any:
            session = super().open(config)
            session.close = lambda: refuse(session, "probe.cost")
            return session

    found = with_refusals(Claims(), described(Stuck(Modest(refuse_and_keep_a_page))), CATALOGUE, GATE)

    assert "was refused, and changed" in found.refusals["refusal.allocation.snapshot"].message


def test_what_answers_although_it_is_not_claimed_fails_and_is_told_where_it_would_pass() -> None:
    found = claims(None, ModelImplementation.FEATURES - {"allocation.snapshot"})

    assert found.refusals["refusal.allocation.snapshot"].status is Status.FAIL
    assert "it answered 0" in found.refusals["refusal.allocation.snapshot"].message
    assert found.unclaimed_passes == ("allocation.snapshot",)


def test_what_answers_wrongly_is_not_told_as_passing() -> None:
    found = claims(lambda _session, _op: 0, ModelImplementation.FEATURES - {"allocation.snapshot"})

    assert found.unclaimed_passes == ()
    assert not found.hold
