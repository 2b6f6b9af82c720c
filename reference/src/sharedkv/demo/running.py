"""Runs a demonstration and tells what happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sharedkv.demo.comparison import Difference, differences
from sharedkv.demo.model import TinyModel
from sharedkv.demo.scenario import Prompt, Scenario, scenario
from sharedkv.demo.settings import Settings
from sharedkv.demo.shared import Round, SharingRanks
from sharedkv.demo.single import single_rank
from sharedkv.demo.story import PromptFacts, RoundFacts, Story
from sharedkv.geometry import PageId
from sharedkv.layouts import Layout, layout


def run(settings: Settings) -> Story:
    """Prefill the same prompts on ranks that share and on one rank, and compare."""
    chosen, model = layout(settings.layout), TinyModel(settings.seed, settings.layers)
    drawn = scenario(settings)
    sharing = SharingRanks(settings, model, chosen, drawn.geometry(settings.ranks))
    rounds = [sharing.prefill(chunks) for chunks in drawn.rounds()]
    single = {prompt.name: single_rank(model, chosen, prompt.tokens) for prompt in _all_prompts(drawn)}
    found = differences(sharing, rounds, single)
    return Story(
        settings=settings,
        rounds=tuple(_round_facts(done) for done in rounds),
        prompts=tuple(
            _prompt_facts(prompt, sharing, rounds, chosen, found[prompt.name]) for prompt in _all_prompts(drawn)
        ),
    )


def _all_prompts(drawn: Scenario) -> tuple[Prompt, ...]:
    return (*drawn.documents, *drawn.prompts)


def _round_facts(done: Round) -> RoundFacts:
    by_layer = Counter(exchange.purpose.layer for exchange in done.exchanges)
    plan = done.batch.plan
    return RoundFacts(
        requests=tuple(chunk.prompt.name for chunk in done.chunks),
        prefix_tokens=sum(chunk.start for chunk in done.chunks),
        new_tokens=plan.num_tokens,
        rows_by_rank=tuple(plan.valid_rows.tolist()),
        dummy_rows=len(plan.dummies),
        exchanges=max(by_layer.values()),
    )


def _prompt_facts(
    prompt: Prompt, sharing: SharingRanks, rounds: Sequence[Round], chosen: Layout, difference: Difference
) -> PromptFacts:
    geometry = sharing.geometry
    new_pages = sharing.pages(prompt.name)[prompt.cached_tokens // geometry.page_size :]
    lanes = Counter[int](geometry.lane(PageId(page)) for page in new_pages)
    rows = _rows_by_rank(prompt, rounds, geometry.cp_size)
    return PromptFacts(
        request=prompt.name,
        prefix_tokens=prompt.cached_tokens,
        extend_tokens=prompt.new_tokens,
        chunks=sum(chunk.prompt == prompt for done in rounds for chunk in done.chunks),
        pages_by_lane=tuple(lanes[lane] for lane in range(geometry.cp_size)),
        rows_by_rank=rows,
        bytes_written=sum(rows) * chosen.stored_token_bytes * len(rounds[0].layers),
        difference=difference,
    )


def _rows_by_rank(prompt: Prompt, rounds: Sequence[Round], ranks: int) -> tuple[int, ...]:
    """Count the rows of a prompt that each rank computed."""
    counts = [0] * ranks
    for done in rounds:
        first = 0
        for chunk in done.chunks:
            last = first + chunk.end - chunk.start
            if chunk.prompt == prompt:
                for rank in range(ranks):
                    tokens = done.batch.plan.tokens(rank)
                    counts[rank] += int(((tokens >= first) & (tokens < last)).sum())
            first = last
    return tuple(counts)
