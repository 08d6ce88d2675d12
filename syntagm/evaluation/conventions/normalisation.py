"""Sentence scores that are normalised for length and word frequency, or use only the least probable word.

b are the surprisals of the n words of a sentence under a model, in bits, and u those under a unigram model. A scored
end-of-text symbol counts as a word. All scores are costs: the sentence with the lower score is preferred.

    bits        sum b                   surprisal of the sentence, used everywhere else
    mean_bits   sum b / n               mean per word
    norm_sub    sum b - sum u           minus the unigram surprisal
    norm_div    sum b / sum u           divided by the unigram surprisal
    slor        (sum b - sum u) / n     minus the syntactic log-odds ratio of Pauls & Klein 2012
    word_max    max b                   least probable word
    word_ratio  max b / u               least probable word relative to its unigram surprisal

The names are those of Lau, Clark & Lappin 2017, except for the last two; they call `word_ratio` WLP Min-1. If two
sentences differ in one word, `slor` and `norm_sub` prefer the same one: both compare the difference in bits with the
log odds of the two words under the unigram model.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.float64]
Cost = tuple[float, float]
Score = Literal["bits", "mean_bits", "norm_sub", "norm_div", "slor", "word_max", "word_ratio"]


def _ratio(bits: Bits, unigram: Bits) -> Cost:
    if np.isnan(bits).any():
        return np.nan, 1.0
    at = int(np.argmax(bits / unigram))
    return float(bits[at] / unigram[at]), float(unigram[at])


# Name -> function of bits and unigram bits that returns the cost and the divisor of a difference in bits.
COSTS: dict[Score, Callable[[Bits, Bits], Cost]] = {
    "bits": lambda b, u: (float(b.sum()), 1.0),
    "mean_bits": lambda b, u: (float(b.sum()) / len(b), float(len(b))),
    "norm_sub": lambda b, u: (float(b.sum() - u.sum()), 1.0),
    "norm_div": lambda b, u: (float(b.sum() / u.sum()), float(u.sum())),
    "slor": lambda b, u: (float(b.sum() - u.sum()) / len(b), float(len(b))),
    "word_max": lambda b, u: (float(b.max()), 1.0),
    "word_ratio": _ratio,
}


def costs(bits: Bits, unigram: Bits) -> dict[Score, Cost]:
    """Compute all costs of one sentence, each with the divisor of a difference in bits.

    Without words, all costs are nan.

    Arguments:
        bits: the surprisal of each word. Shape (words,).
        unigram: its unigram surprisal. Shape (words,).

    >>> by_name = costs(np.array([2.0, 6.0]), np.array([4.0, 8.0]))
    >>> [cost for name, (cost, _) in by_name.items() if name != "norm_div"]  # which is 8 / 12
    [8.0, 4.0, -4.0, -2.0, 6.0, 0.75]
    """
    if not len(bits):
        return dict.fromkeys(COSTS, (np.nan, 1.0))
    return {name: cost(bits, unigram) for name, cost in COSTS.items()}


def margin(lesser: Cost, greater: Cost, tolerance: float) -> float:
    """Return the cost of the second sentence minus that of the first; 0 if the difference is within the tolerance.

    Arguments:
        tolerance: the tolerance in bits, which is compared with the difference before division.

    >>> margin((1.0, 2.0), (1.5, 2.0), 0.1), margin((1.0, 2.0), (1.00001, 2.0), 0.1)
    (0.5, 0.0)
    """
    difference = greater[0] - lesser[0]
    return 0.0 if abs(difference) <= tolerance / min(lesser[1], greater[1]) else difference
