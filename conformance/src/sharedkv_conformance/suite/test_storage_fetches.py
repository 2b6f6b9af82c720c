"""The checks of `storage`: which fetches are begun, how they come in, and when they may end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sharedkv_conformance.draws.storage_written import (
    OTHERS,
    PARTS,
    SMALL,
    TOKENS,
    arrive,
    ask_keys,
    back_up,
    begin,
    behind_the_device,
    fetched,
    finish_copies,
    forget,
    insert,
    keep,
    look,
)
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.storage_fetches import (
    a_fetch_evicts_what_it_has_to,
    a_fetch_takes_pages_of_the_lanes_kept,
    a_fetch_that_can_be_made_is_begun,
    a_page_has_arrived_with_all_its_parts,
    best_effort_may_end_at_any_time,
    no_fetch_exceeds_the_quota,
    no_fetch_is_begun_without_room,
    nothing_is_fetched_for_too_few_pages,
    the_plan_is_known_when_every_rank_has_looked,
    timeout_waits_no_longer_than_it_says,
    unknown_policies_and_fetches_are_refused,
    wait_complete_waits_for_a_plan_and_all_of_it,
    what_is_not_whole_does_not_arrive,
)
from sharedkv_conformance.marks import Law, check

TREE = ("host_tier.tree", "probe.copies")
SEEN = (*TREE, "probe.tree")


# -- how they begin --------------------------------------------------------------------------------------------------


@check(
    "storage.fetch-begins",
    "RFC-0010:C-FETCH#S1",
    witnesses=(
        "fetch_begun",
        "fetch_made_room",
        "fetch_behind_the_tree",
        "fetch_behind_what_is_not_stored",
        "begun_after_an_older_ended",
    ),
    needs=(*TREE, "probe.objects"),
)
def test_a_fetch_that_can_be_made_is_begun(histories: Histories) -> None:
    """What is stored and not fetched is computed again."""
    laws = [a_fetch_that_can_be_made_is_begun]
    _fetch_in_need_of_room(histories, laws)
    with histories.written("storage", SMALL, laws=laws) as call:
        behind_the_device(call)
    with histories.written("storage", replace(SMALL, host_pages=8), laws=laws) as call:
        stored = (*OTHERS, TOKENS[:4], TOKENS[4:])
        for tokens in stored:
            keep(call, tokens)
        forget(call)
        call("probe.hold")
        first, *_ = [begin(call, tokens) for tokens in stored[:3]]
        call("storage.end", fetch=first)
        begin(call, stored[3])
    histories.run("storage", laws=laws)


@check("storage.fetch-of-little", "RFC-0010:C-FETCH#S2", witnesses=("nothing_to_fetch",), needs=TREE)
def test_nothing_is_fetched_for_too_few_pages(histories: Histories) -> None:
    """A request that waits for a fetch of nothing waits in vain."""
    laws = [nothing_is_fetched_for_too_few_pages]
    with histories.written("storage", replace(SMALL, storage=replace(SMALL.storage, least=2)), laws=laws) as call:
        keep(call, TOKENS[:4])
        call("probe.hold")
        begin(call, TOKENS)
        forget(call)
        begin(call, TOKENS[:2])
    histories.run("storage", laws=laws)


@check("storage.fetch-quota", "RFC-0010:C-FETCH#S3", witnesses=("quota_used_up",), needs=TREE)
def test_no_fetch_exceeds_the_quota(histories: Histories) -> None:
    """Fetches ahead take the host from what is backed up."""
    laws = [no_fetch_exceeds_the_quota]
    with histories.written("storage", replace(SMALL, storage=replace(SMALL.storage, quota=3)), laws=laws) as call:
        keep(call, TOKENS[:4])
        keep(call, OTHERS[0])
        forget(call)
        call("probe.hold")
        for tokens in (TOKENS[:4], OTHERS[0]):
            begin(call, tokens)
    histories.run("storage", laws=laws)


@check("storage.fetch-room", "RFC-0010:C-FETCH#S4", witnesses=("no_room_for_a_fetch",), needs=TREE)
def test_no_fetch_is_begun_without_room(histories: Histories) -> None:
    """A fetch that has no page for what arrives writes over another's."""
    laws = [no_fetch_is_begun_without_room]
    _fetch_without_room(histories, laws)
    histories.run("storage", laws=laws)


@check(
    "storage.fetch-lanes",
    "RFC-0010:C-FETCH#S5",
    witnesses=("fetch_on_unequal_lanes", "plan_behind_the_device"),
    needs=TREE,
)
def test_a_fetch_takes_pages_of_the_lanes_kept(histories: Histories) -> None:
    """A page on another lane than its rows belong to is loaded back to a rank that never reads it."""
    laws = [a_fetch_takes_pages_of_the_lanes_kept]
    with histories.written("storage", SMALL, laws=laws) as call:
        keep(call, TOKENS, lanes=(1, 1, 0, 1))
        forget(call)
        call("probe.hold")
        begin(call, TOKENS)
    with histories.written("storage", SMALL, laws=laws) as call:
        keep(call, TOKENS)
        forget(call)
        back_up(call, TOKENS[:4])
        call("host_tier.evict_host", deficit=(SMALL.host_pages,) * SMALL.cp_size)
        call("probe.hold")
        fetch = begin(call, TOKENS)
        look(call, fetch)
        call("storage.check", fetch=fetch)
    histories.run("storage", laws=laws)


@check(
    "storage.fetch-evicts",
    "RFC-0010:C-FETCH#S6",
    witnesses=("fetch_made_room", "fetch_made_room_from_within_a_node", "no_room_for_a_fetch", "quota_used_up"),
    needs=SEEN,
)
def test_a_fetch_evicts_what_it_has_to(histories: Histories) -> None:
    """A fetch that evicts its own prefix brings back what it threw away, or cannot be attached any more."""
    laws = [a_fetch_evicts_what_it_has_to]
    _fetch_in_need_of_room(histories, laws)
    _fetch_from_within_a_node(histories, laws)
    _fetch_without_room(histories, laws)
    histories.run("storage", laws=laws)


def _fetch_in_need_of_room(histories: Histories, laws: Iterable[Law]) -> None:
    """Fetch the rest of a prefix into a host that is full of its first pages and of others, or short of one page."""
    with histories.written("storage", replace(SMALL, host_pages=3), laws=laws) as call:
        keep(call, TOKENS)
        forget(call)
        for tokens in (TOKENS[:4], *OTHERS, OTHERS[1]):
            back_up(call, tokens)
        call("probe.hold")
        begin(call, TOKENS)
    with histories.written("storage", replace(SMALL, host_pages=3), laws=laws) as call:
        keep(call, TOKENS)
        forget(call)
        for tokens in OTHERS:
            back_up(call, tokens)
        call("probe.hold")
        begin(call, TOKENS)


def _fetch_from_within_a_node(histories: Histories, laws: Iterable[Law]) -> None:
    """Fetch what goes on from within a node, into a host that is full of this node and of a younger one."""
    with histories.written("storage", replace(SMALL, host_pages=3), laws=laws) as call:
        tokens = (*TOKENS[:4], 5, 5, 6, 6)
        keep(call, tokens)
        forget(call)
        for others in (TOKENS, OTHERS[0]):
            back_up(call, others)
        call("probe.hold")
        begin(call, tokens)


def _fetch_without_room(histories: Histories, laws: Iterable[Law]) -> None:
    """Ask for fetches that lack pages of a lane which nothing can free, and for one beyond the quota."""
    with histories.written("storage", replace(SMALL, host_pages=3), laws=laws) as call:
        keep(call, TOKENS[:4], lanes=(1, 1))
        forget(call)
        back_up(call, (5, 5, 6, 6), lanes=(1, 1))
        call("host_tier.lock", tokens=(5, 5, 6, 6))
        back_up(call, (3, 3, 4, 4), lanes=(0, 0))
        call("probe.hold")
        begin(call, TOKENS[:4])
    with histories.written("storage", replace(SMALL, host_pages=3), laws=laws) as call:
        keep(call, TOKENS, lanes=(0, 1, 1, 0))
        forget(call)
        back_up(call, OTHERS[0])
        call("host_tier.lock", tokens=OTHERS[0])
        back_up(call, (4, 4), lanes=(1,))
        call("host_tier.lock", tokens=(4, 4))
        back_up(call, (5, 5), lanes=(0,))
        call("probe.hold")
        begin(call, TOKENS)
    limited = replace(SMALL, host_pages=3, storage=replace(SMALL.storage, quota=3))
    with histories.written("storage", limited, laws=laws) as call:
        keep(call, TOKENS[:4])
        keep(call, OTHERS[0])
        forget(call)
        back_up(call, (3, 3, 4, 4, 5, 5), lanes=(0, 1, 1))
        call("probe.hold")
        for tokens in (TOKENS[:4], OTHERS[0]):
            begin(call, tokens)


# -- how they come in ------------------------------------------------------------------------------------------------


@check("storage.plan-known", "RFC-0010:C-FETCH#S7", witnesses=("plan_not_known", "plan_known"), needs=TREE)
def test_the_plan_is_known_when_every_rank_has_looked(histories: Histories) -> None:
    """Ranks that take what they know for what all know load different prefixes."""
    laws = [the_plan_is_known_when_every_rank_has_looked]
    with histories.written("storage", SMALL, laws=laws) as call:
        keep(call, TOKENS)
        forget(call)
        back_up(call, TOKENS[:4])
        call("probe.hold")
        fetch = begin(call, TOKENS)
        for rank in range(SMALL.cp_size):
            call("storage.check", fetch=fetch)
            call("probe.finish", copy=fetch, source="query", rank=rank)
        call("storage.check", fetch=fetch)
    histories.run("storage", laws=laws)


@check(
    "storage.parts-arrive",
    "RFC-0010:C-FETCH#S8",
    witnesses=("parts_arrived_unequally",),
    cases=("KV-93",),
    needs=TREE,
)
def test_a_page_has_arrived_with_all_its_parts(histories: Histories) -> None:
    """A page whose index rows are still on their way is no page."""
    laws = [a_page_has_arrived_with_all_its_parts]
    with histories.written("storage", SMALL, laws=laws) as call:
        fetch = fetched(call, 2)
        arrive(call, fetch, 2, parts=("kv", "draft"))
        call("storage.check", fetch=fetch)
    histories.run("storage", laws=laws)


@check(
    "storage.spoiled-before-it-is-read",
    "RFC-0010:C-FETCH#S9",
    witnesses=("spoiled_after_the_plan", "moved_after_the_plan"),
    needs=(*TREE, "probe.objects"),
)
def test_what_is_not_whole_does_notarrive(histories: Histories) -> None:
    """Between the look and the read a store loses objects, or gives out half of one."""
    laws = [what_is_not_whole_does_not_arrive]
    with histories.written("storage", SMALL, laws=laws) as call:
        keep(call, TOKENS)
        forget(call)
        call("probe.hold")
        fetch = begin(call, TOKENS)
        look(call, fetch)
        for part in PARTS:
            call("probe.spoil", key=ask_keys(call, TOKENS)[1], part=part, how="lost")
        insert(call, TOKENS[:4], lanes=(0, 0))
        finish_copies(call)
        call("storage.save", tokens=TOKENS[:4])
        finish_copies(call)
        arrive(call, fetch, 4)
        call("storage.check", fetch=fetch)
    for how in ("lost", "truncated", "flipped", "foreign"):
        with histories.written("storage", SMALL, laws=laws) as call:
            keep(call, TOKENS)
            forget(call)
            call("probe.hold")
            fetch = begin(call, TOKENS)
            look(call, fetch)
            call("probe.spoil", key=ask_keys(call, TOKENS)[1], part="index", how=how)
            arrive(call, fetch, 4)
            call("storage.check", fetch=fetch)
    histories.run("storage", laws=laws)


@check("storage.best-effort", "RFC-0010:C-FETCH#S10", witnesses=("best_effort_incomplete",), needs=TREE)
def test_best_effort_may_end_at_any_time(histories: Histories) -> None:
    """A request that could run waits for the slowest disk."""
    laws = [best_effort_may_end_at_any_time]
    with histories.written("storage", SMALL, laws=laws) as call:
        call("storage.check", fetch=fetched(call, 1, "best_effort"))
    histories.run("storage", laws=laws)


@check(
    "storage.wait-complete",
    "RFC-0010:C-FETCH#S11",
    witnesses=("wait_complete_without_plan", "wait_complete_completed", "wait_complete_in_part"),
    needs=TREE,
)
def test_wait_complete_waits_for_a_plan_and_all_of_it(histories: Histories) -> None:
    """A fetch that is complete before it has a plan never brings anything, and nobody notices."""
    laws = [wait_complete_waits_for_a_plan_and_all_of_it]
    with histories.written("storage", SMALL, laws=laws) as call:
        fetch = fetched(call, 3, "wait_complete")
        call("probe.advance", ticks=3)
        call("storage.check", fetch=fetch)
    histories.run("storage", laws=laws)


@check(
    "storage.timeout",
    "RFC-0010:C-FETCH#S12",
    witnesses=("timeout_over", "timeout_not_over", "timeout_over_without_plan"),
    needs=(*TREE, "probe.clock"),
)
def test_timeout_waits_no_longer_than_it_says(histories: Histories) -> None:
    """A store that hangs holds every request that asked for it."""
    laws = [timeout_waits_no_longer_than_it_says]
    with histories.written("storage", SMALL, laws=laws) as call:
        call("probe.advance", ticks=5)
        fetch = fetched(call, 3, "timeout", 2)
        for _ in range(2):
            call("probe.advance", ticks=1)
            call("storage.check", fetch=fetch)
    with histories.written("storage", SMALL, laws=laws) as call:
        keep(call, TOKENS)
        forget(call)
        call("probe.hold")
        fetch = begin(call, TOKENS, "timeout", 1)
        call("probe.advance", ticks=1)
        call("storage.check", fetch=fetch)
    with histories.written("storage", SMALL, laws=laws) as call:
        fetch = fetched(call, 3, "timeout", 2)
        arrive(call, fetch, 4)
        call("storage.check", fetch=fetch)
    histories.run("storage", laws=laws)


@check(
    "storage.unknown-names",
    "RFC-0010:C-FETCH#S13",
    witnesses=("policy_unknown", "fetch_over"),
    needs=TREE,
)
def test_unknown_policies_and_fetches_are_refused(histories: Histories) -> None:
    """A fetch that is ended twice gives pages back that another one has by then."""
    laws = [unknown_policies_and_fetches_are_refused]
    with histories.written("storage", SMALL, laws=laws) as call:
        keep(call, TOKENS)
        forget(call)
        call("probe.hold")
        call.attempt("storage.fetch", tokens=TOKENS, policy="whenever", timeout=1)
    for ending in ("end", "revoke"):
        with histories.written("storage", SMALL, laws=laws) as call:
            fetch = fetched(call, 3)
            call(f"storage.{ending}", fetch=fetch)
            for method in ("check", "end", "revoke"):
                call.attempt(f"storage.{method}", fetch=fetch)
    histories.run("storage", laws=laws)
