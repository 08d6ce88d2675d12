"""Exact counts of the combinations of words that meet conditions, and the combination with a given rank.

Slots are nodes of a graph, and a condition on two slots is an edge. On a forest of edges, combinations are counted from
the leaves to the root: the words of a slot are grouped by the columns that its edges compare, and a group has as many
combinations as it has words, times those of the groups that go with it in each branch. The rank of a combination is
decoded from the root to the leaves.

`graph.py` makes the forest. Conditions that it leaves out are left to the caller, who draws again if they don't hold.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from syntagm.suites.templates import expression
from syntagm.suites.templates.effort import Effort
from syntagm.suites.templates.expression import Expression
from syntagm.suites.templates.graph import Graph, Grapher
from syntagm.suites.templates.groups import Grouper, Groups, columns, members, renamed
from syntagm.suites.templates.lexicon import Word


@dataclass(slots=True)
class _Branch:
    """The combinations of a branch that go with a group of the parent: their number, and the groups that are chosen."""

    total: int
    chosen: int
    groups: list[int] = field(default_factory=list)
    cumulative: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Edge:
    """An edge to a child: the branch for each of the parent's groups."""

    child: "_Node"
    branches: list[_Branch]


@dataclass(slots=True)
class _Node:
    """A slot, the groups of its words, the number of combinations of each group, and the edges to its children."""

    slot: str
    groups: Groups
    weights: list[int]
    edges: list[_Edge]
    whole: _Branch
    empty: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Case:
    """A forest, given by the root of each tree, and the number of its combinations."""

    total: int
    roots: tuple[_Node, ...]


@dataclass(slots=True)
class Entry:
    """An entry in a slot: its words, each with case and group, and the number of combinations with each and those before it."""

    words: list[tuple[_Case, Word, int]] = field(default_factory=list)
    cumulative: list[int] = field(default_factory=list)

    @property
    def total(self) -> int:
        """The number of combinations with the entry."""
        return self.cumulative[-1]

    def combination(self, rank: int) -> dict[str, Word]:
        """Return the combination with a rank from 0 to `total - 1` among those with the entry."""
        place = bisect_right(self.cumulative, rank)
        case, word, group = self.words[place]
        rank -= self.cumulative[place - 1] if place else 0
        first, *others = case.roots
        words = {first.slot: word}
        for root in others:
            rank, own = divmod(rank, root.whole.total)
            _decode(root, root.whole, own, words)
        _decode_below(first, group, rank, words)
        return words


@dataclass(frozen=True, slots=True)
class Counted:
    """The combinations of a configuration: their number, how to find one by its rank, and the conditions not counted."""

    total: int  # the number of combinations that meet the counted conditions
    checks: tuple[Expression, ...]  # the conditions that are not counted
    cases: tuple[_Case, ...]  # the cases with at least one combination
    cumulative: tuple[int, ...]  # the number of combinations of each case and those before it
    empty: tuple[str, ...]  # the slots that have no words together, if there are no combinations
    entries: tuple[Entry, ...]  # the entries of a slot, if they are to be equally likely
    cost: int  # the number of words in a combination, and of comparisons in the conditions that are not counted

    def combination(self, rank: int) -> dict[str, Word]:
        """Return the combination with a rank from 0 to `total - 1`."""
        place = bisect_right(self.cumulative, rank)
        rank -= self.cumulative[place - 1] if place else 0
        words: dict[str, Word] = {}
        for root in self.cases[place].roots:
            rank, own = divmod(rank, root.whole.total)
            _decode(root, root.whole, own, words)
        return words


def _decode(node: _Node, branch: _Branch, rank: int, words: dict[str, Word]) -> None:
    if not branch.groups:
        branch.groups = [group for group in members(branch.chosen, len(node.weights)) if node.weights[group]]
        branch.cumulative = list(accumulate(node.weights[group] for group in branch.groups))
    place = bisect_right(branch.cumulative, rank)
    group = branch.groups[place]
    rank -= branch.cumulative[place - 1] if place else 0
    rank, word = divmod(rank, len(node.groups.words[group]))
    words[node.slot] = node.groups.words[group][word]
    _decode_below(node, group, rank, words)


def _decode_below(node: _Node, group: int, rank: int, words: dict[str, Word]) -> None:
    for edge in node.edges:
        inner = edge.branches[group]
        rank, own = divmod(rank, inner.total)
        _decode(edge.child, inner, own, words)


@dataclass(slots=True)
class Counter:
    """A counter, which remembers parts of its results: configurations of a template have many in common."""

    effort: Effort
    grouper: Grouper = field(init=False)
    grapher: Grapher = field(init=False)
    _memory: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.grouper = Grouper(self.effort)
        self.grapher = Grapher(self.grouper)

    def count(self, slots: Mapping[str, Sequence[Word]], joint: Sequence[Expression], spread: str = "") -> Counted:
        """Count the combinations of words."""
        graph = self.grapher.graph(slots, joint)
        cases = self._cases(graph, spread)
        empty = next((root.empty for case in cases for root in case.roots if root.empty), ())
        if not cases:
            empty = graph.cycles[0]
        cases = [case for case in cases if case.total]
        cumulative = tuple(accumulate(case.total for case in cases))
        total = cumulative[-1] if cumulative else 0
        cost = len(slots) + sum(1 for check in graph.checks for _ in expression.atoms(check))
        entries = self._entries(cases) if spread else ()
        return Counted(total, graph.checks, tuple(cases), cumulative, empty, entries, cost)

    def entries(
        self, slots: Mapping[str, Sequence[Word]], joint: Sequence[Expression]
    ) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield the entries of each slot that are in a combination, case by case. Arguments as for `count`."""
        for case in self._cases(self.grapher.graph(slots, joint), ""):
            if (key := ("names", id(case))) not in self._memory:
                # The case is kept, because its identity is the key.
                self._memory[key] = self._used(case), case
            yield from self._memory[key][0].items()

    def _used(self, case: _Case) -> dict[str, frozenset[str]]:
        """Return the entries of each slot that are in at least one combination."""
        found: dict[str, frozenset[str]] = {}
        waiting = [(root, root.whole.chosen) for root in case.roots if case.total]
        while waiting:
            node, chosen = waiting.pop()
            if (key := ("used", id(node), chosen)) not in self._memory:
                self._memory[key] = _reached(node, chosen), node
            found[node.slot], children = self._memory[key][0]
            waiting += children
        return found

    def _cases(self, graph: Graph, root: str) -> list[_Case]:
        """Return the cases, with the slot `root` as the first root."""
        neighbors: dict[str, list[str]] = {slot: [] for slot in graph.slots}
        for first, second in graph.edges:
            neighbors[first].append(second)
            neighbors[second].append(first)
        order = [root, *graph.slots] if root else graph.slots
        return [self._case(order, case, neighbors, graph.edges) for case in graph.cases]

    def _entries(self, cases: Sequence[_Case]) -> tuple[Entry, ...]:
        """Return the entries of the first slot that have combinations."""
        key = ("entries", *map(id, cases))
        if key not in self._memory:
            self._memory[key] = _entries(cases)
        entries: tuple[Entry, ...] = self._memory[key]
        return entries

    def _case(
        self,
        order: Sequence[str],
        slots: Mapping[str, Sequence[Word]],
        neighbors: Mapping[str, Sequence[str]],
        edges: Mapping[tuple[str, str], Expression],
    ) -> _Case:
        roots, seen, total = [], set[str](), 1
        for slot in order:
            if slot not in seen:
                roots.append(self._node(slot, "", slots, neighbors, edges, seen))
                total *= roots[-1].whole.total
        key = ("case", *map(id, roots))
        if key not in self._memory:
            self._memory[key] = _Case(total, tuple(roots))
        case: _Case = self._memory[key]
        return case

    def _node(
        self,
        slot: str,
        parent: str,
        slots: Mapping[str, Sequence[Word]],
        neighbors: Mapping[str, Sequence[str]],
        edges: Mapping[tuple[str, str], Expression],
        seen: set[str],
    ) -> _Node:
        seen.add(slot)
        own = {other: edges[(slot, other) if (slot, other) in edges else (other, slot)] for other in neighbors[slot]}
        names = tuple(sorted({name for edge in own.values() for name in columns(edge, slot)}))
        children = [
            (own[other], self._node(other, slot, slots, neighbors, edges, seen)) for other in own if other != parent
        ]
        key = (slot, id(slots[slot]), names, tuple((edge, id(child)) for edge, child in children))
        if key not in self._memory:
            # The words are kept with the node, because their identity is part of the key.
            self._memory[key] = self._made(slot, slots[slot], names, children), slots[slot]
        node: _Node = self._memory[key][0]
        return node

    def _made(
        self, slot: str, words: Sequence[Word], names: tuple[str, ...], children: Sequence[tuple[Expression, _Node]]
    ) -> _Node:
        groups = self.grouper.groups(words, names)
        weights = [len(group) for group in groups.words]
        edges = []
        for edge, child in children:
            relation = self.grouper.relation(renamed(edge, slot, child.slot), groups, child.groups)
            branches = [_Branch(self._total(child, chosen), chosen) for chosen in relation.sets]
            edges.append(_Edge(child, [branches[number] for number in relation.of]))
            for number, branch in enumerate(edges[-1].branches):
                weights[number] *= branch.total
        whole = _Branch(sum(weights), (1 << len(weights)) - 1)
        empty = () if whole.total else (slot, *(child.slot for _, child in children))
        return _Node(slot, groups, weights, edges, whole, next((c.empty for _, c in children if c.empty), empty))

    def _total(self, node: _Node, chosen: int) -> int:
        """Return the number of combinations of some groups."""
        # Most groups may be chosen, for instance all but one by `!=`. Then the others are fewer.
        others = node.whole.chosen ^ chosen
        fewer = min(chosen, others, key=int.bit_count)
        self.effort.compare(fewer.bit_count())
        part = sum([node.weights[group] for group in members(fewer, len(node.weights))])
        return part if fewer == chosen else node.whole.total - part


def _entries(cases: Sequence[_Case]) -> tuple[Entry, ...]:
    """Return the entries of the first slot that have combinations."""
    entries: dict[str, Entry] = {}
    for case in cases:
        first = case.roots[0]
        others = case.total // first.whole.total
        for group, words in enumerate(first.groups.words):
            if first.weights[group]:
                each = first.weights[group] // len(words) * others
                for word in words:
                    entry = entries.setdefault(word.entry, Entry())
                    entry.words.append((case, word, group))
                    entry.cumulative.append(each + (entry.cumulative[-1] if entry.cumulative else 0))
    return tuple(entries.values())


def _reached(node: _Node, chosen: int) -> tuple[frozenset[str], list[tuple[_Node, int]]]:
    """Return the entries in some groups of a node, and each child with the groups that go with them."""
    used = [group for group in members(chosen, len(node.weights)) if node.weights[group]]
    children = []
    for edge in node.edges:
        mask = 0
        # Most groups have a branch in common.
        for branch in {id(branch): branch for branch in (edge.branches[group] for group in used)}.values():
            mask |= branch.chosen
        children.append((edge.child, mask))
    return frozenset([word.entry for group in used for word in node.groups.words[group]]), children
