"""Makes the history of a failure short: calls, requests and pages are left out as long as the same law stays broken.

Works on the trace, by issuing what is left of it again, so that it serves any implementation and costs little. Knows
nothing of hypothesis: how the failure was found does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sharedkv_conformance.codec import Malformed, decode
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.operations import OPERATION_BY_NAME
from sharedkv_conformance.history import Escaped, History, Violation
from sharedkv_conformance.trace import OPEN, TracedCall, resolved_call

# Histories that are tried to reduce one failure: a bound on the time of a failing check.
MOST_TRIES = 250


@dataclass(frozen=True, kw_only=True)
class Step:
    """One drawn call with the observations that were issued after it; calls keep the numbers of the whole history."""

    call: TracedCall
    observations: tuple[TracedCall, ...] = ()


Failure = Violation | Escaped


def reduced(failure: Failure, begin: Callable[[], History], observations: Sequence[str]) -> Failure:
    """Return the failure with the shortest history found that ends in the same way.

    `begin` makes a history without sessions that judges by the law alone. A history that does not fail when it is
    issued again is returned as it came.
    """
    return _Reduction(failure, begin, frozenset(observations)).run()


def _is_alike(found: Failure, wanted: Failure) -> bool:
    if isinstance(found, Violation):
        return isinstance(wanted, Violation) and found.statement == wanted.statement
    return isinstance(wanted, Escaped) and (found.op, type(found.error)) == (wanted.op, type(wanted.error))


class _Reduction:
    """The search: what is left of the history, the failure that it ends in, and how often it was tried."""

    def __init__(self, failure: Failure, begin: Callable[[], History], observations: frozenset[str]) -> None:
        self.found = failure
        self._begin = begin
        self._header: Mapping[str, Any] = failure.trace[0]
        self._tries = 0
        self.steps = _steps(failure.trace, observations)

    def run(self) -> Failure:
        """Leave out whole steps, then parts of their arguments, until nothing more can go."""
        if not self._breaks(self.steps):
            return self.found
        before = None
        while before != self.steps and self._tries < MOST_TRIES:
            before = self.steps
            self._drop_steps()
            self._simplify_arguments()
        return self.found

    def _drop_steps(self) -> None:
        size = max(1, len(self.steps) // 2)
        while size:
            for start in range(max(0, len(self.steps) - size), -1, -size):
                rest = self.steps[:start] + self.steps[start + size :]
                if rest and self._breaks(rest):
                    self.steps = rest
            size //= 2

    def _simplify_arguments(self) -> None:
        index = 0
        while index < len(self.steps):
            for args in _simpler(self.steps[index].call.args, self._header["config"].get("page_size", 1)):
                step = replace(self.steps[index], call=replace(self.steps[index].call, args=args))
                if self._breaks([*self.steps[:index], step, *self.steps[index + 1 :]]):
                    self.steps[index] = step
                    break
            else:
                index += 1

    def _breaks(self, steps: Sequence[Step]) -> bool:
        """Issue a history; keep its failure if it ends in the same way."""
        if self._tries >= MOST_TRIES:
            return False
        self._tries += 1
        try:
            self._issue(steps)
        except (Violation, Escaped) as failure:
            if not _is_alike(failure, self.found):
                return False
            self.found = failure
            return True
        except (LookupError, Malformed):
            return False
        return False

    def _issue(self, steps: Sequence[Step]) -> None:
        config = decode(OpenConfig, self._header["config"])
        with self._begin() as history:
            history.open(config, facet=self._header["facet"], ranks=self._header.get("ranks", 1))
            numbers: dict[int, int] = {}
            for step in steps:
                for traced in (step.call, *step.observations):
                    if not history.seats:
                        return
                    numbers[traced.call] = history.calls
                    moved = replace(traced, args=_renumbered(traced.args, numbers))
                    history.issue(resolved_call(moved, history.seats[0].references))


def _steps(trace: Sequence[Mapping[str, Any]], observations: frozenset[str]) -> list[Step]:
    """Return the first rank's calls as steps; observations that neither a law nor a later call needs are left out."""
    needed = {number for line in trace[1:] for number in _calls_named(line.get("args", {}))}
    steps: list[Step] = []
    follows = False
    for line in trace[1:]:
        if "call" not in line or line["op"] == OPEN or line.get("rank", 0):
            continue
        traced = TracedCall(call=line["call"], op=line["op"], args=line.get("args", {}))
        if not traced.args and follows and traced.op in observations:
            steps[-1] = replace(steps[-1], observations=(*steps[-1].observations, traced))
        elif traced.args or traced.call in needed or not _only_shows(traced.op):
            steps.append(Step(call=traced))
            follows = True
    return steps


def _only_shows(op: str) -> bool:
    """Say whether a call without arguments is a look at inner state, which changes nothing."""
    operation = OPERATION_BY_NAME[op]
    return operation.facet == "probe" and operation.result is not None


def _calls_named(data: Any) -> Iterator[int]:
    """Yield the calls that the paths in arguments name."""
    if isinstance(data, Mapping):
        if set(data) == {"$"}:
            yield data["$"][0]
        else:
            for value in data.values():
                yield from _calls_named(value)
    elif isinstance(data, list):
        for value in data:
            yield from _calls_named(value)


def _renumbered(data: Any, numbers: Mapping[int, int]) -> Any:
    """Return arguments whose paths name calls as they are numbered now; raises `LookupError` for a call left out."""
    if isinstance(data, Mapping):
        if set(data) == {"$"}:
            first, *rest = data["$"]
            return {"$": [numbers[first], *rest]}
        return {key: _renumbered(value, numbers) for key, value in data.items()}
    if isinstance(data, list):
        return [_renumbered(value, numbers) for value in data]
    return data


def _simpler(args: Mapping[str, Any], page_size: int) -> Iterator[dict[str, Any]]:
    """Yield arguments with less in them: fewer requests, pages or locations, then shorter requests."""
    for name, value in args.items():
        if isinstance(value, list) and len(value) > 1:
            for index in range(len(value)):
                yield {**args, name: value[:index] + value[index + 1 :]}
    for index, request in enumerate(args.get("batch", ())):
        for less in _shorter(request, page_size):
            yield {**args, "batch": [*args["batch"][:index], less, *args["batch"][index + 1 :]]}


def _shorter(request: Mapping[str, Any], page_size: int) -> Iterator[dict[str, Any]]:
    if "prefix_tokens" not in request:  # its pages go with its tokens: shorter, it would be another call
        return
    prefix, tokens = request["prefix_tokens"], request["extend_tokens"]
    if prefix > 0:
        yield {**request, "prefix_tokens": prefix % page_size}
    for fewer in (
        page_size,
        tokens // 2 // page_size * page_size,
        tokens - page_size,
        -(-tokens // page_size) * page_size,
    ):
        if 0 < fewer != tokens and (fewer < tokens or fewer - tokens < page_size):
            yield {**request, "extend_tokens": fewer}
