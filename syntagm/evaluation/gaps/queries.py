"""The words to score in the gaps of a suite."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.evaluation.gaps.context import DistinctContext
from syntagm.evaluation.gaps.weights import Candidates, Eligible, candidates, spread
from syntagm.models import Fill, Gap, LanguageModel
from syntagm.suites import WordList


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """The words for the gaps of a suite."""

    # In gaps after white space, only some of the words may be scored. In other gaps all words are scored, because a
    # word is tested for being a single token after white space only.

    words: Candidates
    asked: tuple[str, ...]  # the words to score after white space
    places: NDArray[np.intp]  # the positions of `asked` in `words`

    def gap(self, context: DistinctContext, best: int = 0) -> Gap:
        """Return the gap that the model scores, and in which it lists some of its most probable entries."""
        return Gap(context.left, context.right, self.asked if self._narrowed(context) else self.words.words, best)

    def answer(self, context: DistinctContext, fill: Fill) -> Fill:
        """Return the answer for all words; words that were not scored have nan."""
        return spread(fill, self.places, len(self.words.words)) if self._narrowed(context) else fill

    def _narrowed(self, context: DistinctContext) -> bool:
        return context.left[-1:].isspace() and len(self.places) < len(self.words.words)


def questions(
    model: LanguageModel, words: WordList, which: Eligible, contexts: Iterable[DistinctContext]
) -> tuple[Question, Question]:
    """Return the words for gaps within sentences, and for gaps that begin a sentence with a capital."""
    # The whole suite has one set of words, so that a model tokenizes each word once. If only single tokens count, and
    # the model can tell which words these are, other words are not scored.
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
