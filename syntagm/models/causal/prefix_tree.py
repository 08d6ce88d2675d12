"""Packing of sequences into prefix trees, so that shared prefixes are computed once.

Sorted sequences are packed into trees of at most `size` inputs. Each node is a distinct prefix. A node attends to itself and
its ancestors, and its position is its depth. Neighbours in sorted order share the longest prefixes, so a pack consists of
consecutive sequences. Ancestors shared by two packs are computed in both (3 % of BLiMP with 128 inputs per pack).

This module does not depend on models or texts: its input is token ids, and its output is node numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """A tree of prefixes in depth-first order."""

    tokens: NDArray[np.int64]  # shape (nodes,): the last token of each prefix
    # Shape (nodes,): the node of the prefix without its last token, -1 for none. Parents come before children.
    parents: NDArray[np.int64]
    depths: NDArray[np.int64]  # shape (nodes,): the length of the prefix minus one
    sequences: tuple[int, ...]  # indices of the sequences in the tree
    paths: tuple[NDArray[np.int64], ...]  # for each of these sequences, the nodes of its input tokens
    allowed: NDArray[np.bool_] | None = None  # the attention mask, if it is already computed

    def mask(self) -> NDArray[np.bool_]:
        """Return the attention mask, shape (nodes, nodes): whether the row's node may attend to the column's node."""
        if self.allowed is not None:
            return self.allowed
        allowed = np.eye(len(self.tokens), dtype=bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                allowed[node] |= allowed[parent]
        return allowed

    def below(self, stem: Sequence[int]) -> "Pack":
        """Return the same tree with the tokens `stem` before each sequence.

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
    """Pack sequences into trees of at most `size` nodes; a longer sequence gets a separate tree.

    Arguments:
        sequences: token ids of each sequence.
        size: largest number of nodes in a tree.
        last: whether the last token of a sequence is an input. If not, it is only a target.
        among: indices of the sequences to pack; all by default.

    >>> [pack] = plan([[7, 1, 2], [7, 1, 3], [7, 4, 5]], 8)
    >>> pack.tokens.tolist(), pack.parents.tolist(), [path.tolist() for path in pack.paths]
    ([7, 1, 4], [-1, 0, 0], [[0, 1], [0, 1], [0, 2]])
    """
    chosen = range(len(sequences)) if among is None else among
    cut = None if last else -1
    inputs = {index: tuple(sequences[index][:cut]) for index in chosen}
    builder = _PackBuilder()
    for index in sorted(chosen, key=inputs.__getitem__):
        if builder.sequences and builder.size_with(inputs[index]) > size:
            yield builder.pack()
            builder = _PackBuilder()
        builder.add(index, inputs[index])
    if builder.sequences:
        yield builder.pack()


class _PackBuilder:
    """A builder of a pack, to which sequences are added in sorted order."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.depths: list[int] = []
        self.sequences: list[int] = []
        self.paths: list[NDArray[np.int64]] = []
        self._sequence: tuple[int, ...] = ()
        self._path: list[int] = []

    def size_with(self, sequence: tuple[int, ...]) -> int:
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
        for own, other in zip(self._sequence, sequence, strict=False):
            if own != other:
                break
            shared += 1
        return shared


def batches(packs: Iterator[Pack], budget: "Budget") -> Iterator[list[Pack]]:
    """Group packs into batches in which the size of the largest pack times the number of packs stays within the budget."""
    batch: list[Pack] = []
    widest = 0
    for pack in packs:
        # A row of the batch has at least one position, even if a sequence has no inputs.
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
    """The largest number of tokens in a batch, halved permanently when memory runs out."""

    tokens: int
