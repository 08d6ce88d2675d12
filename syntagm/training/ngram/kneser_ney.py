"""Interpolated modified Kneser-Ney smoothing (Chen & Goodman 1998), number for number as KenLM's lmplz (Heafield et al. 2013).

The adjusted count a(g) of an n-gram g is how often it occurs, if it is of the highest order or begins a sentence, and otherwise
how many different words stand before it. D(a) are the discounts for counts of 1, 2, and 3 or more.

    p(w | h) = (a(hw) - D(a(hw))) / A(h) + g(h) p(w | h without its first word)        A(h): the sum of a(hw) over w
    g(h) = (sum of D(a(hw)) over w) / A(h)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.errors import InputError
from syntagm.models.ngram.ngrams import Ngrams
from syntagm.training.ngram.settings import Estimation
from syntagm.training.ngram.sorting import Level, levels

FALLBACK = (0.5, 1.0, 1.5)
_SPECIAL = 2


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a text holds, by order.

    Arguments:
        ngrams: distinct n-grams, before pruning; among unigrams the three special ones.
        counts: n-grams with an adjusted count of 1, 2, 3 and 4.
        discounts: for adjusted counts of 1, 2, and 3 or more.
    """

    ngrams: tuple[int, ...]
    counts: tuple[tuple[int, ...], ...]
    discounts: tuple[tuple[float, ...], ...]


def estimate(
    text: NDArray[np.int32], words: Sequence[str], appeared: NDArray[np.int32], settings: Estimation
) -> tuple[Ngrams, Statistics]:
    """Estimate a model.

    Arguments:
        text: shape (text,), int32: the numbers of the words. Each sentence begins with the start symbol and ends with the end
            symbol (the last one may do without).
        words: by number: the end symbol is 0, the unknown word 1, the start symbol the last.
        appeared: shape (words,), int32: the words' numbers in lmplz: by first appearance, after the unknown word (0), the
            start symbol (1) and the end symbol (2). Only the quirk needs them.
        settings: how to.

    Raises:
        InputError: so small or odd a text that discounts can't be computed.
    """
    found = list(levels(text, appeared, settings.order))
    adjusted = [
        _adjusted(level, longer, len(words) - 1) for level, longer in zip(found, [*found[1:], None], strict=True)
    ]
    counts = [_counts(*pair, settings.lmplz_compatible) for pair in zip(found[:-1], adjusted, strict=False)]
    counts.append(_counts(found[-1], adjusted[-1], False))
    discounts = [_discounts(tally, index, settings.discount_fallback) for index, tally in enumerate(counts, 1)]
    sizes = tuple(len(level.firsts) for level in found)
    ngrams = _smooth(found, adjusted, discounts, tuple(words), settings)
    shown = tuple(tuple(map(float, amounts[1:])) for amounts in discounts)
    return ngrams, Statistics(sizes, tuple(tuple(tally[1:5].tolist()) for tally in counts), shown)


def _adjusted(level: Level, longer: Level | None, start: int) -> NDArray[np.int32]:
    if longer is None:
        return level.counts
    before = np.bincount(longer.suffixes, minlength=len(level.firsts)).astype(np.int32)
    return np.where(level.firsts == start, level.counts, before)


def _counts(level: Level, adjusted: NDArray[np.int32], quirk: bool) -> NDArray[np.int64]:
    """How many n-grams have an adjusted count of 0, 1, 2, 3, 4, and more."""
    tally = np.bincount(np.minimum(adjusted, 5), minlength=6)
    if quirk and level.last >= 0:
        tally[min(int(adjusted[level.last]), 5)] -= 1
        tally[min(int(level.counts[level.last]), 5)] += 1
    return tally


def _discounts(tally: NDArray[np.int64], order: int, fallback: bool) -> NDArray[np.float32]:
    """What is taken off adjusted counts of 0, 1, 2, and 3 or more; Chen & Goodman's equation 26, in 32 bits."""
    if tally[1:4].all():
        n = tally.astype(np.float32)
        share = n[1] / np.float32(tally[1] + 2 * tally[2])
        amounts = [np.float32(j) - np.float32(j + 1) * share * n[j + 1] / n[j] for j in (1, 2, 3)]
        if all(0 <= amount <= j for j, amount in enumerate(amounts, 1)):
            return np.array([0, *amounts], np.float32)
    if fallback:
        return np.array([0, *FALLBACK], np.float32)
    raise InputError(
        f"n-grams of order {order}", f"{tally[1]}, {tally[2]}, {tally[3]} and {tally[4]} with a count of 1, 2, 3 and 4",
        "numbers from which Kneser-Ney discounts follow",
        "Take more text, a lower order, or fallback discounts (0.5, 1, 1.5).",
    )  # fmt: skip


def _smooth(
    found: list[Level], adjusted: list[NDArray[np.int32]], discounts: list[NDArray[np.float32]],
    words: tuple[str, ...], settings: Estimation,
) -> Ngrams:  # fmt: skip
    """Probabilities and back-off weights of all orders, and the pruned model of them."""
    thresholds = settings.thresholds
    kept = [level.counts > threshold for level, threshold in zip(found, thresholds, strict=True)]
    kept[0][[*range(_SPECIAL), -1]] = True
    kept[0] |= thresholds[0] == 0
    lower = _unigrams(adjusted[0], discounts[0], kept[0], settings.uniform)
    probabilities, weights = [lower], []
    for level, counts, amounts, stay, contexts in zip(
        found[1:], adjusted[1:], discounts[1:], kept[1:], found, strict=False
    ):
        total, weight = _left(level.contexts, counts, amounts, stay, len(contexts.firsts))
        shared = (counts.astype(np.float32) - amounts[np.minimum(counts, 3)]) / total[level.contexts]
        lower = shared + weight[level.contexts] * lower[level.suffixes]
        probabilities.append(lower)
        weights.append(np.where(total > 0, weight, np.float32(1)))
    return _pruned(found, kept, probabilities, weights, words)


def _unigrams(
    counts: NDArray[np.int32], amounts: NDArray[np.float32], kept: NDArray[np.bool_], uniform: bool
) -> NDArray[np.float32]:
    total, left = _left(np.zeros(len(counts), np.int32), counts, amounts, kept, 1)
    shares: NDArray[np.float32] = (counts.astype(np.float32) - amounts[np.minimum(counts, 3)]) / total[0]
    # The start symbol is listed, and never predicted.
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
    """The sum of counts after each context, and the share that discounts and pruning leave for the lower order."""
    total = np.bincount(contexts, counts, size).astype(np.float32)
    left = np.zeros(size, np.float32)
    capped = np.where(kept, np.minimum(counts, 3), 0)
    for count in (1, 2, 3):
        left += amounts[count] * np.bincount(contexts[capped == count], minlength=size).astype(np.float32)
    if not kept.all():
        left += np.bincount(contexts[~kept], counts[~kept], size).astype(np.float32)
    np.divide(left, total, out=left, where=total > 0)
    return total, left


def _pruned(
    found: list[Level], kept: list[NDArray[np.bool_]], probabilities: list[NDArray[np.float32]],
    weights: list[NDArray[np.float32]], words: tuple[str, ...],
) -> Ngrams:  # fmt: skip
    """The n-grams that are kept, numbered anew. What an n-gram ends in occurs as often as it does, so that is kept too."""
    renumbered = [np.cumsum(stay, dtype=np.int32) - np.int32(1) for stay in kept]
    return Ngrams(
        tuple(word for word, stay in zip(words, kept[0], strict=True) if stay),
        tuple(renumbered[0][level.firsts[stay]] for level, stay in zip(found[1:], kept[1:], strict=True)),
        tuple(
            numbers[level.suffixes[stay]]
            for level, stay, numbers in zip(found[1:], kept[1:], renumbered, strict=False)
        ),
        tuple(_log(values[stay]) for values, stay in zip(probabilities, kept, strict=True)),
        tuple(_log(values[stay]) for values, stay in zip(weights, kept, strict=False)),
    )  # fmt: skip


def _log(values: NDArray[np.float32]) -> NDArray[np.float32]:
    with np.errstate(divide="ignore"):
        logs: NDArray[np.float32] = np.minimum(np.log10(values), np.float32(0))
    return logs
