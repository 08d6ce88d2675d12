"""Unigram models: the probability of each word regardless of context, from counts or from a trained model.

Probabilities from counts have add-one smoothing: p(word) = (count + 1) / (N + V + 1), with N words, of which V are
distinct; the end of each sentence counts as a word. The 1 in the divisor is for unseen words: the probabilities of the
seen words and of one unseen word sum to 1, and every unseen word gets this probability.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Unigrams:
    """The unigram surprisal of words, in bits.

    Arguments:
        known: word -> bits.
        unseen: bits of any other word; nan if there can't be one.
        end: bits of the end of a sentence.
        about: the source of the numbers.
        lower: whether words are looked up in lower case.
        counts: word -> count; None if unknown.
    """

    known: Mapping[str, float]
    unseen: float
    end: float
    about: str
    lower: bool = False
    counts: Mapping[str, int] | None = None

    def bits(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return the surprisal of each word. Shape (words,)."""
        keys = (word.lower() if self.lower else word for word in words)
        return np.array([self.known.get(key, self.unseen) for key in keys], np.float64)


def counted(sentences: Iterable[Sequence[str]], about: str, lower: bool = False) -> Unigrams:
    """Count the words of a text and build a unigram model with add-one smoothing.

    Arguments:
        sentences: the words of each sentence; each sentence end is counted, too.
        about: the source of the text.
        lower: whether to count words in lower case.

    >>> model = counted([["the", "dog"], ["the", "cat"]], "two sentences")
    >>> # 6 words with ends, 3 different and the end: 6 + 4 + 1 = 11; (2 + 1) / 11, (1 + 1) / 11, 1 / 11, (2 + 1) / 11
    >>> (2 ** -model.bits(["the", "dog", "bird"]) * 11).round(9).tolist(), round(2**-model.end * 11, 9)
    ([3.0, 2.0, 1.0], 3.0)
    """
    counts: Counter[str] = Counter()
    ends = 0
    for words in sentences:
        counts.update(word.lower() for word in words) if lower else counts.update(words)
        ends += 1
    total = math.log2(counts.total() + ends + len(counts) + 1 + 1)
    known = {word: total - math.log2(count + 1) for word, count in counts.items()}
    return Unigrams(known, total, total - math.log2(ends + 1), about, lower, counts)
