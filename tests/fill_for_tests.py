"""A model whose distribution over a small vocabulary is drawn from the context, and a slow judge that follows the equations."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from syntagm.models import Fill, Gap, LanguageModel, Sees, Surprisals

Distribution = Mapping[str, float]


class Drawn(LanguageModel):
    """Words of `vocabulary` are single tokens; `a_b` is two of them, with the product of their
    probabilities; others are unknown.

    Arguments:
        levels: if above 0, probabilities take so many different values, so that many words are equally likely.
    """

    can: ClassVar[frozenset[str]] = frozenset({"score", "fill"})
    worth_caching: ClassVar[bool] = False

    def __init__(self, vocabulary: Sequence[str], sees: Sees = "left", levels: int = 0) -> None:
        self.vocabulary, self.sees, self._levels = tuple(vocabulary), sees, levels
        self._places = {word: place for place, word in enumerate(self.vocabulary)}
        self.name = f"drawn:{len(self.vocabulary)}"
        self.fingerprint = hashlib.sha256(repr((self.vocabulary, sees == "left", levels)).encode()).hexdigest()
        self.bos, self.settings, self.record = "<s>", {}, {}
        self.asked: list[tuple[str, str]] = []
        self.words: list[tuple[str, ...]] = []

    def distribution(self, left: str, right: str) -> Distribution:
        """Word -> probability in a context."""
        probabilities = self._probabilities(left, right)
        return dict(zip(self.vocabulary, probabilities.tolist(), strict=True))

    def _probabilities(self, left: str, right: str) -> np.ndarray:
        key = left if self.sees == "left" else f"{left}\0{right}"
        generator = np.random.default_rng(list(hashlib.sha256(key.encode()).digest()[:8]))
        weights = generator.gamma(0.3, size=len(self.vocabulary)) + 1e-9
        weights = generator.integers(1, self._levels + 1, len(weights)).astype(float) if self._levels else weights
        return weights / weights.sum()

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        raise NotImplementedError

    def fill(self, blanks: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        for blank in blanks:
            self.asked.append((blank.left, blank.right))
            self.words.append(blank.words)
            yield self._answer(blank)
            if done:
                done(1)

    def single(self, words: Sequence[str]) -> np.ndarray:
        return np.array(["_" not in word for word in words], bool)

    def _answer(self, blank: Gap) -> Fill:
        p = self._probabilities(blank.left, blank.right)
        ranked = -np.sort(-p)
        before = np.concatenate([[0.0], np.cumsum(ranked)])
        places = np.array([self._places.get(word, -1) for word in blank.words])
        own = p[places]
        above, through = (before[np.searchsorted(-ranked, -own, side)] for side in ("left", "right"))
        bits, below, known = -np.log2(own), np.maximum(0.0, 1 - through), places >= 0
        for number in np.flatnonzero(places < 0):
            parts = [self._places.get(part, -1) for part in blank.words[number].split("_")]
            known[number] = len(parts) > 1 and min(parts) >= 0
            bits[number] = -np.log2(p[parts]).sum() if known[number] else 20.0
            above[number] = below[number] = np.nan
        return Fill(bits, above, below, known)


def oracle(
    distribution: Distribution, rows: Sequence[Sequence[str]], right: int, end: str = "top", q: float = 1.0
) -> tuple[float, float, float]:
    """Equal weight, model weight and covered mass, as the reference states them: by sorting the whole vocabulary.

    Words of equal probability are one rank. Rows of which a form is not in the vocabulary don't count.
    """
    rows = [row for row in rows if all(form in distribution for form in row)]
    if q == 1:
        return _value(distribution, rows, right, "top", set(distribution))
    levels = sorted(set(distribution.values()), reverse=end == "top")
    total = 0.0
    before: set[str] = set()
    for level in levels:
        here = {word for word, p in distribution.items() if p == level}
        mass = level * len(here)
        if total + mass >= q:
            break
        total, before = total + mass, before | here
    share = (q - total) / mass
    pre = _value(distribution, rows, right, end, before)
    post = _value(distribution, rows, right, end, before | here)
    return tuple(  # type: ignore[return-value]
        y if np.isnan(x) else x if np.isnan(y) else (1 - share) * x + share * y for x, y in zip(pre, post, strict=True)
    )


def _value(
    p: Distribution, rows: Sequence[Sequence[str]], right: int, end: str, inside: set[str]
) -> tuple[float, float, float]:
    verdicts, counted, forms = [], set(), []
    for number, row in enumerate(rows):
        for other in [form for place, form in enumerate(row) if place != right]:
            within = [row[right] in inside, other in inside]
            if any(within) if end == "top" else all(within):
                verdicts.append(p[row[right]] > p[other])
                counted |= {(number, row[right]), (number, other)}
        forms += [(number, form) for form in row if form in inside]
    mass = forms if end == "top" else counted
    good = sum(p[form] for number, form in mass if form == rows[number][right])
    every = sum(p[form] for _, form in mass)
    return (
        float(np.mean(verdicts)) if verdicts else np.nan,
        good / every if every > 0 else np.nan,
        sum(p[form] for _, form in counted),
    )
