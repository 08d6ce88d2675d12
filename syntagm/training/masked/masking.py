"""Masking: the choice of the tokens of a batch to predict, and what a BERT sees at their positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagm.training.masked.word_pieces import SYMBOLS, UNKNOWN

_KEPT, _REPLACED = 0.1, 0.1


@dataclass(frozen=True, slots=True)
class Batches(Sequence[tuple[Tensor, Tensor, Tensor]]):
    """Batches of rows, masked on access; the masks depend only on the seed, epoch, process and index."""

    rows: Sequence[NDArray[np.int64]]  # the token numbers of all rows
    places: NDArray[np.int64]  # the indices of the rows of each batch, shape (batches, rows per batch)
    masks: tuple[int, int, int]  # the mask token and the replacements; see `masked`
    seed: tuple[int, int, int]  # the seed, epoch and number of the process
    share: float  # the probability that a token is chosen for prediction

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        generator = np.random.Generator(np.random.PCG64([*self.seed, index]))
        rows = [self.rows[place] for place in self.places[index]]
        return masked(rows, self.masks, generator, self.share, mixed=True)


def masked(
    rows: Sequence[NDArray[np.int64]],
    masks: tuple[int, int, int],
    generator: np.random.Generator,
    share: float,
    mixed: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Mask rows of tokens. At least one token is chosen for prediction."""
    mask, first, entries = masks
    width = max(map(len, rows))
    ids, real = np.zeros((len(rows), width), np.int64), np.zeros((len(rows), width), np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)], real[number, : len(row)] = row, 1
    inside = np.flatnonzero((ids >= first) | (ids == SYMBOLS.index(UNKNOWN)))
    chosen = inside[generator.random(len(inside)) < share]
    if not len(chosen):
        chosen = inside[[generator.integers(len(inside))]]
    targets = np.full(ids.size, -1)
    targets[chosen] = ids.ravel()[chosen]
    fate = generator.random(len(chosen)) if mixed else np.ones(len(chosen))
    seen = ids.ravel()
    replacements = generator.integers(first, entries, len(chosen))
    seen[chosen] = np.where(fate < _KEPT, seen[chosen], np.where(fate < _KEPT + _REPLACED, replacements, mask))
    return torch.from_numpy(ids), torch.from_numpy(real), torch.from_numpy(targets.reshape(ids.shape))
