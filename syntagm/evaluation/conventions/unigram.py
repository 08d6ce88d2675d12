"""Unigram models: the probability of each word regardless of context, from counts or from a trained model.

Probabilities from counts have add-one smoothing: p(word) = (count + 1) / (N + V + 1), with N words, of which V are
distinct; the end of each sentence counts as a word. The 1 in the divisor is for unseen words: the probabilities of the
seen words and of one unseen word sum to 1, and every unseen word gets this probability.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.models import Asking, load, splitting
from syntagm.training import corpus

NGRAM = "ngram:"
Case = Literal["keep", "lower"]


@dataclass(frozen=True, slots=True)
class Unigrams:
    """The unigram surprisal of words, in bits."""

    known: Mapping[str, float]  # word -> bits
    unseen: float  # bits of any other word; nan if there can't be one
    end: float  # bits of the end of a sentence
    about: str  # the source of the numbers
    lower: bool = False  # whether words are looked up in lower case
    counts: Mapping[str, int] | None = None  # word -> count; None if unknown

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


def read(
    source: str, texts: Iterable[str], tokens: Literal["blanks", "treebank"] = "blanks", case: Case = "keep"
) -> Unigrams:
    """Read or compute the unigram model that an option names."""
    if source.startswith(NGRAM):
        return _of_model(source, _vocabulary(texts, tokens, case), case)
    if not source:
        raise UsageError("unigrams=", "nothing", "unigrams=FILE, a text, or unigrams=ngram:..., a model of order 1")
    return counted(corpus.sentences([source], tokens), f"{Path(source).name}, {tokens}, case {case}", case == "lower")


def _vocabulary(texts: Iterable[str], tokens: Literal["blanks", "treebank"], case: Case) -> list[str]:
    vocabulary: dict[str, None] = {}
    for text in texts:
        words: Iterable[str] = splitting.split(text, tokens)
        vocabulary |= dict.fromkeys(word.lower() if case == "lower" else word for word in words)
    return sorted(vocabulary)


def _of_model(source: str, words: list[str], case: Case) -> Unigrams:
    model = load(f"{source}{'&' if '?' in source else '?'}eos=yes&tokens=blanks")
    if model.record.get("order") != 1:
        raise UsageError("unigrams=", f"{source}, of order {model.record.get('order')}", "a model of order 1")
    asking = Asking(model)
    answers = list(asking.score(words))
    asking.confirm()
    known = {word: float(answer.bits[:-1].sum()) for word, answer in zip(words, answers, strict=True)}
    end = float(answers[0].bits[-1]) if answers else np.nan
    return Unigrams(known, np.nan, end, model.name, case == "lower")
