"""Keeps the literals of whatever code is loaded out of what is drawn.

Newer versions of hypothesis draw, now and then, numbers and texts that stand in local modules. What is drawn would
then depend on which modules happen to be imported and on where they are installed, and equal runs would have unequal
examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

PROVIDERS = "hypothesis.internal.conjecture.providers"
COLLECTOR = "_get_local_constants"


@contextmanager
def without_literals() -> Iterator[None]:
    """Draw as if no local module were loaded; a version that collects no literals is left as it is."""
    pool = _pool()
    collect = getattr(pool, COLLECTOR, None)
    if collect is None:
        yield
        return
    nothing = pool.Constants()
    setattr(pool, COLLECTOR, lambda: nothing)
    pool.CONSTANTS_CACHE.cache.clear()
    try:
        yield
    finally:
        setattr(pool, COLLECTOR, collect)
        pool.CONSTANTS_CACHE.cache.clear()


def _pool() -> Any:
    """Return the module that collects literals, None where hypothesis is older than that."""
    try:
        return import_module(PROVIDERS)
    except ModuleNotFoundError:
        return None
