"""Tokenisation of gaps into words: the words before the gap, and those of each candidate.

The text after the gap matters only with `auto`, where the whole text shows whether it is already tokenised.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError
from syntagm.models.answers import Gap
from syntagm.models.words.splitting import is_split, split

# A placeholder for any other word, so that the text before or after it is split as inside a sentence.
_OTHER = "x"


@dataclass(frozen=True, slots=True)
class Divided:
    """A gap split into words."""

    before: tuple[str, ...]  # the words before the gap
    candidates: tuple[tuple[str, ...], ...]  # the words of each candidate, at least one


def divide(gap: Gap, tokens: str, model: str) -> Divided:
    """Split a gap and its candidates into words.

    Arguments:
        gap: the gap.
        tokens: as in `words.words`.
        model: name of the model, for messages.

    Raises:
        ModelError: a candidate does not consist of whole words in the sentence, or has white space around it.

    >>> divide(Gap("She can't ", ".", ("swim", "cannot swim")), "treebank", "any")
    Divided(before=('She', 'ca', "n't"), candidates=(('swim',), ('can', 'not', 'swim')))
    """
    if tokens == "auto":
        tokens = "blanks" if is_split(gap.left + _OTHER + gap.right) else "treebank"
    before = split(gap.left + _OTHER, tokens)
    if before[-1] != _OTHER:
        _refuse(model, gap.left, (gap.words or ("",))[0])
    # After an opening quotation mark or bracket there may be no white space.
    touches = gap.left[-1:].strip()
    start = gap.left.rsplit(maxsplit=1)[-1] if touches else ""
    return Divided(tuple(before[:-1]), _candidates(start, not gap.left, gap.words, tokens, model))


@lru_cache(16)
def _candidates(
    start: str, first: bool, candidates: tuple[str, ...], tokens: str, model: str
) -> tuple[tuple[str, ...], ...]:
    lead = "" if first else f"{_OTHER} {start}"
    head, candidate_words = split(lead + _OTHER, tokens)[:-1], []
    for word in candidates:
        if not word or word != word.strip():
            raise ModelError(
                model, f"the candidate {word!r}", "a word without white space around it",
                "White space around a gap belongs to the text before and after it.",
            )  # fmt: skip
        divided = split(f"{lead}{word} {_OTHER}", tokens)
        if divided[: len(head)] != head or divided[-1] != _OTHER or len(divided) < len(head) + 2:
            _refuse(model, start, word)
        candidate_words.append(tuple(divided[len(head) : -1]))
    return tuple(candidate_words)


def _refuse(model: str, left: str, word: str) -> None:
    raise ModelError(
        model, f"{word!r} is no separate word in {left + word!r}", "whole words in a gap",
        "Put a space at the end of the text before the gap.",
    )  # fmt: skip


def single(words: Sequence[str], tokens: str, model: str) -> NDArray[np.bool_]:
    """Return whether each candidate is one word after a space; see `LanguageModel.single`."""
    divided = divide(Gap("a ", "", tuple(words)), tokens, model)
    return np.array([len(candidate) == 1 for candidate in divided.candidates], bool)
