"""Wrong, and odd but right, variants of static tails and chunks."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.model.planning_batch import chunk_refusals, new_tokens, tail_refusals

Batch = Sequence[ExtendRequest]
Ints = tuple[int, ...]


@mutant("planning.tail-kept", kills="RFC-0002:C-STATIC-TAIL#S1")
class TailKept(PlanningModel):
    """Proves a tail and leaves it where it is."""

    def stripped(self, batch: Batch, locations: Sequence[int]) -> Ints:
        return tuple(locations)


@mutant("planning.tail-to-the-page", kills="RFC-0002:C-STATIC-TAIL#S1")
class TailToThePage(PlanningModel):
    """Strips down to whole pages."""

    def stripped(self, batch: Batch, locations: Sequence[int]) -> Ints:
        tokens = super().stripped(batch, locations)
        return (
            tokens
            if len(tokens) == len(locations)
            else tokens[: len(tokens) // self.geometry.page_size * self.geometry.page_size]
        )


@mutant("planning.no-tail-refused", kills="RFC-0002:C-STATIC-TAIL#S1")
class NoTailRefused(PlanningModel):
    """Wants a tail wherever it is asked about one."""

    def refuse_tail(self, batch: Batch, locations: Sequence[int], static_tokens: int) -> None:
        super().refuse_tail(batch, locations, static_tokens)
        if len(locations) == new_tokens(batch):
            raise Rejected(Reason.STATIC_TAIL_UNPROVEN)


@mutant("planning.tail-by-setting", kills="RFC-0002:C-STATIC-TAIL#S2")
class TailBySetting(PlanningModel):
    """Cuts every tail, for padding is switched on."""

    def refuse_tail(self, batch: Batch, locations: Sequence[int], static_tokens: int) -> None:
        if len(locations) <= new_tokens(batch):
            super().refuse_tail(batch, locations, static_tokens)


@mutant("planning.tail-unrecorded", kills="RFC-0002:C-STATIC-TAIL#S2")
class TailUnrecorded(PlanningModel):
    """Takes zeros for a proof, whatever was recorded."""

    def refuse_tail(self, batch: Batch, locations: Sequence[int], static_tokens: int) -> None:
        is_longer = len(locations) > new_tokens(batch)
        super().refuse_tail(batch, locations, len(locations) if is_longer else static_tokens)


@mutant("planning.tail-unread", kills="RFC-0002:C-STATIC-TAIL#S2")
class TailUnread(PlanningModel):
    """Takes the recorded length for a proof, whatever the tail holds."""

    def refuse_tail(self, batch: Batch, locations: Sequence[int], static_tokens: int) -> None:
        tokens = new_tokens(batch)
        super().refuse_tail(batch, [*locations[:tokens], *[0] * (len(locations) - tokens)], static_tokens)


@mutant("planning.shorter-of-two-lengths", kills="RFC-0002:C-STATIC-TAIL#S3")
class ShorterOfTwoLengths(PlanningModel):
    """Takes the locations that are there where there are too few."""

    def refuse_tail(self, batch: Batch, locations: Sequence[int], static_tokens: int) -> None:
        if Reason.LOCATIONS_MISMATCH not in tail_refusals(batch, locations, static_tokens):
            super().refuse_tail(batch, locations, static_tokens)


@mutant("planning.record-ignored-without-a-tail", kills="RFC-0002:C-STATIC-TAIL#S3")
class RecordIgnoredWithoutATail(PlanningModel):
    """Does not look at what was recorded where there is no tail."""

    def refuse_tail(self, batch: Batch, locations: Sequence[int], static_tokens: int) -> None:
        if len(locations) != new_tokens(batch):
            super().refuse_tail(batch, locations, static_tokens)


@mutant("planning.last-chunk-floored", kills="RFC-0002:C-CHUNKS#S1")
class LastChunkFloored(PlanningModel):
    """Rounds every chunk down to pages, the last one too, unless it is less than one."""

    def chunk_tokens(self, remaining_tokens: int, budget_tokens: int) -> int:
        size = self.geometry.page_size
        taken = super().chunk_tokens(remaining_tokens, budget_tokens)
        return taken // size * size or taken


@mutant("planning.chunk-of-the-whole-budget", kills="RFC-0002:C-CHUNKS#S2")
class ChunkOfTheWholeBudget(PlanningModel):
    """Takes the lesser of what remains and the budget, as engines do for a request that continues."""

    def chunk_tokens(self, remaining_tokens: int, budget_tokens: int) -> int:
        return min(remaining_tokens, budget_tokens)


@mutant("planning.chunk-rounded-up", kills="RFC-0002:C-CHUNKS#S2")
class ChunkRoundedUp(PlanningModel):
    """Rounds a chunk up to pages, beyond its budget."""

    def chunk_tokens(self, remaining_tokens: int, budget_tokens: int) -> int:
        size = self.geometry.page_size
        return remaining_tokens if budget_tokens >= remaining_tokens else -(-budget_tokens // size) * size


@mutant("planning.chunk-of-nothing", kills="RFC-0002:C-CHUNKS#S3")
class ChunkOfNothing(PlanningModel):
    """Answers nothing where the budget covers no page, and waits for a better day."""

    def refuse_chunk(self, prefix_tokens: int, remaining_tokens: int, budget_tokens: int) -> None:
        reasons = chunk_refusals(self.geometry, prefix_tokens, remaining_tokens, budget_tokens)
        if reasons != {Reason.CHUNK_TOO_SMALL}:
            super().refuse_chunk(prefix_tokens, remaining_tokens, budget_tokens)


@mutant("planning.whole-hit-is-a-chunk", kills="RFC-0002:C-CHUNKS#S3")
class WholeHitIsAChunk(PlanningModel):
    """Answers nothing for a request of which nothing remains."""

    def refuse_chunk(self, prefix_tokens: int, remaining_tokens: int, budget_tokens: int) -> None:
        super().refuse_chunk(prefix_tokens, remaining_tokens or 1, budget_tokens)


@mutant("planning.small-rest-refused", kills="RFC-0002:C-CHUNKS#S3")
class SmallRestRefused(PlanningModel):
    """Wants a budget of a page even where less remains."""

    def refuse_chunk(self, prefix_tokens: int, remaining_tokens: int, budget_tokens: int) -> None:
        super().refuse_chunk(prefix_tokens, remaining_tokens, budget_tokens)
        if budget_tokens < self.geometry.page_size:
            raise Rejected(Reason.CHUNK_TOO_SMALL)


@mutant("planning.chunk-of-one-page", kills="RFC-0002:C-CHUNKS#S4")
class ChunkOfOnePage(PlanningModel):
    """Takes a page at a time."""

    def chunk_tokens(self, remaining_tokens: int, budget_tokens: int) -> int:
        return remaining_tokens if budget_tokens >= remaining_tokens else self.geometry.page_size


@benign(
    "planning.chunk-of-half-the-budget",
    declines={"RFC-0002:C-CHUNKS#S4": "leaves room in each chunk for other requests"},
)
class ChunkOfHalfTheBudget(PlanningModel):
    """Takes half of the pages that the budget covers."""

    def chunk_tokens(self, remaining_tokens: int, budget_tokens: int) -> int:
        size = self.geometry.page_size
        pages = budget_tokens // size
        return remaining_tokens if budget_tokens >= remaining_tokens else (pages + 1) // 2 * size
