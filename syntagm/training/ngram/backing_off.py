"""Modified Kneser-Ney smoothing that backs off instead of interpolating, as SRILM's `ngram-count -kndiscount -unk` does.

a(g) is the adjusted count of an n-gram and D(a) its discount, as in `kneser_ney`; h' is h without its first word.

    p(w | h) = (a(hw) - D(a(hw))) / A(h)      if a(hw) is above the threshold        A(h): the sum of a(hw) over all w
               b(h) p(w | h')                 otherwise
    b(h) = (1 - sum of p(w | h)) / (1 - sum of p(w | h'))      over the words w above the threshold; 1 if there is none

Unigrams back off to nothing: the probability that their discounts leave is divided equally among the words that have none,
which usually is the unknown word alone. If all words have some, it is divided among all.

Source: Stolcke 2002, and the manual page ngram-discount(7) of SRILM 1.7.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from syntagm.training.ngram.settings import Estimation
from syntagm.training.ngram.sorting import Level

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
    """Compute probabilities and back-off weights of all orders."""
    above = [counts > threshold for counts, threshold in zip(adjusted, settings.thresholds, strict=True)]
    lower = _unigrams(adjusted[0], discounts[0], above[0])
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


def _unigrams(counts: NDArray[np.int32], amounts: NDArray[np.float32], above: NDArray[np.bool_]) -> NDArray[np.float64]:
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
