"""What is known before a call of a history of sending, overlap or abort: a session of models that follow the answers.

Two sessions are driven alike: one is where the implementation was before the call, the other runs ahead and says what
the answer has to be. Free choices and numbers are taken from answers; all else is decided, so that an answer that
differs is wrong, and after it nothing more is known: `diverged`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import ControlMessage, Event, Flight
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.implementation import ModelSession
from sharedkv_conformance.model.lane_pages import FREE, IN_USE
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_guided import answered, guided_session
from sharedkv_conformance.model.sending_numbers import Numbers
from sharedkv_conformance.model.sending_parts import Chunk, DecodeRoom, FlightModel, Job, Notice
from sharedkv_conformance.model.sending_refusals import reasons_against
from sharedkv_conformance.model.sending_tidings import SPOILED, Tidings, kind_of_message, rooms_with_pages, what_freed
from sharedkv_conformance.step import Answer, Call, Err, Ok, is_unsupported

FLIGHTS, MESSAGES, CONTEXTS, POOLS = "probe.flights", "probe.messages", "overlap.contexts", "transfer.decode_pools"
EVENTS, LANES, DECODE_POOL, POOL = "probe.events", "allocation.lanes", "probe.decode_pool", "probe.pool"
EXTEND = "allocation.extend"
OBSERVATIONS = (FLIGHTS, MESSAGES, CONTEXTS, POOLS, EVENTS, LANES)
LOOKS = frozenset({*OBSERVATIONS, DECODE_POOL, POOL, "transfer.send_status", "transfer.report"})
"""Calls that change nothing, and are answered by the session as it is."""
LOOKING_AT_SLOTS = frozenset({"transfer.status", "transfer.commit", "transfer.close_room", "abort.decode"})
COUNTING = frozenset({LANES, EXTEND, "allocation.admit", "allocation.make_room"})
NAMING = frozenset(
    {
        "allocation.release",
        "allocation.retain",
        "allocation.release_locations",
        "transfer.send",
        "overlap.register",
    }
)
OWN_EVENTS = frozenset({"boundary", "fallback"})
Writer = FlightModel | Job | Chunk


@dataclass(frozen=True, kw_only=True)
class Step:
    """What a call has to be answered with; `expected` is None where that is open.

    `reasons` are those of which a refusal has to name one. `before` and `after` are the models around the call, which
    change once the answer is adopted.
    """

    expected: Answer | None
    before: SendingModel
    after: SendingModel
    reasons: frozenset[Reason] = frozenset()


@dataclass(eq=False, kw_only=True)
class Forward:
    """Pages that were allocated for one request of one forward, and whether their rows were written."""

    request: ExtendRequest
    pages: tuple[int, ...]
    locations: tuple[int, ...]
    number: int
    is_written: bool = False


class SendingState:
    """The state before a call.

    `last` is the last call that was no observation, with its answer. `due` are calls to issue next. `stale` are rooms
    whose pages were free by time alone, while prefill may go on to write them: nothing is promised of these pages.
    `forwards` are the allocations of one request, of which the draw writes rows. `tidings` say what the last call that
    was no observation brought, `told_before` counts how often each layer was told while something was registered.
    """

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.geometry = Geometry.of(config)
        self.diverged = False
        self.last: tuple[Call, Answer] | None = None
        self.due: list[Call] = []
        self.forwards: list[Forward] = []
        self.stale: list[DecodeRoom] = []
        self.flight_numbers = Numbers[Flight]("flight")
        self.message_numbers = Numbers[ControlMessage]("message")
        self.peer_answer: Answer | None = None
        self.tidings = Tidings()
        self.told_before: Counter[int] = Counter()
        self._asked: tuple[Call, Answer, Step] | None = None

    @cached_property
    def session(self) -> ModelSession:
        """Return the models as they are before the call."""
        return guided_session(self.config)

    @cached_property
    def ahead(self) -> ModelSession:
        """Return the models that are asked what comes next."""
        return guided_session(self.config)

    @property
    def sending(self) -> SendingModel:
        """Return the model of sending, overlap and abort before the call."""
        return self.session.sending

    @property
    def allocation(self) -> AllocationModel:
        """Return the model of the allocator before the call."""
        found: AllocationModel = self.session.made("allocation")
        return found

    # -- what laws ask -----------------------------------------------------------------------------------------------

    def judged(self, call: Call, answer: Answer) -> Step | None:
        """Return what a call has to be answered with; None where nothing is known, or the answer is open."""
        if self.diverged or is_unsupported(answer) or self.is_unsure(call):
            return None
        step = self.step(call, answer)
        return step if step.expected is not None else None

    def wrong(self, call: Call, answer: Answer) -> bool:
        """Say whether an answer may be judged, and is not the one that it has to be."""
        step = self.judged(call, answer)
        return step is not None and not agrees(step, answer)

    def step(self, call: Call, answer: Answer) -> Step:
        """Return what the call has to be answered with."""
        if self._asked is None or self._asked[0] is not call or self._asked[1] is not answer:
            self._asked = call, answer, self._step(call, answer)
        return self._asked[2]

    def cause(self) -> str:
        """Return the last call that was no observation; empty at first."""
        return self.last[0].op if self.last else ""

    def flight_of(self, number: int) -> FlightModel | None:
        """Return a flight that flies, by the number that was shown."""
        own = self.flight_numbers.of_model(number)
        return next((flight for flight in self.sending.flying if flight.number == own), None)

    def message_of(self, number: int) -> Notice | None:
        """Return a message by the number that was shown, also one that was delivered."""
        return self.sending.posted.get(self.message_numbers.of_model(number))

    def number_of(self, thing: FlightModel | Notice) -> int | None:
        """Return the number by which a flight or a message was shown."""
        numbers: Numbers[Any] = self.flight_numbers if isinstance(thing, FlightModel) else self.message_numbers
        return numbers.shown(thing.number)

    def owner_of(self, rank: int, page: int) -> DecodeRoom | None:
        """Return the room, open or in quarantine, that has a page of a decode rank."""
        for room in (*self.sending.reserved.values(), *self.sending.lingering):
            if any(place.rank == rank and page in place.pages for place in room.places):
                return room
        return None

    def writers_of(self, rank: int, page: int) -> list[Writer]:
        """Return the flights, jobs and open contexts that may still write a page of a decode rank."""
        flying: list[Writer] = [f for f in self.sending.flying if f.destination == rank and page in f.pages]
        jobs: list[Writer] = [job for job in self.sending.jobs if self._may_write(job.chunk, rank, page)]
        return [*flying, *jobs, *(each for each in self.sending.contexts_open if self._may_write(each, rank, page))]

    def certainly_pinned(self) -> frozenset[int]:
        """Return the logical pages that a job, an open context or a flight of their own rank still reads."""
        read: set[int] = set()
        for flight in self.sending.flying:
            read.update(flight.sources)
        for context in self.sending.contexts_open:
            read.update(context.pages)
        for job in self.sending.jobs:
            pages = (*(job.chunk.pages if job.layers else ()), *(job.chunk.state if job.is_finish else ()))
            read.update(page for page in pages if self.geometry.lane(page) == job.rank)
        return frozenset(read)

    def certainly_unpinned(self, page: int) -> bool:
        """Say whether nothing is left of any chunk that a page is of."""
        return page not in set(self.sending.pages_read())

    def unsure_pages(self) -> frozenset[int]:
        """Return the pages that were given back, and of which it is open whether that has happened."""
        return frozenset(self.allocation.deferred) - self.certainly_pinned()

    def is_stale(self, room: int, epoch: int) -> bool:
        """Say whether prefill may go on to write pages of an epoch that are free by time alone."""
        return any((each.room, each.epoch) == (room, epoch) for each in self.stale)

    @property
    def freed_by_timeout(self) -> frozenset[tuple[int, int]]:
        """Return the decode ranks and pages of which nothing is promised."""
        return frozenset((place.rank, page) for room in self.stale for place in room.places for page in place.pages)

    def own_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """Return the events among others that are decided here."""
        return tuple(event for event in events if event.kind in OWN_EVENTS)

    def room_to_look_at(self) -> DecodeRoom | None:
        """Return a room of which everything has arrived, while a slot names others and nobody has looked."""
        return next((room for room in self.sending.reserved.values() if self._is_to_look_at(room)), None)

    def is_unsure(self, call: Call) -> bool:
        """Say whether what a call has to be answered with hangs on something that is open."""
        unseen = self.room_to_look_at()
        is_looking = call.op in LOOKING_AT_SLOTS and unseen is not None and call.room == unseen.room
        if unseen is not None and not is_looking and call.op not in (DECODE_POOL, POOL, LANES):
            return True
        return self.hangs_on_pins(call)

    def hangs_on_pins(self, call: Call) -> bool:
        """Say whether a call asks of pages of which it is open whether they are pinned."""
        unsure = self.unsure_pages()
        if not unsure or call.op in COUNTING:
            return bool(unsure)
        if call.op not in NAMING:
            return False
        named = (*call.args.get("pages", ()), *call.args.get("state", ()))
        located = (location // self.config.page_size for location in call.args.get("locations", ()))
        return not unsure.isdisjoint((*named, *located))

    # -- the step of one call ----------------------------------------------------------------------------------------

    def _step(self, call: Call, answer: Answer) -> Step:
        session = self.session if call.op in LOOKS else self.ahead
        reasons = reasons_against(self.session, call)
        expected = self._as_shown(call, self._answered(session, call, answer), answer)
        if isinstance(expected, Err) and isinstance(expected.error, Rejected):
            reasons |= {expected.error.reason}
        return Step(expected=expected, before=self.sending, after=session.sending, reasons=reasons)

    def _answered(self, session: ModelSession, call: Call, answer: Answer) -> Answer:
        for name, numbers in (("flight", self.flight_numbers), ("message", self.message_numbers)):
            if name in call.args:
                number = cast("Numbers[Any]", numbers).of_model(call.args[name])
                call = replace(call, args={**call.args, name: number})
        return answered(session, call, answer)

    def _as_shown(self, call: Call, expected: Answer, answer: Answer) -> Answer:
        """Return an answer of the model in the numbers of the implementation; of events those that are decided."""
        if not isinstance(expected, Ok) or not isinstance(answer, Ok):
            return expected
        if call.op == FLIGHTS:
            return Ok(tuple(each for _, each in self.flight_numbers.matched(expected.value, answer.value)))
        if call.op == MESSAGES:
            return Ok(tuple(each for _, each in self.message_numbers.matched(expected.value, answer.value)))
        if call.op == EVENTS:
            own, shown = self.own_events(expected.value), self.own_events(answer.value)
            return answer if own == shown else Ok(own)
        return expected

    def _is_to_look_at(self, room: DecodeRoom) -> bool:
        if room.has_failed or room.is_committed or not room.has_arrived:
            return False
        slots = (self.sending.memory.slots[place.rank, place.slot] for place in room.places)
        return not all(self.sending.is_own_slot(room, slot) for slot in slots)

    def _may_write(self, chunk: Chunk, rank: int, page: int) -> bool:
        place = chunk.room.places.get(rank)
        return place is not None and page in place.pages and not chunk.room.reason

    # -- adopting answers --------------------------------------------------------------------------------------------

    def adopt(self, call: Call, answer: Answer) -> None:
        """Go on from an answer, or stop knowing anything."""
        if self.diverged or is_unsupported(answer):
            return
        if self.is_unsure(call):
            self._adopt_unsure(call, answer)
        elif not agrees(self.step(call, answer), answer):
            self.diverged = True
        elif call.op not in LOOKS:
            self._follow(call, answer)
        elif isinstance(answer, Ok):
            self._learn_numbers(call, answer)
        if call.op not in LOOKS:
            self.last = (call, answer)
        if call.op == EXTEND and isinstance(answer, Ok):
            self._note_forward(call, answer)

    def _follow(self, call: Call, answer: Answer) -> None:
        """Let the session that is behind do what the other has done."""
        lingering, rooms = list(self.sending.lingering), rooms_with_pages(self.sending)
        notice = self.message_of(call.message) if "message" in call.args else None
        kind, is_after_noise = kind_of_message(self.sending, call, notice), self.tidings.message == SPOILED
        self._answered(self.session, call, answer)
        freed = what_freed(self.sending, rooms)
        if call.op == "overlap.layer_end" and self.sending.contexts_open:
            self.told_before[call.layer] += 1
        if call.op != "transfer.status":
            self.tidings = Tidings(message=kind, is_after_noise=is_after_noise, freed=freed)
        gone = [room for room in lingering if room not in self.sending.lingering and room.has_failed]
        self.stale += [room for room in gone if not self.sending.drained_is_enough(room)]
        self.stale = [room for room in self.stale if self._may_still_write(room)]

    def _may_still_write(self, room: DecodeRoom) -> bool:
        known = self.sending.rooms.get(room.room)
        if known is None or known.epoch != room.epoch:
            is_live = (room.room, room.epoch) not in self.sending.dead and self._is_unheard(room)
        else:
            is_live = not known.reason
        return is_live or any((f.room.room, f.room.epoch) == (room.room, room.epoch) for f in self.sending.flying)

    def _is_unheard(self, room: DecodeRoom) -> bool:
        return self.sending.latest.get(room.room, room.epoch - 1) < room.epoch

    def _note_forward(self, call: Call, answer: Ok) -> None:
        given = answer.value
        if len(call.batch) == 1:
            number = len(self.forwards)
            forward = Forward(request=call.batch[0], pages=given.pages, locations=given.locations, number=number)
            self.forwards.append(forward)

    def _adopt_unsure(self, call: Call, answer: Answer) -> None:
        """Take pages of an allocation as they are given; what else changes something is not followed."""
        if call.op in LOOKS or (call.op == EXTEND and isinstance(answer, Err)):
            return
        if call.op != EXTEND or not isinstance(answer, Ok):
            self.diverged = True
            return
        given = (*answer.value.evicted, *answer.value.pages)
        unsure = self.unsure_pages()
        for session in (self.session, self.ahead):
            allocation: AllocationModel = session.made("allocation")
            allocation.unpin([page for page in given if page in unsure])
            inside = [page for page in given if self.geometry.holds(page) and allocation.pages.state(page) != IN_USE]
            self.diverged = self.diverged or len(inside) < len(given)
            allocation.pages.move([page for page in answer.value.evicted if page in inside], FREE)
            allocation.pages.move([page for page in answer.value.pages if page in inside], IN_USE)

    def _learn_numbers(self, call: Call, answer: Ok) -> None:
        if call.op == FLIGHTS:
            self.flight_numbers.learn(self.sending.flights(), answer.value)
        elif call.op == MESSAGES:
            self.message_numbers.learn(self.sending.messages(), answer.value)


def agrees(step: Step, answer: Answer) -> bool:
    """Say whether an answer is the expected one; of a refusal the reason may be any that applies."""
    expected = step.expected
    if isinstance(expected, Err) and isinstance(expected.error, Rejected):
        return isinstance(answer, Err) and isinstance(answer.error, Rejected) and answer.error.reason in step.reasons
    return expected is None or expected == answer
