"""The rows that a GPT-2 is trained on: cut out of a stream of sentences, and the beginnings of single ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# Stands in a row where there is nothing to foretell.
NOTHING = -100


@dataclass(frozen=True, slots=True)
class Rows(Sequence[Tensor]):
    """Batches of rows of a stream, cut out when they are asked for."""

    stream: NDArray[np.int32]
    places: NDArray[np.int64]
    window: int

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        cut = self.places[index][:, None] + np.arange(self.window + 1)
        return torch.from_numpy(self.stream[cut].astype(np.int64))


@dataclass(frozen=True, slots=True)
class Lines(Sequence[Tensor]):
    """Batches of the beginnings of sentences; `NOTHING` stands behind the shorter ones.

    Arguments:
        lines: all of them, the symbol first.
        places: which make each batch, shape (batches, lines a step).
    """

    lines: Sequence[NDArray[np.int32]]
    places: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        some = [torch.from_numpy(self.lines[place].astype(np.int64)) for place in self.places[index]]
        return torch.nn.utils.rnn.pad_sequence(some, batch_first=True, padding_value=NOTHING)


@dataclass(frozen=True, slots=True)
class Mixed(Sequence[Tensor]):
    """The batches of both kinds in one order."""

    stream: Rows
    lines: Lines
    order: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: Any) -> Any:
        place = int(self.order[index])
        return self.stream[place] if place < len(self.stream) else self.lines[place - len(self.stream)]


def cut(starts: NDArray[np.int64], length: int, window: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Where rows begin: each at the first sentence after the end of the one before; the first one at a random sentence."""
    rows = []
    place = int(starts[generator.integers(0, max(1, min(len(starts), window)))])
    while place + window < length:
        rows.append(place)
        following = int(np.searchsorted(starts, place + window))
        if following == len(starts):
            break
        place = int(starts[following])
    return np.array(rows, np.int64)
