"""Family 03, third part: nothing leads back to itself.

Knows chains of successors and of dependencies, and finds every cycle in them. Knows nothing of other references.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from govctl.findings import Diagnostic, Related
from govctl.tree import Tree

_Graph = Mapping[str, Sequence[str]]


def successors_lead_on(tree: Tree) -> Iterator[Diagnostic]:
    """No clause is superseded by one that it superseded."""
    graph = {clause.id: [clause.successor] for clause in tree.clause_by_id.values() if clause.superseded_by}
    for cycle in _cycles(graph):
        if len(cycle) > 1:  # a clause that is its own successor is a finding of another rule
            clauses = [tree.clause_by_id[name] for name in cycle]
            places = [clause.document.value_place(("govctl", "superseded_by")) for clause in clauses]
            yield Diagnostic(
                place=places[0],
                subject=cycle[0],
                message=f"successors run in a circle: {_shown(cycle)}",
                mend="let the last of them stay active, or name a clause outside the circle",
                related=tuple(
                    Related(place=place, note=name) for place, name in zip(places[1:], cycle[1:], strict=True)
                ),
            )


def dependencies_end(tree: Tree) -> Iterator[Diagnostic]:
    """No check depends on itself, directly or through others."""
    checks = {check.slug: check for check in tree.checks}
    for cycle in _cycles({slug: check.depends_on for slug, check in checks.items()}):
        yield Diagnostic(
            place=checks[cycle[0]].place,
            subject=checks[cycle[0]].label,
            message=f"dependencies run in a circle: {_shown(cycle)}",
            mend="remove the dependency that is not needed: none of these checks could ever run",
            related=tuple(Related(place=checks[slug].place, note=checks[slug].label) for slug in cycle[1:]),
        )


def _shown(cycle: Sequence[str]) -> str:
    return " -> ".join([*cycle, cycle[0]])


def _cycles(graph: _Graph) -> list[tuple[str, ...]]:
    """Return for each edge on a cycle a shortest one through it, each once and beginning with its least name."""
    core = _core(graph)
    found: set[tuple[str, ...]] = set()
    for start in sorted(core):
        for target in core[start]:
            path = _path(core, target, start)
            if path:
                least = path.index(min(path))
                found.add((*path[least:], *path[:least]))
    return sorted(found)


def _core(graph: _Graph) -> dict[str, list[str]]:
    """Return what is left when nodes that lead nowhere are taken away, again and again."""
    core = {name: [target for target in targets if target in graph] for name, targets in graph.items()}
    while ends := [name for name, targets in core.items() if not targets]:
        gone = set(ends)
        core = {
            name: [target for target in targets if target not in gone]
            for name, targets in core.items()
            if name not in gone
        }
    return core


def _path(graph: _Graph, start: str, end: str) -> tuple[str, ...]:
    """Return a shortest way from start to end, both included; empty when there is none."""
    came_from: dict[str, str] = {start: ""}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if here == end:
            way = [here]
            while came_from[way[-1]]:
                way.append(came_from[way[-1]])
            return tuple(reversed(way))
        for target in graph[here]:
            if target not in came_from:
                came_from[target] = here
                waiting.append(target)
    return ()
