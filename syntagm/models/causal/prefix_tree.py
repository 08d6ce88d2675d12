"""The plan that computes every shared prefix once.

Sequences, sorted, are packed into trees of at most `size` inputs. A node of a tree is a distinct prefix; a token's node
attends to its ancestors and itself, and its position is its depth. Neighbours in sorted order share the most, so a pack is
a run of them; ancestors shared by two packs are computed in both (3 % of BLiMP at 128 inputs a pack).

This file knows nothing about models or texts: token numbers in, node numbers out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """A tree of prefixes in depth-first order.

    Arguments:
        tokens: shape (nodes,): the last token of each prefix.
        parents: shape (nodes,): the node of the prefix without it, -1 for none. A parent stands before its children.
        depths: shape (nodes,): the length of the prefix, less one.
        sequences: which sequences run through the tree.
        paths: for each of them, the node of each of its input tokens.
        allowed: the mask, where it is known already.
    """

    tokens: NDArray[np.int64]
    parents: NDArray[np.int64]
    depths: NDArray[np.int64]
    sequences: tuple[int, ...]
    paths: tuple[NDArray[np.int64], ...]
    allowed: NDArray[np.bool_] | None = None

    def mask(self) -> NDArray[np.bool_]:
        """Shape (nodes, nodes): may the node of the row attend to the node of the column?"""
        if self.allowed is not None:
            return self.allowed
        allowed = np.eye(len(self.tokens), dtype=bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                allowed[node] |= allowed[parent]
        return allowed

    def below(self, stem: Sequence[int]) -> "Pack":
        """The same tree below a stem of its own.

        >>> [pack] = plan([[1, 2], [3]], 8, last=True)
        >>> lowered = pack.below([7, 8])
        >>> lowered.tokens.tolist(), lowered.parents.tolist(), [path.tolist() for path in lowered.paths]
        ([7, 8, 1, 2, 3], [-1, 0, 1, 2, 1], [[2, 3], [4]])
        """
        length, nodes = len(stem), len(self.tokens)
        allowed = np.zeros((length + nodes, length + nodes), bool)
        allowed[:length, :length] = np.tri(length, dtype=bool)
        allowed[length:, :length] = True
        allowed[length:, length:] = self.mask()
        return Pack(
            np.concatenate([np.array(stem, np.int64), self.tokens]),
            np.concatenate([np.arange(-1, length - 1), np.where(self.parents < 0, length - 1, self.parents + length)]),
            np.concatenate([np.arange(length), self.depths + length]),
            self.sequences,
            tuple(path + length for path in self.paths),
            allowed,
        )


def plan(
    sequences: Sequence[Sequence[int]], size: int, last: bool = False, among: Sequence[int] | None = None
) -> Iterator[Pack]:
    """Pack sequences into trees of at most `size` nodes; a longer sequence has a tree of its own.

    Arguments:
        last: is the last token of a sequence an input too? Otherwise it is only a target.
        among: the indices of the sequences to plan, all by default.

    >>> [pack] = plan([[7, 1, 2], [7, 1, 3], [7, 4, 5]], 8)
    >>> pack.tokens.tolist(), pack.parents.tolist(), [path.tolist() for path in pack.paths]
    ([7, 1, 4], [-1, 0, 0], [[0, 1], [0, 1], [0, 2]])
    """
    chosen = range(len(sequences)) if among is None else among
    cut = None if last else -1
    inputs = {index: tuple(sequences[index][:cut]) for index in chosen}
    growing = _Growing()
    for index in sorted(chosen, key=inputs.__getitem__):
        if growing.sequences and growing.grown(inputs[index]) > size:
            yield growing.pack()
            growing = _Growing()
        growing.add(index, inputs[index])
    if growing.sequences:
        yield growing.pack()


class _Growing:
    """A pack that sequences are added to, in sorted order."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.depths: list[int] = []
        self.sequences: list[int] = []
        self.paths: list[NDArray[np.int64]] = []
        self._sequence: tuple[int, ...] = ()
        self._path: list[int] = []

    def grown(self, sequence: tuple[int, ...]) -> int:
        """How many nodes there would be with `sequence`."""
        return len(self.tokens) + len(sequence) - self._shared(sequence)

    def add(self, index: int, sequence: tuple[int, ...]) -> None:
        shared = self._shared(sequence)
        path = self._path[:shared]
        for depth in range(shared, len(sequence)):
            self.parents.append(path[-1] if path else -1)
            path.append(len(self.tokens))
            self.tokens.append(sequence[depth])
            self.depths.append(depth)
        self._sequence, self._path = sequence, path
        self.sequences.append(index)
        self.paths.append(np.array(path, np.int64))

    def pack(self) -> Pack:
        tokens, parents, depths = (np.array(values, np.int64) for values in (self.tokens, self.parents, self.depths))
        return Pack(tokens, parents, depths, tuple(self.sequences), tuple(self.paths))

    def _shared(self, sequence: tuple[int, ...]) -> int:
        shared = 0
        for mine, other in zip(self._sequence, sequence, strict=False):
            if mine != other:
                break
            shared += 1
        return shared


def batches(packs: Iterator[Pack], budget: "Budget") -> Iterator[list[Pack]]:
    """Group packs so that the largest, times their number, stays within the budget of the moment."""
    batch: list[Pack] = []
    widest = 0
    for pack in packs:
        # A row of the batch has at least one place, even where a sequence has no inputs.
        wider = max(widest, len(pack.tokens), 1)
        if batch and wider * (len(batch) + 1) > budget.tokens:
            yield batch
            batch, wider = [], max(1, len(pack.tokens))
        batch.append(pack)
        widest = wider
    if batch:
        yield batch


@dataclass(slots=True)
class Budget:
    """How many tokens a batch may hold. Out of memory halves it, and it stays halved."""

    tokens: int
