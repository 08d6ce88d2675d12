"""The prefix tree of the candidates after a context, so that shared prefixes are computed once.

Each node is a distinct prefix of candidates. Its surprisal is computed from the output at its parent. So only nodes
with children are inputs of the model; if the ends of words are scored, the last node of each candidate is one, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from syntagm.models.causal.prefix_tree import Pack, plan

Nodes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of the tree that is computed in one pass."""

    pack: Pack  # the nodes of the part, to be placed below a context
    nodes: Nodes  # shape (nodes of the pack,): their numbers in the tree
    places: Nodes  # shape (targets,): for each target, the index of its parent in the pack
    targets: Nodes  # shape (targets,): the numbers of these children in the tree

    def cut(self, length: int) -> "Part":
        """Return the first `length` nodes of a part without branches."""
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
    """A tree of candidates, made by `grow`."""

    tokens: Nodes  # shape (nodes,): the last token of each prefix, in depth-first order
    parents: Nodes  # shape (nodes,): the node of the prefix without its last token; -1 for the context
    first: Nodes  # `first`, `last`: shape (candidates,): first and last node of each candidate
    last: Nodes
    depth: Nodes  # shape (candidates,): number of tokens of each candidate
    ended: bool  # whether the ends of the candidates are scored, too
    _flat: Nodes
    _plans: dict[int, tuple[Part, ...]] = field(default_factory=dict, init=False, repr=False)

    @property
    def roots(self) -> Nodes:
        """The nodes directly below the context."""
        return np.flatnonzero(self.parents < 0)

    def sums(self, bits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of `bits`, shape (nodes,), over the nodes of each candidate."""
        sums: NDArray[np.float64] = np.add.reduceat(bits[self._flat], np.cumsum(self.depth) - self.depth)
        return sums

    def parts(self, size: int) -> tuple[Part, ...]:
        """Return all nodes to compute, in parts of at most `size` nodes; if `size` is 0, each path is a part without branches."""
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
        # The mask is computed once here, not again for each context.
        kept = Pack(pack.tokens, pack.parents, pack.depths, pack.sequences, pack.paths, pack.mask())
        return Part(kept, nodes, after[targets], targets)


def grow(candidates: Sequence[Sequence[int]], ended: bool) -> Branches:
    """Build the tree of candidates, which have at least one token each and may be repeated.

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
    candidate_paths = [paths[tuple(candidate)] for candidate in candidates]
    keys = np.array(list(numbers), np.int64).reshape(-1, 2)
    return Branches(
        keys[:, 1], keys[:, 0],
        np.array([path[0] for path in candidate_paths], np.int64), np.array([path[-1] for path in candidate_paths], np.int64),
        np.array([len(path) for path in candidate_paths], np.int64), ended,
        np.array([node for path in candidate_paths for node in path], np.int64),
    )  # fmt: skip
