"""How likely each word is by itself: a unigram model, from counts or from numbers that are there.

Of V different words and N words in all, each text's end counted as one, p(word) = (count + 1) / (N + V + 1): one is added to
each count, and one stands for all words that were not seen, so that the probabilities of the words seen and of one unseen word
sum to 1. (Every unseen word gets that one's.)
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Unigrams:
    """The surprisal of words by themselves, in bits.

    Arguments:
        known: word -> bits.
        unseen: bits of a word that is not among them; nan: there must be none.
        end: bits of the end of a text.
        about: where the numbers are from.
        lower: whether words are looked up in lower case.
        counts: word -> how often it was seen; empty where that is not known.
    """

    known: Mapping[str, float]
    unseen: float
    end: float
    about: str
    lower: bool = False
    counts: Mapping[str, int] | None = None

    def bits(self, words: Sequence[str]) -> NDArray[np.float64]:
        """The surprisal of each word. Shape (words,)."""
        asked = (word.lower() if self.lower else word for word in words)
        return np.array([self.known.get(word, self.unseen) for word in asked], np.float64)


def counted(sentences: Iterable[Sequence[str]], about: str, lower: bool = False) -> Unigrams:
    """The unigram model of a text, with one added to each count.

    Arguments:
        sentences: the words of each sentence; the end of each is counted.

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
