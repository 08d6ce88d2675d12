"""The interface of word-level recurrent networks."""

from abc import ABC, abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from syntagm.models.recurrent.softmax import OutputLayer

# Each tensor has a column or row for each text in its dimension 1.
State = tuple[Tensor, ...]


def one_by_one(network: "Network", ids: Tensor, state: State) -> tuple[Tensor, State]:
    """Read several words with `Network.step`, one after the other; arguments and values are those of `Network.forward`."""
    tops = []
    for row in ids:
        top, state = network.step(row, state)
        tops.append(top)
    return torch.stack(tops), state


class Network(nn.Module, ABC):
    """A recurrent language model."""

    encoder: nn.Embedding  # the embeddings of words
    decoder: OutputLayer
    reach: int | None = None  # as for `LanguageModel`

    @abstractmethod
    def forward(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Compute the inputs of the output layer, shape (steps, columns, width), and the state after the last step."""

    @abstractmethod
    def fresh(self, columns: int) -> State:
        """Return the initial state of several texts: zeros."""

    @abstractmethod
    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the inputs of the output layer and the state after one more word in each of several texts, without dropout."""

    def targets(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of the output layer for words: their ids, unless a network reads words that it can't predict."""
        return ids

    def identity(self) -> list[object]:
        """Return what the numbers depend on besides the weights, for the fingerprint."""
        return []

    def record(self) -> dict[str, object]:
        """Return what else the record of a run says of the network."""
        return {}

    def stored(self) -> dict[str, Tensor]:
        """Return the weights for scoring, by name; tied ones once."""
        return dict(self.named_parameters())
