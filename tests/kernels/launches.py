"""One launch of each kernel, on tensors of zeros on the CPU: to be compiled or looked at, and never to be run."""

import torch

from sharedkv.kernels.index_gather import index_gather_launch
from sharedkv.kernels.index_write import index_write_launch
from sharedkv.kernels.latent_quantization import quantization_launch
from sharedkv.kernels.launching import Launch
from sharedkv.kernels.page_move import move_launch
from sharedkv.kernels.row_gather import gather_launch
from sharedkv.kernels.row_write import write_launch
from sharedkv.kernels.top_k_emission import emission_launch

NUM_ROWS = 33
NUM_SLOTS = 100


def zeros(*shape: int) -> torch.Tensor:
    """Bytes."""
    return torch.zeros(shape, dtype=torch.uint8)


def numbers(*shape: int) -> torch.Tensor:
    """Slots, positions or requests."""
    return torch.zeros(shape, dtype=torch.int64)


def row_write(row_bytes: int) -> Launch:
    """Rows of any size."""
    return write_launch(zeros(NUM_SLOTS, row_bytes), zeros(NUM_ROWS, row_bytes), numbers(NUM_ROWS))


def row_gather(row_bytes: int) -> Launch:
    """Rows of any size."""
    return gather_launch(zeros(NUM_SLOTS, row_bytes), numbers(NUM_ROWS), zeros(NUM_ROWS, row_bytes))


def index_write(page_size: int = 64) -> Launch:
    """Index rows."""
    return index_write_launch(zeros(9, page_size * 132), zeros(NUM_ROWS, 132), numbers(NUM_ROWS), page_size)


def index_gather(page_size: int = 64) -> Launch:
    """Index rows."""
    return index_gather_launch(zeros(9, page_size * 132), numbers(NUM_ROWS), page_size, zeros(NUM_ROWS, 132))


def emission(count: int = 2048) -> Launch:
    """Selected positions."""
    return emission_launch(numbers(NUM_ROWS, count), numbers(NUM_ROWS), numbers(5), numbers(NUM_ROWS, count))


def quantization() -> Launch:
    """Latent rows."""
    return quantization_launch(zeros(NUM_ROWS, 1152), zeros(NUM_ROWS, 656))


def page_move(row_bytes: int, page_rows: int = 64) -> Launch:
    """Pages whose rows lie one after another in one buffer, and apart, between those of other layers, in the other."""
    source, targets = zeros(9, page_rows, row_bytes), zeros(9, page_rows, 5 * row_bytes)
    return move_launch(source, targets.narrow(2, row_bytes, row_bytes), numbers(3), numbers(3))


def every_kernel() -> dict[str, Launch]:
    """Each kernel once."""
    return {
        "row write": row_write(656),
        "row gather": row_gather(656),
        "index write": index_write(),
        "index gather": index_gather(),
        "emission": emission(),
        "page move": page_move(656),
        "page move, a page a row": page_move(64 * 132, page_rows=1),
        "quantization": quantization(),
    }
