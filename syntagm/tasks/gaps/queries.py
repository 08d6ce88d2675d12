"""The words that a model is asked for in the gaps of a suite."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Fill, Gap
from syntagm.models.contract import LanguageModel
from syntagm.tasks.gaps.candidates import Candidates, candidates, spread
from syntagm.tasks.gaps.distinct_contexts import DistinctContext
from syntagm.tasks.gaps.nucleus import Eligible
from syntagm.word_list import WordList


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """The words for the gaps of a suite.

    Only some of the words are asked for in gaps after white space. In other gaps all are, because whether a word is a
    single token was determined after white space.

    Arguments:
        words: all words.
        asked: the words to ask for after white space.
        places: the positions of `asked` in `words`.
    """

    words: Candidates
    asked: tuple[str, ...]
    places: NDArray[np.intp]

    def gap(self, context: DistinctContext) -> Gap:
        """Return the gap to ask the model about."""
        return Gap(context.left, context.right, self.asked if self._narrowed(context) else self.words.words)

    def answer(self, context: DistinctContext, fill: Fill) -> Fill:
        """Return the answer for all words; words that were not asked for have none."""
        return spread(fill, self.places, len(self.words.words)) if self._narrowed(context) else fill

    def _narrowed(self, context: DistinctContext) -> bool:
        return context.left[-1:].isspace() and len(self.places) < len(self.words.words)


def questions(
    model: LanguageModel, words: WordList, which: Eligible, contexts: Iterable[DistinctContext]
) -> tuple[Question, Question]:
    """Return the words for gaps within sentences, and for gaps that begin a sentence with a capital.

    There is one set of words for the whole suite, so that a model divides each word into tokens once. If only single
    tokens count, a model that can list them is not asked for other words.
    """
    contexts = list(contexts)
    sentence_words = sorted({word for context in contexts for item in context.items for word in (item.good, item.bad)})
    within = _question(model, words, which, sentence_words, False)
    # A long list takes a while, and few suites have a gap at the beginning of a sentence.
    capital = any(context.capital for context in contexts)
    return within, _question(model, words, which, sentence_words, True) if capital else within


def _question(
    model: LanguageModel, rows: WordList, which: Eligible, sentence_words: Sequence[str], capital: bool
) -> Question:
    words = candidates(rows, sentence_words, capital)
    places = np.arange(len(words.words))
    if which == "single-token" and type(model).single is not LanguageModel.single:
        # If no row can count, all words are asked for, and the answer shows that none counts.
        narrowed = words.whole_rows(model.single(words.words), sentence_words)
        places = narrowed if len(narrowed) else places
    return Question(words, tuple(words.words[place] for place in places), places)
