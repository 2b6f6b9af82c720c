"""Wrong, and odd but right, variants of transfer: chunks, the mapping of pages, writes and the fingerprint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.transfer import Block, Fingerprint, LayerBuffers, PageRange, RankPages
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.transfer import TransferModel, count_faults

Runs = list[tuple[int, int, int]]


@mutant("transfer.tail-sent-early", kills="RFC-0012:C-CHUNKS#S1")
class TailSentEarly(TransferModel):
    """Sends a page that is not full with every chunk."""

    def chunk(self, sent_tokens: int, end_tokens: int, is_last: bool) -> PageRange:  # noqa: FBT001 - by contract
        right = super().chunk(sent_tokens, end_tokens, is_last)
        return replace(right, end=self.geometry.pages_for(end_tokens)) if right.start < right.end else right


@mutant("transfer.tail-forgotten", kills="RFC-0012:C-CHUNKS#S1")
class TailForgotten(TransferModel):
    """Rounds the last chunk down to full pages like every other."""

    def chunk(self, sent_tokens: int, end_tokens: int, is_last: bool) -> PageRange:  # noqa: FBT001 - by contract
        right = super().chunk(sent_tokens, end_tokens, is_last)
        full = end_tokens // self.geometry.page_size
        return replace(right, end=full) if right.start < full < right.end else right


@mutant("transfer.empty-last-chunk-refused", kills="RFC-0012:C-CHUNKS#S2")
class EmptyLastChunkRefused(TransferModel):
    """Has nothing to send where no page is left, and says so with an error."""

    def chunk_faults(self, sent_tokens: int, end_tokens: int) -> frozenset[Reason]:
        nothing = frozenset({Reason.CHUNK_BACKWARDS}) if sent_tokens == end_tokens else frozenset()
        return super().chunk_faults(sent_tokens, end_tokens) or nothing


@mutant("transfer.chunk-within-a-page-goes-back", kills="RFC-0012:C-CHUNKS#S2")
class AtLeastAPage(TransferModel):
    """Sends one page at least, full or not."""

    def chunk(self, sent_tokens: int, end_tokens: int, is_last: bool) -> PageRange:  # noqa: FBT001 - by contract
        right = super().chunk(sent_tokens, end_tokens, is_last)
        return replace(right, end=max(right.end, right.start + 1))


@mutant("transfer.begins-anywhere", kills="RFC-0012:C-CHUNKS#S3")
class BeginsAnywhere(TransferModel):
    """Rounds down what was sent."""

    def chunk_faults(self, sent_tokens: int, end_tokens: int) -> frozenset[Reason]:
        return super().chunk_faults(sent_tokens, end_tokens) - {Reason.PREFIX_NOT_PAGE_ALIGNED}


@mutant("transfer.goes-back", kills="RFC-0012:C-CHUNKS#S3")
class GoesBack(TransferModel):
    """Takes more tokens sent than are computed for a chunk without pages."""

    def chunk_faults(self, sent_tokens: int, end_tokens: int) -> frozenset[Reason]:
        return super().chunk_faults(sent_tokens, end_tokens) - {Reason.CHUNK_BACKWARDS}


@mutant("transfer.lane-without-minus-one", kills="RFC-0012:C-MAPPING#S1")
class LaneWithoutMinusOne(TransferModel):
    """Takes page % cp_size for the lane."""

    def lane(self, page: int) -> int:
        return page % self.geometry.cp_size


@mutant("transfer.page-without-plus-one", kills="RFC-0012:C-MAPPING#S1")
class PageWithoutPlusOne(TransferModel):
    """Counts physical pages from 0, as if there were no dummy page."""

    def physical(self, page: int) -> int:
        return super().physical(page) - 1


@mutant("transfer.contiguous-pages", kills="RFC-0012:C-MAPPING#S1")
class ContiguousPages(TransferModel):
    """Takes a request's pages for one range of ids that begins with the first."""

    def of_rank(self, rank: int, pages: Sequence[int], first: int, destinations: Sequence[int]) -> RankPages:
        return super().of_rank(rank, [pages[0] + index for index in range(len(pages))], first, destinations)


@mutant("transfer.rank-0-sends-all", kills="RFC-0012:C-MAPPING#S1")
class RankZeroSendsAll(TransferModel):
    """Lets rank 0 send every page, as where each rank holds all of them."""

    def lane(self, page: int) -> int:
        return 0


@mutant("transfer.positions-of-the-chunk", kills="RFC-0012:C-MAPPING#S2")
class PositionsOfTheChunk(TransferModel):
    """Counts positions from the start of the chunk."""

    def position(self, index: int, first: int) -> int:
        return index


@mutant("transfer.positions-of-the-rank", kills="RFC-0012:C-MAPPING#S2")
class PositionsOfTheRank(TransferModel):
    """Numbers the pages of each rank one after another."""

    def of_rank(self, rank: int, pages: Sequence[int], first: int, destinations: Sequence[int]) -> RankPages:
        right = super().of_rank(rank, pages, first, destinations)
        positions = tuple(range(first, first + len(right.sources)))
        return replace(
            right, positions=positions, destinations=tuple(self.destination(at, destinations) for at in positions)
        )


@mutant("transfer.destinations-of-the-chunk", kills="RFC-0012:C-MAPPING#S3")
class DestinationsOfTheChunk(TransferModel):
    """Takes destinations in the order of the rank's pages, from the first on."""

    def of_rank(self, rank: int, pages: Sequence[int], first: int, destinations: Sequence[int]) -> RankPages:
        right = super().of_rank(rank, pages, first, destinations)
        return replace(right, destinations=tuple(destinations[first : first + len(right.sources)]))


@mutant("transfer.destinations-sorted", kills="RFC-0012:C-MAPPING#S3")
class DestinationsSorted(TransferModel):
    """Sorts the pages of decode, so that there are fewer writes."""

    def of_rank(self, rank: int, pages: Sequence[int], first: int, destinations: Sequence[int]) -> RankPages:
        right = super().of_rank(rank, pages, first, destinations)
        return replace(right, destinations=tuple(sorted(right.destinations)))


@mutant("transfer.sorted-by-page", kills="RFC-0012:C-MAPPING#S4")
class SortedByPage(TransferModel):
    """Sends the pages of a rank by their numbers, each to its right place."""

    def of_rank(self, rank: int, pages: Sequence[int], first: int, destinations: Sequence[int]) -> RankPages:
        right = super().of_rank(rank, pages, first, destinations)
        rows = sorted(zip(right.sources, right.positions, right.destinations, strict=True))
        sources, positions, targets = zip(*rows, strict=True) if rows else ((), (), ())
        return replace(right, sources=sources, positions=positions, destinations=targets)


@mutant("transfer.idle-ranks-left-out", kills="RFC-0012:C-MAPPING#S5")
class IdleRanksLeftOut(TransferModel):
    """Leaves out ranks that have no page of the chunk."""

    def senders(self, pages: Sequence[int]) -> Sequence[int]:
        return [rank for rank in super().senders(pages) if any(self.lane(page) == rank for page in pages)]


@mutant("transfer.truncated", kills="RFC-0012:C-MAPPING#S6")
class Truncated(TransferModel):
    """Cuts a chunk to the destinations that there are."""

    def deal_faults(
        self, pages: Sequence[int], first: int, destinations: Sequence[int], *, is_last: bool
    ) -> frozenset[Reason]:
        return super().deal_faults(pages, first, destinations, is_last=is_last) - {Reason.PAGE_COUNTS_DIFFER}

    def of_rank(self, rank: int, pages: Sequence[int], first: int, destinations: Sequence[int]) -> RankPages:
        return super().of_rank(rank, pages[: max(0, len(destinations) - first)], first, destinations)


@mutant("transfer.last-chunk-may-be-short", kills="RFC-0012:C-MAPPING#S6")
class LastChunkMayBeShort(TransferModel):
    """Looks only whether there are destinations enough."""

    def deal_faults(
        self, pages: Sequence[int], first: int, destinations: Sequence[int], *, is_last: bool
    ) -> frozenset[Reason]:
        del is_last
        return super().deal_faults(pages, first, destinations, is_last=False)


@mutant("transfer.dummy-page-sent", kills="RFC-0012:C-MAPPING#S7")
class DummyPageLeftOut(TransferModel):
    """Leaves out the dummy page, with its position, in place of refusing it."""

    def deal_faults(
        self, pages: Sequence[int], first: int, destinations: Sequence[int], *, is_last: bool
    ) -> frozenset[Reason]:
        real = [page for page in pages if page]
        wrong = super().deal_faults(real, first, destinations, is_last=is_last) - {Reason.PAGE_COUNTS_DIFFER}
        return wrong or count_faults(pages, first, destinations, is_last=is_last)

    def of_rank(self, rank: int, pages: Sequence[int], first: int, destinations: Sequence[int]) -> RankPages:
        return super().of_rank(rank, [page for page in pages if page], first, destinations)


@mutant("transfer.page-sent-twice", kills="RFC-0012:C-MAPPING#S7")
class PageSentTwice(TransferModel):
    """Does not look whether a page stands at two positions."""

    def deal_faults(
        self, pages: Sequence[int], first: int, destinations: Sequence[int], *, is_last: bool
    ) -> frozenset[Reason]:
        return super().deal_faults(pages, first, destinations, is_last=is_last) - {Reason.PAGE_NAMED_TWICE}


@mutant("transfer.contiguity-demanded", kills="RFC-0012:C-MAPPING#S8")
class ContiguityDemanded(TransferModel):
    """Refuses a chunk whose pages do not ascend."""

    def deal_faults(
        self, pages: Sequence[int], first: int, destinations: Sequence[int], *, is_last: bool
    ) -> frozenset[Reason]:
        wrong = super().deal_faults(pages, first, destinations, is_last=is_last)
        unsorted = frozenset({Reason.PAGE_COUNTS_DIFFER}) if list(pages) != sorted(pages) else frozenset()
        return wrong or unsorted


@mutant("transfer.runs-of-the-source", kills="RFC-0012:C-BLOCKS#S1")
class RunsOfTheSource(TransferModel):
    """Groups pages that follow one another at the source, wherever they have to go."""

    def runs(self, sources: Sequence[int], destinations: Sequence[int]) -> Runs:
        found: Runs = []
        for source, destination in zip(sources, destinations, strict=True):
            if found and found[-1][0] + found[-1][2] == source:
                found[-1] = (*found[-1][:2], found[-1][2] + 1)
            else:
                found.append((source, destination, 1))
        return found


@mutant("transfer.runs-of-two", kills="RFC-0012:C-BLOCKS#S1")
class RunsOfTwo(TransferModel):
    """Takes a run for one page, or for two."""

    def runs(self, sources: Sequence[int], destinations: Sequence[int]) -> Runs:
        found = super().runs(sources, destinations)
        return [(source, destination, min(count, 2)) for source, destination, count in found]


@mutant("transfer.one-page-size-for-all", kills="RFC-0012:C-BLOCKS#S1")
class OnePageSizeForAll(TransferModel):
    """Takes the bytes of a page of the first buffer for those of all."""

    def blocks(
        self, sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[LayerBuffers]
    ) -> tuple[Block, ...]:
        super().blocks(sources, destinations, buffers)
        size = buffers[0].source_page_bytes if buffers else 0
        alike = [replace(each, source_page_bytes=size, destination_page_bytes=size) for each in buffers]
        return super().blocks(sources, destinations, alike)


@mutant("transfer.last-buffer-forgotten", kills="RFC-0012:C-BLOCKS#S1")
class LastBufferForgotten(TransferModel):
    """Sends the buffers that a hook announced, and not the one behind them."""

    def blocks(
        self, sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[LayerBuffers]
    ) -> tuple[Block, ...]:
        found = super().blocks(sources, destinations, buffers)
        return tuple(block for block in found if len(buffers) == 1 or block.buffer < len(buffers) - 1)


@mutant("transfer.write-a-page", kills="RFC-0012:C-BLOCKS#S2")
class WriteAPage(TransferModel):
    """Makes one write of each page."""

    def runs(self, sources: Sequence[int], destinations: Sequence[int]) -> Runs:
        return [(source, destination, 1) for source, destination in zip(sources, destinations, strict=True)]


@mutant("transfer.page-by-page", kills="RFC-0012:C-BLOCKS#S3")
class PageByPage(TransferModel):
    """Sends a run of all buffers before the next run."""

    def blocks(
        self, sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[LayerBuffers]
    ) -> tuple[Block, ...]:
        found = super().blocks(sources, destinations, buffers)
        count = len(found) // len(buffers) if buffers else 0
        return tuple(found[at + count * buffer] for at in range(count) for buffer in range(len(buffers)))


@mutant("transfer.smaller-page-wins", kills="RFC-0012:C-BLOCKS#S4")
class SmallerPageWins(TransferModel):
    """Copies as many bytes of a page as both sides have."""

    def block_faults(
        self, sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[LayerBuffers]
    ) -> frozenset[Reason]:
        return super().block_faults(sources, destinations, buffers) - {Reason.PAGE_BYTES_DIFFER}


@mutant("transfer.only-the-first-buffer-compared", kills="RFC-0012:C-BLOCKS#S4")
class OnlyTheFirstBufferCompared(TransferModel):
    """Compares the bytes of a page of the first buffer alone."""

    def block_faults(
        self, sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[LayerBuffers]
    ) -> frozenset[Reason]:
        return super().block_faults(sources, destinations, buffers[:1])


@mutant("transfer.lists-clipped", kills="RFC-0012:C-BLOCKS#S5")
class ListsClipped(TransferModel):
    """Warns, and cuts the longer list."""

    def blocks(
        self, sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[LayerBuffers]
    ) -> tuple[Block, ...]:
        shorter = min(len(sources), len(destinations))
        return super().blocks(sources[:shorter], destinations[:shorter], buffers)


@mutant("transfer.nothing-refused", kills="RFC-0012:C-BLOCKS#S6")
class NothingRefused(TransferModel):
    """Refuses to move no page at all."""

    def block_faults(
        self, sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[LayerBuffers]
    ) -> frozenset[Reason]:
        nothing = frozenset() if sources else frozenset({Reason.PAGE_COUNTS_DIFFER})
        return super().block_faults(sources, destinations, buffers) or nothing


@mutant("transfer.draft-not-told", kills="RFC-0012:C-FINGERPRINT#S1")
class DraftNotTold(TransferModel):
    """Counts the layers of the draft among those of the target."""

    def fields(self) -> dict[str, str]:
        return {**super().fields(), "layers": str(self.config.pool.all_layers), "draft_layers": "0"}


@mutant("transfer.fingerprint-without-lane-rule", kills="RFC-0012:C-FINGERPRINT#S1")
class FingerprintWithoutLaneRule(TransferModel):
    """Does not tell by which rule pages lie on lanes."""

    def fields(self) -> dict[str, str]:
        told = super().fields()
        del told["lane_rule"]
        return told


@mutant("transfer.only-known-fields", kills="RFC-0012:C-FINGERPRINT#S2")
class OnlyKnownFields(TransferModel):
    """Compares the fields that both sides have."""

    def is_same(self, peer: Fingerprint) -> bool:
        own = self.fields()
        return all(own.get(name, value) == value for name, value in peer.fields)


@mutant("transfer.page-size-alone", kills="RFC-0012:C-FINGERPRINT#S2")
class PageSizeAlone(TransferModel):
    """Compares the page size and the layout, and leaves the rest to luck."""

    def is_same(self, peer: Fingerprint) -> bool:
        own, other = self.fields(), dict(peer.fields)
        same = all(own[name] == other.get(name) for name in ("page_size", "layout"))
        return same and own.keys() == other.keys()


@mutant("transfer.nobody-is-equal", kills="RFC-0012:C-FINGERPRINT#S3")
class NobodyIsEqual(TransferModel):
    """Compares a fingerprint with the time at which it was made among its fields."""

    def is_same(self, peer: Fingerprint) -> bool:
        del peer
        return False


@benign("transfer.more-fields")
class MoreFields(TransferModel):
    """Tells a field more than it has to."""

    def fields(self) -> dict[str, str]:
        return {**super().fields(), "engine": "odd", "aux_bytes": "64"}


@benign("transfer.distant-epochs")
class DistantEpochs(TransferModel):
    """Leaves gaps between epochs and goes down."""

    def next_epoch(self, room: int) -> int:
        return 1_000_000 - 17 * super().next_epoch(room)
