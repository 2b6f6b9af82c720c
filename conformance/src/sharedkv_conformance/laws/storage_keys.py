"""The laws of keys: equal pages have equal keys, and different pages different ones."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.storage_keys import identity, is_ambiguous, prefixes
from sharedkv_conformance.model.storage_seen import Page
from sharedkv_conformance.model.storage_state import StorageState
from sharedkv_conformance.step import Answer, Call, Err, Ok

KEYS = "storage.keys"


def pages_with_keys(call: Call, answer: Answer) -> list[tuple[Page, str]]:
    """Return the pages of an answer with their keys, if it has one for each."""
    if not isinstance(answer, Ok) or is_ambiguous(call.namespace.fields):
        return []
    pages = [(identity(call.namespace), prefix) for prefix in prefixes(call.namespace, call.tokens)]
    return list(zip(pages, answer.value, strict=True)) if len(pages) == len(answer.value) else []


def namesakes(before: StorageState, call: Call, answer: Answer) -> Iterator[tuple[Page, Page, str]]:
    """Yield two different pages with the key that both have, the page of this answer first."""
    given: dict[str, Page] = {}
    for page, key in pages_with_keys(call, answer):
        other = before.seen.page_of.get(key, given.get(key, page))
        given.setdefault(key, page)
        if other != page and page not in before.seen.key_of:
            yield page, other, key


@law("RFC-0010:C-KEYS#S1", on=KEYS)
def every_whole_page_has_a_key(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """A key for a page that is not full is a key for whatever comes behind."""
    if isinstance(answer, Ok) and not is_ambiguous(call.namespace.fields):
        wanted = len(prefixes(call.namespace, call.tokens))
        if len(answer.value) != wanted:
            yield f"{len(answer.value)} keys for {len(call.tokens)} tokens, expected {wanted}"


@law("RFC-0010:C-KEYS#S2", on=KEYS)
def a_page_keeps_its_key(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Who asks again finds what was written."""
    for page, key in pages_with_keys(call, answer):
        known = before.seen.key_of.get(page, key)
        if key != known:
            yield f"the key of the page that ends behind {list(page[1])} is {key!r}, and was {known!r}"


@law("RFC-0010:C-KEYS#S3", on=KEYS)
def namespaces_are_kept_apart(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """One tenant's pages are no hit of another's, nor are pages that were computed otherwise."""
    for page, other, key in namesakes(before, call, answer):
        if page[0] != other[0]:
            yield f"{key!r} is the key of pages of two namespaces: {page[0]} and {other[0]}"


@law("RFC-0010:C-KEYS#S4", on=KEYS)
def a_key_depends_on_all_tokens_up_to_its_end(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Rows depend on everything before them."""
    for page, other, key in namesakes(before, call, answer):
        if page[0] == other[0]:
            yield f"{key!r} is the key of the pages that end behind {list(page[1])} and behind {list(other[1])}"


@law("RFC-0010:C-KEYS#S5", on=KEYS)
def keys_are_equal_on_every_rank(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """A rank that looks elsewhere finds nothing, and the others wait for it."""
    if isinstance(before.peer_answer, Ok) and isinstance(answer, Ok) and answer != before.peer_answer:
        yield f"rank {before.config.rank} has the keys {list(answer.value)}, rank 0 {list(before.peer_answer.value)}"


@law("RFC-0010:C-KEYS#S6", on=KEYS)
def a_field_named_twice_is_refused(before: StorageState, call: Call, answer: Answer) -> Iterator[str]:
    """Of two values for one name, each reader takes another one."""
    wanted = is_ambiguous(call.namespace.fields)
    if not wanted and isinstance(answer, Err):
        yield f"a namespace with the fields {list(call.namespace.fields)} was answered with {answer.error}"
    elif wanted and not (
        isinstance(answer, Err)
        and isinstance(answer.error, Rejected)
        and answer.error.reason == Reason.NAMESPACE_INVALID
    ):
        got = f"keys {list(answer.value)}" if isinstance(answer, Ok) else str(answer.error)
        yield f"fields {list(call.namespace.fields)}: expected {Reason.NAMESPACE_INVALID}, got {got}"
