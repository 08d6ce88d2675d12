"""The candidates below a context as one tree: what they share is computed once.

A node is a distinct beginning of a candidate. Its surprisal is read after the node before it, so only nodes that something
follows must go through a model; where the end of a word is charged, too, so must the last node of each candidate.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from syntagm.models.causal.prefix_tree import Pack, plan

Nodes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of the tree that goes through a model at once.

    Arguments:
        pack: its nodes, to be put below a context.
        nodes: shape (nodes of the pack,): their numbers in the tree.
        places: shape (asked,): the nodes of the pack that something follows, once for each thing that does.
        targets: shape (asked,): the numbers of what follows, in the tree.
    """

    pack: Pack
    nodes: Nodes
    places: Nodes
    targets: Nodes

    def cut(self, length: int) -> "Part":
        """The first nodes of a part that doesn't branch."""
        if length >= len(self.nodes):
            return self
        pack, kept = self.pack, self.places < length
        shorter = Pack(
            pack.tokens[:length], pack.parents[:length], pack.depths[:length], pack.sequences,
            tuple(path[:length] for path in pack.paths), pack.mask()[:length, :length],
        )  # fmt: skip
        return Part(shorter, self.nodes[:length], self.places[kept], self.targets[kept])


@dataclass(frozen=True, slots=True, eq=False)
class Branches:
    """Candidates as a tree; made by `grow`.

    Arguments:
        tokens: shape (nodes,): the last token of each beginning, in depth-first order.
        parents: shape (nodes,): the beginning without it; -1: the context.
        first, last: shape (candidates,): first and last node of each candidate.
        depth: shape (candidates,): tokens of each.
        ended: is the end of each candidate asked for, too?
    """

    tokens: Nodes
    parents: Nodes
    first: Nodes
    last: Nodes
    depth: Nodes
    ended: bool
    _flat: Nodes
    _plans: dict[int, tuple[Part, ...]] = field(default_factory=dict, init=False, repr=False)

    @property
    def roots(self) -> Nodes:
        """The nodes right below the context."""
        return np.flatnonzero(self.parents < 0)

    def sums(self, bits: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each candidate the sum over its nodes; `bits` has shape (nodes,)."""
        found: NDArray[np.float64] = np.add.reduceat(bits[self._flat], np.cumsum(self.depth) - self.depth)
        return found

    def parts(self, size: int) -> tuple[Part, ...]:
        """All nodes that must go through a model, in parts of at most `size`; 0: each longest beginning by itself."""
        if size not in self._plans:
            self._plans[size] = tuple(self._planned(size))
        return self._plans[size]

    def _planned(self, size: int) -> list[Part]:
        needed = np.zeros(len(self.tokens), bool)
        needed[self.parents[self.parents >= 0]] = True
        needed[self.last] |= self.ended
        passed = np.zeros(len(self.tokens), bool)
        passed[self.parents[needed & (self.parents >= 0)]] = True
        paths = [self._path(int(node)) for node in np.flatnonzero(needed & ~passed)]
        sequences = [self.tokens[path].tolist() for path in paths]
        if size:
            packs = list(plan(sequences, size, last=True))
        else:
            order = sorted(range(len(paths)), key=lambda index: len(paths[index]))
            packs = [pack for index in order for pack in plan(sequences, 1, True, [index])]
        return [self._part(pack, paths) for pack in packs]

    def _path(self, node: int) -> Nodes:
        path = [node]
        while (node := int(self.parents[node])) >= 0:
            path.append(node)
        return np.array(path[::-1], np.int64)

    def _part(self, pack: Pack, paths: Sequence[Nodes]) -> Part:
        nodes = np.empty(len(pack.tokens), np.int64)
        for index, path in zip(pack.sequences, pack.paths, strict=True):
            nodes[path] = paths[index]
        place = np.full(len(self.tokens) + 1, -1, np.int64)
        place[nodes] = np.arange(len(nodes))
        after = place[self.parents]
        targets = np.flatnonzero(after >= 0)
        # The mask is worked out once, not below each context.
        kept = Pack(pack.tokens, pack.parents, pack.depths, pack.sequences, pack.paths, pack.mask())
        return Part(kept, nodes, after[targets], targets)


def grow(candidates: Sequence[Sequence[int]], ended: bool) -> Branches:
    """The tree of some candidates, of at least one token each; a candidate may stand there twice.

    >>> branches = grow([[5, 6], [4], [5], [5, 7]], ended=False)
    >>> branches.tokens.tolist(), branches.parents.tolist(), branches.last.tolist()
    ([4, 5, 6, 7], [-1, -1, 1, 1], [2, 0, 1, 3])
    >>> [(part.nodes.tolist(), part.targets.tolist()) for part in branches.parts(8)]
    [([1], [2, 3])]
    """
    numbers: dict[tuple[int, int], int] = {}
    paths: dict[tuple[int, ...], list[int]] = {}
    for candidate in sorted({tuple(candidate) for candidate in candidates}):
        node, path = -1, []
        for token in candidate:
            node = numbers.setdefault((node, token), len(numbers))
            path.append(node)
        paths[candidate] = path
    found = [paths[tuple(candidate)] for candidate in candidates]
    keys = np.array(list(numbers), np.int64).reshape(-1, 2)
    return Branches(
        keys[:, 1], keys[:, 0],
        np.array([path[0] for path in found], np.int64), np.array([path[-1] for path in found], np.int64),
        np.array([len(path) for path in found], np.int64), ended,
        np.array([node for path in found for node in path], np.int64),
    )  # fmt: skip
