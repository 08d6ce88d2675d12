"""Separation of good and bad sentences across items: the area under the ROC curve (AUC), with items as random units.

The AUC is the probability that a good sentence has a lower cost than a bad one, of the same item or of another; a tie counts
half. It is 0.5 for a model whose costs say nothing about sentences in general, even if it wins within each pair.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.stats.interval import Interval, Spread, score

Numbers = NDArray[np.float64]
# With fewer items than this, times the share of comparisons on the rarer side, a variance is too small more often than not:
# of a sample in which all comparisons are won, it is 0.
_FEW = 8
# Rows of comparisons in memory at a time.
_ROWS = 1 << 22


@dataclass(frozen=True, slots=True)
class Auc:
    """An AUC with its interval."""

    value: float  # nan without a comparison
    interval: Interval  # for other items of the kind
    comparisons: int  # the number of pairs of a good and a bad sentence that were compared


def auc(good: Numbers, bad: Numbers, strata: NDArray[np.int64] | None = None) -> Auc:
    """Compute the AUC of items with a good and a bad sentence each.

    The variance is that of the influences of items, as of DeLong et al. 1988 for two correlated samples: an item contributes
    by its good sentence and by its bad one. The interval is Wilson's with this variance and Student's quantile. Where nearly
    all comparisons come out alike, the variance is at least that of as many independent sentences; so the interval covers in
    simulations (`benchmarks/coverage_auc.md`), which it does not without.

    Arguments:
        good, bad: costs. Shape (items,), without nan; infinite costs are compared like others.
        strata: shape (2, items): a number for each good and each bad sentence, such as its length; only sentences with the
            same number are compared. None: all are.

    >>> found = auc(np.array([1.0, 2.0, 3.0]), np.array([2.5, 2.5, 4.0]))
    >>> round(found.value, 4), found.comparisons
    (0.7778, 9)
    """
    items = len(good)
    wins, counts = np.zeros((2, items)), np.zeros((2, items))
    step = max(1, _ROWS // max(1, items))
    for first in range(0, items, step):
        rows = slice(first, first + step)
        own = (good[rows, None] < bad) + 0.5 * (good[rows, None] == bad)
        compared = np.ones(own.shape) if strata is None else (strata[0][rows, None] == strata[1]).astype(np.float64)
        own *= compared
        wins[0, rows] += own.sum(1)
        wins[1] += own.sum(0)
        counts[0, rows] += compared.sum(1)
        counts[1] += compared.sum(0)
    total = float(counts[0].sum())
    if not total:
        return Auc(np.nan, Interval(np.nan, np.nan, "no interval: no sentences to compare"), 0)
    value = float(wins[0].sum()) / total
    influences = ((wins - value * counts) / total).sum(0)
    taking_part = int((counts.sum(0) > 0).sum())
    if taking_part < 2:
        return Auc(value, Interval(np.nan, np.nan, "no interval: fewer than two items"), int(total))
    variance = float((influences**2).sum()) * taking_part / (taking_part - 1)
    if taking_part * min(value, 1 - value) < _FEW:
        variance = max(variance, value * (1 - value) / (2 * taking_part))
    spread = Spread(variance, taking_part - 1, (("items", taking_part),))
    return Auc(value, score(value, spread), int(total))
