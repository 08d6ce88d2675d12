"""How a blank is divided into words: those before it, and those of each candidate. What stands after it makes no difference.

In one case it must: where words are divided as they stand if somebody has divided them before (`auto`), the whole text says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Gap
from syntagm.errors import ModelError
from syntagm.models.words.words import is_split, split

# Any such word will do; what is divided before or after it stands inside a text.
_OTHER = "x"


@dataclass(frozen=True, slots=True)
class Divided:
    """A blank as words.

    Arguments:
        before: the words before the blank.
        candidates: the words of each candidate, at least one.
    """

    before: tuple[str, ...]
    candidates: tuple[tuple[str, ...], ...]


def divide(blank: Gap, tokens: str, model: str) -> Divided:
    """The words before a blank, and of its candidates.

    Arguments:
        tokens: as in `words.words`.
        model: who asks, for errors.

    Raises:
        ModelError: a candidate that is no whole word, or several, where it stands; or with white space around it.

    >>> divide(Gap("She can't ", ".", ("swim", "cannot swim")), "treebank", "any")
    Divided(before=('She', 'ca', "n't"), candidates=(('swim',), ('can', 'not', 'swim')))
    """
    if tokens == "auto":
        tokens = "blanks" if is_split(blank.left + _OTHER + blank.right) else "treebank"
    before = split(blank.left + _OTHER, tokens)
    if before[-1] != _OTHER:
        _refuse(model, blank.left, (blank.words or ("",))[0])
    # After an open quotation mark or bracket there need be no white space.
    touches = blank.left[-1:].strip()
    start = blank.left.rsplit(maxsplit=1)[-1] if touches else ""
    return Divided(tuple(before[:-1]), _candidates(start, not blank.left, blank.words, tokens, model))


@lru_cache(16)
def _candidates(
    start: str, first: bool, candidates: tuple[str, ...], tokens: str, model: str
) -> tuple[tuple[str, ...], ...]:
    lead = "" if first else f"{_OTHER} {start}"
    head, found = split(lead + _OTHER, tokens)[:-1], []
    for word in candidates:
        if not word or word != word.strip():
            raise ModelError(
                model, f"the candidate {word!r}", "a word without white space around it",
                "White space around a blank belongs to what stands before and after it.",
            )  # fmt: skip
        divided = split(f"{lead}{word} {_OTHER}", tokens)
        if divided[: len(head)] != head or divided[-1] != _OTHER or len(divided) < len(head) + 2:
            _refuse(model, start, word)
        found.append(tuple(divided[len(head) : -1]))
    return tuple(found)


def _refuse(model: str, left: str, word: str) -> None:
    raise ModelError(
        model, f"no whole word {word!r} in {left + word!r}", "whole words in a blank",
        "Leave a blank before the gap, at the end of what stands before it.",
    )  # fmt: skip


def single(words: Sequence[str], tokens: str, model: str) -> NDArray[np.bool_]:
    """Which of some candidates are one word after a blank; see `LanguageModel.single`."""
    divided = divide(Gap("a ", "", tuple(words)), tokens, model)
    return np.array([len(candidate) == 1 for candidate in divided.candidates], bool)
