"""How the reference describes itself and is opened.

Knows what the reference claims. Does not know how a call is answered.
"""

from __future__ import annotations

import platform
from importlib import metadata

import numpy as np

from sharedkv.geometry import Geometry
from sharedkv.layouts import layout
from sharedkv.planning import require_in_sequence
from sharedkv_adapter.host_tier import cache_policy
from sharedkv_adapter.session import ReferenceSession, has_data_plane
from sharedkv_adapter.storage import session_namespace
from sharedkv_adapter.stores import Place, Stores
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance.contract import Description, OpenConfig

FEATURES = frozenset(
    {
        "planning",
        "planning.batch",
        "allocation",
        "allocation.free-room",
        "allocation.snapshot",
        "eviction",
        "host_tier",
        "host_tier.tree",
        "probe.clock",
        "probe.copies",
        "transfer",
        "probe.cost",
        "probe.events",
        "probe.objects",
        "probe.pages",
        "probe.tree",
        "storage",
    }
)
DATA_PLANE_FEATURES = frozenset(
    {
        "abort",
        "copies",
        "direct_write",
        "overlap",
        "prefetch",
        "probe.collectives",
        "probe.decode_pool",
        "probe.host_pool",
        "probe.inject",
        "probe.network",
        "probe.pool",
        "reuse",
        "transfer.requests",
    }
)
"""What needs torch, and is claimed only where it can be found."""
VERSION_WHEN_NOT_INSTALLED = "0+unknown"


class ReferenceImplementation:
    """The reference on the CPU; `place` is where its stores are."""

    def __init__(self, place: Place) -> None:
        self._stores = Stores(place)

    def describe(self) -> Description:
        """Say what the reference is and claims."""
        return Description(
            name="sharedkv",
            version=_version(),
            features=FEATURES | DATA_PLANE_FEATURES if has_data_plane() else FEATURES,
            environment={"python": platform.python_version(), "numpy": np.__version__},
        )

    def open(self, config: OpenConfig) -> ReferenceSession:
        """Open a fresh session, or raise `Rejected` for a geometry that has no owner lanes."""
        with contract_errors():
            geometry = Geometry(cp_size=config.cp_size, page_size=config.page_size, pages=config.pages)
            require_in_sequence(config.split)
            cache_policy(config)
            session_namespace(config)
            rows = layout(config.pool.layout, kv_heads=config.pool.kv_heads, head_dim=config.pool.head_dim)
        return ReferenceSession(geometry, rows, config, self._stores)


def _version() -> str:
    try:
        return metadata.version("sharedkv")
    except metadata.PackageNotFoundError:
        return VERSION_WHEN_NOT_INSTALLED
