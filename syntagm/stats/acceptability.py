"""Single judgements of sentences: accuracy and MCC by a threshold, AUC, and correlation with ratings.

A sentence is called acceptable if its cost (bits) is at most a threshold. The threshold is chosen on other sentences than
those that it is applied to: the sentences are dealt to ten folds in turn, and that of a fold is the best one on the others
(of several, the lowest). So the numbers don't profit from the choice.
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


def auc_of_pairs(good: Numbers, bad: Numbers, strata: NDArray[np.int64] | None = None) -> Auc:
    """Compute the AUC of items with a good and a bad sentence each.

    The AUC is the probability that a good sentence has a lower cost than a bad one, of the same item or of another; a tie
    counts half. It is 0.5 for a model whose costs say nothing about sentences in general, even if it wins within each pair.

    The variance is that of the influences of items, as of DeLong et al. 1988 for two correlated samples: an item contributes
    by its good sentence and by its bad one. The interval is Wilson's with this variance and Student's quantile. Where nearly
    all comparisons come out alike, the variance is at least that of as many independent sentences; so the interval covers in
    simulations (`benchmarks/coverage_auc.md`), which it does not without.

    Arguments:
        good, bad: costs. Shape (items,), without nan; infinite costs are compared like others.
        strata: shape (2, items): a number for each good and each bad sentence, such as its length; only sentences with the
            same number are compared. None: all are.

    >>> found = auc_of_pairs(np.array([1.0, 2.0, 3.0]), np.array([2.5, 2.5, 4.0]))
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


FOLDS = 10

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Thresholded:
    """Verdicts by thresholds."""

    correct: Flags  # whether each sentence is called what it is, by the threshold of best accuracy. Shape (sentences,).
    mcc: float  # Matthews' correlation of labels and calls, by the threshold of best MCC; nan if either is constant


def thresholded(costs: Numbers, acceptable: Flags) -> Thresholded:
    """Call sentences acceptable by thresholds from other folds.

    Arguments:
        costs: the cost of each sentence, without nan. Shape (sentences,).
        acceptable: whether people accept it.

    >>> found = thresholded(np.array([1.0, 5.0, 2.0, 6.0]), np.array([True, False, True, False]))
    >>> found.correct.tolist(), found.mcc
    ([True, True, True, True], 1.0)
    """
    folds = np.arange(len(costs)) % FOLDS
    by_accuracy, by_mcc = np.zeros(len(costs), bool), np.zeros(len(costs), bool)
    for fold in range(min(FOLDS, len(costs))):
        own, others = folds == fold, folds != fold
        accuracy, correlation = _best(costs[others], acceptable[others])
        by_accuracy[own], by_mcc[own] = costs[own] <= accuracy, costs[own] <= correlation
    return Thresholded(by_accuracy == acceptable, mcc(by_mcc, acceptable))


def mcc(called: Flags, acceptable: Flags) -> float:
    """Compute Matthews' correlation coefficient; nan if either is constant.

    >>> round(mcc(np.array([True, True, False, True]), np.array([True, False, False, True])), 4)
    0.5774
    """
    return float(
        _mcc(*(np.array([float((a & b).sum())]) for a in (called, ~called) for b in (acceptable, ~acceptable)))[0]
    )


def auc(costs: Numbers, acceptable: Flags) -> Auc:
    """Compute the AUC of labelled sentences: how often an acceptable one costs less than another; a tie counts half.

    The interval is Wilson's with the variance of DeLong et al. 1988.

    >>> found = auc(np.array([1.0, 2.0, 3.0, 2.0]), np.array([True, True, False, False]))
    >>> found.value, found.comparisons
    (0.875, 4)
    """
    good, bad = costs[acceptable], np.sort(costs[~acceptable])
    if not len(good) or not len(bad):
        return Auc(np.nan, Interval(np.nan, np.nan, "no interval: no sentences to compare"), 0)
    ordered = np.sort(good)
    above = len(bad) - (np.searchsorted(bad, good, "left") + np.searchsorted(bad, good, "right")) / 2
    below = (np.searchsorted(ordered, bad, "left") + np.searchsorted(ordered, bad, "right")) / 2
    value = float(above.sum()) / (len(good) * len(bad))
    if min(len(good), len(bad)) < 2:
        return Auc(
            value, Interval(np.nan, np.nan, "no interval: fewer than two sentences of a kind"), len(good) * len(bad)
        )
    variance = float(np.var(above / len(bad), ddof=1)) / len(good) + float(np.var(below / len(good), ddof=1)) / len(bad)
    spread = Spread(variance, len(costs) - 2, (("sentences", len(costs)),))
    return Auc(value, score(value, spread), len(good) * len(bad))


def correlations(costs: Numbers, ratings: Numbers) -> tuple[float, float]:
    """Return Spearman's and Pearson's correlation of ratings with costs of opposite sign; nan if either is constant."""
    from scipy import stats

    if len(costs) < 3 or np.ptp(costs) == 0 or np.ptp(ratings) == 0:
        return np.nan, np.nan
    return float(stats.spearmanr(-costs, ratings).statistic), float(stats.pearsonr(-costs, ratings).statistic)


def _best(costs: Numbers, acceptable: Flags) -> tuple[float, float]:
    """Return the thresholds of best accuracy and of best MCC."""
    if not len(costs):
        return np.inf, np.inf
    order = np.argsort(costs, kind="stable")
    sorted_costs, labels = costs[order], acceptable[order]
    hits = np.concatenate([[0], np.cumsum(labels)]).astype(np.float64)
    called = np.arange(len(costs) + 1, dtype=np.float64)
    false = called - hits
    cuts = np.concatenate([[-np.inf], (sorted_costs[:-1] + sorted_costs[1:]) / 2, [np.inf]])
    # Equal costs can't be cut apart.
    possible = np.concatenate([[True], sorted_costs[:-1] < sorted_costs[1:], [True]])
    correct = hits + (len(costs) - labels.sum()) - false
    correlation = np.nan_to_num(_mcc(hits, false, hits[-1] - hits, (len(costs) - hits[-1]) - false), nan=-2.0)
    first, second = (int(np.argmax(np.where(possible, value, -np.inf))) for value in (correct, correlation))
    return float(cuts[first]), float(cuts[second])


def _mcc(hits: Numbers, false: Numbers, missed: Numbers, rejected: Numbers) -> Numbers:
    product = (hits + false) * (hits + missed) * (rejected + false) * (rejected + missed)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Numbers = np.where(product > 0, (hits * rejected - false * missed) / np.sqrt(product), np.nan)
    return found
