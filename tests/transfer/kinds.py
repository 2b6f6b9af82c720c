"""The engines under test by name, each as a user would make it, on the loopback address."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv.engines.engine import Engine, Timing
from sharedkv.engines.mooncake import mooncake_engine
from sharedkv.engines.nixl import NixlOptions, nixl_engine

NewEngine = Callable[[Timing], Engine]

# Between processes of one machine UCX takes shared memory, unless it is told to take nothing but TCP.
_TCP_ALONE = ("TLS=tcp",)
RECEIVERS: dict[str, NewEngine] = {
    "nixl": lambda timing: nixl_engine(timing=timing),
    "nixl over tcp": lambda timing: nixl_engine(NixlOptions(settings=_TCP_ALONE), timing),
    "mooncake": lambda timing: mooncake_engine(timing=timing),
}
SENDERS: dict[str, NewEngine] = {
    **RECEIVERS,
    "nixl": lambda timing: nixl_engine(NixlOptions(is_written_to=False), timing),
    "nixl over tcp": lambda timing: nixl_engine(NixlOptions(settings=_TCP_ALONE, is_written_to=False), timing),
}
BETWEEN_PROCESSES = tuple(RECEIVERS)
