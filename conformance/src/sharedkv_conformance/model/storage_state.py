"""What is known before a call of a storage history: a copy of the model, and the keys that pages were given.

Beside what a tree history leaves open, the text of keys is free, and so is when the objects of a save are there,
between the save and its acknowledgement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.host_tier_copies import SAVE
from sharedkv_conformance.model.host_tier_tree import Node
from sharedkv_conformance.model.host_tier_tree_state import (
    OBSERVATIONS,
    TREE,
    GuidedModel,
    HostTreeState,
    Step,
)
from sharedkv_conformance.model.host_tier_tree_view import Difference
from sharedkv_conformance.model.storage import StorageModel
from sharedkv_conformance.model.storage_fetches import Fetch
from sharedkv_conformance.model.storage_keys import session_namespace
from sharedkv_conformance.model.storage_object_view import DueObjects
from sharedkv_conformance.model.storage_seen import SeenKeys
from sharedkv_conformance.step import Answer, Call, Ok, is_unsupported

OBJECTS, QUOTA, READ = "probe.objects", "storage.quota", "direct_write.read"
SEEN = (*OBSERVATIONS, OBJECTS, QUOTA)


class GuidedStorage(GuidedModel):
    """The tree with the storage behind it; takes the numbers of saves and fetches from answers."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.storage = StorageModel(config, self)

    def guided_by(self, answer: Answer) -> Self:
        """Return an independent copy that follows an answer."""
        twin = super().guided_by(answer)
        twin.storage = self.storage.twin(twin)
        if isinstance(twin.guide, int):
            twin._numbers = [twin.guide]  # noqa: SLF001 - a copy of itself
        return twin

    def number_copy(self) -> int:
        """Take the number of the answer where neither a copy nor a fetch in flight has it."""
        number = super().number_copy()
        taken = {*self.ledger.copies, *self.storage.fetches}
        return number if number not in taken else max(taken) + 1


class StorageState(HostTreeState):
    """The state before a call.

    `last_saved` are the keys, of the model, whose save the last call acknowledged; `num_read` counts for each save the
    nodes that it read at first; `ended` are the numbers of fetches that are over; `due` are calls to issue next.
    `rows_read` are rows of pages of the tree, by their tokens, as they were first read; `published` are the pages that
    fetches brought, by their tokens, and `published_behind` those among them that were planned behind others. A request
    `is_given_up` that was cancelled while backups were late; `faults` are those that were injected.
    """

    model_type = GuidedStorage
    looks = SEEN

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.seen = SeenKeys()
        self.due: list[Call] = []
        self.num_read: dict[int, int] = {}
        self.ended: set[int] = set()
        self.last_saved: frozenset[str] = frozenset()
        self.is_shared = False
        self.rows_read: dict[tuple[tuple[int, ...], int, str], bytes] = {}
        self.published: set[tuple[int, ...]] = set()
        self.published_behind: set[tuple[int, ...]] = set()
        self.faults: set[str] = set()
        self.is_given_up = False

    @property
    def storage(self) -> StorageModel:
        """Return the model of storage as it is before the call."""
        return cast("GuidedStorage", self.model).storage

    @property
    def fetches(self) -> Mapping[int, Fetch]:
        """Return the fetches in flight."""
        return self.storage.fetches

    def share(self, other: StorageState) -> None:
        """Know what another session of the same store knows: its keys, the objects that are there now, and its rows."""
        self.seen, self.is_shared = other.seen, True
        self.storage.store = other.storage.store.twin()
        self.rows_read = dict(other.rows_read)

    # -- what laws ask -----------------------------------------------------------------------------------------------

    def knows_keys(self, tokens: Sequence[int]) -> bool:
        """Say whether the session's own keys of tokens are known."""
        return self.seen.knows(session_namespace(self.config), tokens)

    def saving(self) -> frozenset[str]:
        """Return the keys, of the model, of which objects may be there or not: a save in flight writes them."""
        return self._keys_of(self.storage)

    def hits(self, tokens: Sequence[int]) -> tuple[int, int]:
        """Return the least and the most that a query may count."""
        most = self.storage.query(tokens)
        unsure = self.saving()
        keys = self.storage.own_keys(tokens)[:most]
        return next((at for at, key in enumerate(keys) if key in unsure), most), most

    def is_unsure(self, call: Call) -> bool:
        """Say whether what a call has to do hangs on something that is open."""
        if call.op == "storage.fetch":
            unsure = self.saving()
            return not self.model.ledger.is_holding or any(key in unsure for key in self.storage.own_keys(call.tokens))
        return call.op == "probe.spoil" and self.seen.model_key(call.key) in self.saving()

    def is_split(self, save: int) -> bool:
        """Say whether a node was split while a save in flight reads it."""
        return self.num_reading(self.model, save) > self.num_read.get(save, 0)

    def saves(self) -> list[int]:
        """Return the saves in flight."""
        return [number for number, own in self.model.ledger.copies.items() if own.kind == SAVE]

    @staticmethod
    def num_reading(model: GuidedModel, save: int) -> int:
        """Count the nodes that a save reads."""
        return sum(save in node.readers for node in model.tree.nodes.values())

    # -- the step of one call ----------------------------------------------------------------------------------------

    def _step(self, call: Call, answer: Answer) -> Step:
        if call.op == OBJECTS:
            return Step(expected=None, earlier=self.model, after=self.model, differences=self._objects(answer))
        if call.op == "storage.keys":
            return Step(expected=None, earlier=self.model, after=self.model)
        if call.op == "probe.spoil":
            call = replace(call, args={**call.args, "key": self.seen.model_key(call.key)})
        if call.op == "probe.finish" and call.source == "query":
            call = Call(op="storage.finish_query", args={"fetch": call.copy, "rank": call.rank})
        step = super()._step(call, answer)
        if call.op == TREE:  # how readers are counted is for the tree's own histories
            differences = {name: found for name, found in step.differences.items() if name != "readers"}
            return replace(step, differences=differences)
        if call.op == "storage.query" and isinstance(answer, Ok):
            least, most = self.hits(call.tokens)
            return replace(step, expected=Ok(answer.value if least <= answer.value <= most else most))
        return step

    def method(self, after: GuidedModel, op: str) -> Callable[..., Any] | None:
        """Return what the model answers a call with."""
        name = op.partition(".")[2]
        if op.startswith("storage.") or name in ("arrive", "advance", "spoil"):
            found: Callable[..., Any] | None = getattr(cast("GuidedStorage", after).storage, name, None)
            return found
        return super().method(after, op)

    def _objects(self, answer: Answer) -> Mapping[str, tuple[Difference, ...]]:
        """Return in what the objects of a store differ from those that have to be there."""
        if not isinstance(answer, Ok):
            told = Difference((), f"objects are answered with {answer.error}")
            return {} if is_unsupported(answer) else {"missing": (told,)}
        objects = self.storage.store.objects
        due = DueObjects(
            whole={name: stored for name, stored in objects.items() if not stored.fault},
            parts=self.storage.parts,
            names=self.seen.model_keys(),
            unsure=self.saving(),
            saved=self.last_saved,
        )
        return due.differences(answer.value)

    # -- adopting answers --------------------------------------------------------------------------------------------

    def adopt(self, call: Call, answer: Answer) -> None:
        """Go on from an answer, or stop knowing anything."""
        if call.op == "storage.keys" and isinstance(answer, Ok):
            self.seen.learn(call.namespace, call.tokens, answer.value)
        self.diverged = self.diverged or (not is_unsupported(answer) and self.is_unsure(call))
        if self.diverged or is_unsupported(answer):
            return
        last, before, step = self.last, self.storage, self.step(call, answer)
        super().adopt(call, answer)
        if call.op in SEEN:
            self.last = last
            return
        self.last_saved = self._keys_of(before) - self.saving()
        self.ended = (self.ended | before.fetches.keys()) - self.fetches.keys()
        self.num_read = {save: self.num_read.get(save, self.num_reading(step.after, save)) for save in self.saves()}
        if call.op == READ and isinstance(answer, Ok):
            self.rows_read.setdefault((self.path_of(call.locations), call.layer, call.buffer), answer.value)
        if call.op == "storage.end":
            made = [node for number, node in step.after.tree.nodes.items() if number not in before.tier.tree.nodes]
            paths = {path for node in made for path in self.paths_of(node)}
            self.published |= paths
            own = before.fetches.get(call.fetch)
            self.published_behind |= paths if own is not None and own.first else set()
        if call.op == "probe.inject":
            self.faults.add(call.fault)
        self.is_given_up = self.is_given_up or (call.op == "host_tier.cancel" and "late_backups" in self.faults)

    def paths_of(self, node: Node) -> list[tuple[int, ...]]:
        """Return the tokens up to the end of each page of a node."""
        size, path = self.config.page_size, self.model.tree.path(node)
        return [path[:end] for end in range(len(path) - len(node.tokens) + size, len(path) + 1, size)]

    def path_of(self, locations: Sequence[int]) -> tuple[int, ...]:
        """Return the tokens up to the end of the page that locations lie in; none where it is not of the tree."""
        pages = {location // self.config.page_size for location in locations}
        for node in self.model.tree.nodes.values():
            for path, page in zip(self.paths_of(node), node.pages, strict=False):
                if pages == {page}:
                    return path
        return ()

    @staticmethod
    def _keys_of(storage: StorageModel) -> frozenset[str]:
        return frozenset(key for keys in storage.saving.values() for key in keys)
