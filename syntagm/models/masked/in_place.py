"""The tokens of each candidate word in its place: as the tokenizer divides the whole sentence, never the word alone.

Thousands of candidates in thousands of contexts would be tokenised again and again. What a word becomes depends on what it
touches: on what stands between the blanks around it. So all candidates are tokenised in the first context of each kind, and
in each further one the first and the last of them, to see that they become the same.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Gap
from syntagm.models.hugging_face.tokens import Framed, frame

# Kinds of contexts remembered: all candidates of each.
_KINDS = 32
_TOUCHING_LEFT, _TOUCHING_RIGHT = re.compile(r"\s*\S*\Z"), re.compile(r"\S*\s?")


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A word in its sentence: the token numbers before it, its own, and those after it, symbols included."""

    before: tuple[int, ...]
    pieces: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What the word stands between."""
        return self.before, self.after


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The candidates of a blank.

    Arguments:
        before: token numbers before most of them, symbols included.
        after: those after them.
        single: shape (words,): the token number of each that is one token between `before` and `after`, else -1.
        several: index -> the tokens of each other word that stands there.
        odd: index -> the words that change what is around them.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    single: NDArray[np.int64]
    several: dict[int, tuple[int, ...]]
    odd: dict[int, Placed]

    @property
    def highest(self) -> int:
        """The highest token number of the words and of what is around them."""
        odd = [(*one.before, *one.pieces, *one.after) for one in self.odd.values()]
        rows = [self.before, self.after, *self.several.values(), *odd]
        return max(0, int(self.single.max(initial=0)), *(max(row, default=0) for row in rows))


class Places:
    """Where words stand in blanks, by one tokenizer."""

    def __init__(self, tokenizer: Any, model: str) -> None:
        self._tokenizer, self._model = tokenizer, model
        self._known: dict[tuple[object, ...], Candidates] = {}

    def candidates(self, blank: Gap) -> Candidates:
        """The tokens of each candidate; one that is not made of whole tokens is in neither list.

        Raises:
            ModelError: a special symbol in the text, or a character that no token covers.
        """
        left, right = _TOUCHING_LEFT.search(blank.left), _TOUCHING_RIGHT.match(blank.right)
        assert left is not None
        assert right is not None
        # At the very beginning and end of a text a word may become other tokens.
        key = (left[0], left.start() == 0, right[0], right.end() == len(blank.right), blank.words)
        if (known := self._known.get(key)) and (found := self._again(blank, known)):
            return found
        made = _divided(self.place(blank, blank.words), len(blank.words))
        if len(self._known) == _KINDS:
            del self._known[next(iter(self._known))]
        self._known[key] = made
        return made

    def _again(self, blank: Gap, known: Candidates) -> Candidates | None:
        """The same tokens in another sentence, if the first and the last word say so; None if all must be asked."""
        whole = np.flatnonzero(known.single >= 0)
        if not len(whole) or known.odd:
            return None
        first, last = self.place(blank, [blank.words[index] for index in (whole[0], whole[-1])])
        pieces = (int(known.single[whole[0]]),), (int(known.single[whole[-1]]),)
        if first is None or last is None or (first.pieces, last.pieces) != pieces or first.around != last.around:
            return None
        return Candidates(*first.around, known.single, known.several, {})

    def place(self, blank: Gap, words: Sequence[str]) -> list[Placed | None]:
        """Return each word in its sentence; None for one that is not made of whole tokens."""
        texts = [blank.left + word + blank.right for word in words]
        framed = frame(self._tokenizer, texts, self._model)
        begin = len(blank.left)
        return [
            _placed(text, one, begin, begin + len(word)) for text, one, word in zip(texts, framed, words, strict=True)
        ]


def _placed(text: str, framed: Framed, begin: int, end: int) -> Placed | None:
    """The word between two characters, with the white space before it; None if it is not whole tokens."""
    starts, lowest = framed.tokens.starts, len(text[:begin].rstrip())
    inside = np.flatnonzero((starts >= lowest) & (starts < end))
    if begin == end or lowest not in starts:
        return None
    after = inside[-1] + 1
    if text[end : starts[after] if after < len(starts) else len(text)].strip():
        return None
    numbers, place, stop = framed.inputs.tolist(), framed.places[inside[0]], framed.places[inside[-1]] + 1
    return Placed(tuple(numbers[:place]), tuple(numbers[place:stop]), tuple(numbers[stop:]))


def _divided(placed: Sequence[Placed | None], words: int) -> Candidates:
    whole = {index: one for index, one in enumerate(placed) if one}
    surroundings = [one.around for one in whole.values()] or [((), ())]
    [((before, after), _)] = Counter(surroundings).most_common(1)
    single = np.full(words, -1, np.int64)
    several: dict[int, tuple[int, ...]] = {}
    odd: dict[int, Placed] = {}
    for index, one in whole.items():
        if one.around != (before, after):
            odd[index] = one
        elif len(one.pieces) == 1:
            single[index] = one.pieces[0]
        else:
            several[index] = one.pieces
    return Candidates(before, after, single, several, odd)
