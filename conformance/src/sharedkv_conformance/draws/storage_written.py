"""Pieces of written histories of storage: prefixes that are kept and forgotten, and fetches on their way.

A piece is issued through whoever has the history: a call by name that returns the value, or ends the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import OpenConfig, StorageConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.draws.copies_scripts import Forward, Script, forward
from sharedkv_conformance.draws.copies_scripts import begin as begun
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.model.storage_keys import session_namespace
from sharedkv_conformance.step import Answer

EVERYWHERE = -1
PARTS = ("kv", "index", "draft")
TOKENS = (7, 7, 8, 8, 9, 9, 10, 10)
LONGER = (*TOKENS, 11, 11, 12, 12, 13, 13, 14, 14)
OTHERS = ((1, 1, 2, 2), (3, 3, 4, 4))
SMALL = OpenConfig(
    cp_size=2,
    page_size=2,
    pages=16,
    host_pages=4,
    pool=PoolConfig(layers=1, draft_layers=1),
    storage=StorageConfig(model="m"),
)
Tokens = tuple[int, ...]


class Issue(Protocol):
    """A written history."""

    @property
    def state(self) -> Any:
        """Return what is known of the session."""

    def __call__(self, op: str, **args: Any) -> Any:
        """Issue one call and return its value; an error ends the history."""

    def attempt(self, op: str, **args: Any) -> Answer:
        """Issue one call and return its answer."""


def ask_keys(call: Issue, tokens: Tokens) -> tuple[str, ...]:
    """Ask for the session's own keys."""
    keys: tuple[str, ...] = call("storage.keys", namespace=session_namespace(call.state.config), tokens=tokens)
    return keys


def insert(call: Issue, tokens: Tokens, lanes: Sequence[int] | None = None) -> None:
    """Insert tokens with pages of the lanes that are named, or of lanes in turn, where the device has none."""
    config = call.state.config
    geometry = Geometry.of(config)
    own = call("host_tier.match", tokens=tokens).device
    missing = -(-len(tokens) // config.page_size) - len(own)
    wanted = tuple(lanes or (at % config.cp_size for at in range(missing)))[:missing]
    pages: list[int] = []
    if missing:
        spare = list(call("allocation.extend", batch=(_pages(config, 2 * missing),)).pages)
        for lane in wanted:
            page = next((page for page in spare if geometry.lane(page) == lane), spare[0])
            spare.remove(page)
            pages.append(page)
        call("allocation.release", pages=tuple(spare))
    call("host_tier.insert", request="r", tokens=tokens, pages=(*own, *pages))


def _pages(config: OpenConfig, count: int) -> ExtendRequest:
    return ExtendRequest(request="r", prefix_tokens=0, extend_tokens=count * config.page_size)


def behind_the_device(call: Issue) -> int:
    """Begin a fetch behind pages that are on the device alone, of which the first is not stored any more."""
    keep(call, TOKENS)
    forget(call)
    back_up(call, TOKENS[:4])
    call("host_tier.evict_host", deficit=(call.state.config.host_pages,) * call.state.config.cp_size)
    call("probe.spoil", key=ask_keys(call, TOKENS)[0], part="kv", how="lost")
    call("probe.hold")
    return begin(call, TOKENS)


def back_up(call: Issue, tokens: Tokens, lanes: Sequence[int] | None = None) -> None:
    """Insert tokens and let their backup be acknowledged."""
    insert(call, tokens, lanes)
    call("host_tier.poll")


def keep(call: Issue, tokens: Tokens, lanes: Sequence[int] | None = None) -> None:
    """Insert tokens, back them up and save them."""
    back_up(call, tokens, lanes)
    ask_keys(call, tokens)
    call("storage.save", tokens=tokens)
    call("host_tier.poll")


def forget(call: Issue) -> None:
    """Evict everything from both tiers."""
    everything = (call.state.geometry.lane_pages,) * call.state.config.cp_size
    call("host_tier.evict", deficit=everything)
    call("host_tier.evict_host", deficit=everything)


def empty(call: Issue) -> None:
    """Lose every object of a store, of which something may be left from an earlier run."""
    for each in call("probe.objects"):
        call("probe.spoil", key=each.key, part=each.part, how="lost")


def given_up(call: Issue) -> None:
    """Let a request submit its layers late into every free host page, and give them up."""
    tokens = tuple(range(100, 100 + call.state.config.cp_size * call.state.config.host_pages * 2))
    call("probe.inject", fault="late_backups")
    _follow(call, begun(call.state.config, Forward(request="g", tokens=tokens)))
    call("host_tier.cancel", request="g")


def come_back(call: Issue, tokens: Tokens = TOKENS) -> None:
    """Fetch a prefix that is stored, load it back and read it; copies and fetches are held."""
    fetch = begin(call, tokens)
    look(call, fetch)
    arrive(call, fetch, len(tokens))
    call("storage.end", fetch=fetch)
    call("host_tier.load_back", tokens=tokens)
    finish_copies(call)
    read_all(call, tokens)


def begin(call: Issue, tokens: Tokens, policy: str = "best_effort", timeout: int = 1) -> int:
    """Begin a fetch."""
    fetch: int = call("storage.fetch", tokens=tokens, policy=policy, timeout=timeout)
    return fetch


def look(call: Issue, fetch: int) -> None:
    """Let every rank look at the objects of a fetch."""
    call("probe.finish", copy=fetch, source="query", rank=EVERYWHERE)


def arrive(call: Issue, fetch: int, pages: int, parts: Iterable[str] | None = None) -> None:
    """Let pages of some parts arrive, or of all."""
    for part in parts or call.state.storage.parts:
        call("probe.arrive", fetch=fetch, part=part, pages=pages)


def fetched(call: Issue, pages: int, policy: str = "best_effort", timeout: int = 1) -> int:
    """Keep and forget a prefix, begin to fetch it, look at the fetch, let pages arrive, and look at it again."""
    keep(call, TOKENS)
    forget(call)
    call("probe.hold")
    fetch = begin(call, TOKENS, policy, timeout)
    call("storage.check", fetch=fetch)
    look(call, fetch)
    arrive(call, fetch, pages)
    call("storage.check", fetch=fetch)
    return fetch


def finish_copies(call: Issue) -> None:
    """Let every copy finish, and acknowledge it."""
    for own in call("probe.copies"):
        for source in own.sources:
            call("probe.finish", copy=own.copy, source=source, rank=EVERYWHERE)
    call("host_tier.poll")


def held_save(call: Issue, *parts: Tokens) -> int:
    """Back up prefixes that go on from one another, and save the last of them; the save is held."""
    for tokens in parts:
        back_up(call, tokens)
    ask_keys(call, parts[-1])
    call("probe.hold")
    copy: int = call("storage.save", tokens=parts[-1])
    return copy


def computed(call: Issue, tokens: Tokens) -> None:
    """Write every row of a prefix, insert it, and let its backup be acknowledged."""
    _follow(call, forward(call.state.config, Forward(request="r", tokens=tokens, is_reserved=False)))
    call("host_tier.poll")


def read_all(call: Issue, tokens: Tokens) -> None:
    """Read every buffer of every layer of the pages of a prefix."""
    pool, size = call.state.config.pool, call.state.config.page_size
    for page in call("host_tier.match", tokens=tokens).device:
        places = tuple(range(page * size, (page + 1) * size))
        for layer in range(pool.all_layers):
            for buffer in buffers_of(pool):
                call("direct_write.read", layer=layer, buffer=buffer, locations=places)


def _follow(call: Issue, script: Script) -> None:
    answer: Answer | None = None
    try:
        while True:
            following = script.send(answer) if answer is not None else next(script)
            answer = call.attempt(following.op, **following.args)
    except StopIteration:
        return
