"""The training rows of a GPT-2, which are parts of a stream of sentences or cloze lines, and the batches of these rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# The target at positions where nothing is to be predicted.
NOTHING = -100

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class Rows(Sequence[Batch]):
    """Batches of rows of a stream, which are extracted on access."""

    stream: NDArray[np.int32]  # the text as token numbers, shape (tokens,)
    places: NDArray[np.int64]  # the starts of the rows of each batch, shape (batches, rows per batch)
    window: int  # tokens per row

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        cut = self.places[index][:, None] + np.arange(self.window + 1)
        rows = torch.from_numpy(self.stream[cut].astype(np.int64))
        return rows[:, :-1], rows[:, 1:]


@dataclass(frozen=True, slots=True)
class ClozeLine:
    """A cloze line, of which only the last word is a target."""

    ids: NDArray[np.int32]  # the token numbers, beginning with the start-of-text symbol
    last: int  # the index of the first token of the last word


@dataclass(frozen=True, slots=True)
class Lines(Sequence[Batch]):
    """Batches of cloze lines."""

    lines: Sequence[ClozeLine]
    places: NDArray[np.int64]  # the indices of the lines of each batch, shape (batches, lines per step)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        batch = [self.lines[place] for place in self.places[index]]
        width = max(len(line.ids) for line in batch) - 1
        inputs = torch.zeros(len(batch), width, dtype=torch.int64)
        targets = torch.full_like(inputs, NOTHING)
        for row, line in enumerate(batch):
            ids = torch.from_numpy(line.ids.astype(np.int64))
            # Padding on the right has no effect on the tokens before it.
            inputs[row, : len(ids) - 1] = ids[:-1]
            targets[row, line.last - 1 : len(ids) - 1] = ids[line.last :]
        return inputs, targets


@dataclass(frozen=True, slots=True)
class Mixed(Sequence[Batch]):
    """Batches of stream rows and batches of cloze lines, in one common order."""

    stream: Rows
    lines: Lines
    order: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: Any) -> Any:
        place = int(self.order[index])
        return self.stream[place] if place < len(self.stream) else self.lines[place - len(self.stream)]


def cut(
    starts: NDArray[np.int64], length: int, window: int, generator: np.random.Generator, least: int = 1
) -> NDArray[np.int64]:
    """Choose the starts of rows."""
    # A random sentence for the first, and for the others the first sentence after the previous row.
    first = int(starts[generator.integers(0, max(1, min(len(starts), window)))])
    rows = _cut_from(first, starts, length, window)
    return rows if len(rows) >= least else _cut_from(int(starts[0]), starts, length, window)


def _cut_from(place: int, starts: NDArray[np.int64], length: int, window: int) -> NDArray[np.int64]:
    rows = []
    while place + window < length:
        rows.append(place)
        following = int(np.searchsorted(starts, place + window))
        if following == len(starts):
            break
        place = int(starts[following])
    return np.array(rows, np.int64)
