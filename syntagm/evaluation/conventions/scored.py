"""A scored sentence, as linking functions see it: its tokens and words, and what distinguishes it from its partner."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from syntagm.evaluation.conventions.unigram import Unigrams
from syntagm.models import Surprisals, splitting

Numbers = NDArray[np.float64]
Tokens = Literal["blanks", "treebank"]
# From the text and its tokens to whether each of them counts; shape (tokens,).
Kept = Callable[[str, Surprisals], NDArray[np.bool_]]
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A sentence with its surprisals."""

    text: str  # the sentence
    bits: Numbers  # shape (tokens,): surprisals of the tokens that count
    begins: NDArray[np.int64]  # shape (tokens,): the first visible character of each of them, in code points
    # Shape (words,): surprisals of the words, which are sums over tokens. A scored end-of-text symbol counts as a word.
    words: Numbers
    unigram: Numbers | None  # shape (words,): their surprisals under a unigram model; None without one
    # Where the words lie in which the sentence differs from its partner: the first character, and the one after the
    # last; equal if the partner has more words and nothing else differs.
    differing: tuple[int, int] = (0, 0)
    differs: bool = True  # whether there is any difference


def scored(
    text: str,
    answer: Surprisals,
    first_scored: bool,
    kept: Kept | None = None,
    unigrams: Unigrams | None = None,
    tokens: Tokens = "blanks",
) -> Scored:
    """Prepare a sentence for linking functions."""
    counts = np.ones(len(answer.starts), bool) if kept is None else kept(text, answer)
    unscored = not first_scored and len(answer.bits) > 0 and bool(np.isnan(answer.bits[0]))
    word_bits, unigram_bits = _words_of(text, answer, unigrams, tokens, unscored, counts)
    if unscored:
        counts = counts & (np.arange(len(counts)) > 0)
    begins = np.array([_visible(text, int(start)) for start in answer.starts], np.int64)
    return Scored(text, answer.bits[counts], begins[counts], word_bits, unigram_bits)


def _visible(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _words_of(
    text: str, answer: Surprisals, unigrams: Unigrams | None, tokens: Tokens, unscored: bool, counts: NDArray[np.bool_]
) -> tuple[Numbers, Numbers | None]:
    """Return the bits of each word that has a token that counts, under the model and under the unigram model."""
    words, starts = splitting.words(text, tokens)
    unigram_bits = unigrams.bits(words) if unigrams else None
    word_of_token = np.searchsorted(starts, answer.starts, "right") - 1
    size = len(words)
    if len(answer.starts) and answer.starts[-1] >= len(text):
        word_of_token[answer.starts >= len(text)] = size
        size += 1
        unigram_bits = None if unigram_bits is None or not unigrams else np.append(unigram_bits, unigrams.end)
    bits = np.bincount(word_of_token[counts], answer.bits[counts], size).astype(np.float64)
    whole = np.bincount(word_of_token[counts], minlength=size) > 0
    if counts.all():
        whole = np.ones(size, bool)
    if unscored and size:
        whole[0] = False
    return bits[whole], None if unigram_bits is None else unigram_bits[whole]


def differing(first: str, second: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return where two sentences differ: for each, the first character of its own words, and the one after the last.

    >>> differing("The dogs near us bark .", "The dogs near us barks .")
    ((17, 21), (17, 22))
    >>> differing("They all left .", "They left .")
    ((5, 8), (5, 5))
    """
    one, other = [*_WORD.finditer(first)], [*_WORD.finditer(second)]
    least = min(len(one), len(other))
    head = next((place for place in range(least) if one[place][0] != other[place][0]), least)
    tail = next((place for place in range(least - head) if one[-1 - place][0] != other[-1 - place][0]), least - head)
    return _span(first, one, head, tail), _span(second, other, head, tail)


def _span(text: str, words: list[re.Match[str]], head: int, tail: int) -> tuple[int, int]:
    begin = words[head].start() if head < len(words) else len(text)
    last = len(words) - tail - 1
    return begin, words[last].end() if last >= head else begin
