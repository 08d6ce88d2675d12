"""Which words a model is asked in the blanks of a suite."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Fill, Gap
from syntagm.models.contract import LanguageModel
from syntagm.tasks.gaps.candidates import Candidates, candidates, spread
from syntagm.tasks.gaps.distinct_contexts import Asked
from syntagm.tasks.gaps.nucleus import Eligible
from syntagm.word_list import WordList


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """The words of blanks, and those of them that are asked where white space stands before; elsewhere all are.

    Arguments:
        words: all of them.
        asked: those that are asked.
        places: where they stand among all.
    """

    words: Candidates
    asked: tuple[str, ...]
    places: NDArray[np.intp]

    def blank(self, context: Asked) -> Gap:
        """The blank to ask the model."""
        return Gap(context.left, context.right, self.asked if self._narrowed(context) else self.words.words)

    def answer(self, context: Asked, fill: Fill) -> Fill:
        """As if all words had been asked."""
        return spread(fill, self.places, len(self.words.words)) if self._narrowed(context) else fill

    def _narrowed(self, context: Asked) -> bool:
        return context.left[-1:].isspace() and len(self.places) < len(self.words.words)


def questions(
    model: LanguageModel, words: WordList, which: Eligible, asked: Iterable[Asked]
) -> tuple[Question, Question]:
    """The words for blanks within sentences, and for those that begin one with a capital.

    One set for a whole suite, so that a model works out once what its words are made of. If only single tokens count, a model
    that can tell which those are is not asked for the others.
    """
    asked = list(asked)
    spoken = sorted({word for one in asked for asker in one.askers for word in (asker.good, asker.bad)})
    within = _question(model, words, which, spoken, False)
    # Looking at a long list takes a while, and few suites begin with the blank.
    capital = any(one.capital for one in asked)
    return within, _question(model, words, which, spoken, True) if capital else within


def _question(model: LanguageModel, rows: WordList, which: Eligible, spoken: Sequence[str], capital: bool) -> Question:
    words = candidates(rows, spoken, capital)
    places = np.arange(len(words.words))
    if which == "single-token" and type(model).single is not LanguageModel.single:
        # Where no row could count, the answer must say so.
        places = found if len(found := words.whole_rows(model.single(words.words), spoken)) else places
    return Question(words, tuple(words.words[place] for place in places), places)
