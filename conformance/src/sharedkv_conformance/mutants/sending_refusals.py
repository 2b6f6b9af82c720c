"""Wrong variants of what is refused: chunks that are cut, come twice or too early, and pages that nobody has."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.lane_pages import EVICTABLE
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import Chunk

# -- what is refused -------------------------------------------------------------------------------------------------


@mutant("transfer.cut-with-a-warning", kills="RFC-0012:C-SEND#S7")
class CutWithAWarning(SendingModel):
    """Sends as many pages as decode has places."""

    def count_faults(self, asked: Chunk) -> frozenset[Reason]:
        short = asked.is_last and asked.end < asked.room.num_pages
        if not short and asked.end > asked.room.num_pages and self.fits(asked):
            return frozenset()
        return super().count_faults(asked)

    def fits(self, asked: Chunk) -> bool:
        """Say whether what is left is a chunk, with its index."""
        return asked.first <= asked.room.num_pages and (not asked.is_last or not self.has_index)

    def begun(self, asked: Chunk) -> Chunk:
        asked.pages = asked.pages[: asked.room.num_pages - asked.first]
        return super().begun(asked)


@mutant("transfer.last-chunk-short", kills="RFC-0012:C-SEND#S7")
class LastChunkShort(SendingModel):
    """Ends a request before the pages that decode has for it."""

    def count_faults(self, asked: Chunk) -> frozenset[Reason]:
        found = super().count_faults(asked)
        is_short = asked.is_last and asked.end < asked.room.num_pages
        return frozenset() if is_short and len(asked.state) <= asked.room.num_pages else found


@mutant("transfer.index-clipped", kills="RFC-0012:C-SEND#S7")
class IndexClipped(SendingModel):
    """Clips the pages of the index to those that decode has, or sends fewer."""

    def count_faults(self, asked: Chunk) -> frozenset[Reason]:
        total = asked.room.num_pages
        fits = asked.end <= total and (not asked.is_last or asked.end == total)
        return frozenset() if fits else super().count_faults(asked)

    def begun(self, asked: Chunk) -> Chunk:
        asked.state = asked.state[: asked.room.num_pages]
        return super().begun(asked)


class InOrder(SendingModel):
    """Lets chunks follow that do not."""

    def follows(self, asked: Chunk, before: Sequence[Chunk]) -> bool:
        end = before[-1].end if before else 0
        return self.may_follow(asked.first - end, is_over=bool(before) and before[-1].is_last)

    def may_follow(self, gap: int, *, is_over: bool) -> bool:
        """Say whether a chunk may begin so far behind the end of the last one."""
        raise NotImplementedError


@mutant("transfer.gap-between-chunks", kills="RFC-0012:C-SEND#S8")
class GapBetweenChunks(InOrder):
    """Lets pages between two chunks be missing."""

    def may_follow(self, gap: int, *, is_over: bool) -> bool:
        return gap >= 0 and not is_over


@mutant("transfer.chunk-sent-again", kills="RFC-0012:C-SEND#S8")
class ChunkSentAgain(InOrder):
    """Sends pages again that were sent."""

    def may_follow(self, gap: int, *, is_over: bool) -> bool:
        return gap <= 0 and not is_over

    def send_faults(self, asked: Chunk) -> frozenset[Reason]:
        return super().send_faults(asked) | ({Reason.CHUNK_BACKWARDS} if asked.first < 0 else frozenset())


@mutant("transfer.last-chunk-again", kills="RFC-0012:C-SEND#S8")
class LastChunkAgain(InOrder):
    """Lets a chunk follow the last one."""

    def may_follow(self, gap: int, *, is_over: bool) -> bool:
        return gap == 0


class Unseeing(SendingModel):
    """Does not look for one of the reasons to refuse pages."""

    overlooked: Reason

    def page_faults(self, pages: Sequence[int]) -> frozenset[Reason]:
        return super().page_faults(pages) - {self.overlooked}


@mutant("transfer.free-page-sent", kills="RFC-0012:C-SEND#S9")
class FreePageSent(Unseeing):
    """Sends pages that nobody has."""

    overlooked = Reason.PAGE_NOT_ALLOCATED


@mutant("transfer.page-at-two-places", kills="RFC-0012:C-SEND#S9")
class PageSentTwice(Unseeing):
    """Sends a page to two places."""

    overlooked = Reason.PAGE_NAMED_TWICE


@mutant("transfer.dummy-sent", kills="RFC-0012:C-SEND#S9")
class DummySent(SendingModel):
    """Sends the dummy page."""

    def page_faults(self, pages: Sequence[int]) -> frozenset[Reason]:
        return super().page_faults([page for page in pages if page != 0])


@mutant("transfer.metadata-cut", kills="RFC-0012:C-SEND#S9")
class MetadataCut(SendingModel):
    """Sends as much of the metadata as a slot takes."""

    def send_faults(self, asked: Chunk) -> frozenset[Reason]:
        asked.aux = asked.aux[: self.config.transfer.aux_bytes]
        return super().send_faults(asked)


@mutant("transfer.unknown-room-ignored", kills="RFC-0012:C-SEND#S10")
class UnknownRoomIgnored(SendingModel):
    """Sends nothing of a room that it has not heard of, and says nothing."""

    def send(
        self,
        room: int,
        pages: Sequence[int],
        first_position: int,
        is_last: bool,  # noqa: FBT001 - by contract
        state: Sequence[int],
        aux: bytes,
    ) -> None:
        if room in self.rooms:
            super().send(room, pages, first_position, is_last, state, aux)


@mutant("transfer.sent-once-one-rank-knows", kills="RFC-0012:C-SEND#S10")
class SentOnceOneRankKnows(SendingModel):
    """Sends when some rank has heard of each destination."""

    def send_faults(self, asked: Chunk) -> frozenset[Reason]:
        heard, room = set(asked.room.heard), asked.room
        if len(room.places) == len(room.destinations):
            room.heard |= {(rank, each) for rank in range(self.config.cp_size) for each in room.destinations}
        found = super().send_faults(asked)
        room.heard = heard
        return found


@mutant("transfer.ascending-pages-only", kills="RFC-0012:C-SEND#S11")
class AscendingPagesOnly(SendingModel):
    """Refuses pages that do not ascend."""

    def send_faults(self, asked: Chunk) -> frozenset[Reason]:
        ascend = list(asked.pages) == sorted(asked.pages)
        return super().send_faults(asked) or (frozenset() if ascend else frozenset({Reason.PAGE_NAMED_TWICE}))


@mutant("transfer.cached-page-refused", kills="RFC-0012:C-SEND#S11")
class CachedPageRefused(SendingModel):
    """Refuses pages that nobody uses right now, of a prefix that is cached."""

    def send_faults(self, asked: Chunk) -> frozenset[Reason]:
        cached = any(
            self.allocation.pages.state(page) == EVICTABLE for page in asked.pages if self.geometry.holds(page)
        )
        return super().send_faults(asked) or frozenset({Reason.PAGE_NOT_ALLOCATED} if cached else ())
