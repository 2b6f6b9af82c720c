"""Wrong, and odd but right, variants of the split; each a few lines with one sentence."""

from __future__ import annotations

from dataclasses import replace

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.planning import RequestSplit, Segment
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.geometry import Geometry, checked_geometry
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.model.planning_split import block_rank, last_token, segments

Parts = tuple[Segment, ...]


@mutant("planning.page-too-many", kills="RFC-0002:C-SPLIT#S1")
class PageTooMany(PlanningModel):
    """Counts a page for the tail also where the extend ends at a page border."""

    def owners(self, extend_tokens: int) -> tuple[int, ...]:
        return super().owners(extend_tokens + 1)


@mutant("planning.tail-forgotten", kills="RFC-0002:C-SPLIT#S1")
class TailForgotten(PlanningModel):
    """Gives no owner to a last page that is not full."""

    def owners(self, extend_tokens: int) -> tuple[int, ...]:
        return super().owners(extend_tokens)[: extend_tokens // self.geometry.page_size]


@mutant("planning.remainder-last", kills="RFC-0002:C-SPLIT#S2")
class RemainderLast(PlanningModel):
    """Gives the remainder pages to the latest blocks."""

    def owners(self, extend_tokens: int) -> tuple[int, ...]:
        return super().owners(extend_tokens)[::-1]


@mutant("planning.no-zigzag", kills="RFC-0002:C-SPLIT#S2")
class NoZigzag(PlanningModel):
    """Deals the second half of the blocks in ascending rank order again."""

    def owners(self, extend_tokens: int) -> tuple[int, ...]:
        half = super().owners(extend_tokens)
        pages = sum(1 for _ in half)
        base, rest = divmod(pages, 2 * self.geometry.cp_size)
        blocks = [base + (block < rest) for block in range(2 * self.geometry.cp_size)]
        return tuple(block % self.geometry.cp_size for block, count in enumerate(blocks) for _ in range(count))


@mutant("planning.equal-blocks", kills="RFC-0002:C-SPLIT#S2")
class EqualBlocks(PlanningModel):
    """Rounds the pages of a block up, so that the last blocks go short."""

    def owners(self, extend_tokens: int) -> tuple[int, ...]:
        pages = self.geometry.pages_for(extend_tokens)
        share = -(-pages // (2 * self.geometry.cp_size))
        return tuple(block_rank(self.geometry, page // share) for page in range(pages))


@mutant("planning.token-split-rounded", kills="RFC-0002:C-SPLIT#S2")
class TokenSplitRounded(PlanningModel):
    """Splits tokens and gives a page to the rank of its first token."""

    def owners(self, extend_tokens: int) -> tuple[int, ...]:
        blocks = _token_blocks(self.geometry, extend_tokens)
        first_tokens = range(0, extend_tokens, self.geometry.page_size)
        return tuple(
            next(block_rank(self.geometry, b) for b, (start, end) in enumerate(blocks) if start <= token < end)
            for token in first_tokens
        )


@mutant("planning.tail-not-computed", kills="RFC-0002:C-SPLIT#S3")
class TailNotComputed(PlanningModel):
    """Rounds the end of every segment down to a page border."""

    def segments(self, prefix_tokens: int, extend_tokens: int) -> Parts:
        size = self.geometry.page_size
        parts = super().segments(prefix_tokens, extend_tokens)
        return tuple(
            replace(s, end=(e := max(s.start, s.end // size * size)), kv_tokens=prefix_tokens + e) for s in parts
        )

    def last_token(self, parts: Parts, extend_tokens: int) -> tuple[int, int]:
        return last_token(segments(self.geometry, 0, extend_tokens), extend_tokens)


@mutant("planning.block-computed-twice", kills="RFC-0002:C-SPLIT#S3")
class BlockComputedTwice(PlanningModel):
    """Fills an empty next segment with the tokens of the same rank's prev segment."""

    def segments(self, prefix_tokens: int, extend_tokens: int) -> Parts:
        parts = super().segments(prefix_tokens, extend_tokens)
        return tuple(
            replace(parts[i - 1], part="next") if s.part == "next" and s.start == s.end else s
            for i, s in enumerate(parts)
        )

    def last_token(self, parts: Parts, extend_tokens: int) -> tuple[int, int]:
        return last_token(segments(self.geometry, 0, extend_tokens), extend_tokens)


@mutant("planning.token-granular-segments", kills="RFC-0002:C-SPLIT#S4")
class TokenGranularSegments(PlanningModel):
    """Cuts segments at tokens, as engines without owner lanes do, so that two ranks compute parts of one page."""

    def segments(self, prefix_tokens: int, extend_tokens: int) -> Parts:
        blocks = _token_blocks(self.geometry, extend_tokens)
        parts = super().segments(prefix_tokens, extend_tokens)
        last = 2 * self.geometry.cp_size - 1
        ranges = [blocks[s.rank if s.part == "prev" else last - s.rank] for s in parts]
        return tuple(
            replace(s, start=start, end=end, kv_tokens=prefix_tokens + end)
            for s, (start, end) in zip(parts, ranges, strict=True)
        )

    def last_token(self, parts: Parts, extend_tokens: int) -> tuple[int, int]:
        return last_token(segments(self.geometry, 0, extend_tokens), extend_tokens)


@mutant("planning.prev-and-next-swapped", kills="RFC-0002:C-SPLIT#S4")
class PrevAndNextSwapped(PlanningModel):
    """Calls the late block of a rank its prev segment."""

    def segments(self, prefix_tokens: int, extend_tokens: int) -> Parts:
        parts = super().segments(prefix_tokens, extend_tokens)
        other = {"prev": "next", "next": "prev"}
        return tuple(replace(s, part=other[s.part]) for s in parts)

    def last_token(self, parts: Parts, extend_tokens: int) -> tuple[int, int]:
        return last_token(segments(self.geometry, 0, extend_tokens), extend_tokens)


@mutant("planning.prefix-forgotten", kills="RFC-0002:C-SPLIT#S5")
class PrefixForgotten(PlanningModel):
    """Takes the key-value length relative to the extend."""

    def segments(self, prefix_tokens: int, extend_tokens: int) -> Parts:
        return tuple(replace(s, kv_tokens=s.end) for s in super().segments(prefix_tokens, extend_tokens))


@mutant("planning.prefix-twice", kills="RFC-0002:C-SPLIT#S5")
class PrefixTwice(PlanningModel):
    """Adds the prefix to a key-value length that already includes it."""

    def segments(self, prefix_tokens: int, extend_tokens: int) -> Parts:
        parts = super().segments(prefix_tokens, extend_tokens)
        return tuple(replace(s, kv_tokens=s.kv_tokens + prefix_tokens) for s in parts)


@mutant("planning.padded-length", kills="RFC-0002:C-SPLIT#S5")
class PaddedLength(PlanningModel):
    """Counts the tail page as full in the key-value length."""

    def segments(self, prefix_tokens: int, extend_tokens: int) -> Parts:
        size = self.geometry.page_size
        parts = super().segments(prefix_tokens, extend_tokens)
        return tuple(replace(s, kv_tokens=-(-s.kv_tokens // size) * size) for s in parts)


@mutant("planning.last-token-on-rank-zero", kills="RFC-0002:C-SPLIT#S6")
class LastTokenOnRankZero(PlanningModel):
    """Looks for the last token in rank 0's next segment, where it is unless blocks are empty."""

    def last_token(self, parts: Parts, extend_tokens: int) -> tuple[int, int]:
        own = [s for s in parts if s.rank == 0]
        return 0, max(0, sum(s.end - s.start for s in own) - 1)


@mutant("planning.row-within-the-segment", kills="RFC-0002:C-SPLIT#S6")
class RowWithinTheSegment(PlanningModel):
    """Counts the last token's row from the start of its segment, not of the rank's rows."""

    def last_token(self, parts: Parts, extend_tokens: int) -> tuple[int, int]:
        rank, _ = super().last_token(parts, extend_tokens)
        segment = next(s for s in parts if s.start < extend_tokens == s.end)
        return rank, segment.end - segment.start - 1


@mutant("planning.unaligned-prefix-accepted", kills="RFC-0002:C-SPLIT#S7")
class UnalignedPrefixAccepted(PlanningModel):
    """Rounds an unaligned prefix down to a page border and goes on."""

    def refuse_unsplittable(self, prefix_tokens: int, extend_tokens: int) -> None:
        super().refuse_unsplittable(prefix_tokens - prefix_tokens % self.geometry.page_size, extend_tokens)


@mutant("planning.every-refusal-is-empty", kills="RFC-0002:C-SPLIT#S7")
class EveryRefusalIsEmpty(PlanningModel):
    """Gives one reason for every refusal."""

    def refuse_unsplittable(self, prefix_tokens: int, extend_tokens: int) -> None:
        try:
            super().refuse_unsplittable(prefix_tokens, extend_tokens)
        except Rejected as error:
            raise Rejected(Reason.EXTEND_EMPTY) from error


@mutant("planning.tiny-extend-refused", kills="RFC-0002:C-SPLIT#S7")
class TinyExtendRefused(PlanningModel):
    """Refuses an extend with fewer pages than ranks, as engines do that need every rank busy."""

    def refuse_unsplittable(self, prefix_tokens: int, extend_tokens: int) -> None:
        super().refuse_unsplittable(prefix_tokens, extend_tokens)
        if self.geometry.pages_for(extend_tokens) < self.geometry.cp_size:
            raise Rejected(Reason.EXTEND_EMPTY)


@mutant("planning.round-robin-accepted", kills="RFC-0002:C-SPLIT#S8")
class RoundRobinAccepted(PlanningModel):
    """Opens a session with a round-robin split and plans in sequence all the same."""

    def checked(self, config: OpenConfig) -> Geometry:
        return checked_geometry(replace(config, split="in_sequence"))


@mutant("planning.token-pages-accepted", kills="RFC-0002:C-SPLIT#S8")
class TokenPagesAccepted(PlanningModel):
    """Opens a session whose pages hold one token."""

    def checked(self, config: OpenConfig) -> Geometry:
        checked_geometry(replace(config, page_size=max(2, config.page_size)))
        return Geometry.of(config)


@benign("planning.empty-segments-anywhere")
class EmptySegmentsAnywhere(PlanningModel):
    """Reports empty segments at position zero with the prefix as their key-value length."""

    def segments(self, prefix_tokens: int, extend_tokens: int) -> Parts:
        parts = super().segments(prefix_tokens, extend_tokens)
        return tuple(replace(s, start=0, end=0, kv_tokens=prefix_tokens) if s.start == s.end else s for s in parts)


@benign("planning.segments-in-token-order")
class SegmentsInTokenOrder(PlanningModel):
    """Lists segments in the order of their tokens."""

    def split(self, prefix_tokens: int, extend_tokens: int) -> RequestSplit:
        split = super().split(prefix_tokens, extend_tokens)
        return replace(split, segments=tuple(sorted(split.segments, key=lambda s: (s.start, s.end))))


def _token_blocks(geometry: Geometry, extend_tokens: int) -> list[tuple[int, int]]:
    """Return the blocks of a split by tokens: the remainder tokens go to the earliest blocks."""
    base, rest = divmod(extend_tokens, 2 * geometry.cp_size)
    blocks, start = [], 0
    for block in range(2 * geometry.cp_size):
        end = start + base + (block < rest)
        blocks.append((start, end))
        start = end
    return blocks
