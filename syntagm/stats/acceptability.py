"""Single judgements of sentences: accuracy and MCC by a threshold, AUC, and correlation with ratings.

A sentence is called acceptable if its cost (bits) is at most a threshold. The threshold is chosen on other sentences than
those that it is applied to: the sentences are dealt to ten folds in turn, and that of a fold is the best one on the others
(of several, the lowest). So the numbers don't profit from the choice.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.stats.auc import Auc
from syntagm.stats.interval import Interval, Spread, score

FOLDS = 10

Numbers = NDArray[np.float64]
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
