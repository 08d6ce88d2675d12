"""Exact counts of the combinations of words that meet conditions, and the combination with a given rank.

Slots are nodes of a graph, and a condition on two slots is an edge. On a forest of edges, combinations are counted from
the leaves to the root: the words of a slot are grouped by the columns that its edges compare, and a group has as many
combinations as it has words, times those of the groups that go with it in each branch. The rank of a combination is
decoded from the root to the leaves.

An edge that closes a cycle divides the combinations of words into cases: the words of one slot that go with the same
words of the other are a case, in which the edge holds for all words that remain. If there are too many cases, or if a
condition names three slots or asks for another entry, it is not in the graph: the caller draws again if it doesn't hold.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, compress
from typing import Any

from syntagm.suites.templates import expression
from syntagm.suites.templates.cells import MISSING
from syntagm.suites.templates.expand import Effort
from syntagm.suites.templates.expression import Expression, Ref
from syntagm.suites.templates.lexicon import Index, Word, flags

# What else costs as much as a pair of groups: a union of 64 groups. Sorting a word into a group costs ten pairs, and finding
# what goes with a group a hundred.
_UNITED, _WORD, _EACH = 64, 10, 100


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The words of a slot, grouped by the cells of some columns."""

    names: tuple[str, ...]  # the columns
    keys: tuple[tuple[str, ...], ...]  # the cells of each group
    words: tuple[tuple[Word, ...], ...]  # the words of each group
    index: Index  # the groups by their cells

    def cells(self, group: int) -> dict[str, str]:
        return dict(zip(self.names, self.keys[group], strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """Which groups of one slot go with those of another."""

    sets: tuple[int, ...]  # the different sets of groups of the other slot, as bits
    of: tuple[int, ...]  # the number of the set that goes with each group


@dataclass(slots=True)
class Grouper:
    """A maker of groups and relations, which remembers them: many slots have the same words and the same conditions."""

    effort: Effort
    _memory: dict[Any, Any] = field(default_factory=dict)

    def groups(self, words: Sequence[Word], columns: tuple[str, ...]) -> Groups:
        key = id(words), columns
        if key not in self._memory:
            self.effort.compare(len(words) * _WORD)
            by_key: dict[tuple[str, ...], list[Word]] = {}
            for word in words:
                by_key.setdefault(tuple([word.forms.get(name, MISSING) for name in columns]), []).append(word)
            index = Index([dict(zip(columns, cells, strict=True)) for cells in by_key])
            # The words are kept, because their identity is the key.
            self._memory[key] = Groups(columns, tuple(by_key), tuple(map(tuple, by_key.values())), index), words
        groups: Groups = self._memory[key][0]
        return groups

    def relation(self, edge: Expression, groups: Groups, others: Groups) -> Relation:
        self.effort.compare(_EACH)
        key = edge, id(groups), id(others)
        if key not in self._memory:
            self._memory[key] = self._related(edge, groups, others), groups, others
        relation: Relation = self._memory[key][0]
        return relation

    def _related(self, edge: Expression, groups: Groups, others: Groups) -> Relation:
        compared = columns(edge, "0")
        places = [place for place, name in enumerate(groups.names) if name in compared]
        numbers: dict[int, int] = {}
        by_cells: dict[tuple[str, ...], int] = {}
        of = []
        for group, key in enumerate(groups.keys):
            cells = tuple([key[place] for place in places])
            if cells not in by_cells:
                self.effort.compare(len(others.keys) // _UNITED + _EACH)
                chosen = others.index.meeting(edge, "1", {"0": groups.cells(group)})
                by_cells[cells] = numbers.setdefault(chosen, len(numbers))
            of.append(by_cells[cells])
        return Relation(tuple(numbers), tuple(of))


def columns(edge: Expression, slot: str) -> tuple[str, ...]:
    """Return the columns of a slot that a condition compares, in alphabetical order."""
    return tuple(sorted({ref.name for ref in expression.columns(edge) if ref.slot == slot}))


def members(chosen: int, size: int) -> Iterable[int]:
    """Return the numbers of a set of bits, in order.

    >>> list(members(0b1010, 5)), list(members(1 << 99, 100))
    ([1, 3], [99])
    """
    if chosen.bit_count() * 100 > size:
        return compress(range(size), flags(chosen, size))
    return _few(chosen)


def _few(chosen: int) -> Iterable[int]:
    numbers = []
    while chosen:
        lowest = chosen & -chosen
        numbers.append(lowest.bit_length() - 1)
        chosen ^= lowest
    return numbers


def renamed(edge: Expression, slot: str, other: str) -> Expression:
    """Return a condition with `0` and `1` as the names of its two slots: the relation doesn't depend on the names."""
    names = {slot: "0", other: "1"}
    return expression.bound(edge, lambda ref: Ref(names[ref.slot], ref.name), names.__getitem__)


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
        neighbors: dict[str, list[str]] = {slot: [] for slot in graph.slots}
        for first, second in graph.edges:
            neighbors[first].append(second)
            neighbors[second].append(first)
        order = [root, *graph.slots] if root else graph.slots
        return [self._case(order, case, neighbors, graph.edges) for case in graph.cases]

    def _entries(self, cases: Sequence[_Case]) -> tuple[Entry, ...]:
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
