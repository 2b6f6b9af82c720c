"""Every kernel compiles for a Hopper GPU, and moves its rows with the widest accesses that their size allows."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import triton

from sharedkv.kernels.launching import Launch
from sharedkv.kernels.row_write import write_launch
from tests.kernels import launches
from tests.kernels.compiling import compiled

WIDE = {"ld.v4.b32", "st.v4.b32"}
SLOTS = {"ld.b64"}
KERNELS = launches.every_kernel()


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path) -> Iterator[None]:
    """A cache that is empty before and gone after the test."""
    with triton.knobs.cache.scope():
        triton.knobs.cache.dir = str(tmp_path / "cache")
        yield


@pytest.mark.parametrize("row_bytes", [656, 1152, 2048, 32, 16_384])
@pytest.mark.parametrize("launch_of", [launches.row_write, launches.row_gather], ids=["write", "gather"])
def test_rows_of_multiples_of_16_bytes_move_in_16_byte_accesses(
    launch_of: Callable[[int], Launch], row_bytes: int
) -> None:
    assert set(compiled(launch_of(row_bytes)).accesses) == WIDE | SLOTS


@pytest.mark.parametrize(
    ("row_bytes", "widths"),
    [(24, {"ld.v2.b32", "st.v2.b32"}), (132, {"ld.b32", "st.b32"}), (6, {"ld.b16", "st.b16"})],
)
@pytest.mark.parametrize("launch_of", [launches.row_write, launches.row_gather], ids=["write", "gather"])
def test_other_rows_move_in_the_widest_accesses_that_are_aligned(
    launch_of: Callable[[int], Launch], row_bytes: int, widths: set[str]
) -> None:
    assert set(compiled(launch_of(row_bytes)).accesses) == widths | SLOTS


@pytest.mark.parametrize("launch", [launches.index_write(), launches.index_gather()], ids=["write", "gather"])
def test_index_rows_move_in_words(launch: Launch) -> None:
    assert set(compiled(launch).accesses) == {"ld.b32", "st.b32"} | SLOTS


@pytest.mark.parametrize(("row_bytes", "page_rows"), [(656, 64), (1152, 64), (64 * 132, 1), (128 * 132, 1)])
def test_pages_move_in_16_byte_accesses_wherever_their_rows_lie(row_bytes: int, page_rows: int) -> None:
    assert set(compiled(launches.page_move(row_bytes, page_rows)).accesses) == WIDE | SLOTS


def test_emission_moves_two_positions_an_access() -> None:
    assert set(compiled(launches.emission()).accesses) == {"ld.v2.b64", "st.v2.b64"} | SLOTS


def test_quantization_reads_latents_and_writes_codes_in_16_byte_accesses() -> None:
    accesses = set(compiled(launches.quantization()).accesses)

    assert (accesses >= WIDE, {access for access in accesses if access.endswith(("b8", "b16"))}) == (True, set())


def test_quantization_divides_as_numbers_demand_and_not_approximately() -> None:
    ptx = compiled(launches.quantization()).ptx
    divisions = {line.split()[0] for line in ptx.splitlines() if line.strip().startswith("div.")}

    assert divisions == {"div.rn.f32"}


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_registers_leave_room_for_eight_programs_a_multiprocessor(name: str, tmp_path: Path) -> None:
    launch = KERNELS[name]
    registers_a_program = compiled(launch).registers(tmp_path) * 32 * launch.num_warps

    assert 0 < registers_a_program <= 65_536 // 8


def test_a_buffer_that_begins_at_an_odd_byte_is_seen_as_such() -> None:
    buffer = launches.zeros(100 * 656 + 1)[1:].view(100, 656)
    launch = write_launch(buffer, launches.zeros(3, 656), launches.numbers(3))

    assert {"ld.b8", "st.b8"} & set(compiled(launch).accesses) != set()
