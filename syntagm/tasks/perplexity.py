"""Perplexity of any model on any text: per word between blanks, so that models with different tokens can be compared.

A word is what stands between white space, whatever tokens it is made of, and the end of each text is one more word. A word's
bits are the sum over its tokens; it is unknown if one of them is. Perplexity is 2 to the power of the bits a word, over all
words, and over the known ones alone: KenLM's perplexity "including OOVs" and "excluding OOVs".

Words with undefined bits (the first of a text if nothing stands before it, those beyond a model's positions) are left out of
every mean, and counted: a perplexity with `undefined` above 0 is that of other words than a perplexity without.

>>> from syntagm.models.names import load
>>> found = perplexity(load("toy", eos="yes"), ["the dog barks"])
>>> found.words, round(found.bits, 3)  # of 9/36, 5/39, 3/29 and, for the end, (3 + 1)/(4 + 24)
(4, 11.044)
>>> round(found.perplexity, 3)  # (4 * 39/5 * 29/3 * 7) ** (1/4)
6.778
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Surprisals
from syntagm.errors import InputError, UsageError
from syntagm.models import names
from syntagm.models.contract import LanguageModel
from syntagm.models.words import words as _words
from syntagm.training.corpora.corpus import kind, portions

# Texts asked at a time: how much stands in memory.
PORTION = 2048


@dataclass(frozen=True, slots=True)
class Perplexity:
    """Sums over a text, and what follows from them.

    Arguments:
        texts: how many.
        words: what stands between blanks, and the ends of texts if they were scored.
        unknown: how many of them hold an unknown token. 0 does not mean that all were seen in training: a model of
            pieces of words knows every word.
        undefined: how many of them have no bits.
        bits: over all words with bits.
        bits_unknown: over the unknown ones of these.
        unknown_scored: how many these are.
        characters: of all words with bits, each with the white space before it; an end counts as one character.
    """

    texts: int = 0
    words: int = 0
    unknown: int = 0
    undefined: int = 0
    bits: float = 0.0
    bits_unknown: float = 0.0
    unknown_scored: int = 0
    characters: int = 0

    def __add__(self, other: "Perplexity") -> "Perplexity":
        return Perplexity(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    @property
    def bits_per_word(self) -> float:
        """Mean bits of the words that have any; nan without words."""
        return _ratio(self.bits, self.words - self.undefined)

    @property
    def perplexity(self) -> float:
        """2 to the power of the bits a word, unknown words included."""
        return _power(self.bits_per_word)

    @property
    def perplexity_known(self) -> float:
        """2 to the power of the bits a known word."""
        known = self.words - self.undefined - self.unknown_scored
        return _power(_ratio(self.bits - self.bits_unknown, known))

    @property
    def bits_per_character(self) -> float:
        """Bits over characters: the measure that does not depend on what a word is."""
        return _ratio(self.bits, self.characters)


def division(model: str, paths: Sequence[str | Path]) -> dict[str, str]:
    """How a model that leaves it open (`auto`) is to divide the text in `paths` into words, judged as a whole as in training.

    A heading without a mark in a text whose marks stand alone is split already, too, and a dash that stands alone in a text
    of prose says nothing of its line.

    Arguments:
        model: its name.

    Returns:
        The option `tokens` to load it with; none if its name has it, or nothing is left open.

    Raises:
        UsageError, ModelError: no such model.
        InputError: a text can't be read.
    """
    name = names.parse(model)
    if "tokens" in name.options or names.head(Path(name.path)).get("tokens") != "auto":
        return {}
    return {"tokens": kind(paths, "auto")}


def perplexity(
    model: LanguageModel, texts: Iterable[str], ends: bool = True, done: Callable[[int], None] | None = None
) -> Perplexity:
    """The perplexity of a model on texts, each asked on its own.

    Arguments:
        texts: one sentence each; gone through once, in portions, so that any number will do.
        ends: is the end of each text a word? Without ends longer texts are likelier than they should be.
        done: called with the number of further texts answered; it may raise to stop.

    Raises:
        UsageError: ends are asked for, and the model lists no end symbol.
        InputError: a text of white space alone.
        ModelError: a text that the model can't take.
    """
    if ends and model.eos is None:
        found = f"no end symbol is scored (eos:{model.settings.get('eos', 'no')})"
        raise UsageError(
            f"model {model.name}", found, "ends of texts among the words", "Use eos=yes, or leave ends out."
        )
    total = Perplexity()
    for portion in portions(texts, PORTION):
        for answer in model.score(portion, done):
            total += _of(answer, ends, model.eos is not None)
    return total


def _of(answer: Surprisals, ends: bool, listed: bool) -> Perplexity:
    """The sums over one text."""
    bits, known, characters = _of_words(answer, ends, listed)
    scored = ~np.isnan(bits)
    unknown = scored & ~known
    return Perplexity(
        texts=1,
        words=len(bits),
        unknown=int((~known).sum()),
        undefined=int((~scored).sum()),
        bits=float(bits[scored].sum()),
        bits_unknown=float(bits[unknown].sum()),
        unknown_scored=int(unknown.sum()),
        characters=int(characters[scored].sum()),
    )


def _of_words(
    answer: Surprisals, ends: bool, listed: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
    """Bits of each word, whether it is known, and its characters. Each of shape (words,)."""
    tokens = len(answer.starts) - listed
    home, borders = _words.between_blanks(answer.text, answer.starts[:tokens])
    if tokens and not len(borders):
        raise InputError(f"text {answer.text!r}", "nothing but white space", "a word, or nothing")
    # White space belongs to the word after it, at the end of the text to the last one.
    home = np.minimum(home, len(borders) - 1)
    # A word without a token of its own, inside one of several words, has 0 bits: they stand with the first of these.
    bits = np.bincount(home, answer.bits[:tokens], len(borders)).astype(np.float64)
    known: NDArray[np.bool_] = np.bincount(home, ~answer.in_vocabulary[:tokens], len(borders)) == 0
    characters: NDArray[np.int64] = (
        np.diff([*borders[:-1], len(answer.text)], prepend=0) if len(borders) else np.empty(0, np.int64)
    )
    if not ends:
        return bits, known, characters
    return np.append(bits, answer.bits[tokens:]), np.append(known, True), np.append(characters, 1)


def _ratio(total: float, number: int) -> float:
    return total / number if number else nan


def _power(bits: float) -> float:
    """2 ** bits, infinite where that is no float any more."""
    return float(np.exp2(bits)) if bits < 1024 else bits * np.inf
