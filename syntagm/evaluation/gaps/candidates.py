"""The candidate words for a gap, and the positions of a word list's forms among them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.evaluation.gaps.nucleus import Eligible
from syntagm.models import Fill
from syntagm.suites import WordList


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The candidate words of a gap: the forms of a word list, followed by further words of the sentences."""

    words: tuple[str, ...]  # the distinct words
    places: dict[str, int]  # word -> its position in `words`
    forms: NDArray[np.intp]  # the position of each form of the list. Shape (rows, labels).
    labels: tuple[str, ...]  # the labels of the list

    def eligible(self, fill: Fill, which: Eligible) -> NDArray[np.bool_]:
        """Return whether each row of the list counts. Shape (rows,)."""
        # A row counts if each of its forms is in the vocabulary and has an answer. With `which="single-token"`, each
        # form must also be a single token.
        result: NDArray[np.bool_] = np.all(usable(fill, which)[self.forms], axis=1)
        return result

    def sides(self, label: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the positions of the forms with a label, shape (rows,), and of the other forms, shape (rows, labels - 1)."""
        column = self.labels.index(label)
        return self.forms[:, column], np.delete(self.forms, column, axis=1)

    def whole_rows(self, single: NDArray[np.bool_], sentence_words: Sequence[str]) -> NDArray[np.intp]:
        """Return the positions of the words to query if only single tokens count."""
        # These are the single-token words among `sentence_words`, and the forms of the rows whose forms are all single
        # tokens.
        queried = np.zeros(len(self.words), bool)
        queried[self.forms[np.all(single[self.forms], axis=1)]] = True
        queried[[self.places[word] for word in sentence_words]] = True
        return np.flatnonzero(queried & single)


def spread(fill: Fill, places: NDArray[np.intp], size: int) -> Fill:
    """Extend the answer for some words to all words. The other words get nan and count as out of vocabulary."""
    bits, above, below = np.full((3, size), np.nan)
    in_vocabulary = np.zeros(size, bool)
    bits[places], above[places], below[places], in_vocabulary[places] = (
        fill.bits,
        fill.above,
        fill.below,
        fill.in_vocabulary,
    )
    return Fill(bits, above, below, in_vocabulary, fill.best)


def candidates(words: WordList, others: Sequence[str] = (), capital: bool = False) -> Candidates:
    """Return the forms of a list in order, followed by further words that are not among them."""
    forms = [[_spelled(form, capital) for form in row.forms] for row in words.rows]
    places: dict[str, int] = {}
    for word in (*(form for row in forms for form in row), *others):
        places.setdefault(word, len(places))
    return Candidates(
        tuple(places), places, np.array([[places[form] for form in row] for row in forms], np.intp), words.labels
    )


def usable(fill: Fill, which: Eligible) -> NDArray[np.bool_]:
    """Return whether the answer gives a usable probability for each word. Shape (words,)."""
    answered = fill.in_vocabulary & ~np.isnan(fill.bits)
    result: NDArray[np.bool_] = answered & single(fill) if which == "single-token" else answered
    return result


def single(fill: Fill) -> NDArray[np.bool_]:
    """Return whether each word is a single token, so that its rank in the vocabulary is defined. Shape (words,)."""
    result: NDArray[Any] = ~np.isnan(fill.above) & ~np.isnan(fill.below)
    return result


def _spelled(form: str, capital: bool) -> str:
    return form[0].upper() + form[1:] if capital else form
