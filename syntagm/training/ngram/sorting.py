"""The n-grams of a text in suffix order: one sorted array of positions that gives the n-grams of every order.

N-grams are compared by their last word first, then by the words before it. So the occurrences of an n-gram are adjacent, and
they are among those of its suffix. A few sorts of the text give all orders.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_BITS = 63


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The distinct n-grams of one order, in suffix order. Arrays have shape (n-grams,), int32."""

    firsts: NDArray[np.int32]  # the first word of each n-gram
    suffixes: NDArray[np.int32]  # the number, one order below, of the n-gram without its first word
    contexts: NDArray[np.int32]  # the number, one order below, of the n-gram without its last word
    counts: NDArray[np.int32]  # the number of occurrences of each n-gram
    # The number of the n-gram that lmplz sorts last, which is a suffix of the last n-gram of the highest order; -1 if
    # there is none.
    last: int


def levels(text: NDArray[np.int32], appeared: NDArray[np.int32], order: int) -> Iterator[Level]:
    """Yield the n-grams of orders 1 to `order`, each within one sentence including its bos.

    Unigrams are all words in the order of their numbers; their `suffixes` and `contexts` are empty.

    Arguments:
        text: the numbers of the words, shape (text,), int32. Each sentence is preceded by bos, which has the highest number.
        appeared: the words' numbers in lmplz, shape (words,), int32; they determine the last n-gram.
        order: the highest order.

    >>> text, appeared = np.array([3, 1, 2, 0, 3, 1, 0], np.int32), np.array([2, 3, 4, 1], np.int32)
    >>> [len(level.firsts) for level in levels(text, appeared, 3)]  # 0 ends sentences
    [4, 4, 3]
    """
    start = len(appeared) - 1
    reach = _reach(text, start, order)
    last = _last(text, reach, appeared, order)
    places = _sorted(text, reach, start, order)
    column = text[places]
    opened = np.concatenate([[True], column[1:] != column[:-1]])
    words = np.arange(len(appeared), dtype=np.int32)
    counts = np.bincount(column, minlength=len(words)).astype(np.int32)
    yield Level(words, words[:0], words[:0], counts, int(text[last]))
    numbers = text
    for length in range(2, order + 1):
        column, whole = _before(text, reach, places, length - 1, start), reach[places] >= length - 1
        opened[1:] |= column[1:] != column[:-1]
        begins = np.flatnonzero(opened).astype(np.int32)
        counts = np.diff(begins, append=np.int32(len(places)))[whole[begins]]
        begins = begins[whole[begins]]
        ends, firsts = places[begins], column[begins]
        suffixes, contexts = numbers[ends], numbers[ends - 1]
        numbers = np.full(len(text), -1, np.int32)
        numbers[places] = np.where(whole, np.cumsum(opened & whole, dtype=np.int32) - 1, np.int32(-1))
        yield Level(firsts, suffixes, contexts, counts, int(numbers[last]))


def _reach(text: NDArray[np.int32], start: int, order: int) -> NDArray[np.int32]:
    """Return the distance in words from each position back to bos, at most `order`."""
    at = np.arange(len(text), dtype=np.int32)
    begun = np.maximum.accumulate(np.where(text == start, at, np.int32(0)))
    return np.minimum(at - begun, np.int32(order))


def _before(
    text: NDArray[np.int32], reach: NDArray[np.int32], places: NDArray[np.int32], back: int, start: int
) -> NDArray[np.int32]:
    """Return the word that is `back` words before each position; bos if the sentence is too short."""
    return np.where(reach[places] >= back, text[np.maximum(places - np.int32(back), 0)], np.int32(start))


def _sorted(text: NDArray[np.int32], reach: NDArray[np.int32], start: int, order: int) -> NDArray[np.int32]:
    """Return the positions of words and sentence ends, in suffix order of the n-grams that end there."""
    places = np.flatnonzero(reach).astype(np.int32)
    width = max(1, start.bit_length())
    ranks = np.zeros(len(places), np.int64)
    used = back = 0
    while True:
        # Pack as many words as fit next to the rank by the words so far.
        fit = max(1, min(order - back, (_BITS - used) // width))
        for index in range(back, back + fit):
            ranks <<= width
            ranks |= _before(text, reach, places, index, start)
        back += fit
        by_rank = np.argsort(ranks)
        places = places[by_rank]
        if back >= order:
            return places
        ranks = ranks[by_rank]
        ranks[1:] = np.cumsum(ranks[1:] != ranks[:-1])
        ranks[0] = 0
        used = int(ranks[-1]).bit_length()


def _last(text: NDArray[np.int32], reach: NDArray[np.int32], appeared: NDArray[np.int32], order: int) -> int:
    """Return the position of the n-gram that comes last in suffix order when words are numbered by `appeared`."""
    places = np.flatnonzero(reach).astype(np.int32)
    for back in range(order):
        column = appeared[_before(text, reach, places, back, len(appeared) - 1)]
        places = places[column == column.max()]
    return int(places[0])
