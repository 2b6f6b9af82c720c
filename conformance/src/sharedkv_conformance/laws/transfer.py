"""The laws of what is sent where: chunks, the mapping of pages, writes, and the fingerprint of both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.transfer import Block, LayerBuffers, PageRange, RankPages
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.transfer import (
    byte_faults,
    chunk_faults,
    count_faults,
    list_faults,
    numbers_of,
    page_faults,
    runs,
)
from sharedkv_conformance.model.transfer_state import TransferState
from sharedkv_conformance.step import Answer, Call, Ok

CHUNK = "transfer.chunk"
DEAL = "transfer.deal"
BLOCKS = "transfer.blocks"
FINGERPRINT = "transfer.fingerprint"
SHAKE = "transfer.shake_hands"

NAMED = ("cp_size", "draft_layers", "lane_rule", "layers", "layout", "page_bytes", "page_size", "protocol", "split")


def unrefused(answer: Answer, reasons: frozenset[Reason], accepted: frozenset[Reason] | None = None) -> Iterator[str]:
    """Yield what is wrong with an answer to a call that has to be refused for one of these reasons."""
    if not reasons:
        return
    wanted = " or ".join(sorted(reasons))
    if isinstance(answer, Ok):
        yield f"expected a rejection for {wanted}, got {answer.value}"
    elif not isinstance(answer.error, Rejected) or answer.error.reason not in (accepted or reasons):
        yield f"expected a rejection for {wanted}, got {answer.error}"


def sent(before: TransferState, call: Call, answer: Answer) -> PageRange | None:
    """Return the range of a chunk that is one."""
    is_chunk = not chunk_faults(before.geometry, call.sent_tokens, call.end_tokens)
    return answer.value if isinstance(answer, Ok) and is_chunk else None


def deal_faults(before: TransferState, call: Call) -> frozenset[Reason]:
    """Return every reason to refuse a chunk's pages; counts are looked at where the rest is right."""
    wrong = page_faults(before.geometry, call.pages, call.first_position)
    return wrong or count_faults(call.pages, call.first_position, call.destinations, is_last=call.is_last)


def dealt(before: TransferState, call: Call, answer: Answer) -> tuple[RankPages, ...]:
    """Return what ranks were given of a chunk that is one; nothing otherwise."""
    return answer.value if isinstance(answer, Ok) and not deal_faults(before, call) else ()


def is_shared_out(before: TransferState, call: Call, answer: Answer) -> bool:
    """Say whether each page of a chunk was given to its rank, once."""
    given = Counter((each.rank, source) for each in dealt(before, call, answer) for source in each.sources)
    return given == Counter(places(before, call).keys())


def places(before: TransferState, call: Call) -> dict[tuple[int, int], int]:
    """Return the position in the request of each (rank, physical page) of a chunk."""
    geometry = before.geometry
    return {
        (geometry.lane(page), geometry.physical(page)): call.first_position + index
        for index, page in enumerate(call.pages)
    }


@law("RFC-0012:C-CHUNKS#S1", on=CHUNK)
def a_chunk_sends_full_pages_and_the_last_one_all(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """From what was sent to what is computed: a page that will be written again waits."""
    if (found := sent(before, call, answer)) is None:
        return
    size = before.geometry.page_size
    end = -(-call.end_tokens // size) if call.is_last else call.end_tokens // size
    wanted = PageRange(start=call.sent_tokens // size, end=max(end, call.sent_tokens // size))
    if found != wanted and wanted.start != wanted.end:
        told = "last chunk" if call.is_last else "chunk"
        yield f"{told} of tokens {call.sent_tokens} to {call.end_tokens}: {_range(found)}, expected {_range(wanted)}"


@law("RFC-0012:C-CHUNKS#S2", on=CHUNK)
def a_chunk_without_pages_is_a_chunk(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """What comes with the last chunk has to be sent also where all pages were sent before."""
    if chunk_faults(before.geometry, call.sent_tokens, call.end_tokens):
        return
    size = before.geometry.page_size
    end = -(-call.end_tokens // size) if call.is_last else call.end_tokens // size
    start = call.sent_tokens // size
    if not isinstance(answer, Ok):
        yield f"tokens {call.sent_tokens} to {call.end_tokens}: expected a chunk, got {answer.error}"
    elif end <= start and answer.value != PageRange(start=start, end=start):
        yield f"nothing is left of tokens {call.sent_tokens} to {call.end_tokens}, got {_range(answer.value)}"


@law("RFC-0012:C-CHUNKS#S3", on=CHUNK)
def what_is_no_chunk_is_refused(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """A chunk that begins within a page sends half of it."""
    yield from unrefused(answer, chunk_faults(before.geometry, call.sent_tokens, call.end_tokens))


@law("RFC-0012:C-MAPPING#S1", on=DEAL)
def a_rank_sends_the_pages_of_its_lane(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """All of them, from where they lie in its pool: over all ranks each page of the chunk is sent once."""
    if isinstance(answer, Ok) and not deal_faults(before, call):
        wanted = Counter(places(before, call).keys())
        given = Counter((each.rank, source) for each in answer.value for source in each.sources)
        for rank, source in sorted((wanted - given).keys()):
            yield f"rank {rank} does not send its physical page {source}"
        for rank, source in sorted((given - wanted).keys()):
            yield f"rank {rank} sends physical page {source}, which is not its own of this chunk, or sends it twice"


@law("RFC-0012:C-MAPPING#S2", on=DEAL)
def positions_are_those_of_the_request(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """A later chunk begins where the one before ended, not at 0."""
    if not is_shared_out(before, call, answer):
        return
    at = places(before, call)
    for each in dealt(before, call, answer):
        if len(each.positions) != len(each.sources):
            yield f"rank {each.rank}: {len(each.sources)} sources, {len(each.positions)} positions"
        for source, position in zip(each.sources, each.positions, strict=False):
            if at[each.rank, source] != position:
                yield f"rank {each.rank}, page {source}: position {position}, expected {at[each.rank, source]}"


@law("RFC-0012:C-MAPPING#S3", on=DEAL)
def destinations_are_those_of_the_positions(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """A page that lands at another position is another request's context, and nobody notices."""
    for each in dealt(before, call, answer):
        if len(each.destinations) != len(each.positions):
            yield f"rank {each.rank}: {len(each.positions)} positions, {len(each.destinations)} destinations"
        for position, destination in zip(each.positions, each.destinations, strict=False):
            if position in range(len(call.destinations)) and call.destinations[position] != destination:
                wanted = call.destinations[position]
                yield f"rank {each.rank}, position {position}: destination {destination}, expected {wanted}"


@law("RFC-0012:C-MAPPING#S4", on=DEAL)
def pages_are_sent_in_the_order_of_positions(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Whoever asks how far a transfer is counts from the front."""
    if not is_shared_out(before, call, answer):
        return
    at = places(before, call)
    for each in dealt(before, call, answer):
        order = [at[each.rank, source] for source in each.sources]
        if order != sorted(order):
            yield f"rank {each.rank} sends positions in the order {order}"


@law("RFC-0012:C-MAPPING#S5", on=DEAL)
def every_rank_is_named_once(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Decode waits for every rank, also for one that has no page."""
    if isinstance(answer, Ok) and not deal_faults(before, call):
        ranks = [each.rank for each in answer.value]
        if ranks != list(range(before.geometry.cp_size)):
            yield f"ranks {ranks}, expected 0 to {before.geometry.cp_size - 1} in their order"


@law("RFC-0012:C-MAPPING#S6", on=DEAL)
def page_counts_are_equal_or_nothing_is_sent(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """A list that is cut to the shorter one loses pages, and the answer is only a little wrong."""
    if not page_faults(before.geometry, call.pages, call.first_position):
        yield from unrefused(
            answer, count_faults(call.pages, call.first_position, call.destinations, is_last=call.is_last)
        )


@law("RFC-0012:C-MAPPING#S7", on=DEAL)
def pages_that_are_none_of_a_chunk_are_refused(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """The dummy page, a page beyond the pool, and a page at two positions."""
    wrong = page_faults(before.geometry, call.pages, call.first_position)
    counts = count_faults(call.pages, call.first_position, call.destinations, is_last=call.is_last)
    yield from unrefused(answer, wrong, wrong | counts)


@law("RFC-0012:C-MAPPING#S8", on=DEAL)
def a_chunk_that_is_right_is_dealt(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """However its pages lie in the pool, and also where there are none."""
    if not isinstance(answer, Ok) and not deal_faults(before, call):
        yield f"{len(call.pages)} pages from position {call.first_position}: {answer.error}"


def moved(call: Call, answer: Answer) -> tuple[Block, ...] | None:
    """Return the writes of pages that can be moved."""
    faults = list_faults(call.sources, call.destinations) | byte_faults(call.buffers)
    return answer.value if isinstance(answer, Ok) and not faults else None


def expected_blocks(call: Call) -> list[Block]:
    """Return the writes that are expected, in order."""
    return [
        Block(
            buffer=number,
            source=buffer.source + source * buffer.source_page_bytes,
            destination=buffer.destination + destination * buffer.source_page_bytes,
            length=pages * buffer.source_page_bytes,
        )
        for number, buffer in enumerate(call.buffers)
        for source, destination, pages in runs(call.sources, call.destinations)
    ]


def bytes_moved(blocks: Sequence[Block], buffers: Sequence[LayerBuffers]) -> Counter[tuple[int, int, int]]:
    """Count (buffer, source, destination) of each page, or of each byte where a write is not whole pages."""
    found: Counter[tuple[int, int, int]] = Counter()
    for block in blocks:
        size = buffers[block.buffer].source_page_bytes if block.buffer in range(len(buffers)) else 1
        step = size if block.length > 0 and block.length % size == 0 else 1
        for offset in range(0, max(0, block.length), step):
            found[block.buffer, block.source + offset, block.destination + offset] += 1
    return found


@law("RFC-0012:C-BLOCKS#S1", on=BLOCKS)
def writes_move_each_page_of_each_buffer_once(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """From the page's bytes at the source to its bytes at the destination, and nothing else."""
    if (blocks := moved(call, answer)) is None:
        return
    wanted, given = bytes_moved(expected_blocks(call), call.buffers), bytes_moved(blocks, call.buffers)
    for buffer, source, destination in sorted((wanted - given).keys()):
        yield f"buffer {buffer}: the page at {source} is not written to {destination}"
    for buffer, source, destination in sorted((given - wanted).keys()):
        yield f"buffer {buffer}: what lies at {source} is written to {destination}, which nobody asked for"


def _is_moved_right(call: Call, blocks: Sequence[Block]) -> bool:
    return bytes_moved(expected_blocks(call), call.buffers) == bytes_moved(blocks, call.buffers)


@law("RFC-0012:C-BLOCKS#S2", on=BLOCKS)
def neighbours_on_both_sides_are_one_write(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """A write a page costs an engine as much as a write of a hundred."""
    blocks = moved(call, answer)
    if blocks is None or not _is_moved_right(call, blocks):
        return
    wanted, given = Counter(expected_blocks(call)), Counter(blocks)
    if wanted != given:
        yield f"{len(blocks)} writes, expected {wanted.total()}: {sorted(map(_block, (wanted - given).keys()))}"


@law("RFC-0012:C-BLOCKS#S3", on=BLOCKS)
def writes_go_buffer_by_buffer(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """In the order of the pages: what is there first is needed first."""
    blocks = moved(call, answer)
    if blocks is None or not _is_moved_right(call, blocks):
        return
    at = {page: place for place, page in enumerate(bytes_moved(expected_blocks(call), call.buffers))}
    order = [at.get((block.buffer, block.source, block.destination), 0) for block in blocks]
    if order != sorted(order):
        yield f"writes come in the order {[_block(block) for block in blocks]}"


@law("RFC-0012:C-BLOCKS#S4", on=BLOCKS)
def pages_of_other_sizes_are_refused(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Rows of 656 bytes in pages made for 576 run over their neighbours."""
    if not list_faults(call.sources, call.destinations):
        yield from unrefused(answer, byte_faults(call.buffers))


@law("RFC-0012:C-BLOCKS#S5", on=BLOCKS)
def lists_that_do_not_pair_are_refused(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """A list that is cut to the shorter one loses pages."""
    wrong = list_faults(call.sources, call.destinations)
    yield from unrefused(answer, wrong, wrong | byte_faults(call.buffers))


@law("RFC-0012:C-BLOCKS#S6", on=BLOCKS)
def pages_that_pair_have_writes(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Also where there is no page to move, or no buffer."""
    if not isinstance(answer, Ok) and not list_faults(call.sources, call.destinations) | byte_faults(call.buffers):
        yield f"{len(call.sources)} pages of {len(call.buffers)} buffers: {answer.error}"


@law("RFC-0012:C-FINGERPRINT#S1", on=FINGERPRINT)
def a_fingerprint_names_what_decides_where_bytes_lie(
    before: TransferState, call: Call, answer: Answer
) -> Iterator[str]:
    """Each name once, in their order, with the numbers of the session."""
    if not isinstance(answer, Ok):
        yield f"expected a fingerprint, got {answer.error}"
        return
    names = [name for name, _ in answer.value.fields]
    if names != sorted(set(names)):
        yield f"names {names} are not each named once, in their order"
    fields = dict(answer.value.fields)
    if lacking := [name for name in NAMED if not fields.get(name)]:
        yield f"fields {lacking} are missing or empty"
    for name, value in numbers_of(before.config).items():
        if fields.get(name, value) != value:
            yield f"{name} is {fields[name]!r}, the session has {value!r}"


def is_same(before: TransferState, call: Call) -> bool | None:
    """Say whether a peer has the fields that this side told; None where nothing was told yet."""
    return None if before.fingerprint is None else call.peer.fields == before.fingerprint


@law("RFC-0012:C-FINGERPRINT#S2", on=SHAKE)
def a_peer_that_differs_is_refused(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """In one value, in a field that one side does not have: before anything is sent."""
    if is_same(before, call) is False:
        yield from unrefused(answer, frozenset({Reason.FINGERPRINT_DIFFERS}))


@law("RFC-0012:C-FINGERPRINT#S3", on=SHAKE)
def an_equal_peer_is_accepted(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """A handshake that nobody passes is none."""
    if is_same(before, call) and not isinstance(answer, Ok):
        yield f"a peer with the same fields is answered with {answer.error}"


def _range(pages: PageRange) -> str:
    return f"positions {pages.start} to {pages.end}"


def _block(block: Block) -> str:
    return f"buffer {block.buffer}: {block.length} bytes from {block.source} to {block.destination}"
