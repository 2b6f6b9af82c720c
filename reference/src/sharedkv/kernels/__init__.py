"""Triton kernels of the data plane, each beside the plain torch function that is normative.

Knows bytes on a CUDA device. Does not know lanes, requests or layouts. To import this package is to import torch and
Triton; `sharedkv.rows`, `sharedkv.quantization`, `sharedkv.dense` and `sharedkv.page_moves` import it when the first
CUDA tensor comes.

    kernel               its normative function
    write_rows           sharedkv.rows.plain_write_rows
    gather_rows          sharedkv.rows.plain_gather_rows
    write_index_rows     sharedkv.rows.plain_write_index_rows
    gather_index_rows    sharedkv.rows.plain_gather_index_rows
    fill_current_rows    sharedkv.dense.plain_fill_current_rows
    emit_top_k           sharedkv.dense.plain_emit_top_k
    move_pages           sharedkv.page_moves.plain_move_pages
    quantize_latent      sharedkv.quantization.plain_quantize_latent, on the CPU

Wrappers check types, devices, shapes and strides, and never wait for the device. What they cannot check without
waiting, values of slots that lie on the device, the kernels guard: nothing is read or written out of range. Work is
enqueued on the current stream of the tensors' device. Under Triton's interpreter (`TRITON_INTERPRET=1` before the
import) the same functions take CPU tensors.
"""

from sharedkv.kernels.current_fill import fill_current_rows
from sharedkv.kernels.index_gather import gather_index_rows
from sharedkv.kernels.index_write import write_index_rows
from sharedkv.kernels.latent_quantization import quantize_latent
from sharedkv.kernels.page_move import move_pages
from sharedkv.kernels.row_gather import gather_rows
from sharedkv.kernels.row_write import write_rows
from sharedkv.kernels.top_k_emission import emit_top_k

__all__ = [
    "emit_top_k",
    "fill_current_rows",
    "gather_index_rows",
    "gather_rows",
    "move_pages",
    "quantize_latent",
    "write_index_rows",
    "write_rows",
]
