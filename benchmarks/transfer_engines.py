"""The engines that are measured, each as a user would make it on one machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType

from sharedkv.engines.engine import Engine, Timing
from sharedkv.engines.memory import Memory, memory_engine
from sharedkv.engines.mooncake import mooncake_engine
from sharedkv.engines.nixl import NixlOptions, nixl_engine

MEMORY, NIXL, NIXL_TCP, MOONCAKE = "memory", "NIXL", "NIXL over TCP", "Mooncake"
QUIET = {"GLOG_minloglevel": "3", "MC_LOG_LEVEL": "ERROR"}
"""Mooncake tells of every batch, unless its environment says otherwise when it is imported."""

DEADLINE_S = 120.0
"""A batch of 4 GB takes seconds, and minutes on a machine that does something else."""

_TIMING = Timing(deadline_s=DEADLINE_S)
_TCP = ("TLS=tcp",)

NewEngine = Callable[[], Engine]


def _mooncake() -> Engine:
    os.environ.update(QUIET)
    return mooncake_engine(timing=_TIMING)


# Only an engine that is written to needs a thread of its own.
SENDERS: Mapping[str, NewEngine] = MappingProxyType(
    {
        NIXL: lambda: nixl_engine(NixlOptions(is_written_to=False), _TIMING),
        NIXL_TCP: lambda: nixl_engine(NixlOptions(settings=_TCP, is_written_to=False), _TIMING),
        MOONCAKE: _mooncake,
    }
)
RECEIVERS: Mapping[str, NewEngine] = MappingProxyType(
    {
        NIXL: lambda: nixl_engine(timing=_TIMING),
        NIXL_TCP: lambda: nixl_engine(NixlOptions(settings=_TCP), _TIMING),
        MOONCAKE: _mooncake,
    }
)


def engine_of(kind: str, memory: Memory) -> Engine:
    """Make an engine that sends; one of this process meets the others of a memory."""
    return memory_engine(memory, _TIMING) if kind == MEMORY else SENDERS[kind]()
