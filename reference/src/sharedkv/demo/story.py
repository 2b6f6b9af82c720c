"""What happened, in numbers that a reader can check, as text or as JSON.

Knows how an outcome is told. Does not know tensors.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sharedkv.demo.comparison import Difference
from sharedkv.demo.settings import TOLERANCE, Settings

LEGEND = (
    "cached         tokens whose rows were in the cache when the batch, or the request, came; new ones are computed",
    "rows by rank   new tokens that rank 0, 1, ... computes; it writes them into its own pool, on pages of its lane",
    "dummy          rows that keep a rank without tokens in step; nobody stores them",
    "sums a layer   collectives of one layer: as many for one request as for several",
    "difference     of attention, from one rank that holds everything",
)


@dataclass(frozen=True, kw_only=True)
class RoundFacts:
    """One batch. `exchanges` counts the collectives of one layer; a dummy row keeps a rank without tokens in step."""

    requests: tuple[str, ...]
    prefix_tokens: int
    new_tokens: int
    rows_by_rank: tuple[int, ...]
    dummy_rows: int
    exchanges: int


@dataclass(frozen=True, kw_only=True)
class PromptFacts:
    """One request from its first chunk to its last."""

    request: str
    prefix_tokens: int
    extend_tokens: int
    chunks: int
    pages_by_lane: tuple[int, ...]
    rows_by_rank: tuple[int, ...]
    bytes_written: int
    difference: Difference


@dataclass(frozen=True, kw_only=True)
class Story:
    """A whole demonstration."""

    settings: Settings
    rounds: tuple[RoundFacts, ...]
    prompts: tuple[PromptFacts, ...]

    @property
    def is_equal(self) -> bool:
        """Say whether the ranks that share did what one rank does."""
        return all(prompt.difference.is_none for prompt in self.prompts)


def as_json(story: Story) -> str:
    """Return a story for programs."""
    return json.dumps({**asdict(story), "tolerance": TOLERANCE, "is_equal": story.is_equal}, indent=2)


def as_text(story: Story) -> str:
    """Return a story for people."""
    settings = story.settings
    layers = "1 layer" if settings.layers == 1 else f"{settings.layers} layers"
    lines = [
        f"{settings.ranks} ranks share a cache ({settings.layout}, {layers}, seed {settings.seed}).",
        "Each page of tokens lies on one rank alone: the one that computes it. Every rank reads all of them through",
        "a dense view, which one sum over the ranks completes for each buffer of a layer. Documents d0, d1, ... are",
        "computed first and stay in the cache; prompts r0, r1, ... may begin with one, and are computed in chunks.",
        *([f"On purpose, the ranks make a mistake: {settings.mistake}."] if settings.mistake else []),
        "",
        *_table(("round", "requests", "cached", "new", "rows by rank", "dummy", "sums a layer"), _round_cells(story)),
        "",
        *_table(
            (
                "request",
                "cached",
                "new",
                "chunks",
                "pages by lane",
                "rows by rank",
                "bytes written",
                "largest difference",
            ),
            _prompt_cells(story),
        ),
        "",
        *_verdict(story),
    ]
    return "\n".join(lines)


def _round_cells(story: Story) -> list[tuple[str, ...]]:
    return [
        (
            str(number),
            " ".join(facts.requests),
            str(facts.prefix_tokens),
            str(facts.new_tokens),
            _listed(facts.rows_by_rank),
            str(facts.dummy_rows),
            str(facts.exchanges),
        )
        for number, facts in enumerate(story.rounds)
    ]


def _prompt_cells(story: Story) -> list[tuple[str, ...]]:
    return [
        (
            facts.request,
            str(facts.prefix_tokens),
            str(facts.extend_tokens),
            str(facts.chunks),
            _listed(facts.pages_by_lane),
            _listed(facts.rows_by_rank),
            f"{facts.bytes_written:,}",
            f"{facts.difference.attention:.1e}" if facts.difference.attention else "0",
        )
        for facts in story.prompts
    ]


def _verdict(story: Story) -> list[str]:
    if story.is_equal:
        return [
            "EQUAL to one rank that holds everything: stored bytes, dense views and selected tokens bit for bit,",
            f"attention within {TOLERANCE:g}.",
        ]
    return [
        "DIFFERENT from one rank that holds everything:",
        *(f"  {facts.request}: {_told(facts.difference)}" for facts in story.prompts if not facts.difference.is_none),
    ]


def _told(difference: Difference) -> str:
    counts = (
        (difference.stored_rows, "stored rows"),
        (difference.view_rows, "rows of dense views"),
        (difference.selections, "selections"),
    )
    parts = [f"{count} {what} differ" for count, what in counts if count]
    if not difference.attention <= TOLERANCE:
        parts.append(f"attention by {difference.attention:.2g}")
    return ", ".join(parts)


def _listed(counts: Sequence[int]) -> str:
    return " ".join(map(str, counts))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    rule = ["-" * width for width in widths]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, rule, *rows)
    ]
