"""Back-off models in memory, which score texts in batches."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from syntagm.models.answers import Fill, Gap, Surprisals
from syntagm.models.contract import LanguageModel
from syntagm.models.ngram.family import FAMILY
from syntagm.models.ngram.ngrams import END, START, Ngrams
from syntagm.models.ngram.scorer import Tokenisation, WordScorer
from syntagm.models.rank import likeliest, reduce
from syntagm.models.words.vocabulary import Vocabulary

SCORER = "ngram 1"
_KEPT = 32
_NEW = -1
_ROOM = 500_000


class BackOff(LanguageModel):
    """An n-gram model with its vocabulary, created by `ngram.load`."""

    can = frozenset(FAMILY.can)
    worth_caching: ClassVar[bool] = False

    def __init__(
        self, ngrams: Ngrams, vocabulary: Vocabulary, name: str, digest: str, tokenisation: Tokenisation
    ) -> None:
        self._tokenisation, self.name, self.bos = tokenisation, name, START
        self.eos = self._scorer.end
        self.ngrams, self.vocabulary, self.reach = ngrams, vocabulary, ngrams.order - 1
        self._numbers = self._word_ids()
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
        # Made anew each time: as an attribute, it would make a reference cycle with the model.
        return WordScorer(self, self.name, self._tokenisation)

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Compute the surprisals of each text; see `LanguageModel.score`."""
        return self._scorer.score(texts, done)

    def reduce(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Compute surprisals, entropies and ranks; see `LanguageModel.reduce`. Each distinct history is computed once."""
        return self._scorer.score(texts, done, self.reductions)

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """Compute the surprisal of each candidate, given the text before the gap; see `WordScorer.fill`."""
        return self._scorer.fill(gaps, done)

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether each candidate is one word; see `LanguageModel.single`."""
        return self._scorer.single(words)

    def logs(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute log10 p of words in sentences; see `Source.logs`."""
        text, in_vocabulary = self._ids(words)
        return self.ngrams.logs(text), in_vocabulary

    def reductions(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return the entropy before each word in bits, and its rank; shape (2, words), nan at start symbols."""
        text, _ = self._ids(words)
        ids, begin = text.tolist(), 0
        places: dict[tuple[int, ...], list[int]] = {}
        for place, number in enumerate(ids):
            if number == self.ngrams.start:
                begin = place
            else:
                places.setdefault(tuple(ids[max(begin, place - self.memory) : place]), []).append(place)
        reduced = np.full((2, len(words)), np.nan)
        for history, at in places.items():
            logs = self.ngrams.distribution(np.array(history, np.int32))
            reduced[0, at], reduced[1, at] = reduce(logs * np.log(10), text[at].astype(np.int64))
        return reduced

    def _ids(self, words: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the ids of words and of start and end symbols, and whether each is in the vocabulary."""
        ids = np.fromiter(map(self._numbers.get, words, repeat(_NEW)), np.int32, len(words))
        for place in np.flatnonzero(ids == _NEW).tolist():
            ids[place] = self._unknown(words[place])
        in_vocabulary = ids >= 0
        return np.where(in_vocabulary, ids, _NEW - 1 - ids), in_vocabulary

    def _unknown(self, word: str) -> int:
        """Return an id below `_NEW` that encodes the class of an unknown word, and cache it like those of other words."""
        if word not in self._numbers:
            if len(self._numbers) >= self._room:
                self._numbers = self._word_ids()
            self._numbers[word] = _NEW - 1 - self.vocabulary.ids([word])[0]
        return self._numbers[word]

    def _word_ids(self) -> dict[str, int]:
        word_ids = {word: number for number, word in enumerate(self.vocabulary.words) if self.vocabulary.known(word)}
        return word_ids | {END: 0, START: self.ngrams.start}

    def after(self, before: Sequence[str], words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute log10 p of possible next words; see `Source.after`."""
        ids, in_vocabulary = self._ids([START, *before, *words])
        begin = len(before) + 1
        history, targets = ids[:begin][-self.memory :], ids[begin:]
        logs, ranked, sums = self._distribution(tuple(history.tolist()))
        own = logs[targets]
        first, after = np.searchsorted(ranked, -own), np.searchsorted(ranked, -own, "right")
        return np.stack([own, sums[first], sums[-1] - sums[after]]), in_vocabulary[begin:]

    def best(self, before: Sequence[str], count: int) -> list[tuple[str, bool, float]]:
        """Return the likeliest next words; see `Source.best`."""
        history = self._ids([START, *before])[0][-self.memory :]
        logs, _, _ = self._distribution(tuple(history.tolist()))
        words = self.vocabulary.words
        return [
            (words[number], self.vocabulary.known(words[number]), float(logs[number]))
            for number in likeliest(logs, count).tolist()
        ]

    @property
    def memory(self) -> int:
        """The number of previous words that the next word depends on."""
        return max(1, self.ngrams.order - 1)

    def _distribution(self, history: tuple[int, ...]) -> tuple[NDArray[np.float64], ...]:
        """Return log10 p of all words, the same negated and sorted, and the cumulative sums of these probabilities."""
        if history not in self._distributions:
            if len(self._distributions) >= _KEPT:
                self._distributions.clear()
            logs = self.ngrams.distribution(np.array(history, np.int32))
            ranked = np.sort(-logs)
            sums = np.concatenate([[0.0], np.cumsum(10.0**-ranked)])
            self._distributions[history] = (logs, ranked, sums)
        return self._distributions[history]
