"""What the laws of the tree's decisions share: when a step can be judged, and what a tree shows after a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_tree_state import STATISTICS, HostTreeState, Step, agrees, view_of
from sharedkv_conformance.model.host_tier_tree_view import Path, Place, TreeView
from sharedkv_conformance.step import Answer, Call, Err, Ok, is_unsupported

HISTORY = "host_tree"
INSERT = "host_tier.insert"
EVICT = "host_tier.evict"
MAKE_ROOM = "host_tier.make_room"
MAKE_HOST_ROOM = "host_tier.make_host_room"
ADMIT = "host_tier.admit"
CANCEL = "host_tier.cancel"
LOAD_BACK = "host_tier.load_back"
POLL = "host_tier.poll"
RESET = "host_tier.reset"
EVICTIONS = (EVICT, MAKE_ROOM, LOAD_BACK)
"""What evicts from the device."""
NOWHERE = Place(device=None, lane=None, host=None)


def asked(before: HostTreeState, call: Call, answer: Answer, *ops: str) -> Step | None:
    """Return what a call has to be answered with, if it is one of these and the history is one that can be judged."""
    if call.op not in ops or before.diverged or is_unsupported(answer):
        return None
    return before.step(call, answer)


def since(before: HostTreeState, *ops: str) -> Step | None:
    """Return the step of the last call, if it was one of these and was answered as it has to be."""
    return before.last[2] if before.last and before.last[0].op in ops and not before.diverged else None


def last_call(before: HostTreeState) -> Call:
    """Return the last call that was no observation."""
    return before.last[0] if before.last else Call(op="")


def is_error(step: Step) -> bool:
    """Say whether the call has to fail."""
    return isinstance(step.expected, Err)


def succeeds(step: Step) -> bool:
    """Say whether the call has to succeed."""
    return isinstance(step.expected, Ok)


def told(answer: Answer) -> str:
    """Return an answer as messages show it."""
    return str(answer.value if isinstance(answer, Ok) else answer.error)


def off(step: Step, answer: Answer) -> Iterator[str]:
    """Yield an answer that is not the expected one."""
    if step.expected is not None and not agrees(step, answer):
        wanted = f"a rejection for {' or '.join(sorted(step.reasons))}" if step.reasons else told(step.expected)
        yield f"expected {wanted}, got {told(answer)}"


def changed(before: HostTreeState, call: Call, answer: Answer, *fields: str) -> Iterator[str]:
    """Yield in what the tree differs from what the last call has to leave, in these fields or in all of them."""
    for name, messages in before.step(call, answer).differences.items():
        if not fields or name in fields:
            yield from (f"after {last_call(before).op} {message}" for message in messages)


def miscounted(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Yield counts by lane that are not those that the last call has to leave."""
    if not is_unsupported(answer) and before.deviates(call, answer):
        what = "host pages" if call.op == STATISTICS else "device pages"
        wanted = told(before.step(call, answer).expected or answer)
        yield f"after {last_call(before).op} the {what} by lane are {told(answer)}, expected {wanted}"


def places(before: HostTreeState, call: Call, answer: Answer) -> Iterator[tuple[Path, Place, Place]]:
    """Yield each page of the tree that is elsewhere than it has to be: its path, where it has to be, where it is.

    Nothing is known of the places of what is no tree.
    """
    differences = before.step(call, answer).differences
    if isinstance(answer, Ok) and differences and "malformed" not in differences:
        size = before.config.page_size
        wanted, seen = view_of(before.model).places, TreeView.of(answer.value, size).places
        for path in sorted(wanted.keys() | seen.keys()):
            want, have = wanted.get(path, NOWHERE), seen.get(path, NOWHERE)
            if (want.device, want.lane) != (have.device, have.lane):
                yield path, want, have


def hosted(model: HostTierModel) -> set[Path]:
    """Return the paths of the pages that have a host page."""
    found = view_of(model).places
    return {path for path, place in found.items() if place.lane is not None}


def is_on_way(path: Path, tokens: Sequence[int]) -> bool:
    """Say whether a page belongs to the prefixes of these tokens."""
    return tuple(tokens[: len(path)]) == path
