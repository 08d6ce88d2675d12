"""Modified Kneser-Ney smoothing (Chen & Goodman 1998): sorting and counting of n-grams, discounts, and two ways of smoothing.

N-grams are compared by their last word first, then by the words before it. So the occurrences of an n-gram are adjacent, and
they are among those of its suffix. A few sorts of the text give all orders.

The adjusted count a(g) of an n-gram g is its number of occurrences if it is of the highest order or begins a sentence, and
otherwise the number of distinct words that precede it. D(a) are the discounts for counts of 1, 2, and 3 or more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError
from syntagm.models import Ngrams
from syntagm.training.ngram.family import Estimation

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


# SRILM's Prob_Epsilon: a smaller probability counts as none.
_NOTHING = 3e-6

F = TypeVar("F", bound=np.floating)


@dataclass(frozen=True, slots=True)
class Smoothed(Generic[F]):
    """The numbers of a smoothed model, by order. Arrays have shape (n-grams,)."""

    kept: list[NDArray[np.bool_]]
    probabilities: list[NDArray[F]]  # p of the last word of each n-gram given the others
    weights: list[NDArray[F]]  # the back-off weight of each n-gram, for all orders but the highest


def back_off(
    by_order: Sequence[Level], adjusted: Sequence[NDArray[np.int32]], discounts: Sequence[NDArray[np.float32]],
    settings: Estimation,
) -> Smoothed[np.float64]:  # fmt: skip
    """Back off instead of interpolating, as SRILM's `ngram-count -kndiscount -unk` does."""
    # h' is h without its first word.
    #
    #     p(w | h) = (a(hw) - D(a(hw))) / A(h)      if a(hw) is above the threshold        A(h): the sum of a(hw) over all w
    #                b(h) p(w | h')                 otherwise
    #     b(h) = (1 - sum of p(w | h)) / (1 - sum of p(w | h'))      over the words w above the threshold; 1 if there is none
    #
    # Unigrams back off to nothing: the probability that their discounts leave is divided equally among the words that have
    # none, which usually is the unknown word alone. If all words have some, it is divided among all.
    #
    # Source: Stolcke 2002, and the manual page ngram-discount(7) of SRILM 1.7.3.
    above = [counts > threshold for counts, threshold in zip(adjusted, settings.thresholds, strict=True)]
    lower = _backed_off_unigrams(adjusted[0], discounts[0], above[0])
    probabilities, weights = [lower], []
    for level, counts, amounts, stay, contexts in zip(
        by_order[1:], adjusted[1:], discounts[1:], above[1:], by_order, strict=False
    ):
        size = len(contexts.firsts)
        shares, left = _shares(level.contexts, counts, amounts, stay, size)
        backed_off = lower[level.suffixes]
        lower_left = 1 - np.bincount(level.contexts, np.where(stay, backed_off, 0), size)
        # All words were seen after such a context, so nothing can take what is left: their probabilities sum to 1.
        full = lower_left < _NOTHING
        shares /= np.where(full, 1 - left, 1)[level.contexts]
        weight = np.where(full, 1, left / np.where(full, 1, lower_left))
        lower = np.where(stay, shares, weight[level.contexts] * backed_off)
        probabilities.append(lower)
        weights.append(weight)
    return Smoothed(_closed(by_order, above), probabilities, weights)


def _backed_off_unigrams(
    counts: NDArray[np.int32], amounts: NDArray[np.float32], above: NDArray[np.bool_]
) -> NDArray[np.float64]:
    shares, [left] = _shares(np.zeros(len(counts), np.int32), counts, amounts, above, 1)
    # Bos, the last, is in the list of unigrams but never predicted.
    takers = np.flatnonzero(~above[:-1]) if not above[:-1].all() else np.arange(len(counts) - 1)
    shares[takers] += left / len(takers)
    shares[-1] = 1
    return shares


def _shares(
    contexts: NDArray[np.int32], counts: NDArray[np.int32], amounts: NDArray[np.float32],
    above: NDArray[np.bool_], size: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    """Return p of each n-gram above the threshold (0 for others), and the probability left after each context."""
    discounted = np.where(above, counts - amounts.astype(np.float64)[np.minimum(counts, 3)], 0)
    seen, total = np.bincount(contexts, discounted, size), np.bincount(contexts, counts, size)
    # Discounts may be 0. Like SRILM, count one more word then, so that words that were not seen have some probability.
    total += total - seen < _NOTHING * total
    left = np.divide(total - seen, total, out=np.ones(size), where=total > 0)
    return np.divide(discounted, total[contexts], out=np.zeros(len(counts)), where=above), left


def _closed(by_order: Sequence[Level], above: Sequence[NDArray[np.bool_]]) -> list[NDArray[np.bool_]]:
    """Keep the n-grams above the thresholds, all unigrams, and all prefixes and suffixes of what is kept."""
    # A prefix or suffix below its threshold keeps the probability that backing off gives it, so the model is the same.
    kept = [np.ones(len(above[0]), np.bool_), *(stay.copy() for stay in above[1:])]
    for order in range(len(kept) - 1, 0, -1):
        level, stay = by_order[order], kept[order]
        kept[order - 1][level.contexts[stay]] = True
        kept[order - 1][level.suffixes[stay]] = True
    return kept


FALLBACK = (0.5, 1.0, 1.5)
_SPECIAL = 2


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts and discounts of a text, by order."""

    ngrams: tuple[int, ...]  # the number of distinct n-grams before pruning; unigrams include the three special symbols
    counts: tuple[tuple[int, ...], ...]  # the number of n-grams with an adjusted count of 1, 2, 3 and 4
    discounts: tuple[tuple[float, ...], ...]  # the discounts for adjusted counts of 1, 2, and 3 or more


def estimate(
    text: NDArray[np.int32], words: Sequence[str], appeared: NDArray[np.int32], settings: Estimation
) -> tuple[Ngrams, Statistics]:
    by_order = list(levels(text, appeared, settings.order))
    adjusted = [
        _adjusted(level, longer, len(words) - 1) for level, longer in zip(by_order, [*by_order[1:], None], strict=True)
    ]
    counts = [_counts(*pair, settings.as_lmplz) for pair in zip(by_order[:-1], adjusted, strict=False)]
    counts.append(_counts(by_order[-1], adjusted[-1], False))
    discounts = [_discounts(tally, index, settings) for index, tally in enumerate(counts, 1)]
    sizes = tuple(len(level.firsts) for level in by_order)
    smooth = _interpolate if settings.smoothing == "interpolated" else back_off
    ngrams = _pruned(by_order, smooth(by_order, adjusted, discounts, settings), tuple(words))
    by_count = tuple(tuple(map(float, amounts[1:])) for amounts in discounts)
    return ngrams, Statistics(sizes, tuple(tuple(tally[1:5].tolist()) for tally in counts), by_count)


def _adjusted(level: Level, longer: Level | None, start: int) -> NDArray[np.int32]:
    if longer is None:
        return level.counts
    before = np.bincount(longer.suffixes, minlength=len(level.firsts)).astype(np.int32)
    return np.where(level.firsts == start, level.counts, before)


def _counts(level: Level, adjusted: NDArray[np.int32], lmplz_compatible: bool) -> NDArray[np.int64]:
    """Count the n-grams with an adjusted count of 0, 1, 2, 3, 4, and more."""
    tally = np.bincount(np.minimum(adjusted, 5), minlength=6)
    if lmplz_compatible and level.last >= 0:
        tally[min(int(adjusted[level.last]), 5)] -= 1
        tally[min(int(level.counts[level.last]), 5)] += 1
    return tally


def _discounts(tally: NDArray[np.int64], order: int, settings: Estimation) -> NDArray[np.float32]:
    """Compute the discounts of adjusted counts of 0, 1, 2, and 3 or more; Chen & Goodman's equation 26, in float32."""
    # Without n-grams with a count of 4, the discount is 3. Where nothing is added from the lower order, as in SRILM, a
    # word with a count of 3 would have probability 0.
    needed = tally[1:4] if settings.smoothing == "interpolated" else tally[1:5]
    if needed.all():
        n = tally.astype(np.float32)
        share = n[1] / np.float32(tally[1] + 2 * tally[2])
        amounts = [np.float32(j) - np.float32(j + 1) * share * n[j + 1] / n[j] for j in (1, 2, 3)]
        if all(0 <= amount <= j for j, amount in enumerate(amounts, 1)):
            return np.array([0, *amounts], np.float32)
    if settings.discount_fallback:
        return np.array([0, *FALLBACK], np.float32)
    raise InputError(
        f"n-grams of order {order}", f"{tally[1]}, {tally[2]}, {tally[3]} and {tally[4]} with a count of 1, 2, 3 and 4",
        "counts that give valid Kneser-Ney discounts",
        "Use more text, a lower order, or fallback discounts of 0.5, 1, 1.5 (--discount-fallback).",
    )  # fmt: skip


def _interpolate(
    by_order: list[Level], adjusted: list[NDArray[np.int32]], discounts: list[NDArray[np.float32]],
    settings: Estimation,
) -> Smoothed[np.float32]:  # fmt: skip
    """Interpolate each order with the one below, in lmplz's 32-bit arithmetic."""
    #     p(w | h) = (a(hw) - D(a(hw))) / A(h) + g(h) p(w | h without its first word)        A(h): the sum of a(hw) over w
    #     g(h) = (sum of D(a(hw)) over w) / A(h)
    thresholds = settings.thresholds
    kept = [level.counts > threshold for level, threshold in zip(by_order, thresholds, strict=True)]
    kept[0][[*range(_SPECIAL), -1]] = True
    kept[0] |= thresholds[0] == 0
    lower = _unigrams(adjusted[0], discounts[0], kept[0], settings.uniform)
    probabilities, weights = [lower], []
    for level, counts, amounts, stay, contexts in zip(
        by_order[1:], adjusted[1:], discounts[1:], kept[1:], by_order, strict=False
    ):
        total, weight = _left(level.contexts, counts, amounts, stay, len(contexts.firsts))
        shared = (counts.astype(np.float32) - amounts[np.minimum(counts, 3)]) / total[level.contexts]
        lower = shared + weight[level.contexts] * lower[level.suffixes]
        probabilities.append(lower)
        # Rounding can give a weight just above 1.
        weights.append(np.where(total > 0, np.minimum(weight, np.float32(1)), np.float32(1)))
    return Smoothed(kept, probabilities, weights)


def _unigrams(
    counts: NDArray[np.int32], amounts: NDArray[np.float32], kept: NDArray[np.bool_], uniform: bool
) -> NDArray[np.float32]:
    total, left = _left(np.zeros(len(counts), np.int32), counts, amounts, kept, 1)
    shares: NDArray[np.float32] = (counts.astype(np.float32) - amounts[np.minimum(counts, 3)]) / total[0]
    # Bos is in the list of unigrams but never predicted.
    if uniform:
        shares += left[0] * (np.float32(1) / np.float32(np.count_nonzero(kept) - 1))
    else:
        shares[1] += left[0]
    shares[-1] = 1
    return shares


def _left(
    contexts: NDArray[np.int32], counts: NDArray[np.int32], amounts: NDArray[np.float32],
    kept: NDArray[np.bool_], size: int,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:  # fmt: skip
    """Return the sum of counts after each context, and the proportion that discounts and pruning leave to the lower order."""
    total = np.bincount(contexts, counts, size).astype(np.float32)
    left = np.zeros(size, np.float32)
    capped = np.where(kept, np.minimum(counts, 3), 0)
    for count in (1, 2, 3):
        left += amounts[count] * np.bincount(contexts[capped == count], minlength=size).astype(np.float32)
    if not kept.all():
        left += np.bincount(contexts[~kept], counts[~kept], size).astype(np.float32)
    np.divide(left, total, out=left, where=total > 0)
    return total, left


def _pruned(by_order: list[Level], smoothed: Smoothed[Any], words: tuple[str, ...]) -> Ngrams:
    """Keep some n-grams and renumber them."""
    kept = smoothed.kept
    renumbered = [np.cumsum(stay, dtype=np.int32) - np.int32(1) for stay in kept]
    return Ngrams(
        tuple(word for word, stay in zip(words, kept[0], strict=True) if stay),
        tuple(renumbered[0][level.firsts[stay]] for level, stay in zip(by_order[1:], kept[1:], strict=True)),
        tuple(
            numbers[level.suffixes[stay]]
            for level, stay, numbers in zip(by_order[1:], kept[1:], renumbered, strict=False)
        ),
        tuple(np.minimum(_log(values[stay]), np.float32(0)) for values, stay in zip(smoothed.probabilities, kept, strict=True)),
        tuple(_log(values[stay]) for values, stay in zip(smoothed.weights, kept, strict=False)),
    )  # fmt: skip


def _log(values: NDArray[np.float64]) -> NDArray[np.float32]:
    with np.errstate(divide="ignore"):
        return np.log10(values).astype(np.float32)
