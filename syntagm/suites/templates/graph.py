"""The graph of slots: conditions on two slots are its edges, and edges that close a cycle are replaced by cases.

An edge that closes a cycle divides the combinations of words into cases: the words of one slot that go with the same words
of the other are a case, in which the edge holds for all words that remain. If there are too many cases, or if a condition
names three slots or asks for another entry, it is not in the graph.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from syntagm.suites.templates import expression
from syntagm.suites.templates.expression import Expression
from syntagm.suites.templates.groups import Grouper, Groups, Relation, columns, members, renamed
from syntagm.suites.templates.lexicon import Word

MAX_CASES = 40

Pair = tuple[str, str]
Words = Mapping[str, Sequence[Word]]


@dataclass(frozen=True, slots=True)
class Graph:
    """The slots of a configuration and the conditions between them."""

    slots: tuple[str, ...]  # the slots, in order
    edges: Mapping[Pair, Expression]  # the edges, which form a forest
    cycles: tuple[Pair, ...]  # the slots of each edge that closed a cycle
    cases: tuple[Words, ...]  # for each case, the words of each slot
    checks: tuple[Expression, ...]  # the conditions that are in no case and no edge


@dataclass(frozen=True, slots=True)
class Grapher:
    """A maker of graphs. It remembers the words of cases, so that cases of several configurations share them."""

    grouper: Grouper
    _memory: dict[Any, Any] = field(default_factory=dict)

    def graph(self, slots: Words, joint: Sequence[Expression]) -> Graph:
        """Return the graph of a configuration. Edges that would make the most cases are in the forest."""
        pairs: dict[Pair, list[Expression]] = {}
        checks = []
        order = {slot: number for number, slot in enumerate(slots)}
        for condition in joint:
            named = expression.slots(condition)
            if len(named) == 2 and not any(isinstance(atom, expression.Differ) for atom in expression.atoms(condition)):
                first, second = sorted(named, key=order.__getitem__)
                pairs.setdefault((first, second), []).append(condition)
            else:
                checks.append(condition)
        every = {pair: expression.conjunction(conditions) for pair, conditions in pairs.items()}
        edges, cycles = _forest(slots, list(every))
        if cycles:
            compared = {
                pair: _Compared(pair, renamed(edge, *pair), tuple(columns(edge, slot) for slot in pair))
                for pair, edge in every.items()
            }
            sizes = {pair: self._size(compared[pair], slots) for pair in every}
            edges, cycles = _forest(slots, sorted(every, key=lambda pair: -sizes[pair]))
            cycles.sort(key=lambda pair: sizes[pair])
        cases: list[Words] = [slots]
        for pair in cycles:
            # Words are listed only if there aren't too many cases.
            if sum(self._size(compared[pair], case) for case in cases) > MAX_CASES:
                checks.append(every[pair])
            else:
                cases = [more for case in cases for more in self._divided(compared[pair], case)]
        return Graph(tuple(slots), {pair: every[pair] for pair in edges}, tuple(cycles), tuple(cases), tuple(checks))

    def _size(self, edge: "_Compared", case: Words) -> int:
        """Return the number of cases into which an edge divides a case."""
        return sum(1 for chosen in self._related(edge, case)[2].sets if chosen)

    def _divided(self, edge: "_Compared", case: Words) -> list[Words]:
        """Divide the words of a slot into those that go with the same words of another slot."""
        first, second = edge.pair
        key = edge.condition, id(case[first]), id(case[second])
        if key not in self._memory:
            of_first, of_second, relation = self._related(edge, case)
            groups: dict[int, list[int]] = {}
            for group, number in enumerate(relation.of):
                groups.setdefault(number, []).append(group)
            parts = [
                (_words(of_first, groups[number]), _words(of_second, members(chosen, len(of_second.keys))))
                for number, chosen in enumerate(relation.sets)
                if chosen
            ]
            # The words are kept, because their identity is part of the key.
            self._memory[key] = parts, case[first], case[second]
        return [{**case, first: left, second: right} for left, right in self._memory[key][0]]

    def _related(self, edge: "_Compared", case: Words) -> tuple[Groups, Groups, Relation]:
        of_first, of_second = map(self.grouper.groups, (case[slot] for slot in edge.pair), edge.columns)
        return of_first, of_second, self.grouper.relation(edge.condition, of_first, of_second)


@dataclass(frozen=True, slots=True)
class _Compared:
    """An edge: its slots, its condition with the slots renamed, and the columns that it compares."""

    pair: Pair
    condition: Expression
    columns: tuple[tuple[str, ...], ...]


def _words(groups: Groups, chosen: Iterable[int]) -> tuple[Word, ...]:
    return tuple(chain.from_iterable(groups.words[group] for group in chosen))


def _forest(slots: Iterable[str], pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Divide pairs of slots into those of a forest and those that close a cycle; the first come first."""
    tree = {slot: slot for slot in slots}

    def root(slot: str) -> str:
        while tree[slot] != slot:
            slot = tree[slot]
        return slot

    edges, cycles = [], []
    for first, second in pairs:
        if root(first) == root(second):
            cycles.append((first, second))
        else:
            tree[root(second)] = root(first)
            edges.append((first, second))
    return edges, cycles
