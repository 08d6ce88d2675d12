"""Exact counts of the combinations of words that meet conditions, and the combination with a given rank.

Slots are nodes of a graph, and a condition on two slots is an edge. On a forest of edges, combinations are counted from
the leaves to the root: the words of a slot are grouped by the columns that its edges compare, and a group has as many
combinations as it has words, times those of the groups that go with it in each branch. The rank of a combination is
decoded from the root to the leaves.

An edge that closes a cycle divides the combinations into cases: the words of one slot that go with the same words of the
other are a case, in which the edge holds for all words that remain. If there are too many cases, or if a condition names
three slots or asks for another entry, it is left to the caller, who draws again if it doesn't hold.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, compress
from typing import Any

from syntagm.templates import expression
from syntagm.templates.cells import MISSING
from syntagm.templates.expression import Expression
from syntagm.templates.index import Index, flags
from syntagm.templates.lexicon import Word

MAX_CASES = 40

Key = tuple[str, ...]
Parts = list[tuple[Sequence[Word], Sequence[Word]]]


@dataclass(slots=True)
class _Groups:
    """The words of a slot, grouped by the cells of some columns."""

    keys: list[Key]
    words: list[list[Word]]
    index: Index


@dataclass(slots=True)
class _Branch:
    """The combinations of a branch that go with a group of the parent: their number, and the groups that are chosen."""

    total: int
    chosen: bytes
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
    groups: _Groups
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
    """The combinations of a configuration: their number, how to find one by its rank, and the conditions not counted.

    Arguments:
        total: the number of combinations that meet the counted conditions.
        checks: the conditions that are not counted.
        cases: the cases with at least one combination.
        cumulative: the number of combinations of each case and those before it.
        empty: the slots that have no words together, if there are no combinations.
        entries: the entries of a slot, if they are to be equally likely.
    """

    total: int
    checks: tuple[Expression, ...]
    cases: tuple[_Case, ...]
    cumulative: tuple[int, ...]
    empty: tuple[str, ...]
    entries: tuple[Entry, ...]

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
        branch.groups = [group for group, chosen in enumerate(branch.chosen) if chosen and node.weights[group]]
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

    _memory: dict[Any, Any] = field(default_factory=dict)

    def count(self, slots: Mapping[str, Sequence[Word]], joint: Sequence[Expression], spread: str = "") -> Counted:
        """Count the combinations of words.

        Arguments:
            slots: slot -> the words that meet its own conditions. Equal sequences should be the same object.
            joint: the conditions on several slots.
            spread: the slot whose entries are to be equally likely, if any.
        """
        cases, cycles, checks = self._cases(slots, joint, spread)
        empty = next((root.empty for case in cases for root in case.roots if root.empty), ())
        if not cases:
            empty = cycles[0]
        cases = [case for case in cases if case.total]
        cumulative = tuple(accumulate(case.total for case in cases))
        total = cumulative[-1] if cumulative else 0
        return Counted(total, tuple(checks), tuple(cases), cumulative, empty, self._entries(cases) if spread else ())

    def entries(
        self, slots: Mapping[str, Sequence[Word]], joint: Sequence[Expression]
    ) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield the entries of each slot that are in a combination, case by case. Arguments as for `count`."""
        for case in self._cases(slots, joint, "")[0]:
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

    def _cases(
        self, slots: Mapping[str, Sequence[Word]], joint: Sequence[Expression], root: str
    ) -> tuple[list[_Case], list[tuple[str, str]], list[Expression]]:
        """Return the cases, with the slot `root` as the first root, the edges that close cycles, and the uncounted conditions."""
        edges, cycles, checks = self._graph(slots, joint)
        divided = [dict(slots)]
        for (first, second), edge in cycles:
            more = [
                {**case, first: left, second: right}
                for case in divided
                for left, right in self._parts(edge, first, case[first], second, case[second])
            ]
            if len(more) > MAX_CASES:
                checks.append(edge)
            else:
                divided = more
        neighbors: dict[str, list[str]] = {slot: [] for slot in slots}
        for first, second in edges:
            neighbors[first].append(second)
            neighbors[second].append(first)
        order = [root, *slots] if root else list(slots)
        cases = [self._case(order, case, neighbors, edges) for case in divided]
        return cases, [pair for pair, _ in cycles], checks

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

    def _graph(
        self, slots: Mapping[str, Sequence[Word]], joint: Sequence[Expression]
    ) -> tuple[dict[tuple[str, str], Expression], list[tuple[tuple[str, str], Expression]], list[Expression]]:
        """Return the edges of a forest, the edges that close cycles, and the conditions that are no edges.

        Edges that would make the most cases are in the forest.
        """
        pairs: dict[tuple[str, ...], list[Expression]] = {}
        checks = []
        order = list(slots)
        for condition in joint:
            named = expression.slots(condition)
            if len(named) == 2 and not any(isinstance(atom, expression.Differ) for atom in expression.atoms(condition)):
                pairs.setdefault(tuple(sorted(named, key=order.index)), []).append(condition)
            else:
                checks.append(condition)
        every = {(first, second): expression.conjunction(pairs[first, second]) for first, second in pairs}
        edges, cycles = _forest(order, list(every))
        if cycles:
            sizes = {
                (first, second): len(self._parts(edge, first, slots[first], second, slots[second]))
                for (first, second), edge in every.items()
            }
            edges, cycles = _forest(order, sorted(every, key=lambda pair: -sizes[pair]))
            cycles.sort(key=lambda pair: sizes[pair])
        return {pair: every[pair] for pair in edges}, [(pair, every[pair]) for pair in cycles], checks

    def _parts(self, edge: Expression, first: str, left: Sequence[Word], second: str, right: Sequence[Word]) -> Parts:
        """Divide the words of a slot into those that go with the same words of another slot."""
        key = ("parts", edge, id(left), id(right))
        if key not in self._memory:
            names = [
                tuple(sorted({ref.name for ref in expression.columns(edge) if ref.slot == slot}))
                for slot in (first, second)
            ]
            of_left, of_right = self._groups(left, names[0]), self._groups(right, names[1])
            by_mask: dict[int, list[Word]] = {}
            for cells, words in zip(of_left.keys, of_left.words, strict=True):
                others = {first: dict(zip(names[0], cells, strict=True))}
                if mask := of_right.index.meeting(edge, second, others):
                    by_mask.setdefault(mask, []).extend(words)
            self._memory[key] = [
                (tuple(words), tuple(chain.from_iterable(compress(of_right.words, flags(mask, len(of_right.words))))))
                for mask, words in by_mask.items()
            ]
            # The words are kept, because their identity is part of the key.
            self._memory[(*key, "words")] = left, right
        parts: Parts = self._memory[key]
        return parts

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
        names = sorted({ref.name for edge in own.values() for ref in expression.columns(edge) if ref.slot == slot})
        children = [
            (own[other], self._node(other, slot, slots, neighbors, edges, seen)) for other in own if other != parent
        ]
        key = (slot, id(slots[slot]), tuple(names), tuple((edge, id(child)) for edge, child in children))
        if key not in self._memory:
            # The words are kept with the node, because their identity is part of the key.
            self._memory[key] = self._made(slot, slots[slot], tuple(names), children), slots[slot]
        node: _Node = self._memory[key][0]
        return node

    def _made(
        self, slot: str, words: Sequence[Word], names: Key, children: Sequence[tuple[Expression, _Node]]
    ) -> _Node:
        groups = self._groups(words, names)
        weights = [len(group) for group in groups.words]
        edges = []
        for edge, child in children:
            edges.append(_Edge(child, _branches(slot, groups, names, edge, child)))
            for number, branch in enumerate(edges[-1].branches):
                weights[number] *= branch.total
        whole = _Branch(sum(weights), bytes([1]) * len(weights))
        empty = () if whole.total else (slot, *(child.slot for _, child in children))
        return _Node(slot, groups, weights, edges, whole, next((c.empty for _, c in children if c.empty), empty))

    def _groups(self, words: Sequence[Word], names: Key) -> _Groups:
        key = (id(words), names)
        if key not in self._memory:
            by_key: dict[Key, list[Word]] = {}
            for word in words:
                by_key.setdefault(tuple([word.forms.get(name, MISSING) for name in names]), []).append(word)
            members = [dict(zip(names, cells, strict=True)) for cells in by_key]
            self._memory[key] = _Groups(list(by_key), list(by_key.values()), Index(members)), words
        groups: _Groups = self._memory[key][0]
        return groups


def _branches(slot: str, groups: _Groups, names: Key, edge: Expression, child: _Node) -> list[_Branch]:
    compared = {ref.name for ref in expression.columns(edge) if ref.slot == slot}
    places = [number for number, name in enumerate(names) if name in compared]
    by_cells: dict[Key, _Branch] = {}
    branches = []
    for key in groups.keys:
        cells = tuple([key[place] for place in places])
        if (branch := by_cells.get(cells)) is None:
            others = {slot: dict(zip([names[place] for place in places], cells, strict=True))}
            mask = child.groups.index.meeting(edge, child.slot, others)
            chosen = flags(mask, len(child.weights))
            branch = by_cells[cells] = _Branch(sum(compress(child.weights, chosen)), chosen)
        branches.append(branch)
    return branches


def _forest(
    slots: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
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


def _reached(node: _Node, chosen: bytes) -> tuple[frozenset[str], list[tuple[_Node, bytes]]]:
    """Return the entries in some groups of a node, and each child with the groups that go with them."""
    used = [bool(one and weight) for one, weight in zip(chosen, node.weights, strict=True)]
    children = []
    for edge in node.edges:
        mask = 0
        # Most groups have a branch in common.
        for branch in {id(branch): branch for branch in compress(edge.branches, used)}.values():
            mask |= int.from_bytes(branch.chosen, "little")
        children.append((edge.child, mask.to_bytes(len(edge.child.weights), "little")))
    words = chain.from_iterable(compress(node.groups.words, used))
    return frozenset([word.entry for word in words]), children
