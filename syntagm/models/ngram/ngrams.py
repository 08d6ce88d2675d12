"""The n-grams of a back-off model as arrays in suffix order, and the lookup of probabilities.

The key of an n-gram is a pair: the index of its suffix (the n-gram without its first word, one order below), and its first
word. So the longest n-gram that ends at a position is found from its last word backwards, for many positions together.

    log10 p(w | h) = log10 p of the longest n-gram in the model that is a suffix of hw
                     + the back-off weights of all suffixes of h that are as long as this n-gram or longer
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_ROUGHLY = 1_024
END, UNKNOWN, START = "</s>", "<unk>", "<s>"


@dataclass(frozen=True, slots=True, eq=False)
class Ngrams:
    """A back-off model."""

    words: tuple[str, ...]  # the words by id: END is 0, UNKNOWN is 1, START is the last
    # For each order from 2: shape (n-grams,), int32: the first word of each n-gram.
    firsts: tuple[NDArray[np.int32], ...]
    # For each order from 2: shape (n-grams,), int32: the index, one order below, of the n-gram without its first word.
    # N-grams are sorted by suffix, then by first word.
    suffixes: tuple[NDArray[np.int32], ...]
    # For each order from 1: shape (n-grams,), float32: log10 p of the last word given the others.
    probabilities: tuple[NDArray[np.float32], ...]
    # For each order but the highest: shape (n-grams,), float32: log10 of the back-off weight.
    backoffs: tuple[NDArray[np.float32], ...]
    _keys: list[NDArray[np.int64]] = field(default_factory=list, init=False, repr=False)

    @property
    def order(self) -> int:
        return len(self.probabilities)

    @property
    def start(self) -> int:
        return len(self.words) - 1

    def columns(self, order: int, rows: slice) -> list[NDArray[np.int32]]:
        """Return the words of n-grams as one int32 array of shape (rows,) per position, first to last."""
        numbers = np.arange(len(self.probabilities[order - 1]), dtype=np.int32)[rows]
        columns = []
        for index in reversed(range(order - 1)):
            columns.append(self.firsts[index][numbers])
            numbers = self.suffixes[index][numbers]
        return [*columns, numbers]

    def numbers(self, text: NDArray[np.int32]) -> list[NDArray[np.int32]]:
        """Return for each order the index of the n-gram that ends at each position of `text`; -1 if there is none."""
        numbers_by_order = [text]
        for places, at in self._ending(text):
            numbers = np.full(len(text), -1, np.int32)
            numbers[places] = at
            numbers_by_order.append(numbers)
        return numbers_by_order

    def _ending(self, text: NDArray[np.int32]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield for each order from 2 the positions of a text where n-grams end, and the indices of these n-grams."""
        places = np.flatnonzero(text != self.start)
        at = text.take(places).astype(np.int64)
        for index in range(self.order - 1):
            # At the beginning of a sentence this looks for a start symbol inside an n-gram, which no model has.
            sought_keys = at * len(self.words) + text.take(places - (index + 1))
            if not index:
                # Searching for sorted keys is three times as fast, since neighbours are in the CPU's cache. The order is
                # kept for the higher orders. So ties are sorted roughly by the third word.
                third = text.take(places - 2, mode="wrap") * np.int64(_ROUGHLY) // len(self.words)
                ranked = np.argsort(sought_keys * _ROUGHLY + third)
                sought_keys, places = sought_keys.take(ranked), places.take(ranked)
            keys = self.keys(index)
            at = np.searchsorted(keys, sought_keys)
            present = np.flatnonzero(keys.take(at, mode="clip") == sought_keys) if len(keys) else np.empty(0, np.intp)
            places, at = places.take(present), at.take(present)
            yield places, at

    def longer(self, index: int, suffixes: NDArray[np.int32], firsts: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the n-grams of order `index` + 2 with these suffixes and first words; -1 if there is none."""
        keys = self.keys(index)
        if not len(keys):
            return np.full(len(suffixes), -1, np.int32)
        sought_keys = suffixes.astype(np.int64) * len(self.words) + firsts
        ranked = np.argsort(sought_keys)
        sought_keys = sought_keys[ranked]
        at = np.minimum(np.searchsorted(keys, sought_keys), len(keys) - 1)
        indices = np.empty(len(sought_keys), np.int32)
        indices[ranked] = np.where(keys[at] == sought_keys, at, -1)
        return indices

    def located(self, words: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the indices of n-grams given as words of shape (n-grams, order), first to last; -1 if there is none."""
        numbers = words[:, -1]
        for index in range(words.shape[1] - 1):
            numbers = self.longer(index, numbers, words[:, -2 - index])
        return numbers

    def keys(self, index: int) -> NDArray[np.int64]:
        """Return the sort keys of the n-grams of order `index` + 2: shape (n-grams,), int64."""
        if not self._keys:
            pairs = zip(self.suffixes, self.firsts, strict=True)
            self._keys.extend(suffixes.astype(np.int64) * len(self.words) + firsts for suffixes, firsts in pairs)
        return self._keys[index]

    def logs(self, text: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return log10 p of each word of `text` given the words before it in its sentence, nan at start symbols."""
        # The same word after the same history always has exactly the same number.
        logs = self.probabilities[0].take(text).astype(np.float64)
        weights = self.backoffs[0].take(text) if self.backoffs else logs
        for index, (places, at) in enumerate(self._ending(text), 1):
            logs[1:] += weights[:-1]
            logs[places] = self.probabilities[index].take(at)
            if index < len(self.backoffs):
                weights = np.zeros(len(text), np.float32)
                weights[places] = self.backoffs[index].take(at)
        logs[text == self.start] = np.nan
        return logs

    def distribution(self, history: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return log10 p of every word after a history: shape (words,). It is -inf for the start symbol."""
        contexts = [int(numbers[-1]) for numbers in self.numbers(history)]
        logs = self.probabilities[0].astype(np.float64)
        places = indices = np.arange(len(self.words), dtype=np.int32)
        for index, backoffs in enumerate(self.backoffs):
            if contexts[index] < 0:
                break
            longer = self.longer(index, indices, np.full(len(indices), history[-1 - index]))
            present = longer >= 0
            places, indices = places[present], longer[present]
            ends = self.probabilities[index + 1][indices]
            logs += np.float64(backoffs[contexts[index]])
            logs[places] = ends
        logs[self.start] = -np.inf
        return logs

    def lengths(self, text: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the length of the longest n-gram of the model that ends at each position of `text`; shape (text,)."""
        lengths: NDArray[np.int32] = np.sum([numbers >= 0 for numbers in self.numbers(text)], axis=0, dtype=np.int32)
        return lengths
