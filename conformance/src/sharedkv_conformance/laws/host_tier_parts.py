"""What a step of a tree history deviates in, apart by cause, so that each deviation belongs to one statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.host_tier_tree_state import TREE, HostTreeState, Step
from sharedkv_conformance.model.host_tier_tree_view import Difference, Path, Place, TreeView
from sharedkv_conformance.step import Answer, Call, Err, Ok

MATCH = "host_tier.match"
INSERT = "host_tier.insert"
LOCK = "host_tier.lock"
UNLOCK = "host_tier.unlock"
EVICT = "host_tier.evict"
EVICT_HOST = "host_tier.evict_host"
EXTEND = "allocation.extend"
RELEASE = "allocation.release"
ALLOCATE_HOST = "host_tier.allocate"
CALLERS = (EXTEND, RELEASE, ALLOCATE_HOST)
CAUSES = (MATCH, INSERT, LOCK, UNLOCK, EVICT, EVICT_HOST, *CALLERS)


def wanted(before: HostTreeState, call: Call, answer: Answer, op: str) -> tuple[Any, Any] | None:
    """Return what a call had to be answered with and what it was, where both are values; None for any other step."""
    if before.diverged or call.op != op or is_small(before, call) or not isinstance(answer, Ok):
        return None
    expected = before.step(call, answer).expected
    return (expected.value, answer.value) if isinstance(expected, Ok) else None


def refused_wrongly(before: HostTreeState, call: Call, answer: Answer, op: str) -> Iterator[str]:
    """Yield that a call that has an answer was refused."""
    if not before.diverged and call.op == op and isinstance(answer, Err) and not is_small(before, call):
        expected = before.step(call, answer).expected
        if isinstance(expected, Ok):
            yield f"{op} was answered with {answer.error}, expected {expected.value}"


def not_refused(before: HostTreeState, call: Call, answer: Answer, op: str) -> Iterator[str]:
    """Yield that a call that has to be refused was not, or with a reason that does not apply."""
    if before.diverged or call.op != op:
        return
    step = before.step(call, answer)
    if isinstance(step.expected, Err) and before.deviates(call, answer):
        given = answer.value if isinstance(answer, Ok) else answer.error
        yield f"{op} was answered with {given}, expected a refusal with {' or '.join(sorted(step.reasons))}"


def is_small(before: HostTreeState, call: Call) -> bool:
    """Say whether a match or an insert has fewer tokens than a page."""
    return call.op in (MATCH, INSERT) and len(call.tokens) < before.config.page_size


def cause_of(before: HostTreeState) -> str:
    """Return the last call, marked where it was refused or had less than a page; empty where there is none."""
    if before.last is None:
        return ""
    call, answer, _ = before.last
    if isinstance(answer, Err):
        return f"refused {call.op}"
    return f"small {call.op}" if is_small(before, call) else call.op


def moved(before: HostTreeState, call: Call, answer: Answer, causes: Sequence[str], *ops: str) -> Iterator[str]:
    """Yield where an observation (counts of lanes, of the host, or the whole tree) left what it has to be."""
    if before.diverged or call.op not in ops or cause_of(before) not in causes or not before.deviates(call, answer):
        return
    step = before.step(call, answer)
    for told in [text for texts in step.differences.values() for text in texts]:
        yield f"after {cause_of(before)}, {told}"
    if step.expected is not None:
        expected = step.expected.value if isinstance(step.expected, Ok) else step.expected.error
        given = answer.value if isinstance(answer, Ok) else answer.error
        yield f"after {cause_of(before)}, {call.op} is {given}, expected {expected}"


def off(
    before: HostTreeState, call: Call, answer: Answer, causes: Sequence[str], *fields: str
) -> Iterator[tuple[Difference, Step]]:
    """Yield in what the tree that is shown differs after a call of these causes, with the step of that call."""
    if before.diverged or call.op != TREE or before.last is None or cause_of(before) not in causes:
        return
    step = before.step(call, answer)
    if "malformed" in step.differences and "malformed" not in fields:
        return
    if "boundaries" in step.differences and not {"malformed", "boundaries", "pages_there"}.intersection(fields):
        return
    if step.seen is not None and gaps(step.seen) and {"pages_there", "device", "host"}.intersection(fields):
        return
    for name in fields:
        for difference in step.differences.get(name, ()):
            if name != "host" or not _is_on_another_lane(before, step, difference.path):
                yield difference, before.last[2]


def _is_on_another_lane(before: HostTreeState, step: Step, path: Path) -> bool:
    """Say whether a page has a host page as it has to, though not on the lane: that is the business of backups."""
    expected = before.model.view().places
    have = step.seen.places.get(path) if step.seen is not None else None
    return have is not None and have.lane is not None and path in expected and expected[path].lane is not None


def gaps(seen: TreeView) -> list[str]:
    """Return where pages of a tier lie below one that has none there."""
    found = []
    for path, place in seen.places.items():
        above = _above(seen, path)
        if above is not None:
            for tier, here, there in (("device", place.device, above.device), ("host", place.lane, above.lane)):
                if here is not None and there is None:
                    found.append(f"page {list(path)} is on the {tier}, and the one above it is not")
    return found


def _above(seen: TreeView, path: Path) -> Place | None:
    shorter = [other for other in seen.places if len(other) < len(path) and path[: len(other)] == other]
    return seen.places[max(shorter, key=len)] if shorter else None


def places_before(step: Step) -> dict[Path, Place]:
    """Return where every page was before a call."""
    return step.earlier.view().places


def places_after(step: Step) -> dict[Path, Place]:
    """Return where every page is after a call."""
    return step.after.view().places


def is_guarded(step: Step, path: Path) -> bool:
    """Say whether the host pages of the node with this page were locked, read or pending before a call."""
    tree = step.earlier.tree
    for node in tree.nodes.values():
        end = tree.path(node)
        if end[: len(path)] == path and len(end) - len(node.tokens) < len(path):
            return tree.is_held_on_host(node) or tree.is_pending(node)
    return False


def has_split(step: Step) -> bool:
    """Say whether a call split a node: a new one has an older one below it."""
    new = step.after.tree.nodes.keys() - step.earlier.tree.nodes.keys()
    return any(node.parent in new and node.number not in new for node in step.after.tree.nodes.values())


def by_lane(geometry: Geometry, pages: Sequence[int]) -> tuple[int, ...]:
    """Count pages of the pool by lane."""
    lanes = [geometry.lane(page) for page in pages if geometry.holds(page)]
    return tuple(lanes.count(lane) for lane in range(geometry.cp_size))
