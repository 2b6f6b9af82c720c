"""Variants of sending, each run in turn on one engine, and what their medians say beside one another.

Knows variants, engines by name and lengths of forwards. Does not know how a result is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median

import zmq

from benchmarks.transfer_decode import Decode
from benchmarks.transfer_engines import MEMORY, engine_of
from benchmarks.transfer_peers import DecodePeer, DecodeProcess, DecodeThread
from benchmarks.transfer_prefill import FORWARD, HEARD, Prefill, Run
from benchmarks.transfer_recording import RecordingEngine
from benchmarks.transfer_shape import TransferShape
from sharedkv.engines.memory import Memory
from sharedkv.thread_streams import ThreadBackend

ALONE, MONOLITHIC, ENGINE = "forward alone", "all at the end", "engine alone"
OVERLAPPED = "groups of {}"
MONOLITHIC_GROUP = 8
"""All at the end, a sender's groups say nothing."""

Runs = Mapping[str, Run]


@dataclass(frozen=True, kw_only=True)
class Point:
    """One engine and one length of the forward, as a multiple of the time to send; medians of the runs by variant."""

    name: str
    length: float
    shape: TransferShape
    runs: Runs

    def added_us(self, variant: str, moment: str = HEARD) -> float:
        """Return how much later than a forward alone ends a moment comes."""
        return self.runs[variant].moments_us[moment] - self.runs[ALONE].moments_us[FORWARD]

    def hidden(self, variant: str, moment: str = HEARD) -> float:
        """Return the share of what sending at the end adds that a variant does not add."""
        return 1 - self.added_us(variant, moment) / self.added_us(MONOLITHIC, moment)

    def told_us(self, variant: str) -> float:
        """Return what the thread of the forward spends at the end of a layer."""
        return self.runs[variant].told_us / self.shape.layers


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is measured on one engine: the batch, layers of a group, lengths of the forward, and rounds of each."""

    engine: str
    shape: TransferShape
    groups: tuple[int, ...]
    lengths: tuple[float, ...]
    rounds: int


def points_of(plan: Plan, step: Callable[[str], None]) -> list[Point]:
    """Measure one engine; every round of every variant has its bytes compared before anything is told.

    Raises:
        DisagreementError: bytes that decode has are not those that the forward computed.

    """
    points = []
    with prefill_of(plan.engine, plan.shape, plan.groups) as prefill:
        step(f"{plan.engine}, {plan.shape.tokens:,} tokens")
        prefill.forward.set_length(0)
        warm = _rounds(prefill, {MONOLITHIC: partial(prefill.monolithic, MONOLITHIC_GROUP)}, min(3, plan.rounds))[
            MONOLITHIC
        ]
        for length in plan.lengths:
            step(f"{plan.engine}, {plan.shape.tokens:,} tokens, forward {length} times the transfer")
            prefill.forward.set_length(length * warm.after_us[HEARD])
            runs = _rounds(prefill, variants_of(prefill, plan.groups), plan.rounds)
            points.append(Point(name=plan.engine, length=length, shape=plan.shape, runs=runs))
    return points


def variants_of(prefill: Prefill, groups: Sequence[int]) -> dict[str, Callable[[], Run]]:
    """Return the variants in the order of their turns; the engine alone writes where those before it did."""
    return {
        ALONE: prefill.alone,
        MONOLITHIC: partial(prefill.monolithic, MONOLITHIC_GROUP),
        **{OVERLAPPED.format(group): partial(prefill.overlapped, group) for group in groups},
        ENGINE: prefill.engine_alone,
    }


def _rounds(prefill: Prefill, variants: Mapping[str, Callable[[], Run]], rounds: int) -> dict[str, Run]:
    """Run every variant once a round; the first round is not counted."""
    runs: dict[str, list[Run]] = {name: [] for name in variants}
    for number in range(1 + rounds):
        for name, run_once in variants.items():
            run = run_once()
            if name != ALONE:
                prefill.require_equal_bytes()
            if number:
                runs[name].append(run)
    return {name: median_run(each) for name, each in runs.items()}


def median_run(runs: Sequence[Run]) -> Run:
    """Return the median of each number."""
    return Run(
        moments_us=_medians([run.moments_us for run in runs]),
        after_us=_medians([run.after_us for run in runs]),
        told_us=median(run.told_us for run in runs),
        submit_us=median(run.submit_us for run in runs),
        submits=runs[0].submits,
        num_writes=runs[0].num_writes,
    )


def _medians(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: median(each[name] for each in measured) for name in measured[0]}


@contextmanager
def prefill_of(kind: str, shape: TransferShape, groups: Sequence[int]) -> Iterator[Prefill]:
    """Yield a prefill rank with its decode rank: a process, or a thread where the engine stays in one process."""
    with ExitStack() as stack:
        backend = ThreadBackend()
        stack.callback(backend.close)
        memory = Memory()
        engine = engine_of(kind, memory)
        peer: DecodePeer
        if kind == MEMORY:
            context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
            stack.callback(context.destroy)
            peer = DecodeThread(Decode(shape, engine_of(kind, memory), context))
        else:
            peer = DecodeProcess(kind, shape)
        stack.callback(peer.close)
        senders = tuple(sorted({*groups, MONOLITHIC_GROUP}))
        prefill = Prefill(shape, RecordingEngine(engine), peer, backend.stream("forward"), senders)
        stack.callback(prefill.close)
        yield prefill
