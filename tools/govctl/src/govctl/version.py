"""The version of the distribution that govctl is part of.

Knows the name of the distribution. Knows nothing else.
"""

from __future__ import annotations


def version() -> str:
    """Return the installed version; `unknown` when govctl runs from a source tree that is not installed."""
    from importlib import metadata  # noqa: PLC0415  # costs 30 ms that a check does not pay

    try:
        return metadata.version("sharedkv")
    except metadata.PackageNotFoundError:
        return "unknown"
