"""What kernels are compared with, plain torch on the CPU, is what the executable specification says, value by value."""

import torch

from sharedkv import quantization
from sharedkv_conformance.model.pool import quantized

ROW = 576


def test_every_finite_value_is_stored_as_the_specification_stores_it() -> None:
    bits = torch.arange(-(2**15), 2**15).to(torch.int16)
    values = bits.view(torch.bfloat16)[bits.view(torch.bfloat16).isfinite()]
    shuffled = values[torch.randperm(len(values), generator=torch.Generator().manual_seed(1))]
    rows = torch.cat((values, shuffled))[: len(values) * 2 // ROW * ROW].view(-1, ROW)
    stored = quantization.plain_quantize_latent(rows)
    expected = [quantized(bytes(row.tolist())) for row in rows.view(torch.uint8)]

    assert [bytes(row.tolist()) for row in stored] == expected
