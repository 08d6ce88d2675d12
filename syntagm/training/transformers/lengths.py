"""Batches of rows of similar length, which need little padding."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

# Rows are sorted by length within this many steps: few enough that batches differ from epoch to epoch.
_NEAR = 50


def batches(
    lengths: NDArray[np.int64] | Sequence[int], batch: int, rank: int, world: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Choose the rows of each batch of an epoch, in random order; a remainder that doesn't fill a batch is dropped."""
    order = generator.permutation(len(lengths))
    order = order[: len(order) // (batch * world) * batch * world]
    near = np.arange(len(order)) // (batch * world * _NEAR)
    groups = order[np.lexsort((np.asarray(lengths, np.int64)[order], near))].reshape(-1, world, batch)
    return generator.permutation(groups)[:, rank]


def groups(rows: Sequence[NDArray[np.int64]], tokens: int) -> Iterator[Sequence[NDArray[np.int64]]]:
    """Yield groups of rows with at most `tokens` tokens including padding; longer rows are separate groups."""
    # Rows must be sorted from longest to shortest.
    first = 0
    while first < len(rows):
        count = max(1, tokens // len(rows[first]))
        yield rows[first : first + count]
        first += count
