"""Intervals of shares of lemmas that are averaged over contexts: equal weight and model weight.

Contexts and lemmas are both random, and crossed. In each context, the share is a ratio of sums over lemmas: of wins to
lemmas (equal weight), or of the probability of right forms to that of all forms (model weight).
"""

from syntagm.evaluation import Kind
from syntagm.stats import cluster_intervals, interval
from syntagm.stats.interval import Interval, Numbers

# With fewer lemmas of unequal weight, the interval covers a little less than it should (`benchmarks/coverage.py`).
UNEQUAL = 100


def of_shares(shares: Numbers, parts: Numbers, wholes: Numbers) -> Interval:
    """Compute the interval of the mean of shares for other contexts and lemmas.

    Arguments:
        shares: the share in each context, at least two. Shape (contexts,).
        parts, wholes: of each lemma, summed over contexts; at least two. Shape (lemmas,).

    >>> of_shares(np.array([0.5, 0.75, 0.5]), np.array([3.0, 2, 2, 0]), np.full(4, 3.0)).method
    'Wilson with t(3.88); random: contexts, lemmas; only 3 contexts'
    """
    of_contexts, of_lemmas = (
        interval.spread_of_items(shares, Kind.SHARE, "contexts"), cluster_intervals.spread_of_ratio(parts, wholes, "lemmas")
    )  # fmt: skip
    variances, units = [of_contexts.variance, of_lemmas.variance], [of_contexts.units[0], of_lemmas.units[0]]
    spread = cluster_intervals.combined(variances, units, freedoms=[len(shares) - 1.0, of_lemmas.freedom])
    found = interval.score(float(shares.mean()), spread)
    equal = of_lemmas.freedom + 1 > 0.9 * len(wholes)
    if equal or len(wholes) >= UNEQUAL or found.remarks:
        return found
    return found.remarked(f"only {len(wholes)} lemmas of unequal weight")
