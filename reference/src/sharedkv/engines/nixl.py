"""The engine over NIXL: UCX, between processes of one machine or of several.

Knows NIXL's calls, and which of its errors say that nothing was begun. Does not know queues and deadlines. Needs the
package `nixl-cu12` or one of its siblings, when an engine is made.

    NIXL says                                        what it means here
    an error while a request is made                 definite: nothing was posted
    an error, or ERR, from a request that is posted  unknown: what the network has may still arrive
    DONE                                             the bytes are there: UCX has flushed the connection

UCX takes the network devices from here, not from the environment. The default is the loopback device, with shared
memory between processes of one user.
"""

from __future__ import annotations

import logging
import uuid
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharedkv.engines.carrier import BatchFailedError
from sharedkv.engines.engine import (
    DescriptionRefusedError,
    EngineUnavailableError,
    PeerUnreachableError,
    RegionRefusedError,
    Timing,
)
from sharedkv.engines.engine_of import CarriedEngine
from sharedkv.engines.regions import Integers, Region
from sharedkv.page_mapping import Writes

_MODULES = ("nixl", "nixl_cu12", "nixl_cu13")
_REMEDY = "install the extra `nixl`, or `pip install --no-deps nixl-cu12` where torch is not to come with it"
_MOST_REQUESTS = 1024
_DONE, _FAILED = "DONE", "ERR"


@dataclass(frozen=True, kw_only=True)
class NixlOptions:
    """What UCX uses: names of network devices, and other settings of UCX as `NAME=value`, without their prefix.

    A value may not hold a comma: that is how NIXL parts the settings. With `is_written_to`, a thread of NIXL's answers
    peers, and is busy all the time; an engine that only sends does without.
    """

    devices: str = "lo"
    settings: tuple[str, ...] = ()
    is_written_to: bool = True


class _Ticket:
    def __init__(self, agent: Any, handle: Any, errors: tuple[type[Exception], ...]) -> None:  # noqa: ANN401 - no types
        self._agent = agent
        self._handle = handle
        self._errors = errors

    def is_done(self) -> bool:
        try:
            state = self._agent.check_xfer_state(self._handle)
        except self._errors as error:
            raise BatchFailedError(f"{type(error).__name__}: {error}", is_definite=False) from error
        if state == _FAILED:
            raise BatchFailedError("NIXL says ERR", is_definite=False)
        if state != _DONE:
            return False
        self._handle.release()
        return True


class _NixlCarrier:
    kind = "nixl"
    most_requests = _MOST_REQUESTS

    def __init__(self, library: Any, options: NixlOptions) -> None:  # noqa: ANN401 - no types
        self._errors = _errors(library)
        self._unreachable = (library.nixlBind.nixlBackendError, library.nixlBind.nixlRemoteDisconnectError)
        config = library.nixl_agent_config(enable_prog_thread=options.is_written_to, backends=[])
        self._agent = library.nixl_agent(uuid.uuid4().hex, config)
        settings = ",".join([f"NET_DEVICES={options.devices}", *options.settings])
        try:
            self._agent.create_backend("UCX", {"engine_config": settings})
        except self._errors as error:
            raise EngineUnavailableError(self.kind, f"UCX with {settings!r}: {error}", "name other devices") from error
        self._registered: dict[Region, Any] = {}

    def register(self, region: Region) -> None:
        try:
            row = [(region.address, region.num_bytes, 0, "")]
            self._registered[region] = self._agent.register_memory(row, "DRAM")
        except self._errors as error:
            raise RegionRefusedError(region, str(error)) from error

    def unregister(self, region: Region) -> None:
        try:
            self._agent.deregister_memory(self._registered[region])
        except self._errors as error:
            raise RegionRefusedError(region, str(error)) from error
        del self._registered[region]

    def contact(self) -> bytes:
        return bytes(self._agent.get_agent_metadata())

    def meet(self, contact: bytes) -> str:
        try:
            name = self._agent.add_remote_agent(contact)
        except self._unreachable as error:
            raise PeerUnreachableError(f"{type(error).__name__}: {error}") from error
        except self._errors as error:
            raise DescriptionRefusedError(f"NIXL does not take it: {error}") from error
        return name.decode() if isinstance(name, bytes) else str(name)

    def post(self, peer: str, batch: Writes) -> _Ticket:
        sources = self._agent.get_xfer_descs(_rows(batch.sources, batch.lengths), "DRAM")
        destinations = self._agent.get_xfer_descs(_rows(batch.destinations, batch.lengths), "DRAM")
        try:
            handle = self._agent.initialize_xfer("WRITE", sources, destinations, peer)
        except self._errors as error:
            raise BatchFailedError(f"{type(error).__name__}: {error}", is_definite=True) from error
        try:
            self._agent.transfer(handle)
        except self._errors as error:
            raise BatchFailedError(f"{type(error).__name__}: {error}", is_definite=False) from error
        return _Ticket(self._agent, handle, self._errors)

    def part(self, peer: str) -> None:
        with suppress(*self._errors):  # it has dropped a peer that it found gone
            self._agent.remove_remote_agent(peer)

    def close(self) -> None:
        for region in list(self._registered):
            with suppress(RegionRefusedError):
                self.unregister(region)
        del self._agent


def nixl_engine(options: NixlOptions | None = None, timing: Timing | None = None) -> CarriedEngine:
    """Make an engine.

    Raises:
        EngineUnavailableError: NIXL is not installed, or its UCX cannot use the devices.

    """
    return CarriedEngine(_NixlCarrier(_library(), options or NixlOptions()), timing or Timing())


def _library() -> Any:  # noqa: ANN401 - no types
    for name in _MODULES:
        try:
            library = import_module(f"{name}._api")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in {*_MODULES, "nixl_rocm"}:
                raise EngineUnavailableError("nixl", str(error), _REMEDY) from error
        except ImportError as error:
            raise EngineUnavailableError("nixl", str(error), _REMEDY) from error
        else:
            # It tells of every agent on standard output, which may carry an answer of this program.
            logging.getLogger("nixl").setLevel(logging.WARNING)
            return library
    raise EngineUnavailableError("nixl", "the package is not installed", _REMEDY)


def _errors(library: Any) -> tuple[type[Exception], ...]:  # noqa: ANN401 - no types
    names = [name for name in dir(library.nixlBind) if name.startswith("nixl") and name.endswith("Error")]
    return tuple(getattr(library.nixlBind, name) for name in names)


def _rows(addresses: Integers, lengths: Integers) -> NDArray[np.uint64]:
    return np.stack([addresses, lengths, np.zeros_like(lengths)], axis=1).astype(np.uint64)
