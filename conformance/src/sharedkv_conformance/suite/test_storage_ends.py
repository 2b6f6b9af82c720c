"""The checks of `storage`: how fetches end, the quota, host pages under a save, and the rows that come back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sharedkv_conformance.contract.implementation import HostConfig, StorageConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.draws.storage_written import (
    LONGER,
    OTHERS,
    SMALL,
    TOKENS,
    Issue,
    Tokens,
    arrive,
    ask_keys,
    back_up,
    begin,
    come_back,
    computed,
    empty,
    fetched,
    finish_copies,
    forget,
    given_up,
    held_save,
    insert,
    keep,
    look,
    read_all,
)
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.storage_ends import (
    a_reset_ends_every_fetch,
    every_page_of_a_fetch_goes_one_way,
    nothing_is_published_twice,
    nothing_is_published_without_what_is_before_it,
    the_quota_counts_what_is_in_flight,
    the_quota_is_given_back_once,
    what_has_arrived_is_published,
    what_is_published_is_a_node_on_the_host,
)
from sharedkv_conformance.laws.storage_lifetime import (
    a_save_is_acknowledged_when_all_of_it_is_done,
    both_parts_of_a_split_node_stay,
    every_rank_answers_alike,
    looks_leave_the_tree_alone,
    pages_of_a_finished_save_can_go,
    pages_under_a_save_stay,
    rows_come_back_as_they_were,
)
from sharedkv_conformance.marks import Law, check

TREE = ("host_tier.tree", "probe.copies")
OF_STORE = "kvconform.two-layouts"
SEEN = (*TREE, "probe.tree")


# -- how they end ----------------------------------------------------------------------------------------------------


@check(
    "storage.published",
    "RFC-0010:C-PUBLISH#S1",
    witnesses=("ended_in_part", "ended_complete"),
    cases=("KV-93",),
    needs=TREE,
)
def test_what_has_arrived_is_published(histories: Histories) -> None:
    """Pages that arrived and are thrown away are computed again; pages that did not arrive are computed with."""
    laws = [what_has_arrived_is_published]
    _ended_in_part(histories, laws, "end")
    histories.run("storage", laws=laws)


@check("storage.published-once", "RFC-0010:C-PUBLISH#S2", witnesses=("ended_where_others_were",), needs=TREE)
def test_nothing_is_published_twice(histories: Histories) -> None:
    """Of two nodes for the same tokens one is found and the other is lost, with its pages."""
    laws = [nothing_is_published_twice]
    _ended_on_another_tree(histories, laws)
    histories.run("storage", laws=laws)


@check(
    "storage.published-behind",
    "RFC-0010:C-PUBLISH#S3",
    witnesses=("ended_nowhere", "ended_below_the_device", "ended_within_a_node_of_the_device"),
    cases=("KV-83",),
    needs=TREE,
)
def test_nothing_is_published_without_what_is_before_it(histories: Histories) -> None:
    """A node below one without host pages makes that one look like a leaf, and its eviction cuts the tree."""
    laws = [nothing_is_published_without_what_is_before_it]
    _ended_on_another_tree(histories, laws)
    histories.run("storage", laws=laws)


@check(
    "storage.published-node",
    "RFC-0010:C-PUBLISH#S4",
    witnesses=("ended_in_part", "ended_complete", "ended_where_others_were", "ended_within_a_node"),
    cases=("KV-83",),
    needs=SEEN,
)
def test_what_is_published_is_a_node_on_the_host(histories: Histories) -> None:
    """A node that never becomes ready is never loaded; one on other lanes is loaded to where it does not belong."""
    laws = [what_is_published_is_a_node_on_the_host]
    _ended_in_part(histories, laws, "end")
    _ended_on_another_tree(histories, laws)
    histories.run("storage", laws=laws)


@check(
    "storage.pages-go-one-way",
    "RFC-0010:C-PUBLISH#S5",
    witnesses=("ended_in_part", "ended_where_others_were", "ended_below_the_device", "revoked_with_pages"),
    cases=("KV-17",),
    needs=TREE,
)
def test_every_page_of_a_fetch_goes_one_way(histories: Histories) -> None:
    """A host that loses pages of fetches that ended early is empty after a day; pages freed twice are given twice."""
    laws = [every_page_of_a_fetch_goes_one_way]
    _ended_in_part(histories, laws, "end")
    _ended_in_part(histories, laws, "revoke")
    _ended_on_another_tree(histories, laws)
    histories.run("storage", laws=laws)


@check(
    "storage.reset-ends-fetches",
    "RFC-0010:C-PUBLISH#S6",
    witnesses=("reset_with_a_fetch", "reset_with_two_fetches"),
    needs=TREE,
)
def test_a_reset_ends_every_fetch(histories: Histories) -> None:
    """What was fetched for a model comes back after its weights were changed."""
    laws = [a_reset_ends_every_fetch]
    with histories.written("storage", SMALL, laws=laws) as call:
        fetched(call, 3)
        call("host_tier.reset")
    with histories.written("storage", SMALL, laws=laws) as call:
        for tokens in OTHERS:
            keep(call, tokens)
        forget(call)
        call("probe.hold")
        for tokens in OTHERS:
            begin(call, tokens)
        call("host_tier.reset")
    histories.run("storage", laws=laws)


@check(
    "storage.quota-counts",
    "RFC-0010:C-QUOTA#S1",
    witnesses=("two_fetches_hold_quota", "arrived_pages_hold_quota", "quota_after_want_of_room"),
    needs=TREE,
)
def test_the_quota_counts_what_is_in_flight(histories: Histories) -> None:
    """A quota that counts what has arrived only is no bound on what is asked for."""
    laws = [the_quota_counts_what_is_in_flight]
    with histories.written("storage", replace(SMALL, host_pages=3), laws=laws) as call:
        keep(call, TOKENS[:4], lanes=(1, 1))
        forget(call)
        back_up(call, (5, 5, 6, 6), lanes=(1, 1))
        call("host_tier.lock", tokens=(5, 5, 6, 6))
        call("probe.hold")
        begin(call, TOKENS[:4])
        call("storage.quota")
    histories.run("storage", laws=laws)


@check(
    "storage.quota-returns",
    "RFC-0010:C-QUOTA#S2",
    witnesses=("ended_in_part", "ended_complete", "revoked_with_pages"),
    cases=("KV-17",),
    needs=TREE,
)
def test_the_quota_is_given_back_once(histories: Histories) -> None:
    """A quota that leaks lets no fetch begin after a day; one that is given back twice is none."""
    laws = [the_quota_is_given_back_once]
    for ending in ("end", "revoke"):
        _ended_in_part(histories, laws, ending)
    histories.run("storage", laws=laws)


def _ended_in_part(histories: Histories, laws: Iterable[Law], ending: str) -> None:
    """End a fetch of four pages of which three have arrived, and the fourth in one part."""
    with histories.written("storage", SMALL, laws=laws) as call:
        fetch = fetched(call, 3)
        arrive(call, fetch, 1, parts=("kv",))
        call(f"storage.{ending}", fetch=fetch)


def _ended_on_another_tree(histories: Histories, laws: Iterable[Law]) -> None:
    """End fetches whose first pages were inserted meanwhile, on both tiers or on one, or whose predecessors went."""
    roomy = replace(SMALL, host_pages=8)
    branch = (*TOKENS[:4], 1, 1)
    for tokens, keeps_host in ((TOKENS[:4], True), (TOKENS[:4], False), (branch, True), (branch, False)):
        with histories.written("storage", roomy, laws=laws) as call:
            fetch = fetched(call, 4)
            insert(call, tokens)
            finish_copies(call)
            if not keeps_host:
                call("host_tier.evict_host", deficit=(8, 8))
            call("storage.end", fetch=fetch)
    with histories.written("storage", roomy, laws=laws) as call:
        keep(call, TOKENS)
        forget(call)
        back_up(call, TOKENS[:4])
        call("probe.hold")
        fetch = begin(call, TOKENS)
        look(call, fetch)
        arrive(call, fetch, 2)
        forget(call)
        call("storage.end", fetch=fetch)


# -- host pages under a save -----------------------------------------------------------------------------------------


@check(
    "storage.pages-under-a-save",
    "RFC-0010:C-LIFETIME#S1",
    witnesses=("host_evicted_under_a_save",),
    needs=SEEN,
)
def test_pages_under_a_save_stay(histories: Histories) -> None:
    """What is stored under a key are the rows of whoever got the page next."""
    laws = [pages_under_a_save_stay]
    with histories.written("storage", SMALL, laws=laws) as call:
        held_save(call, TOKENS)
        forget(call)
    with histories.written("storage", SMALL, laws=laws) as call:
        held_save(call, TOKENS[:4], TOKENS)
        forget(call)
    histories.run("storage", laws=laws)


@check(
    "storage.split-under-a-save",
    "RFC-0010:C-LIFETIME#S2",
    witnesses=("host_evicted_under_a_split_save",),
    needs=SEEN,
)
def test_both_parts_of_a_split_node_stay(histories: Histories) -> None:
    """A request that shares the first half of a prefix cuts the save of the second loose."""
    laws = [both_parts_of_a_split_node_stay]
    with histories.written("storage", SMALL, laws=laws) as call:
        held_save(call, TOKENS)
        call("host_tier.match", tokens=TOKENS[:4])
        forget(call)
    histories.run("storage", laws=laws)


@check(
    "storage.save-acknowledged",
    "RFC-0010:C-LIFETIME#S3",
    witnesses=("save_done_on_some_ranks", "save_acknowledged"),
    needs=TREE,
)
def test_a_save_is_acknowledged_when_all_of_it_is_done(histories: Histories) -> None:
    """The owner of another lane may still read its host pages."""
    laws = [a_save_is_acknowledged_when_all_of_it_is_done]
    for first in ("target", "draft"):
        with histories.written("storage", SMALL, laws=laws) as call:
            copy = held_save(call, TOKENS)
            second = "draft" if first == "target" else "target"
            for source, rank in ((first, 0), (first, 1), (second, 0), (second, 1)):
                call("host_tier.poll")
                call("probe.finish", copy=copy, source=source, rank=rank)
            call("host_tier.poll")
    histories.run("storage", laws=laws)


@check(
    "storage.evictable-after-a-save",
    "RFC-0010:C-LIFETIME#S4",
    witnesses=("host_evicted_after_a_save",),
    needs=TREE,
)
def test_pages_of_a_finished_save_can_go(histories: Histories) -> None:
    """A host that keeps whatever was ever stored is full for ever."""
    laws = [pages_of_a_finished_save_can_go]
    with histories.written("storage", SMALL, laws=laws) as call:
        keep(call, TOKENS)
        forget(call)
    histories.run("storage", laws=laws)


@check(
    "storage.looks-change-nothing",
    "RFC-0010:C-LIFETIME#S5",
    witnesses=("saved_within_a_node", "hit_on_two_lanes", "plan_known"),
    needs=SEEN,
)
def test_looks_leave_the_tree_alone(histories: Histories) -> None:
    """Asking what is stored makes a prefix recent, and something else goes that was used."""
    laws = [looks_leave_the_tree_alone]
    with histories.written("storage", SMALL, laws=laws) as call:
        fetch = fetched(call, 3)
        back_up(call, (*TOKENS[:4], 1, 1))
        for tokens in (TOKENS, TOKENS[:2]):
            ask_keys(call, tokens)
            call("storage.query", tokens=tokens)
            call("storage.save", tokens=tokens)
        call("storage.check", fetch=fetch)
        finish_copies(call)
        call("storage.save", tokens=(*TOKENS[:4], 1, 1))
        call("storage.save", tokens=TOKENS[:2])
    histories.run("storage", laws=laws)


# -- ranks -----------------------------------------------------------------------------------------------------------


@check(
    "storage.ranks",
    "RFC-0010:C-RANKS#S1",
    witnesses=("ended_on_two_ranks", "declined_on_two_ranks"),
    needs=TREE,
)
def test_every_rank_answers_alike(histories: Histories) -> None:
    """A rank that goes by the objects of its own lane has another tree than the others, and hangs later."""
    config = replace(SMALL, storage=replace(SMALL.storage, quota=5))
    with histories.written("storage", config, laws=[every_rank_answers_alike], ranks=2) as call:
        keep(call, OTHERS[0])
        keep(call, TOKENS, lanes=(1, 0, 1, 1))
        for tokens in (TOKENS, OTHERS[0], TOKENS[:2]):
            call("storage.query", tokens=tokens)
        forget(call)
        call("probe.hold")
        fetch = begin(call, TOKENS)
        begin(call, OTHERS[0])
        for rank in range(2):
            call("probe.finish", copy=fetch, source="query", rank=rank)
            call("storage.check", fetch=fetch)
        arrive(call, fetch, 3)
        call("storage.check", fetch=fetch)
        call("storage.quota")
        call("storage.end", fetch=fetch)


# -- what comes back -------------------------------------------------------------------------------------------------


@check(
    "storage.rows-come-back",
    "RFC-0010:C-BYTES#S1",
    witnesses=("rows_came_back", "rows_came_back_behind_the_tree", "rows_came_back_into_given_up_pages"),
    needs=(*TREE, "direct_write", "copies", "probe.objects", "probe.inject"),
)
def test_rows_come_back_as_they_were(histories: Histories) -> None:
    """A prefix of which one buffer comes back wrong is answered wrongly for as long as the store keeps it."""
    laws = [rows_come_back_as_they_were]
    # Of the eight pages of the longer prefix the first two and the last two lie on one lane: they can be mistaken.
    for layout, host in (("mla_bf16", "layer_first"), ("mha_bf16", "page_first"), ("mla_fp8", "page_first_direct")):
        pool = PoolConfig(layout=layout, layers=2, draft_layers=1, head_dim=4)
        config = replace(SMALL, pool=pool, host=HostConfig(layout=host), page_size=4 if layout == "mha_bf16" else 2)
        with histories.written("storage", config, laws=laws) as call:
            _stored_with_rows(call)
            call("probe.hold")
            come_back(call)
        with histories.written("storage", config, laws=laws) as call:
            _stored_with_rows(call, LONGER)
            computed(call, LONGER[:12])
            call("probe.hold")
            come_back(call, LONGER)
    with histories.written("storage", replace(SMALL, host_pages=8), laws=laws) as call:
        _stored_with_rows(call, LONGER)
        call("probe.hold")
        fetch = begin(call, LONGER)
        look(call, fetch)
        arrive(call, fetch, len(LONGER))
        computed(call, LONGER[:12])
        finish_copies(call)
        call("storage.end", fetch=fetch)
        call("host_tier.load_back", tokens=LONGER)
        finish_copies(call)
        read_all(call, LONGER)
    with histories.written("storage", SMALL, laws=laws) as call:
        _stored_with_rows(call)
        given_up(call)
        call("probe.hold")
        come_back(call)
    _read_by_another_session(histories, laws)


def _stored_with_rows(call: Issue, tokens: Tokens = TOKENS) -> None:
    """Compute and store a prefix, forget it, and let everything that is free have other rows."""
    computed(call, tokens)
    read_all(call, tokens)
    keep(call, tokens)
    forget(call)
    computed(call, tuple(range(100, 116)))
    forget(call)


def _read_by_another_session(histories: Histories, laws: Iterable[Law]) -> None:
    """Let sessions with other layouts of host memory read what one session stored."""
    config = replace(SMALL, pool=PoolConfig(layers=2, draft_layers=1), storage=StorageConfig(store=OF_STORE, model="m"))
    with histories.written("storage", config, laws=laws) as call:
        empty(call)
    with histories.written("storage", config, laws=laws) as call:
        computed(call, TOKENS)
        read_all(call, TOKENS)
        keep(call, TOKENS)
        for layout in ("page_first", "page_first_direct"):
            with histories.written("storage", replace(config, host=HostConfig(layout=layout)), laws=laws) as other:
                other.state.share(call.state)
                other("probe.hold")
                come_back(other)
