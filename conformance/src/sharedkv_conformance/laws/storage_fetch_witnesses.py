"""The witnesses of fetches: how they begin, come in and end, and what happened to the tree meanwhile."""

from __future__ import annotations

from sharedkv_conformance.laws.storage_ends import RESET, place
from sharedkv_conformance.laws.storage_fetches import (
    CHECK,
    END,
    FETCH,
    OF_FETCH,
    REVOKE,
    misnamed,
    obstacle,
)
from sharedkv_conformance.laws.storage_lifetime import EVICT_HOST, POLL
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.host_pool import fits
from sharedkv_conformance.model.host_tier_tree_state import STATISTICS
from sharedkv_conformance.model.storage_fetches import BEST_EFFORT, POLICIES, TIMEOUT, WAIT_COMPLETE, Fetch
from sharedkv_conformance.model.storage_state import QUOTA, StorageState
from sharedkv_conformance.step import Answer, Call, Ok

# -- how they begin --------------------------------------------------------------------------------------------------


def _is_begun(before: StorageState, call: Call, answer: Answer) -> bool:
    return not before.diverged and call.policy in POLICIES and before.step(call, answer).expected != Ok(-1)


def _is_declined(before: StorageState, call: Call, answer: Answer, why: str) -> bool:
    known = not before.diverged and call.policy in POLICIES and not before.is_unsure(call)
    return known and not _is_begun(before, call, answer) and obstacle(before, call) == why


def _needs_room(before: StorageState, call: Call) -> bool:
    storage = before.storage
    plan = storage.plan(call.tokens, storage.pages_in_tree(call.tokens))
    return not fits(storage.needed(plan), before.model.free())


@witness(on=FETCH)
def fetch_begun(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was begun for which there is room."""
    return _is_begun(before, call, answer) and not _needs_room(before, call)


def fetch_needs_room(before: StorageState, call: Call, answer: Answer) -> bool:
    """Say whether a fetch is begun for which host pages have to be evicted."""
    return _is_begun(before, call, answer) and _needs_room(before, call)


@witness(on=FETCH)
def fetch_made_room(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was begun for which host pages had to be evicted."""
    return fetch_needs_room(before, call, answer)


@witness(on=FETCH)
def fetch_made_room_from_within_a_node(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was begun that goes on from within a node, and for which host pages had to be evicted."""
    way = before.model.tree.walk(call.tokens)
    ends_within = any(held < before.model.tree.num_pages(node) for node, held in way)
    return ends_within and fetch_needs_room(before, call, answer)


@witness(on=FETCH)
def begun_after_an_older_ended(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was begun with two in flight, when an older one had ended."""
    several = len(before.fetches) > 1 and any(number < max(before.fetches) for number in before.ended)
    return several and _is_begun(before, call, answer)


@witness(on=FETCH)
def fetch_behind_the_tree(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was begun of which the tree has the first pages."""
    return _is_begun(before, call, answer) and before.storage.pages_in_tree(call.tokens) > 0


@witness(on=FETCH)
def fetch_behind_what_is_not_stored(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was begun behind pages of the tree that are not stored."""
    storage = before.storage
    keys = storage.own_keys(call.tokens)[: storage.pages_in_tree(call.tokens)]
    return _is_begun(before, call, answer) and not all(map(storage.is_stored, keys))


@witness(on=FETCH)
def nothing_to_fetch(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was asked for of which nothing is stored behind the tree, or less than the least number of pages."""
    return _is_declined(before, call, answer, "pages")


@witness(on=FETCH)
def quota_used_up(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was asked for that the quota has no room for beside those in flight."""
    return _is_declined(before, call, answer, "quota") and before.storage.quota() > 0


@witness(on=FETCH)
def no_room_for_a_fetch(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was asked for that the host has no room for."""
    return _is_declined(before, call, answer, "room")


@witness(on=STATISTICS)
def fetch_on_unequal_lanes(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was begun that needs other numbers of pages of its lanes."""
    if before.diverged or before.cause() != FETCH or before.last is None or before.last[1] == Ok(-1):
        return False
    needed = [before.storage.needed(own.plan) for own in before.fetches.values()][-1:]
    return bool(needed) and len(set(needed[0])) > 1


# -- how they come in ------------------------------------------------------------------------------------------------


def _of(before: StorageState, call: Call) -> Fetch | None:
    return None if before.diverged else before.fetches.get(call.fetch)


@witness(on=CHECK)
def plan_not_known(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was looked at while some ranks had looked at their objects and others had not."""
    own = _of(before, call)
    return own is not None and 0 < len(own.unlooked) < before.config.cp_size


@witness(on=CHECK)
def plan_known(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was looked at whose plan is known."""
    own = _of(before, call)
    return own is not None and not own.unlooked


@witness(on=CHECK)
def plan_behind_the_device(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was looked at whose plan is known, behind pages that are stored and on the device alone."""
    own = _of(before, call)
    if own is None or own.unlooked or not own.first:
        return False
    way = before.model.tree.walk(before.storage.tokens_to(own, own.first))
    keys = before.storage.own_keys(before.storage.tokens_to(own, own.first))
    return not any(node.host for node, _ in way) and all(map(before.storage.is_stored, keys))


@witness(on=CHECK)
def parts_arrived_unequally(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was looked at of which more of one part had arrived than of another."""
    own = _of(before, call)
    return own is not None and not own.unlooked and len(set(own.arrived.values())) > 1


@witness(on=CHECK)
def spoiled_after_the_plan(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was looked at with a planned object that was spoiled before it was read."""
    own = _of(before, call)
    if own is None or own.unlooked:
        return False
    behind = own.plan[min(own.arrived.values()) :]
    return any(not before.storage.is_readable(page, part) for page in behind[:1] for part in before.storage.parts)


@witness(on=CHECK)
def moved_after_the_plan(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was looked at with a planned page that was stored anew on another lane before it was read."""
    own = _of(before, call)
    behind = [] if own is None or own.unlooked else own.plan[min(own.arrived.values()) :][:1]
    return any(before.storage.is_stored(page.key) and before.storage.lane_of(page.key) != page.lane for page in behind)


def _checked(before: StorageState, call: Call, policy: str) -> Fetch | None:
    own = _of(before, call)
    return own if own is not None and own.policy == policy else None


@witness(on=CHECK)
def best_effort_incomplete(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch of best effort was looked at before all had arrived."""
    own = _checked(before, call, BEST_EFFORT)
    return own is not None and before.storage.num_arrived(own) < len(own.plan)


@witness(on=CHECK)
def wait_complete_without_plan(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch that waits for all of its plan was looked at before the plan was known."""
    own = _checked(before, call, WAIT_COMPLETE)
    return own is not None and bool(own.unlooked)


@witness(on=CHECK)
def wait_complete_completed(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch that waits for all of its plan was looked at when all had arrived."""
    own = _checked(before, call, WAIT_COMPLETE)
    return own is not None and before.storage.num_arrived(own) == len(own.plan)


@witness(on=CHECK)
def wait_complete_in_part(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch that waits for all of its plan was looked at when some of it had arrived."""
    own = _checked(before, call, WAIT_COMPLETE)
    return own is not None and 0 < before.storage.num_arrived(own) < len(own.plan)


@witness(on=CHECK)
def timeout_over(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch with a timeout was looked at, incomplete, when the timeout was over."""
    own = _checked(before, call, TIMEOUT)
    return own is not None and before.storage.is_over(own) and before.storage.num_arrived(own) < len(own.plan)


@witness(on=CHECK)
def timeout_over_without_plan(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch with a timeout was looked at when the timeout was over and the plan not known."""
    own = _checked(before, call, TIMEOUT)
    return own is not None and before.storage.is_over(own) and bool(own.unlooked)


@witness(on=CHECK)
def timeout_not_over(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch with a timeout was looked at, incomplete, before the timeout was over."""
    own = _checked(before, call, TIMEOUT)
    return own is not None and not before.storage.is_over(own) and before.storage.num_arrived(own) < len(own.plan)


@witness(on=FETCH)
def policy_unknown(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was asked for by a policy that nobody knows."""
    return not before.diverged and misnamed(before, call) is not None


@witness(on=OF_FETCH)
def fetch_over(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was named that had ended."""
    return not before.diverged and call.fetch in before.ended and call.fetch not in before.fetches


# -- how they end ----------------------------------------------------------------------------------------------------


def _ended(before: StorageState, call: Call, where: str) -> Fetch | None:
    own = _of(before, call)
    return own if own is not None and before.storage.num_arrived(own) and place(before, own) == where else None


@witness(on=END)
def ended_in_part(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch ended of which the first pages had arrived, and more of one part than of another."""
    own = _ended(before, call, "below")
    return own is not None and len({len(own.plan), *own.arrived.values()}) > 1


@witness(on=END)
def ended_complete(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch ended of which everything had arrived."""
    own = _ended(before, call, "below")
    return own is not None and before.storage.num_arrived(own) == len(own.plan)


@witness(on=END)
def ended_where_others_were(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch ended of which the tree had pages by then."""
    return _ended(before, call, "overlapping") is not None


@witness(on=END)
def ended_within_a_node(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch ended whose pages follow on a part of a node."""
    own = _ended(before, call, "below") or _ended(before, call, "overlapping")
    way = before.model.tree.walk(own.tokens) if own is not None else []
    return any(held < before.model.tree.num_pages(node) for node, held in way)


@witness(on=END)
def ended_within_a_node_of_the_device(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch ended whose pages follow on a part of a node without host pages."""
    own = _ended(before, call, "nowhere")
    way = before.model.tree.walk(own.tokens) if own is not None else []
    return any(held < before.model.tree.num_pages(node) and not node.host for node, held in way[-1:])


@witness(on=END)
def ended_nowhere(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch ended whose pages had arrived, and what is before them was gone."""
    own = _ended(before, call, "nowhere")
    return own is not None and before.storage.pages_in_tree(own.tokens) < own.first


@witness(on=END)
def ended_below_the_device(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch ended whose pages had arrived, below a node without host pages."""
    own = _ended(before, call, "nowhere")
    return own is not None and before.storage.pages_in_tree(own.tokens) >= own.first


@witness(on=REVOKE)
def revoked_with_pages(before: StorageState, call: Call, answer: Answer) -> bool:
    """A fetch was revoked of which pages had arrived."""
    own = _of(before, call)
    return own is not None and any(own.arrived.values())


@witness(on=RESET)
def reset_with_a_fetch(before: StorageState, call: Call, answer: Answer) -> bool:
    """The tree was reset while a fetch was in flight."""
    return not before.diverged and bool(before.fetches)


@witness(on=RESET)
def reset_with_two_fetches(before: StorageState, call: Call, answer: Answer) -> bool:
    """The tree was reset while several fetches were in flight."""
    return not before.diverged and len(before.fetches) > 1


@witness(on=QUOTA)
def two_fetches_hold_quota(before: StorageState, call: Call, answer: Answer) -> bool:
    """Several fetches were in flight when the quota was looked at."""
    return not before.diverged and len(before.fetches) > 1


@witness(on=QUOTA)
def quota_after_want_of_room(before: StorageState, call: Call, answer: Answer) -> bool:
    """The quota was looked at after a fetch that was not begun for want of room."""
    if before.diverged or before.cause() != FETCH or before.last is None or before.last[1] != Ok(-1):
        return False
    asked = before.last[0]
    return not before.is_unsure(asked) and obstacle(before, asked) == "room"


@witness(on=QUOTA)
def arrived_pages_hold_quota(before: StorageState, call: Call, answer: Answer) -> bool:
    """The quota was looked at with a fetch in flight of which pages had arrived."""
    return not before.diverged and any(any(own.arrived.values()) for own in before.fetches.values())


# -- saves in flight -------------------------------------------------------------------------------------------------


def _asks_too_much(before: StorageState, call: Call, answer: Answer) -> bool:
    if before.diverged or not before.saves():
        return False
    expected = before.step(call, answer).expected
    return isinstance(expected, Ok) and any(expected.value.remaining)


@witness(on=EVICT_HOST)
def host_evicted_under_a_save(before: StorageState, call: Call, answer: Answer) -> bool:
    """More host pages were to be evicted than there are beside those that a save reads."""
    return _asks_too_much(before, call, answer) and not any(map(before.is_split, before.saves()))


@witness(on=EVICT_HOST)
def host_evicted_under_a_split_save(before: StorageState, call: Call, answer: Answer) -> bool:
    """More host pages were to be evicted than there are beside those of a split node that a save reads."""
    return _asks_too_much(before, call, answer) and any(map(before.is_split, before.saves()))


@witness(on=POLL)
def save_done_on_some_ranks(before: StorageState, call: Call, answer: Answer) -> bool:
    """A poll found a save that was done on some ranks and not on others, or in one source and not in the other."""
    copies = before.model.ledger.copies
    left = [ranks for save in before.saves() for ranks in copies[save].left.values()]
    everyone = set(range(before.config.cp_size))
    return not before.diverged and any(left) and any(ranks != everyone for ranks in left)


@witness(on=POLL)
def save_acknowledged(before: StorageState, call: Call, answer: Answer) -> bool:
    """A poll found a held save that was done."""
    due = before.model.ledger.due()
    return not before.diverged and any(save in due for save in before.saves())


@witness(on=EVICT_HOST)
def host_evicted_after_a_save(before: StorageState, call: Call, answer: Answer) -> bool:
    """Host pages were to be evicted that a save had read."""
    nodes, storage = before.model.tree.nodes.values(), before.storage
    paths = [before.model.tree.path(node) for node in nodes if node.host and not node.readers]
    return not before.diverged and any(storage.query(path) * before.config.page_size == len(path) for path in paths)


@witness(on=END)
def ended_on_two_ranks(before: StorageState, call: Call, answer: Answer) -> bool:
    """Another rank ended the same fetch, and something was published."""
    return isinstance(before.peer_answer, Ok) and before.peer_answer.value > 0


@witness(on=FETCH)
def declined_on_two_ranks(before: StorageState, call: Call, answer: Answer) -> bool:
    """Another rank was asked for a fetch that it did not begin."""
    return before.peer_answer == Ok(-1)
