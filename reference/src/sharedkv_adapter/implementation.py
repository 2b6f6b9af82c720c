"""How the reference describes itself and is opened.

Knows what the reference claims. Does not know how a call is answered.
"""

from __future__ import annotations

import platform
from importlib import metadata

import numpy as np

from sharedkv.geometry import Geometry
from sharedkv.planning import require_in_sequence
from sharedkv_adapter.session import ReferenceSession
from sharedkv_adapter.translation import contract_errors, free_room
from sharedkv_conformance.contract import Description, OpenConfig

FEATURES = frozenset(
    {
        "planning",
        "allocation",
        "allocation.free-room",
        "allocation.snapshot",
        "probe.cost",
        "probe.events",
        "probe.pages",
    }
)
VERSION_WHEN_NOT_INSTALLED = "0+unknown"


class ReferenceImplementation:
    """The reference on the CPU."""

    def describe(self) -> Description:
        """Say what the reference is and claims."""
        return Description(
            name="sharedkv",
            version=_version(),
            features=FEATURES,
            environment={"python": platform.python_version(), "numpy": np.__version__},
        )

    def open(self, config: OpenConfig) -> ReferenceSession:
        """Open a fresh session, or raise `Rejected` for a geometry that has no owner lanes."""
        with contract_errors():
            geometry = Geometry(cp_size=config.cp_size, page_size=config.page_size, pages=config.pages)
            require_in_sequence(config.split)
        return ReferenceSession(geometry, free_room(config.free_room))


def _version() -> str:
    try:
        return metadata.version("sharedkv")
    except metadata.PackageNotFoundError:
        return VERSION_WHEN_NOT_INSTALLED
