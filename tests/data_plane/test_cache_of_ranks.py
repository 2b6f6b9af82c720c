"""Ranks that are processes, each with its own copies in flight, keep equal trees, and exchange in `poll` alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import torch.distributed as dist

from sharedkv.allocation import FreeRoom
from sharedkv.collectives import ACKNOWLEDGED, ALL_REDUCE, DistributedGroup, Exchange, GroupAgreement
from sharedkv.copy_ledger import Agreement, LocalAgreement
from sharedkv.tier_values import CachePolicy
from tests.data_plane.processes import in_processes
from tests.reference.cache_histories import CacheHistory, LateEngine, cache_of, tree_of

STEPS = 1_500
ROOM = FreeRoom(target=1, min_chunk=2)
POLICY = CachePolicy(free_room=ROOM, host_free_room=ROOM, load_back_most=20)


@dataclass(frozen=True, kw_only=True)
class Played:
    """What one rank saw: its calls, answers, exchanges by call, its tree at last, and how often copies were done."""

    calls: dict[str, int]
    answers: list[str]
    tree: list[tuple[object, ...]]
    exchanges: dict[str, int]
    kinds: set[Exchange]
    done: int


def play_one_rank() -> Played:
    """Play the rank of this process through the history that all ranks play, with copies in a time of its own."""
    noted: list[Exchange] = []
    return played_with(GroupAgreement(DistributedGroup(on_exchange=noted.append)), noted)


def play_alone() -> Played:
    """Do the same, but ask nobody what is finished."""
    return played_with(LocalAgreement(), [])


def played_with(agreement: Agreement, noted: list[Exchange]) -> Played:
    rank = dist.get_rank()
    engine = LateEngine(rank, [rank])
    history = CacheHistory(cache_of(engine, agreement, [rank], POLICY), 7, engine.late)
    calls: Counter[str] = Counter()
    exchanges: Counter[str] = Counter()
    done = 0
    for _ in range(STEPS):
        before = len(noted)
        name = history.step()
        calls[name] += 1
        exchanges[name] += len(noted) - before
        done += sum(copy.is_finished(rank) for copy in history.cache.ledger.in_flight())
    return Played(
        calls=dict(calls),
        answers=[str(answer) for answer in history.answers],
        tree=tree_of(history.cache),
        exchanges=dict(exchanges),
        kinds=set(noted),
        done=done,
    )


def test_ranks_whose_copies_end_in_different_orders_keep_equal_trees(tmp_path: Path) -> None:
    apart = in_processes(4, tmp_path, play_one_rank)

    assert [played.answers for played in apart] == [apart[0].answers] * 4
    assert [played.tree for played in apart] == [apart[0].tree] * 4
    assert apart[0].tree
    assert len({played.done for played in apart}) > 1


def test_ranks_that_do_not_agree_on_what_is_finished_come_apart(tmp_path: Path) -> None:
    one, other = in_processes(2, tmp_path, play_alone)

    assert one.answers != other.answers


def test_ranks_exchange_once_a_poll_and_nowhere_else(tmp_path: Path) -> None:
    played, _ = in_processes(2, tmp_path, play_one_rank)

    assert {name for name, count in played.exchanges.items() if count} == {"poll"}
    assert played.exchanges["poll"] == played.calls["poll"]
    assert min(played.calls[name] for name in ("begin", "insert", "load_back", "evict", "poll")) > 50
    assert played.kinds == {Exchange(kind=ALL_REDUCE, purpose=ACKNOWLEDGED)}
