"""Numbers of a distribution over a vocabulary: surprisals, ranks, entropy, likeliest entries, probability masses."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def rank(logits: NDArray[np.floating], entries: NDArray[np.int64]) -> tuple[Numbers, Numbers, Numbers]:
    """Compute the surprisal of some entries, and the total probability of all likelier and of all less likely entries.

    The remaining probability mass belongs to the entry and to entries with the same logit. Sums are in float64.

    Arguments:
        logits: shape (vocabulary,): logits at one position, in the dtype of the computation, not normalised.
        entries: shape (entries,): indices of the entries.

    Returns:
        Surprisals in bits, probabilities of likelier entries, probabilities of less likely entries; each of shape
        (entries,).

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


def reduce(logits: NDArray[np.floating], entries: NDArray[np.int64]) -> tuple[float, Numbers]:
    """Compute the entropy of a distribution, and the rank of some of its entries.

    Arguments:
        logits: as in `rank`.
        entries: shape (entries,): indices of the entries.

    Returns:
        The entropy in bits; and shape (entries,): 1 plus the number of likelier entries.

    >>> entropy, ranks = reduce(np.log(np.array([0.5, 0.25, 0.125, 0.125])), np.array([1, 3]))
    >>> round(entropy, 9), ranks.tolist()
    (1.75, [2.0, 3.0])
    """
    wide = logits.astype(np.float64)
    shares = np.exp(wide - wide.max())
    shares = shares[shares > 0] / shares.sum()
    ranked = np.sort(logits)
    ranks: Numbers = 1.0 + len(ranked) - np.searchsorted(ranked, logits[entries], "right").astype(np.float64)
    return float(-(shares * np.log2(shares)).sum()) + 0.0, ranks


def likeliest(logits: NDArray[np.floating], count: int) -> NDArray[np.int64]:
    """Return the indices of the most probable entries, the most probable first, and equal ones in their order.

    Arguments:
        logits: as in `rank`, or logarithms of probabilities.
        count: the number of entries; entries with probability 0 are left out.

    >>> likeliest(np.log(np.array([0.125, 0.5, 0.125, 0.25])), 3).tolist()
    [1, 3, 0]
    """
    if not count:
        return np.zeros(0, np.int64)
    least = np.partition(logits, -count)[-count] if count < len(logits) else -np.inf
    near = np.flatnonzero((logits >= least) & (logits > -np.inf))
    result: NDArray[np.int64] = near[np.argsort(-logits[near], kind="stable")][:count]
    return result


def masses(logits: NDArray[np.floating], sets: NDArray[np.float64]) -> Numbers:
    """Compute the surprisals of sets of vocabulary entries."""
    shares = np.exp(logits.astype(np.float64) - np.float64(logits.max()))
    with np.errstate(divide="ignore"):
        bits: Numbers = np.log2(shares.sum()) - np.log2(shares @ sets)
    return bits
