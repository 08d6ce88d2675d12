"""Where entries of a vocabulary stand among all others: bits, and the probability of what is likelier and less likely."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def rank(logits: NDArray[np.floating], entries: NDArray[np.int64]) -> tuple[Numbers, Numbers, Numbers]:
    """The surprisal in bits of some entries, the total probability of all likelier ones, and of all less likely ones.

    What is left of 1 is the entry and its equals. Sums are in float64; equal is what has the same logit.

    Arguments:
        logits: shape (vocabulary,): of one place, in the type that they were computed in, and before any normalising.
        entries: shape (asked,): which are asked about.

    Returns:
        Three arrays of shape (asked,).

    >>> bits, above, below = rank(np.log(np.array([0.5, 0.25, 0.125, 0.125])), np.array([1, 3]))
    >>> [numbers.round(9).tolist() for numbers in (bits, above, below)]
    [[2.0, 3.0], [0.5, 0.75], [0.25, 0.0]]
    """
    ranked = np.sort(logits)
    highest = np.float64(ranked[-1])
    sums = np.concatenate([[0.0], np.cumsum(np.exp(ranked.astype(np.float64) - highest))])
    own = logits[entries]
    first, after = np.searchsorted(ranked, own), np.searchsorted(ranked, own, "right")
    bits = (np.log(sums[-1]) + highest - own.astype(np.float64)) / np.log(2)
    return bits, (sums[-1] - sums[after]) / sums[-1], sums[first] / sums[-1]


def masses(logits: NDArray[np.floating], sets: NDArray[np.float64]) -> Numbers:
    """The surprisal in bits of some sets of entries.

    Arguments:
        logits: as in `rank`.
        sets: shape (vocabulary, sets): 1 for the members of each, else 0.

    Returns:
        Shape (sets,); infinite for a set without probability.
    """
    shares = np.exp(logits.astype(np.float64) - np.float64(logits.max()))
    with np.errstate(divide="ignore"):
        bits: Numbers = np.log2(shares.sum()) - np.log2(shares @ sets)
    return bits
