"""Tokenisation of candidate words in their sentences.

A candidate is never tokenised alone, since its tokens depend on the text that it touches, up to the next spaces. To avoid
tokenising thousands of candidates in thousands of contexts, the full list of candidates is tokenised only in the first
context of each kind. In further contexts, only the first and the last candidate are tokenised, to check that their
tokens are the same.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.models.answers import Gap
from syntagm.models.hugging_face.tokens import Framed, frame

# Number of kinds of contexts in the cache, each with all candidates.
_KINDS = 32
_TOUCHING_LEFT, _TOUCHING_RIGHT = re.compile(r"\s*\S*\Z"), re.compile(r"\S*\s?")


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A word in its sentence: the token ids before it, its own, and those after it, including special symbols."""

    before: tuple[int, ...]
    pieces: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The token ids before and after the word."""
        return self.before, self.after


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The tokenised candidates of a gap."""

    before: tuple[int, ...]  # token ids before most candidates, including special symbols
    after: tuple[int, ...]  # token ids after most candidates
    # Shape (words,): the token id of each candidate that is one token between `before` and `after`, else -1.
    single: NDArray[np.int64]
    # Index -> token ids of each candidate that is several tokens between `before` and `after`.
    several: dict[int, tuple[int, ...]]
    odd: dict[int, Placed]  # index -> candidates that change the tokens around them

    @property
    def highest(self) -> int:
        """The highest token id of the candidates and of the text around them."""
        odd = [(*word.before, *word.pieces, *word.after) for word in self.odd.values()]
        rows = [self.before, self.after, *self.several.values(), *odd]
        return max(0, int(self.single.max(initial=0)), *(max(row, default=0) for row in rows))


class Places:
    """A tokenizer of words in gaps, with a cache."""

    def __init__(self, tokenizer: Any, model: str) -> None:
        self._tokenizer, self._model = tokenizer, model
        self._cache: dict[tuple[object, ...], Candidates] = {}

    def candidates(self, gap: Gap) -> Candidates:
        """Tokenise the candidates of a gap. A candidate that does not consist of whole tokens appears in none of the fields."""
        left, right = _TOUCHING_LEFT.search(gap.left), _TOUCHING_RIGHT.match(gap.right)
        assert left is not None
        assert right is not None
        # At the beginning and the end of a text, a word may have other tokens.
        key = (left[0], left.start() == 0, right[0], right.end() == len(gap.right), gap.words)
        if (cached := self._cache.get(key)) and (candidates := self._reused(gap, cached)):
            return candidates
        candidates = _grouped(self.place(gap, gap.words), len(gap.words))
        if len(self._cache) == _KINDS:
            del self._cache[next(iter(self._cache))]
        self._cache[key] = candidates
        return candidates

    def _reused(self, gap: Gap, cached: Candidates) -> Candidates | None:
        """Return cached candidates for another sentence if its first and last word have the cached tokens; else None."""
        whole = np.flatnonzero(cached.single >= 0)
        if not len(whole) or cached.odd:
            return None
        first, last = self.place(gap, [gap.words[index] for index in (whole[0], whole[-1])])
        pieces = (int(cached.single[whole[0]]),), (int(cached.single[whole[-1]]),)
        if first is None or last is None or (first.pieces, last.pieces) != pieces or first.around != last.around:
            return None
        return Candidates(*first.around, cached.single, cached.several, {})

    def place(self, gap: Gap, words: Sequence[str]) -> list[Placed | None]:
        """Tokenise each word in its sentence; return None for a word that does not consist of whole tokens."""
        texts = [gap.left + word + gap.right for word in words]
        framed = frame(self._tokenizer, texts, self._model)
        begin = len(gap.left)
        return [
            _placed(text, sentence, begin, begin + len(word))
            for text, sentence, word in zip(texts, framed, words, strict=True)
        ]


def _placed(text: str, framed: Framed, begin: int, end: int) -> Placed | None:
    """Return the word between two characters, and the white space before it; None if it does not consist of whole tokens."""
    starts, lowest = framed.tokens.starts, len(text[:begin].rstrip())
    inside = np.flatnonzero((starts >= lowest) & (starts < end))
    if begin == end or lowest not in starts:
        return None
    after = inside[-1] + 1
    if text[end : starts[after] if after < len(starts) else len(text)].strip():
        return None
    numbers, place, stop = framed.inputs.tolist(), framed.places[inside[0]], framed.places[inside[-1]] + 1
    return Placed(tuple(numbers[:place]), tuple(numbers[place:stop]), tuple(numbers[stop:]))


def _grouped(placed: Sequence[Placed | None], words: int) -> Candidates:
    whole = {index: word for index, word in enumerate(placed) if word}
    surroundings = [word.around for word in whole.values()] or [((), ())]
    [((before, after), _)] = Counter(surroundings).most_common(1)
    single = np.full(words, -1, np.int64)
    several: dict[int, tuple[int, ...]] = {}
    odd: dict[int, Placed] = {}
    for index, word in whole.items():
        if word.around != (before, after):
            odd[index] = word
        elif len(word.pieces) == 1:
            single[index] = word.pieces[0]
        else:
            several[index] = word.pieces
    return Candidates(before, after, single, several, odd)
