"""The checks of `storage`: keys of pages, the objects that are written of them, and what is a hit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sharedkv_conformance.contract.implementation import StorageConfig
from sharedkv_conformance.draws.storage_keys import FIELDS, HIGH_BITS, JOINED, LONG, TWICE
from sharedkv_conformance.draws.storage_written import SMALL, TOKENS, ask_keys, back_up, empty, forget, insert, keep
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.storage import (
    a_hit_ends_before_a_missing_part,
    a_hit_ends_before_an_object_that_is_not_whole,
    a_save_has_a_copy_where_there_is_a_page_to_write,
    an_ambiguous_session_is_not_opened,
    every_leading_page_counts,
    every_part_of_a_saved_page_is_there,
    nothing_else_is_written,
    objects_stand_under_the_keys_of_the_session,
    sessions_find_their_own_namespace,
    the_lane_is_kept_with_the_object,
    the_owner_writes_its_pages,
)
from sharedkv_conformance.laws.storage_keys import (
    a_field_named_twice_is_refused,
    a_key_depends_on_all_tokens_up_to_its_end,
    a_page_keeps_its_key,
    every_whole_page_has_a_key,
    keys_are_equal_on_every_rank,
    namespaces_are_kept_apart,
)
from sharedkv_conformance.marks import Law, check
from sharedkv_conformance.model.storage_keys import session_namespace

TREE = ("host_tier.tree",)
OBSERVED = (*TREE, "probe.objects")
OF_STORE = "kvconform.two-sessions"


# -- keys ------------------------------------------------------------------------------------------------------------


@check("storage.key-count", "RFC-0010:C-KEYS#S1", witnesses=("started_page_without_key",))
def test_every_whole_page_has_a_key(histories: Histories) -> None:
    """A key for a page that is not full yet is found by whoever continues it otherwise."""
    laws = [every_whole_page_has_a_key]
    with histories.written("storage", SMALL, laws=laws) as call:
        for page_size in (2, 4):
            namespace = replace(session_namespace(SMALL), page_size=page_size)
            call("storage.keys", namespace=namespace, tokens=TOKENS[:7])
    histories.run("storage", laws=laws)


@check("storage.key-repeats", "RFC-0010:C-KEYS#S2", witnesses=("key_asked_again", "fields_in_another_order"))
def test_a_page_keeps_its_key(histories: Histories) -> None:
    """Whoever asks in another order, or with more tokens behind, does not find what is stored."""
    laws = [a_page_keeps_its_key]
    _keys_of_every_namespace(histories, laws)
    with histories.written("storage", SMALL, laws=laws) as call:
        for tokens in (TOKENS[:5], TOKENS, TOKENS[:4]):
            ask_keys(call, tokens)
    histories.run("storage", laws=laws)


@check(
    "storage.namespaces",
    "RFC-0010:C-KEYS#S3",
    witnesses=("tokens_in_two_namespaces",),
    cases=("KV-42", "KV-43"),
)
def test_namespaces_are_kept_apart(histories: Histories) -> None:
    """One tenant is served what was computed for another, or by other weights, or on other lanes."""
    _keys_of_every_namespace(histories, [namespaces_are_kept_apart])
    histories.run("storage", laws=[namespaces_are_kept_apart])


@check(
    "storage.tokens-before",
    "RFC-0010:C-KEYS#S4",
    witnesses=("page_behind_two_prefixes",),
    cases=("KV-45",),
)
def test_a_key_depends_on_all_tokens_up_to_its_end(histories: Histories) -> None:
    """Rows that were computed behind another prefix are other rows, however alike the page itself is."""
    laws = [a_key_depends_on_all_tokens_up_to_its_end]
    with histories.written("storage", SMALL, laws=laws) as call:
        other = replace(session_namespace(SMALL), model="m2")
        call("storage.keys", namespace=other, tokens=(3, 3, 4, 4))
        call("storage.keys", namespace=other, tokens=(5, 5, 4, 4))
        for tokens in ((1, 23, 4, 4), (12, 3, 4, 4), (1, 2, 4, 4), (2, 1, 4, 4), (65_537, 2, 4, 4), (4, 4)):
            ask_keys(call, tokens)
        for token in (0, *HIGH_BITS):
            ask_keys(call, (4, token))
        ask_keys(call, LONG)
    histories.run("storage", laws=laws)


@check("storage.keys-of-ranks", "RFC-0010:C-KEYS#S5", witnesses=("keys_of_two_ranks",))
def test_keys_are_equal_on_every_rank(histories: Histories) -> None:
    """Each rank looks for its own objects; ranks with other keys never have the same hit."""
    with histories.written("storage", SMALL, laws=[keys_are_equal_on_every_rank], ranks=2) as call:
        call("storage.keys", namespace=session_namespace(SMALL), tokens=TOKENS)
        call("storage.keys", namespace=replace(session_namespace(SMALL), fields=(("salt", "a"),)), tokens=TOKENS)


@check("storage.ambiguous-namespace", "RFC-0010:C-KEYS#S6", witnesses=("field_named_twice",))
def test_a_field_named_twice_is_refused(histories: Histories) -> None:
    """Of two values for one field, whoever writes takes one and whoever reads the other."""
    laws = [a_field_named_twice_is_refused]
    with histories.written("storage", SMALL, laws=laws) as call:
        for fields in (*TWICE, (("salt", ""),)):
            namespace = replace(session_namespace(SMALL), fields=fields)
            call.attempt("storage.keys", namespace=namespace, tokens=TOKENS)
    histories.run("storage", laws=laws)


def _keys_of_every_namespace(histories: Histories, laws: Iterable[Law]) -> None:
    """Ask for the keys of equal tokens in namespaces that differ in one thing each."""
    own = session_namespace(SMALL)
    others = [
        *[replace(own, model=model) for model in ("m2", "M", "m ", "")],
        replace(own, layout="mha_bf16"),
        replace(own, layers=2),
        replace(own, layers=2, draft_layers=0),
        replace(own, page_size=4),
        replace(own, cp_size=4),
        *[replace(own, fields=fields) for fields in (*FIELDS, *JOINED)],
    ]
    with histories.written("storage", SMALL, laws=laws) as call:
        for namespace in (own, *others):
            call("storage.keys", namespace=namespace, tokens=TOKENS)


# -- objects ---------------------------------------------------------------------------------------------------------


@check(
    "storage.save-answers",
    "RFC-0010:C-OBJECTS#S1",
    witnesses=("nothing_to_save", "stored_part_of_a_save"),
    needs=TREE,
)
def test_a_save_has_a_copy_where_there_is_a_page_to_write(histories: Histories) -> None:
    """Whoever waits for a copy that there is none of keeps the request for ever."""
    laws = [a_save_has_a_copy_where_there_is_a_page_to_write]
    with histories.written("storage", SMALL, laws=laws) as call:
        keep(call, TOKENS[:4])
        call("storage.save", tokens=TOKENS[:4])
        keep(call, TOKENS)
    histories.run("storage", laws=laws)


@check(
    "storage.every-owner-writes",
    "RFC-0010:C-OBJECTS#S2",
    witnesses=("pages_of_two_lanes_saved", "every_part_saved"),
    needs=OBSERVED,
)
def test_every_part_of_a_saved_page_is_there(histories: Histories) -> None:
    """Where one rank writes for all, the pages of every other lane are never there."""
    histories.run("storage", laws=[every_part_of_a_saved_page_is_there])


@check(
    "storage.lane-kept",
    "RFC-0010:C-OBJECTS#S3",
    witnesses=("pages_of_two_lanes_saved",),
    needs=OBSERVED,
)
def test_the_lane_is_kept_with_the_object(histories: Histories) -> None:
    """A page that comes back on another lane is looked for where it is not."""
    histories.run("storage", laws=[the_lane_is_kept_with_the_object])


@check("storage.writer", "RFC-0010:C-OBJECTS#S4", witnesses=("pages_of_two_lanes_saved",), needs=OBSERVED)
def test_the_owner_writes_its_pages(histories: Histories) -> None:
    """Another rank than the owner writes what its memory happens to hold."""
    histories.run("storage", laws=[the_owner_writes_its_pages])


@check("storage.own-keys", "RFC-0010:C-OBJECTS#S5", witnesses=("saved_with_fields",), needs=OBSERVED, cases=("KV-43",))
def test_objects_stand_under_the_keys_of_the_session(histories: Histories) -> None:
    """A mirror that makes its own keys mixes what the keys keep apart."""
    histories.run("storage", laws=[objects_stand_under_the_keys_of_the_session])


@check(
    "storage.nothing-else-written",
    "RFC-0010:C-OBJECTS#S6",
    witnesses=("saved_up_to_a_pending_node", "stored_part_of_a_save"),
    needs=(*OBSERVED, "probe.copies"),
)
def test_nothing_else_is_written(histories: Histories) -> None:
    """Rows that were not there yet when they were stored are wrong for every session that fetches them."""
    laws = [nothing_else_is_written]
    with histories.written("storage", SMALL, laws=laws) as call:
        keep(call, TOKENS[:4], lanes=(1, 0))
        forget(call)
        keep(call, TOKENS, lanes=(0, 1, 1, 0))
    with histories.written("storage", SMALL, laws=laws) as call:
        back_up(call, TOKENS[:4])
        call("probe.hold")
        insert(call, TOKENS)
        ask_keys(call, TOKENS)
        call("storage.save", tokens=(*TOKENS, 1))
        call("host_tier.poll")
    histories.run("storage", laws=laws)


@check("storage.ambiguous-session", "RFC-0010:C-OBJECTS#S7", witnesses=("session_field_named_twice",))
def test_an_ambiguous_session_is_not_opened(histories: Histories) -> None:
    """Half of its objects would be another session's."""
    storage = StorageConfig(model="m", fields=(("salt", "a"), ("salt", "b")))
    histories.opened("storage", replace(SMALL, storage=storage), laws=[an_ambiguous_session_is_not_opened])


# -- hits ------------------------------------------------------------------------------------------------------------


@check(
    "storage.missing-part",
    "RFC-0010:C-HITS#S1",
    witnesses=("hit_before_a_missing_part",),
    cases=("KV-93",),
    needs=OBSERVED,
)
def test_a_hit_ends_before_a_missing_part(histories: Histories) -> None:
    """Attention selects by index rows of another request where those of the page are not there."""
    laws = [a_hit_ends_before_a_missing_part]
    _spoiled(histories, laws, "lost")
    histories.run("storage", laws=laws)


@check(
    "storage.spoiled-object",
    "RFC-0010:C-HITS#S2",
    witnesses=("hit_before_a_short_object", "hit_before_an_altered_object", "hit_before_a_foreign_object"),
    needs=OBSERVED,
)
def test_a_hit_ends_before_an_object_that_is_not_whole(histories: Histories) -> None:
    """A file that was cut by a crash, or a bit that flipped, is computed with as if it were the page."""
    laws = [a_hit_ends_before_an_object_that_is_not_whole]
    for how in ("truncated", "flipped", "foreign"):
        _spoiled(histories, laws, how)
    histories.run("storage", laws=laws)


@check("storage.leading-pages", "RFC-0010:C-HITS#S3", witnesses=("hit_on_two_lanes",), needs=TREE)
def test_every_leading_page_counts(histories: Histories) -> None:
    """A hit that is counted by the lane of one rank ends at the first page of another."""
    histories.run("storage", laws=[every_leading_page_counts])


@check(
    "storage.other-sessions",
    "RFC-0010:C-HITS#S4",
    witnesses=("found_by_another_session", "asked_in_another_namespace"),
    needs=OBSERVED,
)
def test_sessions_find_their_own_namespace(histories: Histories) -> None:
    """A store that only its writer finds is a slow host tier; one that everybody finds mixes tenants and lanes."""
    laws = [sessions_find_their_own_namespace]
    writer = replace(SMALL, storage=StorageConfig(store=OF_STORE, model="m", fields=(("salt", "a"),)))
    readers = (
        writer,
        replace(writer, storage=replace(writer.storage, fields=(("salt", ""),))),
        replace(writer, storage=replace(writer.storage, model="m2")),
        replace(writer, cp_size=4, pages=16),
    )
    with histories.written("storage", writer, laws=laws) as call:
        empty(call)
    with histories.written("storage", writer, laws=laws) as call:
        keep(call, TOKENS)
        for config in readers:
            with histories.written("storage", config, laws=laws) as other:
                other.state.share(call.state)
                ask_keys(other, TOKENS)
                other("storage.query", tokens=TOKENS)


def _spoiled(histories: Histories, laws: Iterable[Law], how: str) -> None:
    """Spoil one part of the third page after another, and ask for the prefix."""
    with histories.written("storage", SMALL, laws=laws) as call:
        keep(call, TOKENS)
        key = call("storage.keys", namespace=session_namespace(SMALL), tokens=TOKENS)[2]
        for part in ("draft", "index", "kv"):
            call("probe.spoil", key=key, part=part, how=how)
            call("storage.query", tokens=TOKENS)
            call("storage.save", tokens=TOKENS)
            call("host_tier.poll")
