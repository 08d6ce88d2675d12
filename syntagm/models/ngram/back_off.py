"""A back-off model in memory, asked in batches."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Fill, Gap, Surprisals
from syntagm.models.contract import LanguageModel
from syntagm.models.ngram.ngrams import END, START, Ngrams
from syntagm.models.ngram.scorer import Asked, WordScorer
from syntagm.models.words.vocabulary import Vocabulary

SCORER = "ngram 1"
_KEPT = 32
_NEW = -1
_ROOM = 500_000


class BackOff(LanguageModel):
    """N-grams with a vocabulary; made by `ngram.load`.

    Attributes:
        ngrams: the n-grams themselves.
        vocabulary: which words are known, and what the others are taken for.
    """

    can: ClassVar[frozenset[str]] = frozenset({"score", "fill"})
    worth_caching: ClassVar[bool] = False

    def __init__(self, ngrams: Ngrams, vocabulary: Vocabulary, name: str, digest: str, asked: Asked) -> None:
        self._asked, self.name, self.bos = asked, name, START
        self.eos = self._scorer.end
        self.ngrams, self.vocabulary = ngrams, vocabulary
        self._numbers = self._known()
        self._room = len(self._numbers) + _ROOM
        self._distributions: dict[tuple[int, ...], tuple[NDArray[np.float64], ...]] = {}
        self.settings = self._scorer.scoring_settings(vocabulary.classes)
        self.fingerprint = hashlib.sha256(json.dumps([SCORER, digest, self.settings]).encode()).hexdigest()
        self.record = {
            "order": ngrams.order,
            "ngrams": [len(values) for values in ngrams.probabilities],
            "vocabulary": len(vocabulary),
            "threshold": vocabulary.threshold,
            "classes": vocabulary.classes,
            "hash": digest,
        }

    @property
    def _scorer(self) -> WordScorer:
        # Kept, it and the model would hold each other in memory.
        return WordScorer(self, self.name, self._asked)

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """The surprisals of each text; see `LanguageModel.score`."""
        return self._scorer.score(texts, done)

    def fill(self, blanks: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """The surprisal of each candidate, given what stands before the blank; see `WordScorer.fill`."""
        return self._scorer.fill(blanks, done)

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the candidates are one word; see `LanguageModel.single`."""
        return self._scorer.single(words)

    def logs(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Log10 p of words in sentences, and which are known; see `Source.logs`."""
        text, known = self._ids(words)
        return self.ngrams.logs(text), known

    def _ids(self, words: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """The numbers of words and of start and end symbols, and which are known."""
        ids = np.fromiter(map(self._numbers.get, words, repeat(_NEW)), np.int32, len(words))
        for place in np.flatnonzero(ids == _NEW).tolist():
            ids[place] = self._unknown(words[place])
        known = ids >= 0
        return np.where(known, ids, _NEW - 1 - ids), known

    def _unknown(self, word: str) -> int:
        """The number that stands for an unknown word, below `_NEW`; kept, so that it is found like others from then on."""
        if word not in self._numbers:
            if len(self._numbers) >= self._room:
                self._numbers = self._known()
            self._numbers[word] = _NEW - 1 - self.vocabulary.ids([word])[0]
        return self._numbers[word]

    def _known(self) -> dict[str, int]:
        known = {word: number for number, word in enumerate(self.vocabulary.words) if self.vocabulary.known(word)}
        return known | {END: 0, START: self.ngrams.start}

    def after(self, before: Sequence[str], words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """What may come next; see `Source.after`."""
        ids, known = self._ids([START, *before, *words])
        begin = len(before) + 1
        history, asked = ids[:begin][-self.memory :], ids[begin:]
        logs, ranked, sums = self._distribution(tuple(history.tolist()))
        own = logs[asked]
        first, after = np.searchsorted(ranked, -own), np.searchsorted(ranked, -own, "right")
        return np.stack([own, sums[first], sums[-1] - sums[after]]), known[begin:]

    @property
    def memory(self) -> int:
        """How many words before it make a difference to the next."""
        return max(1, self.ngrams.order - 1)

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
