"""Other scores of a sentence than its bits: by length, by how frequent its words are, by its worst word.

b are the bits of the n words of a sentence under a model, u those under a unigram model; an end symbol that the model scores is a
word. All are costs: the sentence with less is preferred.

    bits        sum b                   the sentence's surprisal, what everything else here uses
    mean_bits   sum b / n               per word
    norm_sub    sum b - sum u           in excess of what its words cost by themselves
    norm_div    sum b / sum u           as a share of it
    slor        (sum b - sum u) / n     minus the syntactic log-odds ratio of Pauls & Klein 2012
    word_max    max b                   the least probable word
    word_ratio  max b / u               the least probable word, for its frequency

Names but for the last two as in Lau, Clark & Lappin 2017, who have `word_ratio` as WLP Min-1. For two sentences that differ
in one word, `slor` and `norm_sub` decide alike: the difference in bits is set against the log-odds of the two words.
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


# Name -> words' bits and unigram bits -> the cost, and what a difference in bits was divided by.
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
    """Every cost of one sentence, and what a difference in bits was divided by. Shapes (words,).

    Without words every cost is nan.

    >>> found = costs(np.array([2.0, 6.0]), np.array([4.0, 8.0]))
    >>> [cost for name, (cost, _) in found.items() if name != "norm_div"]  # which is 8 / 12
    [8.0, 4.0, -4.0, -2.0, 6.0, 0.75]
    """
    if not len(bits):
        return dict.fromkeys(COSTS, (np.nan, 1.0))
    return {name: cost(bits, unigram) for name, cost in COSTS.items()}


def margin(lesser: Cost, greater: Cost, tolerance: float) -> float:
    """By how much the first costs less; 0 if the difference, in bits before any division, is within the tolerance.

    >>> margin((1.0, 2.0), (1.5, 2.0), 0.1), margin((1.0, 2.0), (1.00001, 2.0), 0.1)
    (0.5, 0.0)
    """
    found = greater[0] - lesser[0]
    return 0.0 if abs(found) <= tolerance / min(lesser[1], greater[1]) else found
