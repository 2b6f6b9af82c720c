"""Rows as chunks: how programs and threads share rows of any number of bytes.

Knows bytes of a row and alignment. Does not know where a row lies.

    row of 656 bytes   | 16 | 16 | ... 41 chunks ... | 16 |     a chunk is 4 words of 4 bytes: one 16-byte access
    row of 132 bytes   | 4 | 4 | ... 33 chunks ...            a chunk is 1 word: nothing wider is aligned
    program            row r | row r+1 | ... whole rows, at most BLOCK chunks; only the last threads are idle
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
import triton
import triton.language as tl

WIDEST_ACCESS_BYTES = 16
_PROGRAM_WIDE_CHUNKS = 512
_PROGRAM_NARROW_CHUNKS = 1024
_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True, kw_only=True)
class Chunks:
    """How rows of one size are cut: words of `word_bytes`, `chunk_words` of them an access, `row_chunks` a row."""

    word_bytes: int
    chunk_words: int
    row_chunks: int

    @property
    def rows_a_program(self) -> int:
        """Return how many whole rows a program takes."""
        is_wide = self.word_bytes * self.chunk_words == WIDEST_ACCESS_BYTES
        return max(1, (_PROGRAM_WIDE_CHUNKS if is_wide else _PROGRAM_NARROW_CHUNKS) // self.row_chunks)

    @property
    def constants(self) -> Mapping[str, int]:
        """Return the compile-time arguments of a kernel that uses `row_words`."""
        return {
            "ROW_CHUNKS": self.row_chunks,
            "CHUNK_WORDS": self.chunk_words,
            "ROWS": self.rows_a_program,
            "BLOCK": triton.next_power_of_2(self.rows_a_program * self.row_chunks),
        }

    def programs(self, num_rows: int) -> int:
        """Return how many programs cover the rows."""
        return -(-num_rows // self.rows_a_program)

    def words(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a view of the tensor in words, shape (rows, words of a row)."""
        return tensor.view(_WORDS[self.word_bytes])


def chunks_of(row_bytes: int, *tensors: torch.Tensor, widest_word: int = 4, strides: Sequence[int] = ()) -> Chunks:
    """Return the widest cut of rows that is aligned in each tensor; rows from an odd byte on are cut into bytes.

    `strides` are the bytes from row to row where rows lie apart.
    """
    starts = (tensor.data_ptr() for tensor in tensors)
    chunk_bytes = math.gcd(row_bytes, WIDEST_ACCESS_BYTES, *starts, *strides)
    offsets = (tensor.storage_offset() * tensor.element_size() for tensor in tensors)
    word_bytes = math.gcd(chunk_bytes, widest_word, *offsets)
    return Chunks(word_bytes=word_bytes, chunk_words=chunk_bytes // word_bytes, row_chunks=row_bytes // chunk_bytes)


@triton.jit
def row_words(
    num_rows: tl.tensor,
    ROW_CHUNKS: tl.constexpr,
    CHUNK_WORDS: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor, tl.tensor]:
    """Return a program's chunks: their rows (BLOCK,), words (BLOCK, CHUNK_WORDS), and which are chunks (BLOCK,)."""
    chunk = tl.arange(0, BLOCK)
    row = tl.program_id(0).to(tl.int64) * ROWS + chunk // ROW_CHUNKS
    word = (chunk % ROW_CHUNKS)[:, None] * CHUNK_WORDS + tl.arange(0, CHUNK_WORDS)[None, :]
    return row, word, (chunk < ROWS * ROW_CHUNKS) & (row < num_rows)
