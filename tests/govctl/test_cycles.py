"""Cycles: every one is found, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from govctl.rules.cycles import _cycles

NAMES = "abcde"
graphs = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=4))


def reaches(graph: dict[str, list[str]], start: str, end: str) -> bool:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        here = waiting.pop()
        if here == end:
            return True
        if here not in seen:
            seen.add(here)
            waiting += graph.get(here, [])
    return False


@given(graphs)
def test_an_edge_is_on_a_reported_cycle_if_and_only_if_it_leads_back(graph: dict[str, list[str]]) -> None:
    reported = {(cycle[at], cycle[(at + 1) % len(cycle)]) for cycle in _cycles(graph) for at in range(len(cycle))}
    back = {(name, target) for name, targets in graph.items() for target in targets if reaches(graph, target, name)}

    assert reported == back


@given(graphs)
def test_a_cycle_visits_no_node_twice_and_is_reported_once(graph: dict[str, list[str]]) -> None:
    cycles = _cycles(graph)

    assert len(set(cycles)) == len(cycles)
    assert all(len(set(cycle)) == len(cycle) and cycle[0] == min(cycle) for cycle in cycles)


def test_two_cycles_are_two_findings() -> None:
    assert _cycles({"a": ["b"], "b": ["a"], "c": ["c"], "d": ["a"]}) == [("a", "b"), ("c",)]


def test_a_long_chain_is_no_cycle() -> None:
    chain = {str(number): [str(number + 1)] for number in range(2000)}

    assert _cycles(chain) == []
