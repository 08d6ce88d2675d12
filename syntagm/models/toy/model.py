"""A toy model that can be computed by hand: word bigrams of a small text, with add-one smoothing.

    p(word | previous) = (count(previous, word) + 1) / (count(previous) + V)

V is the number of distinct words, plus the unknown word and the end-of-text symbol. count(previous) is the number of bigrams
that begin with `previous`. Words are lower-case; punctuation marks are words. `toy` alone uses the twelve sentences below,
`toy:FILE` a text with one sentence per line.

>>> model = load("")
>>> [answer] = model.score(["The dog barks"])
>>> answer.bits.round(3).tolist()  # V = 24: -log2 of (8 + 1)/(12 + 24), (4 + 1)/(15 + 24), (2 + 1)/(5 + 24)
[2.0, 2.963, 3.273]
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, ModelError, utf8
from syntagm.models.answers import Entry, Fill, Gap, Reductions, Surprisals
from syntagm.models.contract import LanguageModel
from syntagm.models.toy.family import FAMILY

SENTENCES = """\
the dog barks
the dogs bark
the dog barks at the cat
the dogs bark at the cats
the cat sleeps
the cats sleep
the dog near the cats barks
the dogs near the cat bark
no dog ever barks
she thinks that the cat sleeps
they think that the cats sleep
i know what the dog saw
"""
START, END, UNKNOWN = "<s>", "</s>", "<unk>"
_WORD = re.compile(r"\s*(\w+|[^\w\s])")


class Toy(LanguageModel):
    """A bigram model with add-one smoothing; see the description of the module."""

    can = frozenset(FAMILY.can)
    worth_caching = False
    reach = 1

    def __init__(self, text: str, name: str, settings: Mapping[str, str]) -> None:
        sentences = [[START, *_words(line), END] for line in text.splitlines() if line.strip()]
        pairs = Counter(pair for words in sentences for pair in pairwise(words))
        first = Counter(word for words in sentences for word in words[:-1])
        self.vocabulary = sorted({word for words in sentences for word in words[1:]} | {END, UNKNOWN})
        self._in_vocabulary = frozenset(self.vocabulary)
        self._bits: dict[tuple[str, str], float] = {}
        self._pairs, self._first = pairs, first
        eos = settings["eos"] == "yes"
        self.name, self.bos, self.eos, self.settings = name, START, END if eos else None, settings
        self.fingerprint = hashlib.sha256(f"toy 1|{eos}|{text}".encode()).hexdigest()
        self.record = {"vocabulary": len(self.vocabulary)}

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        for text in texts:
            yield self._score(text)
            if done:
                done(1)

    def reduce(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        for text in texts:
            yield self._score(text, reducing=True)
            if done:
                done(1)

    def _score(self, text: str, reducing: bool = False) -> Surprisals:
        starts, bits, in_vocabulary, previous, at = [], [], [], START, 0
        reduced: list[tuple[float, float]] = []
        while match := _WORD.match(text, at):
            word = match[1].lower()
            in_vocabulary.append(word in self._in_vocabulary)
            word = word if in_vocabulary[-1] else UNKNOWN
            starts.append(at)
            bits.append(self._surprisal(previous, word))
            reduced += [self._reduced(previous, word)] if reducing else []
            previous, at = word, match.end()
        if self.eos:
            starts.append(len(text))
            bits.append(self._surprisal(previous, END))
            reduced += [self._reduced(previous, END)] if reducing else []
            in_vocabulary.append(True)
        reductions = Reductions(*np.array(reduced, np.float64).reshape(-1, 2).T) if reducing else None
        return Surprisals(text, np.array(starts, np.int32), np.array(bits), np.array(in_vocabulary, bool), reductions)

    def _reduced(self, previous: str, word: str) -> tuple[float, float]:
        """Return the entropy after a word in bits, and the rank of the next word."""
        costs, own = [self._surprisal(previous, other) for other in self.vocabulary], self._surprisal(previous, word)
        return math.fsum(cost * 2.0**-cost for cost in costs), 1.0 + sum(cost < own for cost in costs)

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        for gap in gaps:
            candidates = [self._candidate(gap.left, word) for word in gap.words]
            bits, above, below = np.array([numbers for numbers, _ in candidates], np.float64).reshape(-1, 3).T
            in_vocabulary = np.array([known for _, known in candidates], bool)
            yield Fill(bits, above, below, in_vocabulary, self._best(gap))
            if done:
                done(1)

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        return np.array([len(_words(word)) == 1 for word in words], bool)

    def _candidate(self, left: str, word: str) -> tuple[tuple[float, float, float], bool]:
        before, words = [START, *_words(left)], _words(word)
        if not words or word != word.strip() or [START, *_words(left + word)] != [*before, *words]:
            raise ModelError(
                self.name, f"{word!r} is no separate word in {left + word!r}", "whole words in a gap",
                "Put a space at the end of the text before the gap.",
            )  # fmt: skip
        spelled = [spelling if spelling in self._in_vocabulary else UNKNOWN for spelling in (*before, *words)]
        spelled[0] = START
        costs = [self._surprisal(*pair) for pair in pairwise(spelled)][-len(words) :]
        if len(words) > 1:
            return (sum(costs), math.nan, math.nan), self._in_vocabulary.issuperset(words)
        all_costs = [self._surprisal(spelled[-2], other) for other in self.vocabulary]
        above, below = (math.fsum(2.0**-c for c in group) for group in _partition(all_costs, costs[0]))
        return (costs[0], above, below), self._in_vocabulary.issuperset(words)

    def _best(self, gap: Gap) -> tuple[Entry, ...]:
        previous = [START, *_words(gap.left)][-1]
        previous = previous if previous in self._in_vocabulary or previous == START else UNKNOWN
        entries = (Entry(word, word not in (END, UNKNOWN), self._surprisal(previous, word)) for word in self.vocabulary)
        return tuple(sorted(entries, key=lambda entry: entry.bits)[: gap.best]) if gap.best else ()

    def _surprisal(self, previous: str, word: str) -> float:
        if (previous, word) not in self._bits:
            probability = (self._pairs[previous, word] + 1) / (self._first[previous] + len(self.vocabulary))
            self._bits[previous, word] = -float(np.log2(probability))
        return self._bits[previous, word]


def check(name: str, path: str, chosen: Mapping[str, str]) -> None:
    _text(path)


def load(path: str, **options: str) -> Toy:
    """Build the toy model from the file `path` (one sentence per line), or from the twelve sentences if `path` is empty."""
    chosen, text = FAMILY.choose(options), _text(path)
    label = f"{Path(path).name}@{hashlib.sha256(text.encode()).hexdigest()[:8]}" if path else "12-sentences"
    return Toy(text, FAMILY.canonical(label, options), FAMILY.scoring_settings(chosen))


def _text(path: str) -> str:
    try:
        return utf8.read(Path(path)).replace("\r\n", "\n") if path else SENTENCES
    except InputError as error:
        raise ModelError(f"toy:{error.place}", error.found, error.expected, error.cure) from error


def _words(line: str) -> list[str]:
    return [match[1].lower() for match in _WORD.finditer(line)]


def _partition(costs: Sequence[float], own: float) -> tuple[list[float], list[float]]:
    """Return the costs below `own` and those above it."""
    return [cost for cost in costs if cost < own], [cost for cost in costs if cost > own]
