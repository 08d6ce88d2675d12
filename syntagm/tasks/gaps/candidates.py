"""The words that are asked in a blank, and how the forms of a word list lie in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Fill
from syntagm.tasks.gaps.nucleus import Eligible
from syntagm.word_list import WordList


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The words of a blank: the forms of a list, and words that only the sentences have.

    Arguments:
        words: each once.
        places: word -> its place in `words`.
        forms: shape (rows, labels): the place of each form.
        labels: of the list.
    """

    words: tuple[str, ...]
    places: dict[str, int]
    forms: NDArray[np.intp]
    labels: tuple[str, ...]

    def eligible(self, fill: Fill, which: Eligible) -> NDArray[np.bool_]:
        """Which rows count: those of which every form has an answer, is known, and, if so asked, is a single token.

        Shape (rows,).
        """
        rows: NDArray[np.bool_] = np.all(usable(fill, which)[self.forms], axis=1)
        return rows

    def sides(self, label: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The places of the forms that are right under a label, shape (rows,), and of the others, (rows, labels - 1)."""
        column = self.labels.index(label)
        return self.forms[:, column], np.delete(self.forms, column, axis=1)

    def whole_rows(self, single: NDArray[np.bool_], spoken: Sequence[str]) -> NDArray[np.intp]:
        """The places of the words worth asking if only single tokens count: rows of nothing else, and `spoken` words.

        Arguments:
            single: shape (words,): which words are single tokens.
        """
        wanted = np.zeros(len(self.words), bool)
        wanted[self.forms[np.all(single[self.forms], axis=1)]] = True
        wanted[[self.places[word] for word in spoken]] = True
        return np.flatnonzero(wanted & single)


def spread(fill: Fill, places: NDArray[np.intp], size: int) -> Fill:
    """The answer for some words as one for all of them: nan, and not known, for those that were not asked."""
    bits, above, below = np.full((3, size), np.nan)
    known = np.zeros(size, bool)
    bits[places], above[places], below[places], known[places] = fill.bits, fill.above, fill.below, fill.in_vocabulary
    return Fill(bits, above, below, known)


def candidates(words: WordList, others: Sequence[str] = (), capital: bool = False) -> Candidates:
    """The forms of a list in their order, then further words that are not among them.

    Arguments:
        capital: begin each form of the list with a capital; the other words stay as they are.
    """
    forms = [[_spelled(form, capital) for form in row.forms] for row in words.rows]
    places: dict[str, int] = {}
    for word in (*(form for row in forms for form in row), *others):
        places.setdefault(word, len(places))
    return Candidates(
        tuple(places), places, np.array([[places[form] for form in row] for row in forms], np.intp), words.labels
    )


def usable(fill: Fill, which: Eligible) -> NDArray[np.bool_]:
    """Which words the model can be asked for. Shape (words,)."""
    asked = fill.in_vocabulary & ~np.isnan(fill.bits)
    found: NDArray[np.bool_] = asked & single(fill) if which == "single-token" else asked
    return found


def single(fill: Fill) -> NDArray[np.bool_]:
    """Which words are single tokens with a rank among all. Shape (words,)."""
    found: NDArray[Any] = ~np.isnan(fill.above) & ~np.isnan(fill.below)
    return found


def _spelled(form: str, capital: bool) -> str:
    return form[0].upper() + form[1:] if capital else form
