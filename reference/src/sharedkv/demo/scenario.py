"""Prompts that share cached documents, and the rounds in which they are prefilled.

Knows tokens and pages. Does not know numbers or ranks' rows.

    round 0   documents are computed, and stay in the cache
    round 1   each prompt begins with a document, which is a hit, and computes its first chunk
    round 2   what the first chunks left; the document and the first chunk are the prefix now
    ...
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from sharedkv.allocation import ExtendRequest
from sharedkv.demo.settings import CHUNK_TOKENS, PAGE_TOKENS, Settings
from sharedkv.geometry import Geometry

VOCABULARY = 97
MOST_DOCUMENT_PAGES = 4
MOST_NEW_TOKENS = 40


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Tokens of one request: the first `cached_tokens` are those of a document, which was computed before it came."""

    name: str
    document: str
    cached_tokens: int
    tokens: tuple[int, ...]

    @property
    def new_tokens(self) -> int:
        """Count the tokens that are not cached when the request comes."""
        return len(self.tokens) - self.cached_tokens


NO_DOCUMENT = Prompt(name="", document="", cached_tokens=0, tokens=())


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Tokens [start, end) of one prompt, computed in one round."""

    prompt: Prompt
    start: int
    end: int

    @property
    def extend(self) -> ExtendRequest:
        """Return the chunk as allocation and planning know it."""
        return ExtendRequest(request=self.prompt.name, prefix_tokens=self.start, extend_tokens=self.end - self.start)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """`documents` are prompts without a cache; `prompts` begin with them."""

    documents: tuple[Prompt, ...]
    prompts: tuple[Prompt, ...]

    def rounds(self) -> Iterator[tuple[Chunk, ...]]:
        """Yield the chunks of each round: all documents, then a chunk of every prompt that is not done."""
        yield tuple(Chunk(prompt=document, start=0, end=len(document.tokens)) for document in self.documents)
        done = {prompt.name: prompt.cached_tokens for prompt in self.prompts}
        while waiting := [prompt for prompt in self.prompts if done[prompt.name] < len(prompt.tokens)]:
            chunks = [self._chunk(prompt, done[prompt.name]) for prompt in waiting]
            done |= {chunk.prompt.name: chunk.end for chunk in chunks}
            yield tuple(chunks)

    @staticmethod
    def _chunk(prompt: Prompt, start: int) -> Chunk:
        return Chunk(prompt=prompt, start=start, end=min(start + CHUNK_TOKENS, len(prompt.tokens)))

    def geometry(self, ranks: int) -> Geometry:
        """Return pools in which every page of the scenario finds room on its lane."""
        tokens = sum(len(prompt.tokens) for prompt in (*self.documents, *self.prompts))
        chunks = sum(len(chunks) for chunks in self.rounds())
        pages_a_lane = tokens // PAGE_TOKENS + chunks
        return Geometry(cp_size=ranks, page_size=PAGE_TOKENS, pages=ranks * pages_a_lane)


def scenario(settings: Settings) -> Scenario:
    """Draw documents and prompts; the first prompt has a cached document and more than one chunk."""
    chance = random.Random(settings.seed)  # noqa: S311 - prompts, not secrets
    documents = tuple(_document(chance, number) for number in range(max(1, settings.requests - 1)))
    first = _prompt(chance, "r0", documents[0], CHUNK_TOKENS + 1)
    others = (
        _prompt(chance, f"r{number}", chance.choice((NO_DOCUMENT, *documents)), 1)
        for number in range(1, settings.requests)
    )
    return Scenario(documents=documents, prompts=(first, *others))


def _document(chance: random.Random, number: int) -> Prompt:
    tokens = _tokens(chance, chance.randint(1, MOST_DOCUMENT_PAGES) * PAGE_TOKENS)
    return Prompt(name=f"d{number}", document="", cached_tokens=0, tokens=tokens)


def _prompt(chance: random.Random, name: str, document: Prompt, fewest_new: int) -> Prompt:
    new = _tokens(chance, chance.randint(fewest_new, MOST_NEW_TOKENS))
    return Prompt(
        name=name, document=document.name, cached_tokens=len(document.tokens), tokens=(*document.tokens, *new)
    )


def _tokens(chance: random.Random, count: int) -> tuple[int, ...]:
    return tuple(chance.choices(range(VOCABULARY), k=count))
