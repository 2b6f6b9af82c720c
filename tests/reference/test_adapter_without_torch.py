"""The adapter where torch is not installed: it claims what needs none, and refuses the rest."""

import subprocess
import sys

import pytest

from sharedkv_adapter import cpu, session
from sharedkv_conformance.contract import ExtendRequest, OpenConfig, Unsupported

CONFIG = OpenConfig(cp_size=2, page_size=4, pages=8)
DATA_PLANE = {
    "abort",
    "direct_write",
    "overlap",
    "prefetch",
    "probe.collectives",
    "probe.decode_pool",
    "probe.inject",
    "probe.network",
    "probe.pool",
    "reuse",
    "transfer.requests",
}


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find_spec", lambda _name: None)


def test_the_data_plane_is_claimed_where_torch_can_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: name)

    assert cpu().describe().features >= DATA_PLANE


@pytest.mark.usefixtures("no_torch")
def test_the_data_plane_is_not_claimed_without_torch() -> None:
    features = cpu().describe().features

    assert not features & DATA_PLANE
    assert features >= {"planning", "allocation"}


@pytest.mark.usefixtures("no_torch")
def test_pages_are_allocated_without_torch() -> None:
    given = cpu().open(CONFIG).allocation.extend([ExtendRequest(request="a", prefix_tokens=0, extend_tokens=4)])

    assert given.owners == (0,)


@pytest.mark.usefixtures("no_torch")
def test_calls_of_the_data_plane_are_unsupported_without_torch() -> None:
    opened = cpu().open(CONFIG)
    for refused in (
        lambda: opened.direct_write.place((1,)),
        opened.prefetch.live_bytes,
        lambda: opened.reuse.dense(0, 0, "latent"),
        lambda: opened.probe.pool(0),
        lambda: opened.probe.inject("late_writes"),
        opened.probe.collectives,
        lambda: opened.transfer.reserve(1, 1, (0,)),
        lambda: opened.overlap.layer_end(0),
        lambda: opened.abort.decode(1),
        opened.probe.flights,
        lambda: opened.probe.decode_pool(0, 0),
    ):
        with pytest.raises(Unsupported):
            refused()


@pytest.mark.usefixtures("no_torch")
def test_rooms_are_opened_and_closed_without_torch() -> None:
    opened = cpu().open(CONFIG)
    epoch = opened.transfer.open_room(1, (0,), ("kv",))
    opened.transfer.failed(1, epoch, 0)
    status = opened.transfer.status(1)
    opened.transfer.close_room(1)
    opened.probe.advance(1)

    assert status == "failed"


def test_opening_and_allocating_import_no_torch() -> None:
    code = (
        "import sys; from sharedkv_adapter import cpu; from sharedkv_conformance.contract import OpenConfig\n"
        "opened = cpu().open(OpenConfig(cp_size=2, page_size=4, pages=8)); opened.allocation.lanes()\n"
        "opened.probe.events(); cpu().describe(); sys.exit('torch' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
