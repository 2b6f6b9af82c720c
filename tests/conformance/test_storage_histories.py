"""Tests of storage histories: who has which host page, that keys tell pages apart, and that no wrong answer passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.catalogue import load_laws
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.operations import OPERATIONS
from sharedkv_conformance.contract.storage import StorageNamespace
from sharedkv_conformance.draws.storage_written import (
    SMALL,
    TOKENS,
    Issue,
    arrive,
    begin,
    fetched,
    finish_copies,
    forget,
    held_save,
    keep,
)
from sharedkv_conformance.effort import GATE
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.marks import Law
from sharedkv_conformance.model.implementation import model
from sharedkv_conformance.model.storage_keys import StorageKeys, identity
from sharedkv_conformance.model.storage_state import QUOTA, StorageState
from sharedkv_conformance.step import Answer, Call, Err, Ok

EVERY_CALL = frozenset(operation.name for operation in OPERATIONS)
LAWS = tuple(law for law in load_laws() if law.statement.startswith("RFC-0010:"))
JUDGED = (*(name for name in EVERY_CALL if name.startswith("storage.")), "probe.objects")

Look = Callable[[StorageState, Call, Answer], Iterable[str]]
texts = st.text(alphabet="ab=,'\"", max_size=3)
namespaces = st.builds(
    StorageNamespace,
    model=texts,
    layout=texts,
    layers=st.integers(1, 2),
    draft_layers=st.integers(0, 1),
    page_size=st.integers(1, 2),
    cp_size=st.integers(2, 3),
    fields=st.dictionaries(texts, texts, max_size=2).map(lambda named: tuple(named.items())),
)


def watching(look: Look) -> Law:
    """Return a law that sees every step of a history."""
    return Law(name="watching", statement="", on=EVERY_CALL, violations=look, meaning="")


def test_the_model_keeps_one_hand_for_each_host_page() -> None:
    found: list[str] = []

    def look(before: StorageState, call: Call, _answer: Answer) -> tuple[()]:
        tree = [page for node in before.model.tree.nodes.values() for page in node.host]
        coming = [page for fetch in before.fetches.values() for page in fetch.hosts]
        allocated = [(lane, page) for lane, own in enumerate(before.model.lanes) for page in own.allocated]
        if sorted([*tree, *coming]) != sorted(allocated):
            found.append(f"before {call}: {tree} in the tree and {coming} of fetches, allocated are {allocated}")
        return ()

    Histories(model(), replace(GATE, examples=30)).run("storage", laws=[watching(look)])

    assert not found


@given(one=namespaces, other=namespaces)
def test_namespaces_have_one_key_exactly_where_they_are_one(one: StorageNamespace, other: StorageNamespace) -> None:
    keys = StorageKeys()
    tokens = (1,) * one.page_size

    assert (identity(one) == identity(other)) == (keys.seed(one) == keys.seed(other))
    assert keys.keys(one, tokens) == keys.keys(replace(one, fields=one.fields[::-1]), tokens)


@given(
    namespace=namespaces,
    tokens=st.lists(st.integers(0, 300), max_size=6),
    others=st.lists(st.integers(0, 300), max_size=6),
)
def test_keys_are_equal_as_far_as_tokens_are(namespace: StorageNamespace, tokens: list[int], others: list[int]) -> None:
    keys, size = StorageKeys(), namespace.page_size
    pairs = list(zip(keys.keys(namespace, tokens), keys.keys(namespace, others), strict=False))

    for page, (one, other) in enumerate(pairs, 1):
        assert (one == other) == (tokens[: page * size] == others[: page * size])


def variants(value: object) -> Iterator[Any]:
    """Yield values that differ from a value in one place."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, str):
        yield f"{value}x"
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from (replace(value, **{field.name: other}) for other in variants(getattr(value, field.name)))
    elif isinstance(value, tuple) and value:
        yield from (value[:-1], value[1:])
        yield from ((other, *value[1:]) for other in variants(value[0]))


def wrong_answers(call: Call, answer: Answer) -> Iterator[Answer]:
    """Yield answers that are wrong in one place."""
    yield from map(Ok, variants(answer.value)) if isinstance(answer, Ok) else ()
    if call.op.startswith("storage.") and call.op != QUOTA:
        yield Err(Rejected(Reason.NODE_NEGATIVE))


def everything(call: Issue) -> None:
    """Keep a prefix, fetch it in part, end it, fetch the rest and revoke that; name what has ended; save under hold."""
    fetch = fetched(call, 2, "wait_complete")
    arrive(call, fetch, 1, parts=("kv",))
    call("storage.check", fetch=fetch)
    call("storage.query", tokens=TOKENS)
    call("storage.end", fetch=fetch)
    again = begin(call, TOKENS, "timeout", 2)
    call("probe.advance", ticks=2)
    call("storage.check", fetch=again)
    call("storage.revoke", fetch=again)
    call.attempt("storage.end", fetch=again)
    call.attempt("storage.fetch", tokens=TOKENS, policy="", timeout=0)
    call("storage.save", tokens=TOKENS)


def saves(call: Issue) -> None:
    """Save a prefix in two parts, under hold."""
    held_save(call, TOKENS[:4], TOKENS)
    call("storage.save", tokens=TOKENS)
    finish_copies(call)
    call("storage.query", tokens=TOKENS)


def test_every_wrong_answer_breaks_one_statement_of_storage() -> None:
    wrong: list[str] = []

    def look(before: StorageState, call: Call, answer: Answer) -> tuple[()]:
        judges = [law for law in LAWS if call.op in law.on and law.statement != "RFC-0010:C-RANKS#S1"]
        for other in wrong_answers(call, answer) if call.op in JUDGED else ():
            if before.is_unsure(call) or not before.deviates(call, other):
                continue
            broken = {law.statement for law in judges if list(law(before, call, other))}
            if len(broken) != 1:
                wrong.append(f"{call}: {other}, and was {answer}: breaks {sorted(broken)}")
        return ()

    for script in (everything, saves):
        with Histories(model(), GATE).written("storage", SMALL, laws=[watching(look)]) as call:
            script(call)

    assert not wrong[:3]


def test_a_fetch_that_is_not_held_is_not_judged() -> None:
    with Histories(model(), GATE).written("storage", SMALL, laws=LAWS) as call:
        keep(call, TOKENS)
        forget(call)
        begin(call, TOKENS)
        state = cast("StorageState", call.state)

        assert state.diverged
