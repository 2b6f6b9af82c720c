"""The parts that a page of a pool is stored in.

Knows layouts. Does not know memory: the bytes of a part are its buffers one after another, each its layers one after
another, each as the device stores the page.
"""

from __future__ import annotations

from sharedkv.layouts import INDEX as INDEX_BUFFER
from sharedkv.layouts import Layout
from sharedkv.storage.objects import DRAFT, INDEX, KV, PageForm


def page_form(layout: Layout, page_size: int, layers: int, draft_layers: int) -> PageForm:
    """Return the form of pages of `page_size` tokens; a part that would be empty is none."""
    index_row = sum(buffer.stored_row_bytes for buffer in layout.buffers if buffer.name == INDEX_BUFFER)
    part_bytes = {
        KV: page_size * layers * (layout.stored_token_bytes - index_row),
        INDEX: page_size * layers * index_row,
        DRAFT: page_size * draft_layers * layout.stored_token_bytes,
    }
    rows = ", ".join(f"{buffer.name} {buffer.stored_row_bytes}" for buffer in layout.buffers)
    return PageForm(
        part_bytes={part: num_bytes for part, num_bytes in part_bytes.items() if num_bytes},
        description=f"{layout.name} ({rows}), {page_size} tokens, {layers} layers, {draft_layers} of the draft",
    )
