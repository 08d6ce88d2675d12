"""The rows of a scored text: its tokens, or its words.

Words are separated by white space, and white space belongs to the word after it, as for tokens. The bits of a word are
the sum over its tokens. Punctuation marks before and after a word belong to it, or have separate rows.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from syntagm.evaluation.align import Alignment, Batch, align_all
from syntagm.models import InContext, LanguageModel

Punctuation = Literal["attached", "apart"]
Ints = NDArray[np.int64]

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """The rows of a text: tokens or words, with the bits of each."""

    starts: Ints  # `starts`, `ends`: shape (rows,): the start and end of each row, in characters
    ends: Ints
    bits: NDArray[np.float64]  # `bits`, `known`, `context`: shape (rows,): as in the table
    known: NDArray[np.bool_]
    context: Ints
    crossing: NDArray[np.object_]  # shape (rows,): a token that belongs to this row and another one; "" for none
    attached: int = 0  # the number of words whose punctuation stays attached
    # Shape (rows,): the entropy of the distribution before the first token of each row; None if it wasn't asked.
    entropy: NDArray[np.float64] | None = None


def tokens(answer: InContext) -> Spans:
    """Return a row for each token. A token that shares a character with the next one is empty."""
    surprisals = answer.surprisals
    starts = surprisals.starts.astype(np.int64)
    ends = np.append(starts[1:], len(surprisals.text))[: len(starts)]
    none = np.full(len(starts), "", object)
    entropy = surprisals.reductions.entropy if surprisals.reductions else None
    context = answer.context.astype(np.int64)
    return Spans(starts, ends, surprisals.bits, surprisals.in_vocabulary, context, none, entropy=entropy)


def words(model: LanguageModel, answer: InContext, punctuation: Punctuation = "attached") -> Spans:
    """Return a row for each word, and one for the end-of-text symbol if its surprisal is listed."""
    # A word is in vocabulary if all its tokens are. If a token belongs to several words, they have no bits.
    surprisals = answer.surprisals
    text, starts = surprisals.text, surprisals.starts.astype(np.int64)
    borders = [match.span() for match in _WORD.finditer(text)]
    attached = 0
    alignment = _aligned(answer, borders)
    if punctuation == "apart":
        pieces = [_pieces(text, *border) for border in borders]
        crossed = _crossed(answer, _aligned(answer, [piece for parts in pieces for piece in parts]))
        # For each character, the number of characters before it that belong to a token that crosses a border.
        before = np.zeros(len(text) + 1, np.int64)
        for begin, end in crossed:
            before[begin + 1 : end + 1] = 1
        before = before.cumsum()
        kept = [
            parts if before[begin] == before[end] else [(begin, end)]
            for (begin, end), parts in zip(borders, pieces, strict=True)
        ]
        attached = sum(len(parts) > len(whole) for parts, whole in zip(pieces, kept, strict=True))
        borders = [piece for parts in kept for piece in parts]
        alignment = _aligned(answer, borders)
    low, high = np.array(borders, np.int64).reshape(-1, 2).T
    inside = alignment.home >= 0
    home = alignment.home[inside]
    bits = np.bincount(home, surprisals.bits[inside], len(low)).astype(np.float64)
    known = np.bincount(home, ~surprisals.in_vocabulary[inside], len(low)) == 0
    # A word without a token of its own is part of the token that covers its beginning.
    first = np.searchsorted(starts, low, "right") - 1
    np.minimum.at(first, home, np.flatnonzero(inside))
    crossing = np.full(len(low), "", object)
    for begin, end in _crossed(answer, alignment):
        crossing[np.searchsorted(high, begin, "right") : np.searchsorted(low, end)] = text[begin:end]
    bits[crossing != ""] = np.nan
    entropy = surprisals.reductions.entropy[first] if surprisals.reductions else None
    if entropy is not None:
        entropy[crossing != ""] = np.nan
    spans = Spans(low, high, bits, known, answer.context[first].astype(np.int64), crossing, attached, entropy)
    return spans if model.eos is None else _with_end(spans, answer)


def _with_end(spans: Spans, answer: InContext) -> Spans:
    """Add a row for the end-of-text symbol, which is the last token."""
    end, surprisals = len(answer.surprisals.text), answer.surprisals
    entropy = surprisals.reductions.entropy[-1:] if surprisals.reductions else np.zeros(0)
    return Spans(
        np.append(spans.starts, end),
        np.append(spans.ends, end),
        np.append(spans.bits, surprisals.bits[-1]),
        np.append(spans.known, surprisals.in_vocabulary[-1]),
        np.append(spans.context, answer.context[-1]),
        np.append(spans.crossing, ""),
        spans.attached,
        None if spans.entropy is None else np.append(spans.entropy, entropy),
    )


def _aligned(answer: InContext, borders: Sequence[tuple[int, int]]) -> Alignment:
    """Return the word of each token."""
    text, starts = answer.surprisals.text, answer.surprisals.starts.astype(np.int64)
    low, high = np.array(borders, np.int64).reshape(-1, 2).T
    return align_all(Batch([text], np.array([len(low)]), low, high, np.array([len(starts)]), starts))


def _crossed(answer: InContext, alignment: Alignment) -> list[tuple[int, int]]:
    """Return the visible characters of each token that crosses the border of a word."""
    text, starts = answer.surprisals.text, answer.surprisals.starts
    found = []
    for start in np.unique(starts[alignment.crossing]).tolist():
        following = int(np.searchsorted(starts, start, "right"))
        end = int(starts[following]) if following < len(starts) else len(text)
        piece = text[start:end]
        found.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return found


def _pieces(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the punctuation before a word, of the word, and of the punctuation after it.

    >>> _pieces('("Ah!")', 0, 7), _pieces("well-known", 0, 10), _pieces("...", 0, 3)
    ([(0, 2), (2, 4), (4, 7)], [(0, 10)], [(0, 3)])
    """
    low, high = begin, end
    while low < end and _is_mark(text[low]):
        low += 1
    if low == end:
        return [(begin, end)]
    while _is_mark(text[high - 1]):
        high -= 1
    return [(left, right) for left, right in ((begin, low), (low, high), (high, end)) if left < right]


@cache
def _is_mark(character: str) -> bool:
    """Return whether a character is a punctuation mark, that is, in one of Unicode's categories P."""
    return unicodedata.category(character).startswith("P")
