"""One world of each kind for all laws of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.transfer.worlds import KINDS, World, world_of


@pytest.fixture(scope="module", params=KINDS)
def shared_world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_of(request.param, tmp_path_factory.mktemp("pools")) as world:
        yield world


@pytest.fixture
def world(shared_world: World) -> World:
    """A world whose pools hold zeros."""
    shared_world.clear()
    return shared_world
