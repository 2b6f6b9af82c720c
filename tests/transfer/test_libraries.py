"""What is made of the answers of libraries, whatever they are, and of libraries that are not there."""

from __future__ import annotations

import sys
from base64 import b64encode
from threading import Event
from threading import enumerate as enumerate_threads
from types import ModuleType
from typing import ClassVar

import pytest

from sharedkv.engines.engine import (
    DescriptionRefusedError,
    EngineUnavailableError,
    RegionRefusedError,
    TransferFailedError,
)
from sharedkv.engines.mooncake import mooncake_engine
from sharedkv.engines.nixl import NixlOptions, nixl_engine
from sharedkv.engines.regions import Region
from tests.transfer.arena import writes_of

REGION = Region(address=100, num_bytes=10_000)
ROWS = [(100 + number, 100 + number, 1) for number in range(600)]
ONE = [(100, 100, 1)]


class Library:
    """A library that answers as a test wants, and ends the test where it would end the process."""

    started: ClassVar[int | Exception] = 1
    status: ClassVar[int | Exception] = 0
    initialized: ClassVar[int] = 0
    registered: ClassVar[int] = 0
    asked: ClassVar[list[int]] = []

    def initialize(self, *_: str) -> int:
        return self.initialized

    def get_rpc_port(self) -> int:
        return 12345

    def register_memory(self, *_: int) -> int:
        return self.registered

    def unregister_memory(self, _: int) -> int:
        return self.registered

    def batch_transfer_async_write(self, _: str, *columns: list[int]) -> int:
        if isinstance(self.started, Exception):
            raise self.started
        return self.started and self.started * (1_000 + columns[0][0])

    def get_batch_transfer_status(self, numbers: list[int]) -> int:
        assert not set(numbers) & set(self.asked), "the process would end here"

        self.asked.extend(numbers)
        if isinstance(self.status, Exception):
            raise self.status
        return self.status


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> type[Library]:
    """Put a library of our own in the place of the real one."""
    made = type("TransferEngine", (Library,), {"asked": []})
    module = ModuleType("mooncake.engine")
    vars(module)["TransferEngine"] = made
    monkeypatch.setitem(sys.modules, "mooncake.engine", module)
    return made


def test_each_batch_is_begun_and_asked_for_once(library: type[Library]) -> None:
    engine = mooncake_engine()
    engine.register(REGION)
    peer = engine.connect(engine.describe())
    transfer = engine.submit(peer, writes_of(ROWS))
    transfer.wait()
    transfer.wait()
    engine.close()
    transfer.wait()

    assert library.asked == [1_100, 1_356, 1_612]


def test_one_transfer_after_another_is_begun(library: type[Library]) -> None:
    engine = mooncake_engine()
    engine.register(REGION)
    peer = engine.connect(engine.describe())
    for number in range(20):
        engine.submit(peer, writes_of([(100 + number, 100, 1)])).wait()

    assert library.asked == list(range(1_100, 1_120))


def test_what_waits_for_a_peer_that_was_forgotten_is_never_begun(
    library: type[Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    was_asked, may_answer = Event(), Event()

    def wait(_: Library, numbers: list[int]) -> int:
        library.asked.extend(numbers)
        was_asked.set()
        may_answer.wait()
        return 0

    monkeypatch.setattr(Library, "get_batch_transfer_status", wait)
    engine = mooncake_engine()
    engine.register(REGION)
    peer = engine.connect(engine.describe())
    engine.submit(peer, writes_of(ONE))
    was_asked.wait()
    transfer = engine.submit(peer, writes_of(ONE))
    engine.forget(peer)
    threads = [thread for thread in enumerate_threads() if thread.name == "sharedkv-mooncake"]
    may_answer.set()
    for thread in threads:
        thread.join()
    with pytest.raises(TransferFailedError, match="taken for gone"):
        transfer.wait()

    assert library.asked == [1_100]


@pytest.mark.parametrize(
    ("started", "status"), [(0, 0), (-1, 0), (OSError("no"), 0), (1, -1), (1, 1), (1, OSError("no"))], ids=str
)
def test_every_other_answer_is_a_failure_after_which_bytes_may_land(
    library: type[Library], started: int | Exception, status: int | Exception
) -> None:
    library.started, library.status = started, status
    engine = mooncake_engine()
    engine.register(REGION)
    transfer = engine.submit(engine.connect(engine.describe()), writes_of(ONE))
    with pytest.raises(TransferFailedError, match=r"wanted|no") as failed:
        transfer.wait()

    assert not failed.value.is_definite
    assert not transfer.is_settled()
    assert len(library.asked) == (started == 1)


def test_a_library_that_does_not_start_or_take_memory_is_told_of(library: type[Library]) -> None:
    engine = mooncake_engine()
    library.registered = -1
    with pytest.raises(RegionRefusedError, match="register_memory said -1"):
        engine.register(REGION)
    library.initialized = -5
    with pytest.raises(EngineUnavailableError, match="initialize said -5"):
        mooncake_engine()


def test_a_library_without_the_calls_that_are_used_is_too_old(
    library: type[Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Library, "batch_transfer_async_write")
    with pytest.raises(EngineUnavailableError, match=r"no batch_transfer_async_write; install 0\.3\.13 or newer"):
        mooncake_engine()
    assert library.asked == []


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("contact", ["", "null", '{"host": "", "port": 1}', '{"host": "x", "port": 65536}'])
def test_a_contact_without_host_and_port_is_refused(contact: str) -> None:
    engine = mooncake_engine()
    description = engine.describe()
    encoded = description.split(b'"contact": "')[1].split(b'"')[0]
    with pytest.raises(DescriptionRefusedError):
        engine.connect(description.replace(encoded, b64encode(contact.encode())))


def test_without_mooncake_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mooncake.engine", None)
    with pytest.raises(EngineUnavailableError, match="extra `mooncake`, and libibverbs"):
        mooncake_engine()


def test_without_nixl_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nixl", "nixl_cu12", "nixl_cu13"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.setitem(sys.modules, f"{name}._api", None)
    with pytest.raises(EngineUnavailableError, match="extra `nixl`"):
        nixl_engine()


def test_nixl_says_which_devices_it_cannot_use() -> None:
    with pytest.raises(EngineUnavailableError, match="NET_DEVICES=none-such"):
        nixl_engine(NixlOptions(devices="none-such", settings=("TLS=tcp",)))
