"""How histories of storage are drawn: prefixes that are saved, lost from both tiers, and fetched while others come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import HostConfig, OpenConfig, StorageConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.draws import storage_keys
from sharedkv_conformance.draws.host_tier_tree import evict, evict_host, held, insert, inserting, load_back, match
from sharedkv_conformance.draws.storage_fetches import fetch_kinds, fetching
from sharedkv_conformance.model.host_tier_copies import EVERY_RANK, SAVE
from sharedkv_conformance.model.lane_pages import FREE
from sharedkv_conformance.model.storage_keys import session_namespace
from sharedkv_conformance.model.storage_state import StorageState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, StorageState], Call]
Tokens = tuple[int, ...]

POLL, HOLD = Call(op="host_tier.poll"), Call(op="probe.hold")
OWN_FIELDS = ((), (("salt", "s"),))
# Sessions of the last model are asked for keys alone.
MODELS = ("m", "m", "m", "m", "keys")
KEYS_ALONE = MODELS[-1]


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw two or three lanes with few pages on both tiers, and pools with every set of parts."""
    cp_size = draw(st.sampled_from([size for size in (2, 3) if size <= limits.get("max_cp_size", 3)]))
    lane_pages = min(draw(st.integers(3, 5)), limits.get("max_pages", 15) // cp_size)
    host_pages = min(draw(st.sampled_from((4, 3, 2))), limits.get("max_host_pages", 4))
    layout = draw(st.sampled_from(("mla_bf16", "mha_bf16")))
    pool = PoolConfig(layout=layout, layers=1, draft_layers=draw(st.integers(0, 1)), kv_heads=1, head_dim=2)
    storage = StorageConfig(
        model=draw(st.sampled_from(MODELS)),
        fields=draw(st.sampled_from(OWN_FIELDS)),
        quota=draw(st.sampled_from((0, 3, 2))),
        least=draw(st.sampled_from((1, 1, 2))),
    )
    return OpenConfig(
        cp_size=cp_size,
        page_size=2,
        pages=lane_pages * cp_size,
        pool=pool,
        host_pages=host_pages,
        host=HostConfig(),
        storage=storage,
    )


def next_call(draw: Draw, state: StorageState) -> Call:
    """Draw the next call among those that make sense now."""
    if state.due:
        return state.due.pop(0)
    if state.config.storage.model == KEYS_ALONE:
        return keys(draw, state)
    if not state.storage.store.objects and not state.model.tree.nodes:
        return (begun if len(held(state)) > 1 else take)(draw, state)
    kinds: list[Kind] = [*_copy_kinds(state), *fetch_kinds(state)] if state.model.ledger.is_holding else []
    if state.fetches:
        kinds += [again, again, evict_host, forget, spoil, query, reset]
    else:
        kinds += [*_tree_kinds(state), *_copy_kinds(state), *_store_kinds(state)]
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)


def _tree_kinds(state: StorageState) -> list[Kind]:
    """Offer what fills the tree, and what empties it once something is stored."""
    tree = state.model.tree
    offered: list[Kind] = [insert] * 2 if len(held(state)) > 1 else [take]
    if tree.nodes:
        offered += [match, evict, evict_host, evict_host, load_back]
        offered += [forget] if state.storage.store.objects else []
    return offered


def _copy_kinds(state: StorageState) -> list[Kind]:
    """Offer what brings copies to their end."""
    ledger = state.model.ledger
    if not ledger.copies:
        return []
    unfinished = any(not own.is_finished for own in ledger.copies.values())
    return [*[poll] * 4, *([finish] * 5 if unfinished else []), *([evict_host] * 2 if state.saves() else [])]


def _store_kinds(state: StorageState) -> list[Kind]:
    """Offer what the store can be asked for."""
    offered: list[Kind] = []
    tree, storage = state.model.tree, state.storage
    backed_up = [node for node in tree.nodes.values() if state.model.is_backed_up(node)]
    if backed_up:
        unsaved = any(storage.is_to_write(page) for node in backed_up for page in storage.backed_up(tree.path(node)))
        offered += [save] * (4 if unsaved else 1)
    if storage.store.objects:
        offered += [query, query, spoil, *([] if state.model.ledger.is_holding else [hold] * 3)]
    return offered


def take(draw: Draw, state: StorageState) -> Call:
    """Take pages for tokens to come, about two lanes of them."""
    free = sum(state.model.allocation.pages.counts(FREE))
    if not free:
        return forget(draw, state)
    pages = min(free, draw(st.sampled_from((6, 4, 7))))
    request = ExtendRequest(request="r", prefix_tokens=0, extend_tokens=pages * state.config.page_size)
    return Call(op="allocation.extend", args={"batch": (request,)})


def again(draw: Draw, state: StorageState) -> Call:
    """Insert what is stored once more, all of it or the first pages."""
    size, spare = state.config.page_size, held(state)
    tokens = stored_tokens(draw, state)
    pages = [page for node, count in state.model.tree.walk(tokens) for page in node.pages[:count]]
    count = min(len(pages) + len(spare), draw(st.integers(1, max(1, len(tokens) // size))))
    return inserting(tokens[: count * size], [*pages, *spare][:count]) if count else take(draw, state)


def begun(draw: Draw, state: StorageState) -> Call:
    """Insert a first prefix and save it; mostly forget it then, and hold what comes after."""
    size, pages = state.config.page_size, held(state)[:4]
    kinds = draw(st.lists(st.integers(0, 2), min_size=len(pages), max_size=len(pages)))
    tokens = tuple(kind for kind in kinds for _ in range(size))
    if draw(st.sampled_from((True, True, True, False))):
        saving = Call(op="storage.save", args={"tokens": tokens})
        own = storage_keys.keys_of(session_namespace(state.config), tokens)
        everything = {"deficit": (state.geometry.lane_pages,) * state.config.cp_size}
        state.due += [POLL, own, saving, POLL]
        if draw(st.sampled_from((True, True, False))):
            gone = [Call(op="host_tier.evict", args=everything), Call(op="host_tier.evict_host", args=everything)]
            state.due += [*gone, HOLD]
    return inserting(tokens, pages)


def keys(draw: Draw, state: StorageState) -> Call:
    """Ask for the keys of some tokens, in a few namespaces one after another."""
    first, *others = [storage_keys.keys(draw, state.config) for _ in range(2)]
    state.due += [storage_keys.keys_of(each.namespace, first.tokens) for each in others]
    return first


def poll(draw: Draw, state: StorageState) -> Call:
    """Acknowledge what is finished."""
    return POLL


def hold(draw: Draw, state: StorageState) -> Call:
    """Hold copies and fetches from now on."""
    return HOLD


def finish(draw: Draw, state: StorageState) -> Call:
    """Let a source of a copy finish, mostly everywhere."""
    left = [(own, s) for own in state.model.ledger.copies.values() for s, ranks in own.left.items() if ranks]
    own, source = draw(st.sampled_from(left))
    if own.kind != SAVE:
        rank = EVERY_RANK
    else:
        rank = draw(st.sampled_from((EVERY_RANK, EVERY_RANK, *sorted(own.left[source]))))
    return Call(op="probe.finish", args={"copy": own.number, "source": source, "rank": rank})


def save(draw: Draw, state: StorageState) -> Call:
    """Save a way of the tree, mostly all of it; its keys are asked for first, so that its objects are recognised."""
    tree = state.model.tree
    ways = [tree.path(node) for node in sorted(tree.nodes.values(), key=lambda node: -node.number)]
    tokens = draw(st.sampled_from(ways))
    if draw(st.sampled_from((False, False, True))):
        tokens = tokens[: draw(st.integers(1, len(tokens)))]
    return _with_keys(state, tokens, Call(op="storage.save", args={"tokens": tokens}))


def query(draw: Draw, state: StorageState) -> Call:
    """Ask how much of a prefix is stored."""
    return Call(op="storage.query", args={"tokens": stored_tokens(draw, state)})


def forget(draw: Draw, state: StorageState) -> Call:
    """Evict everything from the device and then from the host."""
    everything = {"deficit": (state.geometry.lane_pages,) * state.config.cp_size}
    state.due.append(Call(op="host_tier.evict_host", args=everything))
    return Call(op="host_tier.evict", args=everything)


def reset(draw: Draw, state: StorageState) -> Call:
    """Give everything up."""
    return Call(op="host_tier.reset")


def spoil(draw: Draw, state: StorageState) -> Call:
    """Spoil an object that is there, of one part or of any, in one of the ways."""
    unsure, known = state.saving(), {model: key for key, model in state.seen.model_keys().items()}
    objects = [name for name in state.storage.store.objects if name[0] in known and name[0] not in unsure]
    if not objects:
        return query(draw, state)
    key, part = draw(st.sampled_from(objects))
    how = draw(st.sampled_from(("lost", "truncated", "flipped", "foreign")))
    return Call(op="probe.spoil", args={"key": known[key], "part": part, "how": how})


def stored_tokens(draw: Draw, state: StorageState) -> Tokens:
    """Draw tokens that were saved at some time, or a part of them, or with more behind."""
    return fetching(draw, state)


def _with_keys(state: StorageState, tokens: Tokens, call: Call) -> Call:
    if state.knows_keys(tokens):
        return call
    state.due.append(call)
    return storage_keys.keys_of(session_namespace(state.config), tokens)
