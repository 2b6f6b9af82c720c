"""How calls of transfer that only compute are drawn: chunks, scattered pages, runs of pages, and peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.contract.transfer import Fingerprint, LayerBuffers
from sharedkv_conformance.laws.transfer import BLOCKS, CHUNK, DEAL, FINGERPRINT, SHAKE
from sharedkv_conformance.model.transfer_state import TransferState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, TransferState], Call]


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw a small pool; layers matter to the fingerprint alone."""
    cp_size = draw(st.sampled_from([size for size in (2, 3, 4) if size <= limits.get("max_cp_size", 4)]))
    page_size = draw(st.sampled_from([size for size in (4, 2, 16) if size <= limits.get("max_page_size", 16)]))
    pages = min(limits.get("max_pages", 6 * cp_size), 6 * cp_size)
    pool = PoolConfig(layers=draw(st.integers(1, 3)), draft_layers=draw(st.integers(0, 2)))
    return OpenConfig(cp_size=cp_size, page_size=page_size, pages=pages, pool=pool)


def next_call(draw: Draw, state: TransferState) -> Call:
    """Draw the next call among those that only compute."""
    kind: Kind = draw(st.sampled_from((chunk, chunk, deal, deal, deal, blocks, blocks, handshake)))
    return kind(draw, state)


def chunk(draw: Draw, state: TransferState) -> Call:
    """Ask what a chunk sends; sometimes of one that begins within a page or goes back."""
    size = state.geometry.page_size
    sent = size * draw(st.integers(0, 3))
    end = sent + draw(st.sampled_from((0, 1, size - 1, size, size + 1, 3 * size, 2 * size - 1)))
    fault = draw(st.sampled_from(("", "", "", "within", "back", "below")))
    if fault == "within":
        sent, end = sent + 1, end + 2
    elif fault == "back":
        sent, end = sent + size, sent
    elif fault == "below":
        sent = -size
    return Call(op=CHUNK, args={"sent_tokens": sent, "end_tokens": end, "is_last": draw(st.booleans())})


def deal(draw: Draw, state: TransferState) -> Call:
    """Deal pages of the pool in any order; sometimes too many, too few, or none of it."""
    pool = range(1, state.geometry.cp_size * state.geometry.lane_pages + 1)
    pages = draw(st.lists(st.sampled_from(pool), max_size=5, unique=True))
    first, is_last = draw(st.sampled_from((0, 2, 3))), draw(st.booleans())
    behind = 0 if is_last else draw(st.sampled_from((0, 2)))
    fault = draw(st.sampled_from(("", "", "", "", "count", "dummy", "beyond", "twice", "position")))
    if fault == "count":
        behind += 1 if is_last else -1 - behind
    elif fault in {"dummy", "beyond", "twice"} and pages:
        pages.append({"dummy": 0, "beyond": pool.stop, "twice": pages[0]}[fault])
    count = max(0, first + len(pages) + behind)
    destinations = draw(st.permutations(range(10, 10 + count))) if count else []
    if fault == "position":
        first = -1
    return Call(
        op=DEAL,
        args={
            "pages": tuple(pages),
            "first_position": first,
            "destinations": tuple(destinations),
            "is_last": is_last,
        },
    )


def blocks(draw: Draw, state: TransferState) -> Call:
    """Move a few runs of pages; sometimes lists that do not pair, or pages of different bytes."""
    fault = draw(st.sampled_from(("bytes", "", "", "source", "destination", "below", "bytes", "")))
    sources = _pages(draw)
    destinations = _pages(draw)
    shorter = min(len(sources), len(destinations))
    sources, destinations = sources[:shorter], destinations[:shorter]
    buffers = _buffers(draw)
    if fault == "source":
        sources = (*sources, 90)
    elif fault == "destination":
        destinations = (*destinations, 90)
    elif fault == "below" and sources:
        sources = (*sources[:-1], -1)
    elif fault == "bytes" and buffers:
        last = buffers[-1]
        other = LayerBuffers(
            source=last.source,
            destination=last.destination,
            source_page_bytes=last.source_page_bytes,
            destination_page_bytes=last.destination_page_bytes + 4,
        )
        buffers = (*buffers[:-1], other)
    return Call(op=BLOCKS, args={"sources": sources, "destinations": destinations, "buffers": buffers})


def _pages(draw: Draw) -> tuple[int, ...]:
    """Draw runs of pages, some of which follow one another; one that is alone may be long."""
    starts = draw(st.sampled_from(((4, 6, 1), (1, 4, 6), (6,), (11, 4), (3,), ())))
    lengths = st.sampled_from((4, 1, 3)) if len(starts) == 1 else st.integers(1, 2)
    return tuple(page for start in starts for page in range(start, start + draw(lengths)))


def _buffers(draw: Draw) -> tuple[LayerBuffers, ...]:
    sizes = draw(st.sampled_from(((16, 8), (8, 24, 8), (16,), ())))
    return tuple(
        LayerBuffers(
            source=1000 * (number + 1),
            destination=50_000 - 1000 * number,
            source_page_bytes=size,
            destination_page_bytes=size,
        )
        for number, size in enumerate(sizes)
    )


def handshake(draw: Draw, state: TransferState) -> Call:
    """Ask for the fingerprint, then shake hands with an equal peer or one that differs a little."""
    if state.fingerprint is None:
        return Call(op=FINGERPRINT)
    fields = list(state.fingerprint)
    kind = draw(st.sampled_from(("same", "other", "other", "fewer", "more")))
    at = draw(st.integers(0, max(0, len(fields) - 1)))
    if kind == "other" and fields:
        fields[at] = (fields[at][0], fields[at][1] + "0")
    elif kind == "fewer":
        del fields[at : at + 1]
    elif kind == "more":
        fields.append(("~", "1"))
    return Call(op=SHAKE, args={"peer": Fingerprint(fields=tuple(fields))})
