"""Keys of pages say what computed them, and nothing else has the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.errors import Refusal, RefusedError
from sharedkv.storage.keys import Namespace, page_keys

NAMESPACE = Namespace(model="m", layout="mla_fp8", layers=2, draft_layers=0, page_size=2, cp_size=2)
TEXTS = st.text(alphabet="ab\x00=,", max_size=3)
FIELDS = st.dictionaries(TEXTS, TEXTS, max_size=3).map(lambda fields: tuple(fields.items()))
NUMBERS = st.integers(1, 3)
NAMESPACES = st.builds(
    Namespace,
    model=TEXTS,
    layout=TEXTS,
    layers=NUMBERS,
    draft_layers=NUMBERS,
    page_size=NUMBERS,
    cp_size=NUMBERS,
    fields=FIELDS,
)
TOKENS = st.lists(st.integers(0, 2), max_size=8)


def meaning(namespace: Namespace) -> dict[str, Any]:
    """What must be equal for two namespaces to be one: fields in no order."""
    return vars(replace(namespace)) | {"fields": set(namespace.fields)}


@given(NAMESPACES, NAMESPACES)
def test_two_namespaces_share_a_key_only_if_they_are_one(first: Namespace, second: Namespace) -> None:
    tokens = list(range(6))

    assert bool(set(page_keys(first, tokens)) & set(page_keys(second, tokens))) == (meaning(first) == meaning(second))


def test_texts_are_not_joined() -> None:
    texts = ["", "a", "b", "ab", "ba", "aab", "b\x00"]
    fields = [(), *(((name, value),) for name in texts for value in texts), (("a", ""), ("b", "a")), (("a", "b"),)]
    namespaces = {
        (model, layout, named): replace(NAMESPACE, model=model, layout=layout, fields=named)
        for model in texts
        for layout in texts
        for named in fields
    }

    assert len({page_keys(namespace, [1, 2]) for namespace in namespaces.values()}) == len(namespaces)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((("salt", "ab"), ("extra", "c")), (("salt", "a"), ("extra", "bc"))),
        ((("lora", "x"),), (("salt", "x"),)),
        ((("salt", ""),), ()),
        ((("a", "b"), ("c", "d")), (("a", "bcd"),)),
    ],
)
def test_fields_are_not_joined(first: tuple[tuple[str, str], ...], second: tuple[tuple[str, str], ...]) -> None:
    keys, others = (page_keys(replace(NAMESPACE, fields=fields), [1, 2]) for fields in (first, second))

    assert keys != others


@given(TOKENS, TOKENS)
def test_pages_share_a_key_only_where_all_tokens_up_to_their_end_are_equal(first: list[int], second: list[int]) -> None:
    keys, others = page_keys(NAMESPACE, first), page_keys(NAMESPACE, second)

    assert [a == b for a, b in zip(keys, others, strict=False)] == [
        first[:end] == second[:end] for end in range(2, 2 * min(len(keys), len(others)) + 1, 2)
    ]


@given(TOKENS)
def test_every_full_page_has_a_key_and_a_longer_prompt_keeps_it(tokens: list[int]) -> None:
    keys = page_keys(NAMESPACE, tokens)

    assert len(keys) == len(set(keys)) == len(tokens) // 2
    assert page_keys(NAMESPACE, [*tokens, 1, 2])[: len(keys)] == keys


def test_keys_are_the_same_on_every_day() -> None:
    namespace = replace(NAMESPACE, fields=(("tenant", "é"), ("salt", "")))

    assert page_keys(namespace, [7, -1, 2**40, 0]) == (
        "a7f1a51ed526a0f7afbf5f70b55c7dcc9ab6e13b0b2bc0b04fee87a54f32e6f4",
        "5bcfc6594802d3781f82b2d525052262f36cc9d085f40894501495daba905aa0",
    )


def test_the_order_of_fields_means_nothing() -> None:
    fields = (("a", "1"), ("b", "2"))

    assert page_keys(replace(NAMESPACE, fields=fields), [1, 2]) == page_keys(
        replace(NAMESPACE, fields=fields[::-1]), [1, 2]
    )


@pytest.mark.parametrize(
    ("change", "value"),
    [({"fields": (("a", "1"), ("a", "1"))}, "field 'a' is named twice"), ({"page_size": 0}, "page size 0, wanted")],
)
def test_a_namespace_that_is_none_is_refused(change: dict[str, Any], value: str) -> None:
    with pytest.raises(RefusedError, match=value) as refused:
        replace(NAMESPACE, **change)

    assert refused.value.reason is Refusal.NAMESPACE_INVALID


def test_a_token_beyond_64_bits_is_refused() -> None:
    with pytest.raises(RefusedError, match="beyond 64 bits"):
        page_keys(NAMESPACE, [1, 2**63])
