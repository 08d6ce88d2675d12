"""Perplexity per word, whatever the tokenizer, and over the words that all of several models know.

Words are separated by white space, and the end of each text counts as one more word. The bits of a word are the sum over
its tokens. A word is out of vocabulary if any of its tokens is. Perplexity is 2 to the power of the mean bits per word,
over all words and over in-vocabulary words alone: KenLM's perplexity "including OOVs" and "excluding OOVs".

Words with undefined bits are excluded from every mean, and counted. These are the first word of a text if the model has
no start-of-text symbol, and words beyond the model's positions. Two perplexities with different values of `undefined` or
`unknown` are not means over the same words: an unknown word has the bits of all words that the model doesn't know, so that a
small vocabulary makes a low perplexity. `perplexities` has a mean over the same words.

>>> from syntagm.models.names import load
>>> result = perplexity(load("toy", eos="yes"), ["the dog barks"])
>>> result.words, round(result.bits, 3)  # of 9/36, 5/39, 3/29 and, for the end, (3 + 1)/(4 + 24)
(4, 11.044)
>>> round(result.perplexity, 3)  # (4 * 39/5 * 29/3 * 7) ** (1/4)
6.778
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError, public
from syntagm.evaluation.texts import refuse_file_name
from syntagm.models import Asking, LanguageModel, Surprisals, between_blanks, names
from syntagm.training import kind, portions

# Number of texts scored at a time, which bounds the memory.
PORTION = 2048
_Words: TypeAlias = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Perplexity:
    """Sums over texts, and the perplexities computed from them."""

    texts: int = 0  # the number of texts
    words: int = 0  # the number of words, including the ends of texts if they were scored
    # The number of words with an unknown token. 0 does not mean that all words were seen in training: for a model of
    # subword tokens every word is in vocabulary.
    unknown: int = 0
    undefined: int = 0  # the number of words whose bits are undefined
    bits: float = 0.0  # the sum over all words with defined bits
    bits_unknown: float = 0.0  # the sum over the unknown words with defined bits
    unknown_scored: int = 0  # the number of unknown words with defined bits
    # The number of characters of all words with defined bits, with the white space before each word. The end of a text
    # counts as one character.
    characters: int = 0
    # The number of words with defined bits that every compared model has in its vocabulary; ends of texts are.
    shared: int = 0
    bits_shared: float = 0.0  # the sum over these words

    def __add__(self, other: "Perplexity") -> "Perplexity":
        return Perplexity(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    @property
    def known(self) -> int:
        """The number of in-vocabulary words with defined bits."""
        return self.words - self.undefined - self.unknown_scored

    @property
    def bits_per_word(self) -> float:
        """Mean bits of the words with defined bits; nan if there are none."""
        return _ratio(self.bits, self.words - self.undefined)

    @property
    def perplexity(self) -> float:
        """2 to the power of the mean bits per word, unknown words included."""
        return _power(self.bits_per_word)

    @property
    def perplexity_known(self) -> float:
        """2 to the power of the mean bits per in-vocabulary word."""
        return _power(_ratio(self.bits - self.bits_unknown, self.known))

    @property
    def perplexity_shared(self) -> float:
        """2 to the power of the mean bits per word that every compared model knows; of one model, `perplexity_known`."""
        return _power(_ratio(self.bits_shared, self.shared))

    @property
    def bits_per_character(self) -> float:
        """Bits divided by characters, which does not depend on a definition of words."""
        return _ratio(self.bits, self.characters)


def division(model: str, paths: Sequence[str | Path]) -> dict[str, str]:
    """Choose the tokenization of the texts in `paths` for a word-level model."""
    # It is chosen as in training. If the model's option `tokens` is `auto`, the choice is made for the texts as a
    # whole, and not line by line. So in a text whose punctuation is split off, a heading without punctuation counts as
    # split, and in ordinary prose a dash between spaces does not make its line count as split. The words of trees are
    # not split again.
    name = names.parse(model)
    saved = names.head(Path(name.path)).get("tokens")
    if "tokens" in name.options or saved is None or (chosen := kind(paths, saved)) == saved:
        return {}
    return {"tokens": chosen}


@public
def perplexity(
    model: LanguageModel, texts: Iterable[str], ends: bool = True, done: Callable[[int], None] | None = None
) -> Perplexity:
    """Compute the perplexity of a model on texts, each scored separately.

    Arguments:
        texts: usually one sentence each. They are read once, in portions, so memory does not limit their number.
        ends: whether the end of each text counts as a word. Without the ends, longer texts get too much probability.
        done: called with the number of texts scored since the last call; it may raise an exception to stop.

    Raises:
        UsageError: `ends` is true and the model does not score an end-of-text symbol, or the only text is the name of a file.
        InputError: a text consists only of white space.
        ModelError: the model can't score a text, or has changed.
    """
    [result] = perplexities([model], texts, ends, done)
    return result


def perplexities(
    models: Sequence[LanguageModel], texts: Iterable[str], ends: bool = True, done: Callable[[int], None] | None = None
) -> list[Perplexity]:
    """Compute the perplexities of models on the same texts, also over the words that all of them know."""
    for model in models if ends else ():
        if model.eos is None:
            found = f"no end-of-text symbol is scored (eos:{model.settings.get('eos', 'no')})"
            raise UsageError(
                f"model {model.name}", found, "ends of texts among the words", "Use eos=yes, or exclude the ends."
            )
    totals, asking = [Perplexity()] * len(models), [Asking(model) for model in models]
    for portion in portions(texts, PORTION):
        if not totals[0].texts and len(portion) == 1:
            refuse_file_name(portion[0], "A text or a file? Pass the lines of the file.")
        by_model = [
            [_by_word(answer, ends, model.eos is not None) for answer in asked.score(portion, done)]
            for model, asked in zip(models, asking, strict=True)
        ]
        for words_of_text in zip(*by_model, strict=True):
            shared = np.logical_and.reduce([~np.isnan(bits) & known for bits, known, _ in words_of_text])
            totals = [total + _sums(words, shared) for total, words in zip(totals, words_of_text, strict=True)]
        for asked in asking:
            asked.confirm()
    return totals


def _sums(words: _Words, shared: NDArray[np.bool_]) -> Perplexity:
    bits, in_vocabulary, characters = words
    scored = ~np.isnan(bits)
    unknown = scored & ~in_vocabulary
    return Perplexity(
        texts=1,
        words=len(bits),
        unknown=int((~in_vocabulary).sum()),
        undefined=int((~scored).sum()),
        bits=float(bits[scored].sum()),
        bits_unknown=float(bits[unknown].sum()),
        unknown_scored=int(unknown.sum()),
        characters=int(characters[scored].sum()),
        shared=int(shared.sum()),
        bits_shared=float(bits[shared].sum()),
    )


def _by_word(answer: Surprisals, ends: bool, eos_scored: bool) -> _Words:
    """Return for each word its bits, whether it is in vocabulary, and its number of characters. Shapes (words,)."""
    tokens = len(answer.starts) - eos_scored
    home, borders = between_blanks(answer.text, answer.starts[:tokens])
    if tokens and not len(borders):
        raise InputError(f"text {answer.text!r}", "only white space", "words, or an empty text")
    # White space belongs to the word after it; white space at the end of the text belongs to the last word.
    home = np.minimum(home, len(borders) - 1)
    # If one token covers several words, its bits count for the first of them, and the others have 0 bits.
    bits = np.bincount(home, answer.bits[:tokens], len(borders)).astype(np.float64)
    in_vocabulary: NDArray[np.bool_] = np.bincount(home, ~answer.in_vocabulary[:tokens], len(borders)) == 0
    characters: NDArray[np.int64] = (
        np.diff([*borders[:-1], len(answer.text)], prepend=0) if len(borders) else np.empty(0, np.int64)
    )
    if not ends:
        return bits, in_vocabulary, characters
    return np.append(bits, answer.bits[tokens:]), np.append(in_vocabulary, True), np.append(characters, 1)


def _ratio(total: float, number: int) -> float:
    return total / number if number else nan


def _power(bits: float) -> float:
    """Return 2 ** bits, or infinity where that exceeds the range of floats."""
    return float(np.exp2(bits)) if bits < 1024 else bits * np.inf
