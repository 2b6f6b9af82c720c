"""What is known before a call of a tree history: a copy of the model that follows the answers.

The contract leaves open which page of a lane is taken and which numbers locks, copies and nodes get. The model adopts
these choices; all else is decided, so that an answer that differs is wrong, and after it nothing more is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

from sharedkv_conformance.contract.errors import ContractError, Reason, Rejected
from sharedkv_conformance.contract.host_tier import Inserted, LoadBack
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import Collective
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_copies import LOAD
from sharedkv_conformance.model.host_tier_refusals import (
    admit_refusals,
    insert_refusals,
    named_pages,
    named_wrongly,
    naming_refusals,
)
from sharedkv_conformance.model.host_tier_tree import HostPage
from sharedkv_conformance.model.host_tier_tree_view import Difference, TreeView, differences
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE, IN_USE
from sharedkv_conformance.step import Answer, Call, Err, Ok, is_unsupported

TREE = "probe.tree"
STATISTICS = "host_tier.statistics"
LANES = "allocation.lanes"
COPIES = "probe.copies"
COLLECTIVES = "probe.collectives"
EVICT = "host_tier.evict"
RESET = "host_tier.reset"
OBSERVATIONS = (TREE, STATISTICS, LANES, COPIES, COLLECTIVES)
_ALLOCATE = "host_tier.allocate"
FREE_SLOTS = "host_tier.free_slots"
RELEASE_HOST = "host_tier.release"
_EXTEND = "allocation.extend"
NAMING = ("allocation.release", "allocation.retain", "allocation.release_locations")
"""Calls by which callers name device pages to give them up."""
_RETAIN = NAMING[1]
_ADOPTED = {_EXTEND, *NAMING, _ALLOCATE, RELEASE_HOST}


class GuidedModel(HostTierModel):
    """The model that takes the free choices of an answer where they are ones that it could have made itself."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.guide: Any = None
        self._view: TreeView | None = None
        self._numbers: list[int] = []
        self.given: dict[HostPage, HostPage] = {}

    def guided_by(self, answer: Answer) -> Self:
        """Return an independent copy that follows an answer."""
        twin = copy(self)
        twin.lanes = [lane.twin() for lane in self.lanes]
        twin.tree, twin.ledger = self.tree.twin(), self.ledger.twin()
        twin.reservations = {request: dict(pages) for request, pages in self.reservations.items()}
        twin.held_locks, twin.collectives = set(self.held_locks), list(self.collectives)
        twin.allocation = copy(self.allocation)
        twin.allocation.pages = self.allocation.pages.copy()
        twin.allocation.in_tree = twin.device_pages
        twin.given = dict(self.given)
        twin._view = None  # noqa: SLF001 - a copy of itself
        twin.guide = answer.value if isinstance(answer, Ok) else None
        twin._numbers = _numbers_of(twin.guide)  # noqa: SLF001 - a copy of itself
        return twin

    def follow(self, guide: Any) -> None:
        """Take the free choices of the value of an answer from here on."""
        self._view, self.guide, self._numbers = None, guide, _numbers_of(guide)

    def view(self) -> TreeView:
        """Return the tree by pages and nodes; it changes no more once the call is done that this copy follows."""
        if self._view is None:
            self._view = TreeView.of(self.nodes(), self.config.page_size)
        return self._view

    def choose_device(self, lanes: Sequence[int]) -> tuple[int, ...]:
        """Take the pages of the answer where they are free ones of these lanes."""
        pages = self.guide.pages if isinstance(self.guide, LoadBack) else ()
        if not all(map(self.geometry.holds, pages)) or self.lanes_of(pages) != tuple(lanes):
            return super().choose_device(lanes)
        free = all(self.allocation.pages.state(page) == FREE for page in pages)
        return tuple(pages) if free and len(set(pages)) == len(pages) else super().choose_device(lanes)

    def number_lock(self) -> int:
        """Take the number of the answer where no lock that is held has it."""
        if isinstance(self.guide, int) and self.guide >= 0 and self.guide not in self.held_locks:
            return self.guide
        return max(self.held_locks, default=-1) + 1

    def number_copy(self) -> int:
        """Take the next number of the answer where no copy in flight has it."""
        number = self._numbers.pop(0) if self._numbers else -1
        return number if number >= 0 and number not in self.ledger.copies else max(self.ledger.copies, default=-1) + 1


def _numbers_of(value: Any) -> list[int]:
    if isinstance(value, Inserted):
        return list(value.backups)
    return [value.copy] if isinstance(value, LoadBack) else []


@dataclass(frozen=True, kw_only=True)
class Step:
    """What a call has to be answered with, as far as it is decided, and the model after it.

    `expected` is None where nothing is. `earlier` is the model before it. `reasons` are those of which a refusal has to
    name one. `differences` has, by field, in what a tree that was shown differs from the model's; `seen` is that tree.
    """

    expected: Answer | None
    earlier: GuidedModel
    after: GuidedModel
    reasons: frozenset[Reason] = frozenset()
    differences: Mapping[str, tuple[Difference, ...]] = field(default_factory=dict)
    seen: TreeView | None = None


class HostTreeState:
    """The state before a call. Once an answer left what is decided, `diverged`, and no law has anything to say.

    `last` is the last call that was no observation, with its answer and its step.
    `names` are the numbers of host pages of the tree as they were shown, `free_shown` the host pages of a lane that
    were shown to be free by what was asked last. `collectives` are those that were shown last, `first_poll` those
    that the first poll made. `ended_locks` and `ended_requests` were held when a reset came, and were not given anew
    since. `ended_loads` counts the pages of loads that resets ended.
    """

    model_type: type[GuidedModel] = GuidedModel
    looks: tuple[str, ...] = OBSERVATIONS

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.geometry = Geometry.of(config)
        self.model = self.model_type(config)
        self.model.attach(lambda: AllocationModel(config), [])
        self.diverged = False
        self.last: tuple[Call, Answer, Step] | None = None
        self.collectives: tuple[Collective, ...] = ()
        self.first_poll: tuple[Collective, ...] | None = None
        self.ended_locks: set[int] = set()
        self.ended_requests: set[str] = set()
        self.ended_loads = 0
        self.names: dict[tuple[int, int], int] = {}
        self.free_shown: dict[int, set[int]] = {}
        self.peer_answer: Answer | None = None
        self._asked: tuple[Call, Answer, Step] | None = None

    # -- what laws ask -----------------------------------------------------------------------------------------------

    def step(self, call: Call, answer: Answer) -> Step:
        """Return what the call has to be answered with."""
        if self._asked is None or self._asked[0] is not call or self._asked[1] is not answer:
            self._asked = call, answer, self._step(call, answer)
        return self._asked[2]

    def deviates(self, call: Call, answer: Answer) -> bool:
        """Say whether an answer is another than the one that has to be, up to free choices."""
        if is_unsupported(answer):
            return False
        step = self.step(call, answer)
        return bool(step.differences) or not agrees(step, answer)

    def cause(self) -> str:
        """Return the last call that was no observation; empty at first."""
        return self.last[0].op if self.last else ""

    def tree_pages_of(self, lane: int) -> set[int]:
        """Return the host pages of the tree on a lane, as far as they were shown, by the numbers that were shown."""
        return {name for (own, _), name in self.names.items() if own == lane}

    # -- the step of one call ----------------------------------------------------------------------------------------

    def _step(self, call: Call, answer: Answer) -> Step:
        if call.op == TREE:
            return self._shown(answer)
        after = self.model if call.op in OBSERVATIONS else self.model.guided_by(answer)
        if call.op in _ADOPTED:
            if reasons := self.reasons(call):
                refusal = Err(Rejected(min(reasons)))
                return Step(expected=refusal, earlier=self.model, after=self.model, reasons=reasons)
            self.take_pages(after, call, answer)
            return Step(expected=None, earlier=self.model, after=after)
        method = None if call.op == FREE_SLOTS else self.method(after, call.op)
        if method is None:
            return Step(expected=None, earlier=self.model, after=self.model)
        reasons = self.reasons(call)
        try:
            expected: Answer = Ok(method(*call.args.values()))
        except ContractError as error:
            refused = reasons or _reasons_of(error)
            return Step(expected=Err(error), earlier=self.model, after=self.model, reasons=refused)
        return Step(expected=expected, earlier=self.model, after=after, reasons=reasons)

    def method(self, after: GuidedModel, op: str) -> Callable[..., Any] | None:
        """Return what the model answers a call with; None for a call that tells nothing."""
        shown: dict[str, Callable[..., Any]] = {
            COPIES: after.ledger.view,
            "probe.hold": after.ledger.hold,
            "probe.finish": after.ledger.finish,
            LANES: after.allocation.lanes,
        }
        if op.startswith("host_tier."):
            return getattr(after, op.partition(".")[2], None)
        return shown.get(op)

    def reasons(self, call: Call) -> frozenset[Reason]:
        """Return every reason against a call that may have several."""
        pool, tree = self.model.allocation.pages, self.model.tree
        if call.op == "host_tier.insert":
            return insert_refusals(self.geometry, pool, tree, call.tokens, call.pages)
        if call.op == "host_tier.admit":
            return admit_refusals(self.geometry, pool, tree, call.batch, self.model.reservations)
        if call.op in NAMING:
            allowed = (IN_USE,) if call.op == _RETAIN else (IN_USE, EVICTABLE)
            return naming_refusals(self.geometry, pool, tree, named_pages(self.geometry, call), allowed)
        if call.op == RELEASE_HOST and self.kept_host_pages(call):
            inside = [page for page in call.pages if 0 <= page < self.config.host_pages]
            free = self.free_shown.get(call.lane, set())
            are_foreign = len(inside) < len(call.pages)
            return named_wrongly(call.pages, are_foreign=are_foreign, are_free=not free.isdisjoint(inside))
        return frozenset()

    def kept_host_pages(self, call: Call) -> set[int]:
        """Return which host pages that a call names are known to be the tree's, or reserved or fetched."""
        lane = call.lane
        others = {page for own, page in self.model.given if own == lane} | self.free_shown.get(lane, set())
        unseen = set(range(self.config.host_pages)) - others if lane in self.free_shown else set()
        return (self.tree_pages_of(lane) | unseen).intersection(call.pages)

    def take_pages(self, after: GuidedModel, call: Call, answer: Answer) -> None:
        """Adopt pages that the caller was given or gave back; of host pages only how many of each lane."""
        if isinstance(answer, Ok) and call.op == _ALLOCATE:
            for number, (lane, pages) in enumerate(zip(after.lanes, answer.value.pages, strict=False)):
                own = lane.choose(min(len(pages), lane.num_free))
                lane.take(own)
                after.given |= {(number, page): (number, other) for page, other in zip(pages, own, strict=False)}
        elif isinstance(answer, Ok) and call.op == RELEASE_HOST:
            after.give_host([after.given.pop((call.lane, p)) for p in call.pages if (call.lane, p) in after.given])
        elif isinstance(answer, Ok):
            given = call.op == _EXTEND
            pages = answer.value.pages if given else named_pages(self.geometry, call)
            state = IN_USE if given else EVICTABLE if call.op == _RETAIN else FREE
            after.allocation.pages.move([page for page in pages if self.geometry.holds(page)], state)

    def _shown(self, answer: Answer) -> Step:
        if not isinstance(answer, Ok):
            told = Difference((), f"the tree is answered with {answer.error}")
            refused = {} if is_unsupported(answer) else {"malformed": (told,)}
            return Step(expected=None, earlier=self.model, after=self.model, differences=refused)
        seen = TreeView.of(answer.value, self.config.page_size)
        found = differences(self.model.view(), seen, self.names, self.config.host_pages)
        return Step(expected=None, earlier=self.model, after=self.model, differences=found, seen=seen)

    # -- adopting answers --------------------------------------------------------------------------------------------

    def adopt(self, call: Call, answer: Answer) -> None:
        """Go on from an answer, or stop knowing anything."""
        if self.diverged or is_unsupported(answer):
            return
        step = self.step(call, answer)
        is_told = call.op != COPIES or self.cause() in (EVICT, RESET)  # what else copies show, answers of polls tell
        self.diverged = is_told and self.deviates(call, answer)
        if call.op == FREE_SLOTS and isinstance(answer, Ok):
            self.free_shown[call.lane] = {slot // self.config.page_size for slot in answer.value}
        elif call.op not in self.looks:
            self.free_shown = {}
        if call.op not in (*OBSERVATIONS, FREE_SLOTS):
            self.last = (call, answer, step)
            self._note_ended(call, step)
        if call.op == COLLECTIVES and isinstance(answer, Ok):
            self._learn_collectives(answer.value)
        if call.op == TREE and isinstance(answer, Ok):
            self._learn_names(answer)
        if step.after is not self.model:
            before, after = _homes(self.model), _homes(step.after)
            self.names = {page: name for page, name in self.names.items() if before.get(page) == after.get(page)}
        self.model = step.after

    def _note_ended(self, call: Call, step: Step) -> None:
        if call.op == RESET:
            self.ended_locks |= self.model.held_locks
            self.ended_requests |= self.model.reservations.keys()
            self.ended_loads += self.model.ledger.pages_of(LOAD)
        self.ended_locks -= step.after.held_locks
        self.ended_requests -= step.after.reservations.keys()

    def _learn_collectives(self, shown: tuple[Collective, ...]) -> None:
        if self.cause() == "host_tier.poll" and self.first_poll is None:
            self.first_poll = shown[len(self.collectives) :]
        self.collectives = shown

    def _learn_names(self, answer: Ok) -> None:
        """Note which host page of the session is which of the model."""
        seen = TreeView.of(answer.value, self.config.page_size).places
        for path, want in self.model.view().places.items():
            if path in seen and want.lane is not None and want.host is not None and seen[path].host is not None:
                self.names[want.lane, want.host] = seen[path].host or 0


def view_of(model: HostTierModel) -> TreeView:
    """Return the tree of a model by pages and nodes."""
    return model.view() if isinstance(model, GuidedModel) else TreeView.of(model.nodes(), model.config.page_size)


def _homes(model: HostTierModel) -> dict[HostPage, tuple[int, ...]]:
    """Return for each host page of the tree the tokens up to the end of its page."""
    size, tree = model.config.page_size, model.tree
    homes: dict[HostPage, tuple[int, ...]] = {}
    for node in tree.nodes.values():
        path = tree.path(node)
        above = len(path) - len(node.tokens)
        homes |= {page: path[: above + (index + 1) * size] for index, page in enumerate(node.host)}
    return homes


def agrees(step: Step, answer: Answer) -> bool:
    """Say whether an answer is the expected one; of a refusal the reason may be any that applies."""
    if step.expected is None:
        return True
    if isinstance(step.expected, Err) and isinstance(step.expected.error, Rejected):
        return isinstance(answer, Err) and isinstance(answer.error, Rejected) and answer.error.reason in step.reasons
    return step.expected == answer


def _reasons_of(error: ContractError) -> frozenset[Reason]:
    return frozenset({error.reason}) if isinstance(error, Rejected) else frozenset()
