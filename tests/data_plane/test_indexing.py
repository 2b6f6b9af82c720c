"""Selection by the indexer against a plain one, and its indifference to what lies beside a row."""

import struct
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sharedkv import indexing
from sharedkv.dense_positions import QueryWindows
from sharedkv.indexing import top_k

GENERATOR = torch.Generator()


BASES = (0, 9)


def windows(*pairs: tuple[int, int]) -> QueryWindows:
    """Return what rows see, by request and tokens; the second request begins at token 9."""
    request, tokens = zip(*pairs, strict=True)
    return QueryWindows(request=np.array(request), tokens=np.array(tokens), bases=np.array(BASES))


def codes(*shape: int, seed: int) -> torch.Tensor:
    values = torch.randn(shape, generator=GENERATOR.manual_seed(seed))
    return values.to(torch.float8_e4m3fn).view(torch.uint8)


def index_rows(tokens: int, *, seed: int) -> torch.Tensor:
    scales = torch.rand((tokens, 1), generator=GENERATOR.manual_seed(seed + 1)) + 0.5
    return torch.cat((codes(tokens, 128, seed=seed), scales.view(torch.uint8).view(tokens, 4)), dim=1)


def weights(rows: int, heads: int, *, seed: int) -> torch.Tensor:
    return torch.randn((rows, heads), generator=GENERATOR.manual_seed(seed))


def plain_scores(query: torch.Tensor, weight: torch.Tensor, rows: torch.Tensor) -> list[float]:
    """Score one query row against every token, in doubles and one multiplication after another."""
    heads = query.view(torch.float8_e4m3fn).float().double().view(len(weight), 128)
    scores = []
    for row in rows:
        key = row[:128].view(torch.float8_e4m3fn).float().double()
        (scale,) = struct.unpack("<f", bytes(row[128:].tolist()))
        scores.append(scale * sum(float(w) * max(0.0, float(q @ key)) for w, q in zip(weight, heads, strict=True)))
    return scores


def chosen_of(row: Sequence[int]) -> set[int]:
    return {position for position in row if position >= 0}


@given(seed=st.integers(0, 1 << 20), heads=st.integers(1, 3), count=st.integers(1, 12))
def test_the_selected_tokens_have_the_highest_scores_of_the_window(seed: int, heads: int, count: int) -> None:
    rows = index_rows(20, seed=seed)
    seen = windows((0, 5), (0, 9), (1, 3), (1, 11))
    query, weight = codes(4, heads * 128, seed=seed + 2), weights(4, heads, seed=seed + 3)

    selected = top_k(query, weight, rows, seen, count)

    for row, (request, tokens) in enumerate(zip(seen.request, seen.tokens, strict=True)):
        base = BASES[request]
        scores = plain_scores(query[row], weight[row], rows)
        chosen = chosen_of(selected[row].tolist())
        others = set(range(base, base + tokens)) - chosen
        assert len(chosen) == min(count, tokens)
        assert chosen <= set(range(base, base + tokens))
        assert min(scores[at] for at in chosen) >= max((scores[at] for at in others), default=-np.inf) - 1e-4


def test_a_window_shorter_than_the_count_is_selected_whole_and_padded() -> None:
    selected = top_k(codes(1, 128, seed=1), weights(1, 1, seed=2), index_rows(12, seed=3), windows((1, 3)), 6)

    assert sorted(selected[0].tolist()) == [-1, -1, -1, 9, 10, 11]


def test_a_row_that_sees_nothing_selects_nothing() -> None:
    selected = top_k(codes(2, 128, seed=1), weights(2, 1, seed=2), index_rows(8, seed=3), windows((-1, 0), (0, 4)), 3)

    assert selected[0].tolist() == [-1, -1, -1]


def test_a_rank_without_a_row_that_sees_anything_selects_nothing() -> None:
    selected = top_k(codes(1, 128, seed=1), weights(1, 1, seed=2), index_rows(8, seed=3), windows((-1, 0)), 2)

    assert selected.tolist() == [[-1, -1]]


def test_a_rank_without_rows_selects_nothing() -> None:
    none = QueryWindows(request=np.empty(0, dtype=np.int64), tokens=np.empty(0, dtype=np.int64), bases=np.array(BASES))

    selected = top_k(codes(0, 256, seed=1), weights(0, 2, seed=2), index_rows(8, seed=3), none, 2)

    assert selected.shape == (0, 2)


def test_of_equal_scores_the_earlier_token_wins() -> None:
    same = index_rows(1, seed=4).expand(6, 132).contiguous()

    selected = top_k(codes(1, 128, seed=5), weights(1, 1, seed=6), same, windows((0, 6)), 3)

    assert selected.tolist() == [[0, 1, 2]]


def test_a_negative_score_loses_against_zero_of_either_sign() -> None:
    key = torch.ones(1, 128).to(torch.float8_e4m3fn).view(torch.uint8)
    opposite = (-torch.ones(1, 128)).to(torch.float8_e4m3fn).view(torch.uint8)
    scale = torch.ones(1, 1).view(torch.uint8)
    rows = torch.cat((torch.cat((key, scale), dim=1), torch.cat((opposite, scale), dim=1)))

    selected = top_k(key, torch.tensor([[-1.0]]), rows, windows((0, 2)), 1)

    assert selected.tolist() == [[1]]


@pytest.mark.parametrize("block_scores", [1, 40, 1 << 22])
def test_scores_do_not_depend_on_the_rows_computed_beside(monkeypatch: pytest.MonkeyPatch, block_scores: int) -> None:
    rows, query, weight = index_rows(50, seed=7), codes(6, 256, seed=8), weights(6, 2, seed=9)
    seen = windows((0, 3), (0, 9), (1, 5), (1, 9), (1, 41), (-1, 0))
    alone = [top_k(query[row : row + 1], weight[row : row + 1], rows, _one(seen, row), 7) for row in range(6)]
    monkeypatch.setattr(indexing, "BLOCK_SCORES", block_scores)

    together = top_k(query, weight, rows, seen, 7)

    assert torch.equal(together, torch.cat(alone))


def _one(seen: QueryWindows, row: int) -> QueryWindows:
    return QueryWindows(request=seen.request[row : row + 1], tokens=seen.tokens[row : row + 1], bases=seen.bases)
