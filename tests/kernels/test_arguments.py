"""Wrappers refuse what a kernel would misread, before anything is enqueued, and never look at values on the device."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

from sharedkv import kernels
from sharedkv.errors import TensorMismatchError
from sharedkv.kernels.chunks import chunks_of
from tests.kernels import launches
from tests.kernels.launches import numbers, zeros

Wrapper = Callable[..., object]
BUFFER, ROWS, SLOTS = zeros(100, 656), zeros(8, 656), numbers(8)
PAGES, INDEX_ROWS = zeros(9, 64 * 132), zeros(8, 132)
SELECTED, BASES = numbers(8, 64), numbers(3)

REFUSED: dict[str, tuple[Wrapper, tuple[Any, ...], str]] = {
    "rows of another size": (kernels.write_rows, (BUFFER, zeros(8, 640), SLOTS), "size of axis 1 of rows"),
    "too few slots": (kernels.write_rows, (BUFFER, ROWS, numbers(7)), "size of axis 0 of slots"),
    "slots of 32 bits": (kernels.write_rows, (BUFFER, ROWS, SLOTS.to(torch.int32)), "dtype of slots"),
    "a buffer of bf16": (kernels.write_rows, (BUFFER.view(torch.bfloat16), ROWS, SLOTS), "dtype of buffer"),
    "every second row": (kernels.write_rows, (BUFFER[::2], ROWS, SLOTS), "contiguity of buffer"),
    "columns of rows": (kernels.write_rows, (BUFFER, zeros(8, 700)[:, :656], SLOTS), "contiguity of rows"),
    "a table of slots": (kernels.gather_rows, (BUFFER, SLOTS.view(2, 4), ROWS), "dimensions of slots"),
    "rows on another device": (kernels.write_rows, (BUFFER, ROWS.to("meta"), SLOTS), "device of rows"),
    "an output too long": (kernels.gather_rows, (BUFFER, SLOTS, zeros(9, 656)), "size of axis 0 of slots"),
    "pages of another size": (kernels.write_index_rows, (PAGES, INDEX_ROWS, SLOTS, 32), "size of axis 1 of buffer"),
    "index rows without scale": (kernels.write_index_rows, (PAGES, zeros(8, 128), SLOTS, 64), "size of axis 1 of rows"),
    "pages at an odd byte": (
        kernels.gather_index_rows,
        (zeros(64 * 132 + 1)[1:].view(1, -1), SLOTS, 64),
        "bytes at which rows and pages are aligned",
    ),
    "a view of other rows": (kernels.fill_current_rows, (zeros(9, 132), ROWS, SLOTS), "size of axis 1 of rows"),
    "a request too few": (kernels.emit_top_k, (SELECTED, numbers(7), BASES), "size of axis 0 of requests"),
    "a selection of floats": (kernels.emit_top_k, (SELECTED.to(torch.float32), SLOTS, BASES), "dtype of selected"),
    "latents of fp16": (kernels.quantize_latent, (torch.zeros(8, 576, dtype=torch.float16),), "dtype of rows"),
    "latents without rope": (kernels.quantize_latent, (zeros(8, 1024),), "size of axis 1 of rows"),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_tensor_that_does_not_fit_is_refused_by_name(name: str) -> None:
    wrapper, arguments, what = REFUSED[name]

    with pytest.raises(TensorMismatchError) as caught:
        wrapper(*arguments)

    assert caught.value.what == what


@pytest.mark.parametrize("name", sorted(launches.every_kernel()))
def test_tensors_on_a_device_without_kernels_are_refused(name: str) -> None:
    with pytest.raises(TensorMismatchError, match="device of a kernel: wanted cuda, found cpu"):
        launches.every_kernel()[name].run()


def test_a_fill_that_is_refused_leaves_the_view_as_it_was() -> None:
    view = torch.ones((9, 656), dtype=torch.uint8)

    with pytest.raises(TensorMismatchError, match="size of axis 0 of slots"):
        kernels.fill_current_rows(view, ROWS, numbers(3))
    with pytest.raises(TensorMismatchError, match="device of a kernel"):
        kernels.fill_current_rows(view, ROWS, SLOTS)

    assert bool(view.all())


class NoLookAtValues(TorchFunctionMode):
    """Fails on what has to wait for a device: values on the host, shapes that depend on values."""

    CONVERSIONS = frozenset({"__bool__", "__float__", "__index__", "__int__", "cpu", "item", "numpy", "tolist"})
    WAITING = CONVERSIONS | {"__getitem__", "equal", "masked_select", "nonzero", "unique"}

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:  # noqa: ANN401 - as torch declares it
        """Let through what stays on the device."""
        if func.__name__ in self.WAITING:
            raise AssertionError(f"{func.__name__} waits for the device")
        return func(*args, **(kwargs or {}))


def test_a_launch_is_made_without_a_look_at_values() -> None:
    with NoLookAtValues():
        made = launches.every_kernel()

    assert len(made) == 8


def test_a_look_at_values_is_noticed() -> None:
    with NoLookAtValues(), pytest.raises(AssertionError, match="item waits"):
        numbers(1).item()


@pytest.mark.parametrize("row_bytes", [1, 2, 6, 24, 132, 656, 1152, 2048, 9000, 65_536])
def test_programs_cover_every_row_and_every_byte(row_bytes: int) -> None:
    chunks = chunks_of(row_bytes, zeros(1, row_bytes))
    constants = chunks.constants
    bytes_a_row = constants["ROW_CHUNKS"] * constants["CHUNK_WORDS"] * chunks.word_bytes
    covered = [chunks.programs(rows) * constants["ROWS"] for rows in (0, 1, 100, 8192)]

    assert bytes_a_row == row_bytes
    assert constants["BLOCK"] >= constants["ROWS"] * constants["ROW_CHUNKS"]
    assert [rows <= cover for rows, cover in zip((0, 1, 100, 8192), covered, strict=True)] == [True] * 4
