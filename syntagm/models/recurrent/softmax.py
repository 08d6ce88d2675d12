"""The adaptive softmax, an output layer for large vocabularies (Grave et al. 2017; Merity et al. 2018).

The words are divided into a head and tails by their numbers, that is, by their frequencies. The probability of a word in
the head, and that of each tail, come from one softmax; that of a word in a tail is the probability of the tail, times a
softmax over the words of this tail. So the probabilities sum to 1, and training computes a tail only for words in it.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


class Clusters:
    """What adaptive softmax layers share: the probabilities of words from those of the head and of the tails."""

    _cutoffs: tuple[int, ...]
    _tails: list[tuple[int, int]]

    def _set_cutoffs(self, cutoffs: tuple[int, ...], words: int) -> None:
        self._cutoffs, self._tails = cutoffs, list(pairwise([*cutoffs, words]))

    def _head(self, hidden: Tensor) -> Tensor:
        """Return the log-probabilities of the words of the head, and of the tails."""
        raise NotImplementedError

    def _tail(self, hidden: Tensor, tail: int) -> Tensor:
        """Return the log-probabilities of the words of a tail, given this tail."""
        raise NotImplementedError

    def log_probabilities(self, hidden: Tensor) -> Tensor:
        """Return the log-probabilities of all words, shape (rows, words)."""
        head = self._head(hidden)
        first = self._cutoffs[0]
        tails = [head[:, first + tail, None] + self._tail(hidden, tail) for tail in range(len(self._tails))]
        return torch.cat([head[:, :first], *tails], 1)

    def nats(self, hidden: Tensor, rows: Tensor, words: Tensor) -> Tensor:
        """Return the surprisals of some words.

        Arguments:
            hidden: shape (rows, width): inputs of the layer.
            rows: shape (n,): the input that each word follows.
            words: shape (n,): the words.
        """
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
    """An output layer with a row of weights for each word, and one for each tail.

    Arguments:
        width: width of the inputs.
        words: size of the vocabulary.
        cutoffs: the first word of each tail, in increasing order.
    """

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
