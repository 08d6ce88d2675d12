"""A random baseline: surprisals are normally distributed pseudo-random numbers, derived from a hash of the text.

A word's surprisal is a pure function of the seed and of the text from its beginning to the end of the word. Different texts
get independent draws from the normal distribution with mean 16 and standard deviation 2 bits; the same text gets the same
draw on every platform. 48 bits of the hash are used, so a draw lies within 7.9 standard deviations of the mean, that is,
between 0.2 and 31.8 bits. Surprisals are rounded to 2**-20. Words and punctuation marks are tokens.

The model is normalised in expectation only. With a vocabulary of V = 2**16 exp(-(2 ln 2)**2 / 2), about 25,071 words, the
probabilities 2**-bits of all words after a text have the expected sum 1; for a given text the sum is a little more or less.
So this is not a distribution over texts, and its perplexity is meaningless.

>>> model = load("", seed="1")
>>> barks, barked = model.score(["The dog barks", "The dog barked"])
>>> barks.bits.tolist()[:2] == barked.bits.tolist()[:2], barks.bits[2] == barked.bits[2]
(True, np.False_)
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError, UsageError
from syntagm.models.answers import Fill, Gap, Surprisals
from syntagm.models.contract import LanguageModel, refuse_best
from syntagm.models.random.family import FAMILY

MEAN, DEVIATION = 16.0, 2.0
VOCABULARY = 2**MEAN * math.exp(-((DEVIATION * math.log(2)) ** 2) / 2)
LABEL = f"normal({MEAN:g},{DEVIATION:g})"
_DISTRIBUTION = NormalDist(MEAN, DEVIATION)
_HASH_BYTES = 6
# The last digits of the inverse cumulative distribution function may depend on the platform's logarithm.
_STEP = 2.0**-20
_WORD = re.compile(r"\s*(\w+|[^\w\s])")
_INSIDE = re.compile(r"\w\w")


class Random(LanguageModel):
    """A model with pseudo-random surprisals; see the description of the module."""

    can = frozenset(FAMILY.can)
    worth_caching = False

    def __init__(self, seed: int, unigram: bool) -> None:
        kind = "unigram" if unigram else "text"
        self._unigram, self.reach = unigram, 0 if unigram else None
        self._beginning = hashlib.blake2b(f"random 1|{kind}|{seed}|".encode(), digest_size=_HASH_BYTES)
        chosen = {"seed": str(seed), "unigram": "yes" if unigram else "no"}
        self.name = FAMILY.canonical(LABEL, chosen if unigram else {"seed": str(seed)})
        self.bos = "the beginning of the text"
        self.fingerprint = hashlib.sha256(f"random 1|{LABEL}|{kind}|{seed}".encode()).hexdigest()
        self.settings = FAMILY.scoring_settings(chosen)
        self.record = {"bits": f"{LABEL} a word", "vocabulary": round(VOCABULARY)}

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        for text in texts:
            yield self._score(text)
            if done:
                done(1)

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """Compute the surprisal of each candidate. `above` and `below` are nan, because there is no vocabulary."""
        for gap in gaps:
            refuse_best(self, gap.best)
            # The text before the gap is hashed once. A word that continues after it is refused.
            *_, last = [(0, self._beginning, 0.0), *self._words(gap.left, self._beginning)]
            bits = np.array([self._candidate(gap.left, last[0], last[1], word) for word in gap.words], np.float64)
            unknown = np.full(len(bits), np.nan)
            yield Fill(bits, unknown, unknown.copy(), np.ones(len(bits), bool))
            if done:
                done(1)

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        return np.array([len(self._score(word).bits) == 1 for word in words], bool)

    def _candidate(self, left: str, end: int, hashed: "hashlib.blake2b", word: str) -> float:
        if not word or word != word.strip() or _INSIDE.match(left[-1:] + word[:1]):
            raise ModelError(
                self.name, f"{word!r} is no separate word in {left + word!r}", "whole words in a gap",
                "Put a space at the end of the text before the gap.",
            )  # fmt: skip
        return sum(bits for _, _, bits in self._words(left[end:] + word, hashed))

    def _score(self, text: str) -> Surprisals:
        words = list(self._words(text, self._beginning))
        starts = [0, *(end for end, _, _ in words)][: len(words)]
        bits = np.array([bits for _, _, bits in words], np.float64)
        return Surprisals(text, np.array(starts, np.int32), bits, np.ones(len(words), bool))

    def _words(self, text: str, hashed: "hashlib.blake2b") -> Iterator[tuple[int, "hashlib.blake2b", float]]:
        """Yield for each word its end, the hash of the text up to there, and its bits."""
        at = 0
        while match := _WORD.match(text, at):
            hashed = (self._beginning if self._unigram else hashed).copy()
            hashable = match[1].lower() if self._unigram else match[0]
            # A file may contain half a surrogate pair, which can't be encoded in UTF-8.
            hashed.update(hashable.encode("utf-8", "surrogatepass"))
            at = match.end()
            yield at, hashed, _draw(hashed.digest())


def check(name: str, path: str, chosen: Mapping[str, str]) -> None:
    """Refuse a path; see `Family.checks`."""
    if path not in ("", LABEL):
        raise UsageError(f"{name}:{path}", "a path", "random?seed=1", "This family needs no file.")


def load(path: str, **options: str) -> Random:
    """Create the random model for a seed."""
    chosen = FAMILY.choose(options)
    return Random(int(chosen["seed"]), chosen["unigram"] == "yes")


def _draw(digest: bytes) -> float:
    quantile = (int.from_bytes(digest, "big") + 0.5) / 256**_HASH_BYTES
    return round(_DISTRIBUTION.inv_cdf(quantile) / _STEP) * _STEP
