"""The interface of word-level recurrent networks, and their output layers: a softmax, full or adaptive."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from syntagm.core import UsageError

# An adaptive softmax is for large vocabularies (Grave et al. 2017; Merity et al. 2018). The words are divided into a
# head and tails by their numbers, that is, by their frequencies. The probability of a word in the head, and that of
# each tail, come from one softmax; that of a word in a tail is the probability of the tail, times a softmax over the
# words of this tail. So the probabilities sum to 1, and training computes a tail only for words in it.

# Inputs of an output layer, shape (rows, width); words, shape (n,); and the row that each word follows, shape (n,).
Portion = tuple[Tensor, Tensor, Tensor]


class OutputLayer(ABC):
    @property
    def plain(self) -> nn.Linear | None:
        """The linear layer that gives the logits of all words, if one does."""
        return None

    @abstractmethod
    def logits(self, hidden: Tensor) -> Tensor:
        """Return the log-probabilities of all words, up to a constant for each row."""

    @abstractmethod
    def nats(self, portions: Iterable[Portion]) -> Iterator[Tensor]:
        """Yield the surprisals of the words of each portion, shape (n,), without gradients."""

    @abstractmethod
    def loss(self, hidden: Tensor, words: Tensor) -> Tensor:
        """Return the mean surprisal of words in nats."""


class Softmax(OutputLayer, nn.Linear):
    """One softmax over all words, with a row of weights for each."""

    def __init__(self, width: int, words: int) -> None:
        super().__init__(width, words)

    @property
    def plain(self) -> nn.Linear:
        return self

    def logits(self, hidden: Tensor) -> Tensor:
        return self(hidden)  # type: ignore[no-any-return]

    def nats(self, portions: Iterable[Portion]) -> Iterator[Tensor]:
        """Yield surprisals; see `OutputLayer.nats`. All logits go through one buffer."""
        buffer: Tensor | None = None
        for hidden, words, rows in portions:
            if buffer is None:
                buffer = hidden.new_empty(len(hidden), self.out_features)
            logits = torch.addmm(self.bias, hidden, self.weight.T, out=buffer[: len(hidden)])
            chosen = logits[rows, words]
            highest = logits.amax(1, keepdim=True)
            normalisers = logits.sub_(highest).exp_().sum(1).log_().add_(highest[:, 0])
            yield normalisers[rows] - chosen

    def loss(self, hidden: Tensor, words: Tensor) -> Tensor:
        return cross_entropy(self(hidden), words)


def are_cutoffs(value: object, words: int) -> bool:
    """Return whether a value may be the first words of the tails, of which there is at least one."""
    if not isinstance(value, list) or not value or not all(type(first) is int for first in value):
        return False
    return all(first < after for first, after in pairwise([0, *value, words]))


def refuse_odd_cutoffs(cutoffs: tuple[int, ...], words: int) -> None:
    """Raise UsageError unless these are the first words of the tails of a vocabulary of so many words."""
    if not are_cutoffs(list(cutoffs), words):
        raise UsageError(
            "cutoffs", str(list(cutoffs)), f"increasing numbers of words, below the {words:,} of the vocabulary"
        )


class Clusters(OutputLayer):
    """What adaptive softmax layers share: the probabilities of words from those of the head and of the tails."""

    _cutoffs: tuple[int, ...]
    _tails: list[tuple[int, int]]

    def _set_cutoffs(self, cutoffs: tuple[int, ...], words: int) -> None:
        refuse_odd_cutoffs(cutoffs, words)
        self._cutoffs, self._tails = cutoffs, list(pairwise([*cutoffs, words]))

    def _head(self, hidden: Tensor) -> Tensor:
        """Return the log-probabilities of the words of the head, and of the tails."""
        raise NotImplementedError

    def _tail(self, hidden: Tensor, tail: int) -> Tensor:
        """Return the log-probabilities of the words of a tail, given this tail."""
        raise NotImplementedError

    def logits(self, hidden: Tensor) -> Tensor:
        head = self._head(hidden)
        first = self._cutoffs[0]
        tails = [head[:, first + tail, None] + self._tail(hidden, tail) for tail in range(len(self._tails))]
        return torch.cat([head[:, :first], *tails], 1)

    def nats(self, portions: Iterable[Portion]) -> Iterator[Tensor]:
        for portion in portions:
            yield self._nats(*portion)

    def loss(self, hidden: Tensor, words: Tensor) -> Tensor:
        return self._nats(hidden, words, torch.arange(len(hidden), device=hidden.device)).mean()

    def _nats(self, hidden: Tensor, words: Tensor, rows: Tensor) -> Tensor:
        # 0 is the head.
        part = torch.bucketize(words, torch.tensor(self._cutoffs, device=words.device), right=True)
        nats = -self._head(hidden)[rows, torch.where(part == 0, words, self._cutoffs[0] + part - 1)]
        for tail, (first, _) in enumerate(self._tails):
            places = (part == tail + 1).nonzero()[:, 0]
            needed, rows_of_tail = torch.unique(rows[places], return_inverse=True)
            in_tail = self._tail(hidden[needed], tail)[rows_of_tail, words[places] - first]
            nats = nats.index_add(0, places, -in_tail)
        return nats


class AdaptiveSoftmax(Clusters, nn.Linear):
    """An output layer with a row of weights for each word, and one for each tail."""

    def __init__(self, width: int, words: int, cutoffs: tuple[int, ...]) -> None:
        super().__init__(width, words)
        self.tails = nn.Linear(width, len(cutoffs))
        self._set_cutoffs(cutoffs, words)

    def _head(self, hidden: Tensor) -> Tensor:
        first = self._cutoffs[0]
        weight, bias = (
            torch.cat([own[:first], of_tails])
            for own, of_tails in ((self.weight, self.tails.weight), (self.bias, self.tails.bias))
        )
        return linear(hidden, weight, bias).log_softmax(1)

    def _tail(self, hidden: Tensor, tail: int) -> Tensor:
        words = slice(*self._tails[tail])
        return linear(hidden, self.weight[words], self.bias[words]).log_softmax(1)


# Each tensor has a column or row for each text in its dimension 1.
State = tuple[Tensor, ...]


class Network(nn.Module, ABC):
    """A recurrent language model."""

    encoder: nn.Embedding  # the embeddings of words
    decoder: OutputLayer
    reach: int | None = None  # as for `LanguageModel`

    def forward(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Compute the inputs of the output layer, shape (steps, columns, width), and the state after the last step."""
        tops = []
        for row in ids:
            top, state = self.step(row, state)
            tops.append(top)
        return torch.stack(tops), state

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
