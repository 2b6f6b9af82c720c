"""The benchmark `storage`: objects in files and in a Mooncake store beside plain files of the same bytes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.errors import DisagreementError
from benchmarks.result import Cell, Column, Goal, Result, Table
from benchmarks.settings import Settings
from benchmarks.timing import Operation, Timing, in_turn
from sharedkv.layouts import FP8_ROW_BYTES
from sharedkv.storage.backend import Backend
from sharedkv.storage.files import FileBackend
from sharedkv.storage.keys import Namespace, page_keys
from sharedkv.storage.mooncake import Connection, connect
from sharedkv.storage.mooncake_master import Master
from sharedkv.storage.objects import KV, ObjectName, PageForm
from sharedkv.storage.page_store import PageStore

NAME = "storage"
PAGE_SIZE = 64
OBJECTS = 8
LAYERS = (1, 8, 78)
BLOCKS, ROUNDS = 5, 4
TOKENS = 100_000
RAW, FILES, SYNCED, DURABLE, MOONCAKE = "plain files", "files", "plain files, synced", "durable files", "Mooncake"
WRITE, READ = "write", "read"
WRITE_GOAL, READ_GOAL, KEY_GOAL_US = 1.5, 2.0, 20.0
ABOUT = (
    f"{OBJECTS} objects of one page of {PAGE_SIZE} tokens, fp8 rows of {FP8_ROW_BYTES} bytes, of 1, 8 and 78 layers, "
    "are removed, written and read again, each variant in turn, in one folder of the temporary directory; one call is "
    "all of them, and what is there is removed first, in the time of writing. Plain files are opened, written and "
    "closed, and read whole. The reference's files have a header and a checksum, are written beside their place and "
    "renamed into it, and every byte that is read is checked. Synced and durable files wait for the disk: for the "
    "bytes of each file, and the reference also for its name. The Mooncake store has its master, its memory and its "
    "client on this machine; it is there for information. Everything that was written is read back and compared "
    "before anything is timed. Ratios are of minima: a disk has other users too. Reads come from the page cache: they "
    "show what the code costs, not the disk."
)
COLUMNS = (
    Column(name="bytes of an object"),
    Column(name="variant"),
    Column(name="write, median", unit="us"),
    Column(name="write", unit="GB/s"),
    Column(name="write / plain, minimum"),
    Column(name="read, median", unit="us"),
    Column(name="read", unit="GB/s"),
    Column(name="read / plain, minimum"),
)
KEY_COLUMNS = (
    Column(name="tokens"),
    Column(name="pages"),
    Column(name="all keys", unit="us"),
    Column(name="a page", unit="us"),
)
BYTES_PER_US_OF_A_GB = 1_000
BASE = {RAW: RAW, FILES: RAW, MOONCAKE: RAW, SYNCED: SYNCED, DURABLE: SYNCED}

Variant = Mapping[str, Operation]
Timings = Mapping[str, Mapping[str, Timing]]


def measure(settings: Settings) -> Result:
    """Write and read objects of every size by every variant, and compare what comes back before anything is timed."""
    points: list[tuple[int, Timings]] = []
    with folder_and_stores() as (folder, backends):
        for layers in LAYERS[:1] if settings.quick else LAYERS:
            settings.progress.step(f"{NAME}: {layers} layers")
            objects = Objects(folder, layers)
            variants = {RAW: objects.plain(is_synced=False), SYNCED: objects.plain(is_synced=True)}
            variants |= {name: objects.stored(name, backend) for name, backend in backends.items()}
            timings = in_turn(variants, blocks=settings.rounds(BLOCKS), rounds=settings.rounds(ROUNDS))
            points.append((objects.num_bytes, timings))
    settings.progress.step(f"{NAME}: keys")
    keys_us = _keys_us(settings)
    pages = TOKENS // PAGE_SIZE
    return Result(
        name=NAME,
        title="Objects of storage beside plain files",
        about=ABOUT,
        tables=(
            Table(
                title=f"{OBJECTS} objects a call, {BLOCKS} blocks of {ROUNDS} rounds for each variant in turn",
                columns=COLUMNS,
                rows=tuple(
                    _row(num_bytes, name, timings) for num_bytes, timings in points for name in BASE if name in timings
                ),
            ),
            Table(title="Keys of a prompt", columns=KEY_COLUMNS, rows=((TOKENS, pages, keys_us, keys_us / pages),)),
        ),
        goals=(
            *(goal for num_bytes, timings in points for goal in _goals(num_bytes, timings)),
            Goal(text=f"key of a page of {PAGE_SIZE} tokens", measured=keys_us / pages, limit=KEY_GOAL_US, unit="us"),
        ),
    )


class Objects:
    """What one size of object is written as, by each variant; every variant proves first that it is read as written."""

    def __init__(self, folder: Path, layers: int) -> None:
        self.num_bytes = layers * PAGE_SIZE * FP8_ROW_BYTES
        self._payloads = [os.urandom(self.num_bytes) for _ in range(OBJECTS)]
        self._folder = folder
        self._namespace = Namespace(
            model="benchmark", layout="mla_fp8", layers=layers, draft_layers=0, page_size=PAGE_SIZE, cp_size=1
        )
        keys = page_keys(self._namespace, range(OBJECTS * PAGE_SIZE))
        self._names = [ObjectName(key, KV) for key in keys]

    def plain(self, *, is_synced: bool) -> Variant:
        """Write and read files, and do nothing else."""
        paths = [self._folder / f"{name.key}.{is_synced}" for name in self._names]

        def write() -> None:
            for path, payload in zip(paths, self._payloads, strict=True):
                path.unlink(missing_ok=True)
                with path.open("xb", buffering=0) as file:
                    file.write(payload)
                    if is_synced:
                        os.fsync(file.fileno())

        return self._proved(RAW, write, lambda: [path.read_bytes() for path in paths])

    def stored(self, what: str, backend: Backend) -> Variant:
        """Write and read objects of a store, as saves and fetches do."""
        store = PageStore(backend, PageForm(part_bytes={KV: self.num_bytes}, description="benchmark"), self._namespace)

        def write() -> None:
            for name, payload in zip(self._names, self._payloads, strict=True):
                backend.remove(name)
                store.write(name, 0, 0, payload)

        def read() -> list[memoryview | bytes]:
            return [found.payload for found in store.read(self._names) if found is not None]

        return self._proved(what, write, read)

    def _proved(self, what: str, write: Operation, read: Callable[[], Sequence[object]]) -> Variant:
        write()
        if read() != self._payloads:
            raise DisagreementError(f"bytes that {what} gave back", "those that were written", "others")
        return {WRITE: write, READ: read}


@contextmanager
def folder_and_stores() -> Iterator[tuple[Path, dict[str, Backend]]]:
    """Yield a folder for files, and each store by its name; the Mooncake store where its package is installed."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sharedkv-benchmark-")))
        backends: dict[str, Backend] = {
            FILES: FileBackend(folder / "files", is_durable=False),
            DURABLE: FileBackend(folder / "durable"),
        }
        if find_spec("mooncake") is not None:
            os.environ.setdefault("MC_LOG_LEVEL", "ERROR")
            master = stack.enter_context(Master(folder / "master.log"))
            mooncake = connect(Connection(master=master.address))
            stack.callback(mooncake.close)
            backends[MOONCAKE] = mooncake
        yield folder, backends


def _row(num_bytes: int, name: str, timings: Timings) -> tuple[Cell, ...]:
    own, base = timings[name], timings[BASE[name]]
    cells: list[Cell] = [num_bytes, name]
    for operation in (WRITE, READ):
        took = own[operation].median_us
        cells += [took, OBJECTS * num_bytes / took / BYTES_PER_US_OF_A_GB]
        cells.append("" if name == BASE[name] else own[operation].minimum_us / base[operation].minimum_us)
    return tuple(cells)


def _goals(num_bytes: int, timings: Timings) -> Iterator[Goal]:
    for operation, limit in ((WRITE, WRITE_GOAL), (READ, READ_GOAL)):
        ratio = timings[FILES][operation].minimum_us / timings[RAW][operation].minimum_us
        yield Goal(text=f"{num_bytes:,} bytes: {operation} of files / of plain files", measured=ratio, limit=limit)


def _keys_us(settings: Settings) -> float:
    namespace = Namespace(model="m", layout="mla_fp8", layers=78, draft_layers=1, page_size=PAGE_SIZE, cp_size=8)
    tokens = list(range(TOKENS))
    timings = in_turn({"keys": {"keys": lambda: page_keys(namespace, tokens)}}, blocks=1, rounds=settings.rounds(20))
    return timings["keys"]["keys"].median_us
