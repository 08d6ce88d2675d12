"""The rows that a GPT-2 is trained on: cut out of a stream of sentences, and cloze lines; inputs and targets of each batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# Stands among the targets where there is nothing to foretell.
NOTHING = -100

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class Rows(Sequence[Batch]):
    """Batches of rows of a stream, cut out when they are asked for."""

    stream: NDArray[np.int32]
    places: NDArray[np.int64]
    window: int

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        cut = self.places[index][:, None] + np.arange(self.window + 1)
        rows = torch.from_numpy(self.stream[cut].astype(np.int64))
        return rows[:, :-1], rows[:, 1:]


@dataclass(frozen=True, slots=True)
class Line:
    """A cloze line.

    Arguments:
        ids: its tokens, the symbol first.
        last: where its last word begins, which alone is learnt.
    """

    ids: NDArray[np.int32]
    last: int


@dataclass(frozen=True, slots=True)
class Lines(Sequence[Batch]):
    """Batches of cloze lines.

    Arguments:
        lines: all of them.
        places: which make each batch, shape (batches, lines a step).
    """

    lines: Sequence[Line]
    places: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        some = [self.lines[place] for place in self.places[index]]
        width = max(len(line.ids) for line in some) - 1
        inputs = torch.zeros(len(some), width, dtype=torch.int64)
        targets = torch.full_like(inputs, NOTHING)
        for row, line in enumerate(some):
            ids = torch.from_numpy(line.ids.astype(np.int64))
            # What stands behind a line has no effect on what is before it.
            inputs[row, : len(ids) - 1] = ids[:-1]
            targets[row, line.last - 1 : len(ids) - 1] = ids[line.last :]
        return inputs, targets


@dataclass(frozen=True, slots=True)
class Mixed(Sequence[Batch]):
    """The batches of both kinds in one order."""

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
    """Where rows begin: each at the first sentence after the end of the one before; the first one at a random sentence.

    Arguments:
        starts: of the sentences.
        length: of the stream.
        window: tokens a row.
        generator: draws the first sentence.
        least: where the text is so short that behind the sentence drawn there are fewer rows than this, the first row
            begins with the first sentence.
    """
    drawn = int(starts[generator.integers(0, max(1, min(len(starts), window)))])
    rows = _cut_from(drawn, starts, length, window)
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
