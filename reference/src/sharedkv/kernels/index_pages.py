"""Where the words of an index row lie in its page: all keys of the page first, then all its scales.

Knows pages of index rows. Does not know what is done there.

    page of S tokens   | key 0, 32 words | key 1 | ... | key S-1 | scale 0 | scale 1 | ... | scale S-1 |
"""

from __future__ import annotations

import triton
import triton.language as tl

from sharedkv.layouts import INDEX_KEY_BYTES, INDEX_ROW_BYTES

WORD_BYTES = 4
KEY_WORDS = tl.constexpr(INDEX_KEY_BYTES // WORD_BYTES)
ROW_WORDS = tl.constexpr(INDEX_ROW_BYTES // WORD_BYTES)


@triton.jit
def page_word(slot: tl.tensor, word: tl.tensor, PAGE_SIZE: tl.constexpr) -> tl.tensor:
    """Return where word `word` (n, 1) of the row at `slot` (n, 1) lies in a paged buffer, in words."""
    page, token = slot // PAGE_SIZE, slot % PAGE_SIZE
    key = token * KEY_WORDS + word
    scale = PAGE_SIZE * KEY_WORDS + token
    return page * (PAGE_SIZE * ROW_WORDS) + tl.where(word < KEY_WORDS, key, scale)
