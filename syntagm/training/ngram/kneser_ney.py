"""Modified Kneser-Ney smoothing (Chen & Goodman 1998): counts, discounts, and the choice between two ways of smoothing.

The adjusted count a(g) of an n-gram g is its number of occurrences if it is of the highest order or begins a sentence, and
otherwise the number of distinct words that precede it. D(a) are the discounts for counts of 1, 2, and 3 or more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError
from syntagm.models import Ngrams
from syntagm.training.ngram.backing_off import Smoothed, back_off
from syntagm.training.ngram.settings import Estimation
from syntagm.training.ngram.sorting import Level, levels

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
    """Estimate a model."""
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
    # For the arguments and the result see `back_off`.
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
