"""Exact counts of the combinations of words that meet conditions, and the combination with a given rank.

Slots are nodes of a graph, and a condition on two slots is an edge. On a forest of edges, combinations are counted from
the leaves to the root: the words of a slot are grouped by the columns that its edges compare, and a group has as many
combinations as it has words, times those of the groups that go with it in each branch. The rank of a combination is
decoded from the root to the leaves. Conditions that are not in the forest (they close a cycle, name three slots, or ask
for another entry) are left to the caller, who draws again if one doesn't hold.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, compress
from typing import Any

from syntagm.templates import expression
from syntagm.templates.cells import MISSING
from syntagm.templates.expression import Expression, Index, Share, flags
from syntagm.templates.lexicon import Word

Key = tuple[str, ...]


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


@dataclass(slots=True)
class Entry:
    """An entry in a slot: its words with their groups, and the number of combinations with each word and those before it."""

    words: list[tuple[Word, int]]
    cumulative: list[int]


@dataclass(slots=True)
class Counted:
    """The combinations of a configuration: their number, how to find one by its rank, and the conditions not counted.

    Arguments:
        total: the number of combinations that meet the counted conditions.
        checks: the conditions that are not counted.
        roots: the root of each tree of the forest.
        empty: the slots that have no words together, if there are no combinations.
        entries: the entries of the first root, if they are to be equally likely.
    """

    total: int
    checks: tuple[Expression, ...]
    roots: tuple[_Node, ...]
    empty: tuple[str, ...]
    entries: tuple[Entry, ...] = ()

    def combination(self, rank: int) -> dict[str, Word]:
        """Return the combination with a rank from 0 to `total - 1`."""
        words: dict[str, Word] = {}
        for root in self.roots:
            rank, own = divmod(rank, root.whole.total)
            _decode(root, root.whole, own, words)
        return words

    def size(self, entry: Entry) -> int:
        """Return the number of combinations with an entry."""
        return entry.cumulative[-1] * (self.total // self.roots[0].whole.total)

    def of(self, entry: Entry, rank: int) -> dict[str, Word]:
        """Return the combination with a rank from 0 to `size(entry) - 1` among those with an entry."""
        first, *others = self.roots
        words: dict[str, Word] = {}
        for root in others:
            rank, own = divmod(rank, root.whole.total)
            _decode(root, root.whole, own, words)
        place = bisect_right(entry.cumulative, rank)
        words[first.slot], group = entry.words[place]
        _decode_below(first, group, rank - (entry.cumulative[place - 1] if place else 0), words)
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
        edges, checks = _forest(list(slots), joint)
        neighbors: dict[str, list[str]] = {slot: [] for slot in slots}
        for first, second in edges:
            neighbors[first].append(second)
            neighbors[second].append(first)
        roots, seen, total = [], set[str](), 1
        for slot in [spread, *slots] if spread else slots:
            if slot not in seen:
                node = self._node(slot, "", slots, neighbors, edges, seen)
                roots.append(node)
                total *= node.whole.total
        empty = next((root.empty for root in roots if root.empty), ())
        return Counted(total, checks, tuple(roots), empty, self._entries(roots[0]) if spread and total else ())

    def _entries(self, node: _Node) -> tuple[Entry, ...]:
        """Return the entries of a slot that have combinations."""
        key = "entries", id(node)
        if key not in self._memory:
            by_entry: dict[str, list[tuple[Word, int]]] = {}
            for group, words in enumerate(node.groups.words):
                for word in words if node.weights[group] else ():
                    by_entry.setdefault(word.entry, []).append((word, group))
            each = [weight // len(words) for weight, words in zip(node.weights, node.groups.words, strict=True)]
            self._memory[key] = tuple(
                Entry(listed, list(accumulate(each[group] for _, group in listed))) for listed in by_entry.values()
            )
        entries: tuple[Entry, ...] = self._memory[key]
        return entries

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
    slots: Sequence[str], joint: Sequence[Expression]
) -> tuple[dict[tuple[str, str], Expression], tuple[Expression, ...]]:
    """Return the conditions that join two slots each without a cycle, and all other conditions.

    Conditions that ask for a common value come first, because they allow the fewest words.
    """
    pairs: dict[tuple[str, ...], list[Expression]] = {}
    checks = []
    for condition in joint:
        named = expression.slots(condition)
        if len(named) == 2 and not any(isinstance(atom, expression.Differ) for atom in expression.atoms(condition)):
            pairs.setdefault(tuple(sorted(named, key=slots.index)), []).append(condition)
        else:
            checks.append(condition)
    tree = {slot: slot for slot in slots}

    def root(slot: str) -> str:
        while tree[slot] != slot:
            slot = tree[slot]
        return slot

    edges: dict[tuple[str, str], Expression] = {}
    for first, second in sorted(pairs, key=lambda pair: not any(isinstance(part, Share) for part in pairs[pair])):
        if root(first) == root(second):
            checks += pairs[first, second]
        else:
            tree[root(second)] = root(first)
            edges[first, second] = expression.conjunction(pairs[first, second])
    return edges, tuple(checks)
