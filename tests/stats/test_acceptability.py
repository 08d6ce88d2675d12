"""Single judgements: thresholds from other folds, MCC, AUC, against straightforward computations."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from syntagm.stats import acceptability


def best(costs: np.ndarray, labels: np.ndarray, quality: Callable[[np.ndarray, np.ndarray], float]) -> float:
    """Try all thresholds."""
    levels = sorted(set(costs))
    cuts = [-np.inf, *((low + high) / 2 for low, high in pairwise(levels)), np.inf]
    found = [quality(costs <= cut, labels) for cut in cuts]
    return cuts[int(np.argmax([-2 if np.isnan(value) else value for value in found]))]


def mcc(called: np.ndarray, labels: np.ndarray) -> float:
    return np.nan if called.all() or not called.any() else float(np.round(np.corrcoef(called, labels)[0, 1], 12))


@pytest.mark.parametrize("seed", range(3))
def test_thresholds_come_from_other_folds(seed: int) -> None:
    random = np.random.default_rng(seed)
    labels = random.random(47) < 0.4
    costs = np.round(random.normal(size=47) - labels, 1)  # with ties
    by_accuracy, by_mcc = np.zeros(47, bool), np.zeros(47, bool)
    for fold in range(10):
        own = np.arange(47) % 10 == fold
        others = costs[~own], labels[~own]
        by_accuracy[own] = costs[own] <= best(*others, lambda called, known: float((called == known).mean()))
        by_mcc[own] = costs[own] <= best(*others, mcc)
    found = acceptability.thresholded(costs, labels)
    assert found.correct.tolist() == (by_accuracy == labels).tolist()
    assert found.mcc == pytest.approx(mcc(by_mcc, labels))
    wins = stats.mannwhitneyu(-costs[labels], -costs[~labels]).statistic
    auc = acceptability.auc(costs, labels)
    assert auc.value == pytest.approx(wins / (labels.sum() * (~labels).sum()))
    assert auc.interval.low < auc.value < auc.interval.high


def test_what_has_no_number_is_nan() -> None:
    one = np.array([True, True, True])
    assert np.isnan(acceptability.auc(np.array([1.0, 2.0, 3.0]), one).value)
    assert np.isnan(acceptability.mcc(one, one))
    assert np.isnan(acceptability.correlations(np.array([1.0, 1.0, 1.0]), np.array([1.0, 2.0, 3.0]))[0])


def test_a_lower_cost_goes_with_a_higher_rating() -> None:
    spearman, pearson = acceptability.correlations(np.array([1.0, 2.0, 4.0]), np.array([3.0, 2.0, 1.0]))
    assert (spearman, round(pearson, 4)) == (1.0, round(float(np.corrcoef([-1, -2, -4], [3, 2, 1])[0, 1]), 4))
