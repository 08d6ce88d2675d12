"""A back-off model in memory, asked in batches."""

import hashlib
import json
from collections.abc import Sequence
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from syntagm.models._ngrams import Ngrams
from syntagm.models._vocabulary import Vocabulary
from syntagm.models._word_scorer import Asked, WordScorer

SCORER = "ngram 1"
_KEPT = 32


class BackOff(WordScorer):
    """N-grams with a vocabulary; made by `ngram.load`.

    Attributes:
        ngrams: the n-grams themselves.
        vocabulary: which words are known, and what the others are taken for.
    """

    def __init__(self, ngrams: Ngrams, vocabulary: Vocabulary, name: str, digest: str, asked: Asked) -> None:
        super().__init__(name, asked)
        self.ngrams, self.vocabulary = ngrams, vocabulary
        self._numbers = {word: number for number, word in enumerate(vocabulary.words) if vocabulary.known(word)}
        self._distributions: dict[tuple[int, ...], tuple[NDArray[np.float64], ...]] = {}
        self.policies = {**self.policies, "unknown": vocabulary.classes}
        self.fingerprint = hashlib.sha256(json.dumps([SCORER, digest, self.policies]).encode()).hexdigest()
        self.record = {
            "order": ngrams.order,
            "ngrams": [len(values) for values in ngrams.probabilities],
            "vocabulary": len(vocabulary),
            "threshold": vocabulary.threshold,
            "classes": vocabulary.classes,
            "hash": digest,
        }

    def _logs(self, sentences: Sequence[Sequence[str]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        words = list(chain.from_iterable(sentences))
        lengths = np.array([len(sentence) for sentence in sentences], np.int64)
        sentence = np.arange(len(sentences))
        text = np.full(len(words) + 2 * len(sentences), self.ngrams.start, np.int32)
        known = np.ones(len(text), bool)
        places = np.arange(len(words)) + np.repeat(2 * sentence + 1, lengths)
        text[places], known[places] = self._ids(words)
        text[np.cumsum(lengths) + 2 * sentence + 1] = 0
        predicted = text != self.ngrams.start
        return self.ngrams.logs(text)[predicted], known[predicted]

    def _ids(self, words: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """The numbers of words, and which are known."""
        ids = np.fromiter(map(self._numbers.get, words, repeat(-1)), np.int32, len(words))
        known = ids >= 0
        taken: dict[str, int] = {}
        for place in np.flatnonzero(~known).tolist():
            if (word := words[place]) not in taken:
                self._refuse_special(word)
                [taken[word]] = self.vocabulary.ids([word])
            ids[place] = taken[word]
        return ids, known

    def _above(self, history: Sequence[str], word: str) -> float:
        ids = [self.ngrams.start, *self._ids([*history, word])[0].tolist()]
        logs, ranked, sums = self._distribution(tuple(ids[:-1][-max(1, self.ngrams.order - 1) :]))
        return float(sums[np.searchsorted(ranked, -logs[ids[-1]])])

    def _distribution(self, history: tuple[int, ...]) -> tuple[NDArray[np.float64], ...]:
        """Log10 p of all words; the same negated and sorted; and the sums of the probabilities before each of those."""
        if history not in self._distributions:
            if len(self._distributions) >= _KEPT:
                self._distributions.clear()
            logs = self.ngrams.distribution(np.array(history, np.int32))
            ranked = np.sort(-logs)
            sums = np.concatenate([[0.0], np.cumsum(10.0**-ranked)])
            self._distributions[history] = (logs, ranked, sums)
        return self._distributions[history]
