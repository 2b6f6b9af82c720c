"""Ranks as processes of this machine, which exchange over gloo."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch.distributed as dist

TIMEOUT_S = 60


def in_processes(ranks: int, folder: Path, body: Callable[[], Any]) -> list[Any]:
    """Run a body in one forked process a rank and return what each answered, in rank order."""
    context = multiprocessing.get_context("fork")
    ends = [context.Pipe(duplex=False) for _ in range(ranks)]
    processes = [
        context.Process(target=_play, args=(rank, ranks, folder / "store", body, ends[rank][1]), daemon=True)
        for rank in range(ranks)
    ]
    for process in processes:
        process.start()
    try:
        return [_answer(receiver) for receiver, _ in ends]
    finally:
        for process in processes:
            process.join(1)
            process.kill()
            process.join()


def _play(rank: int, ranks: int, store: Path, body: Callable[[], Any], sender: Connection) -> None:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    timeout = timedelta(seconds=TIMEOUT_S / 2)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks, timeout=timeout)
    sender.send(body())
    dist.destroy_process_group()


def _answer(receiver: Connection) -> Any:  # noqa: ANN401 - whatever the body answers
    if not receiver.poll(TIMEOUT_S):
        raise TimeoutError("a rank did not answer")
    return receiver.recv()
