"""Rows of different lengths in batches: those of like length together, so that little is padding."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

# Rows are sorted by length among those of so many steps: few enough that batches differ from epoch to epoch.
_NEAR = 50


def batches(
    lengths: NDArray[np.int64] | Sequence[int], batch: int, rank: int, world: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Which rows make each batch of an epoch, in random order; those that fill no batch are left out.

    Arguments:
        lengths: of all rows.
        batch: rows of one batch.
        rank: of the process whose batches these are, of `world`.

    Returns:
        Indices of rows, shape (batches, batch); as many batches for each process.
    """
    order = generator.permutation(len(lengths))
    order = order[: len(order) // (batch * world) * batch * world]
    near = np.arange(len(order)) // (batch * world * _NEAR)
    groups = order[np.lexsort((np.asarray(lengths, np.int64)[order], near))].reshape(-1, world, batch)
    return generator.permutation(groups)[:, rank]


def groups(rows: Sequence[NDArray[np.int64]], tokens: int) -> Iterator[Sequence[NDArray[np.int64]]]:
    """Rows of falling length in groups of so many tokens with padding, a row at least."""
    first = 0
    while first < len(rows):
        many = max(1, tokens // len(rows[first]))
        yield rows[first : first + many]
        first += many
