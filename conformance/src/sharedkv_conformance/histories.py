"""The fixture that checks are written against: drawn histories, and written ones.

A check run counts its witnesses and keeps the trace of the violation that ended it. Drawn histories are one hypothesis
state machine for every facet; the facet says how a session is opened and how the next call is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from sharedkv_conformance.contract.implementation import Implementation, OpenConfig
from sharedkv_conformance.contract.operations import OPERATION_BY_NAME
from sharedkv_conformance.effort import Effort
from sharedkv_conformance.facets import FACETS, Facet
from sharedkv_conformance.ground import Ground
from sharedkv_conformance.history import Escaped, Gone, History, Refused, Violation
from sharedkv_conformance.literals import without_literals
from sharedkv_conformance.marks import Law, Witness
from sharedkv_conformance.model.geometry import unsupported_geometry
from sharedkv_conformance.reduction import reduced
from sharedkv_conformance.step import Call, Err, Ok
from sharedkv_conformance.sweep import Sweeps, Swept
from sharedkv_conformance.trace import OPEN


class Histories:
    """Runs histories of one implementation for one check."""

    def __init__(
        self,
        implementation: Implementation,
        effort: Effort,
        witnesses: Sequence[Witness] = (),
        sweeps: Sweeps | None = None,
    ) -> None:
        self.implementation = implementation
        self.effort = effort
        self.witnesses = tuple(witnesses)
        self.raised: Counter[str] = Counter()
        self.examples = 0
        self.laws: set[tuple[str, str]] = set()
        self.collected: dict[str, Violation] | None = None
        self._sweeps = sweeps
        self.description = implementation.describe()

    def run(
        self,
        facet: str,
        *,
        laws: Iterable[Law],
        ranks: int | None = 1,
        opening: Callable[..., OpenConfig] | None = None,
    ) -> None:
        """Draw histories of a facet and judge each step by these laws alone.

        Raises `Violation` for the smallest history found that breaks one. `opening` replaces the facet's own way to
        draw a configuration; `ranks` above 1 puts every call to so many sessions in lockstep, None to one a rank of the
        geometry.
        """
        judged = tuple(laws)
        swept = self._swept(facet) if ranks == 1 and opening is None else None
        if swept is not None and swept.covers(judged) and swept.violation_of(judged) is None:
            self.laws.update((law.statement, law.name) for law in judged)
            self.raised.update({witness.name: swept.raised[witness.name] for witness in self.witnesses})
            self.examples += swept.examples
            return
        plan = _Plan(self, FACETS[facet], judged, ranks, opening or FACETS[facet].opening)
        if swept is not None and (violation := swept.violation_of(judged)) is not None:
            raise self._reduced(violation, plan)
        self._draw(plan)

    def _draw(self, plan: _Plan) -> None:
        if plan.ranks == 1 and plan.opening == plan.facet.opening:
            self._read_scripts(plan)
        machine: Any = lambda: _HistoryMachine(plan)  # noqa: E731 - a factory where hypothesis' types want a class
        if self.effort.seed is not None:
            machine = seeded(self.effort.seed)(machine)
        try:
            with without_literals():
                run_state_machine_as_test(machine, settings=self.effort.settings())
        except (Violation, Escaped) as failure:
            raise self._reduced(failure, plan) from None

    def _read_scripts(self, plan: _Plan) -> None:
        """Issue the written histories of the facet."""
        for config, script in plan.facet.scripts:
            try:
                with self.written(plan.facet.word, config, laws=plan.laws) as call:
                    script(call)
            except (Violation, Escaped) as failure:
                raise self._reduced(failure, plan) from None

    def _reduced(self, failure: Violation | Escaped, plan: _Plan) -> Violation | Escaped:
        """Return a failure with as short a history as a bounded search finds."""
        if not self.effort.reduce:
            return failure
        try:
            return reduced(failure, partial(self._history, plan.facet, plan.laws), plan.observations)
        except Gone:  # lost in another history: what was found stands
            return failure

    def _swept(self, facet: str) -> Swept | None:
        """Return the sweep over a facet, made now if nobody asked before; None where there is none to rely on."""
        if self._sweeps is None or facet not in self._sweeps.grounds:
            return None
        if facet not in self._sweeps.done:
            self._sweeps.done[facet] = None  # where the sweep is not finished, each later check draws for itself
            self._sweeps.done[facet] = self._sweep(facet, self._sweeps.grounds[facet])
        return self._sweeps.done[facet]

    def _sweep(self, facet: str, ground: Ground) -> Swept | None:
        features = self.description.features
        laws = tuple(law for law in ground.laws if all(op == OPEN or _feature(op) in features for op in law.on))
        broom = Histories(self.implementation, replace(self.effort, reduce=False), ground.witnesses)
        broom.collected = {}
        try:
            broom.run(facet, laws=laws)
        except Exception:  # noqa: BLE001 - whatever it is, each check meets it again and tells it as its own
            return None
        return Swept(laws=frozenset(broom.laws), broken=broom.collected, raised=broom.raised, examples=broom.examples)

    @contextmanager
    def written(self, facet: str, config: OpenConfig, *, laws: Iterable[Law], ranks: int = 1) -> Iterator[Written]:
        """Open sessions for a written history; a call that builds on a refused one ends it without a verdict."""
        self.examples += 1
        with self._history(FACETS[facet], tuple(laws)) as history:
            opened = history.open(config, facet=facet, ranks=ranks)
            try:
                if isinstance(opened, Ok):
                    yield Written(history, _observations(FACETS[facet], history.laws))
                else:
                    yield Written(history, (), refused=True)
            except Refused:
                pass
            finally:
                self.raised.update(history.raised)

    def opened(self, facet: str, config: OpenConfig, *, laws: Iterable[Law]) -> None:
        """Open a session and close it again, judging the opening alone."""
        self.examples += 1
        with self._history(FACETS[facet], tuple(laws)) as history:
            try:
                history.open(config, facet=facet)
            finally:
                self.raised.update(history.raised)

    def _history(self, facet: Facet, laws: tuple[Law, ...]) -> History:
        self.laws.update((law.statement, law.name) for law in laws)
        history = History(self.implementation, facet.state, laws, self.witnesses)
        history.collected = self.collected
        return history


class Written:
    """A history whose calls stand in the check; its observations are issued after each call, as in drawn ones."""

    def __init__(self, history: History, observations: Sequence[str], *, refused: bool = False) -> None:
        self._history = history
        self._observations = observations
        self._refused = refused

    @property
    def state(self) -> Any:
        """Return what is known of the session, for another history that goes on from it."""
        if self._refused:
            raise Refused(OPEN)
        return self._history.state

    def __call__(self, op: str, **args: Any) -> Any:
        """Issue one call and return its value; an error ends the history."""
        if self._refused:
            raise Refused(op)
        answer = self.attempt(op, **args)
        if isinstance(answer, Err):
            raise Refused(op)
        return answer.value

    def attempt(self, op: str, **args: Any) -> Ok | Err:
        """Issue one call and return its answer, whatever it is."""
        if self._refused:
            raise Refused(op)
        answer = self._history.issue(Call(op=op, args=args), self._observations)
        for observation in self._observations:
            self._history.issue(Call(op=observation))
        return answer


class _Plan:
    """What every example of one drawn run shares."""

    def __init__(
        self,
        owner: Histories,
        facet: Facet,
        laws: tuple[Law, ...],
        ranks: int | None,
        opening: Callable[..., OpenConfig],
    ) -> None:
        self.owner = owner
        self.facet = facet
        self.laws = laws
        self.ranks = ranks
        self.opening = opening
        self.observations = _observations(facet, laws)

    def start(self) -> History:
        """Return a history without sessions."""
        self.owner.examples += 1
        return self.owner._history(self.facet, self.laws)  # noqa: SLF001 - one module


class _HistoryMachine(RuleBasedStateMachine):
    """Opens a session, then issues calls one at a time, each with its observations."""

    def __init__(self, plan: _Plan) -> None:
        super().__init__()
        self.plan = plan
        self.history = plan.start()

    @initialize(data=st.data())
    def open(self, data: st.DataObject) -> None:
        """Open the sessions of every rank."""
        config = data.draw(_drawn_by(self.plan.opening, self.plan.owner.description.limits))
        ranks = self.plan.ranks or config.cp_size
        opened = self.history.open(config, facet=self.plan.facet.word, ranks=ranks)
        if isinstance(opened, Err) and not unsupported_geometry(config):
            raise Escaped(OPEN, opened.error, self.history.trace("", ""))

    @precondition(lambda self: bool(self.history.seats))
    @rule(data=st.data())
    def call(self, data: st.DataObject) -> None:
        """Issue the next call and look at what it did."""
        call = data.draw(_drawn_by(self.plan.facet.next_call, self.history.state))
        if not self.offered(call):
            return
        self.history.issue(call, self.plan.observations)
        for observation in self.plan.observations:
            self.history.issue(Call(op=observation))

    def offered(self, call: Call) -> bool:
        """Say whether the implementation claims what the call needs."""
        return _feature(call.op) in self.plan.owner.description.features

    def teardown(self) -> None:
        """Keep the witnesses and close the sessions."""
        self.plan.owner.raised.update(self.history.raised)
        self.history.close()


@st.composite
def _drawn_by(draw: st.DrawFn, function: Callable[..., Any], known: Any) -> Any:
    """Draw by a function of the facet as one strategy: interactive draws are slower, for each is noted by itself."""
    return function(draw, known)


def _feature(op: str) -> str:
    return OPERATION_BY_NAME[op].feature


def _observations(facet: Facet, laws: Iterable[Law]) -> tuple[str, ...]:
    judged = {op for law in laws for op in law.on}
    return tuple(op for op in facet.observations if op in judged or op in facet.always)
