"""Logistic regression without random effects, with standard errors for independent and for clustered items.

The model is fitted by maximum likelihood with Newton's method (iteratively reweighted least squares), without
regularisation. Because items of a suite are similar, there is a second standard error with suites as clusters (the
sandwich estimator of Liang & Zeger 1986, by the jackknife of Bell & McCaffrey 2002), whose interval and p-value are
those of Student's t with G - 1 degrees of freedom for G clusters (Cameron & Miller 2015). If a predictor separates the
items with value 1 from those with value 0, the likelihood has no maximum; the fit then has a message instead of
estimates.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError
from syntagm.stats.interval import Spread, p_value

Numbers = NDArray[np.float64]
_STEPS, _CLOSE = 50, 1e-9
# Beyond these log odds a probability can't be distinguished from 0 or 1, even with a million items.
_FAR = 25.0


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient: the change of the log odds for each unit of a predictor."""

    name: str
    estimate: float
    se: float  # the standard error under the assumption of independent items
    se_clustered: float  # the standard error with clusters; nan with fewer than two clusters
    p: float  # the two-sided p-value, the larger of those from the two standard errors
    reach: float  # half the width of the 95% interval, the wider of the two


@dataclass(frozen=True, slots=True)
class Fit:
    # The coefficients, intercept first; nan if there are no estimates (see `message`).
    coefficients: tuple[Coefficient, ...]
    loglik: float  # `loglik`, `loglik_null`: the log-likelihood of the model, and of the intercept alone, in nats
    loglik_null: float
    n: int  # `n`, `clusters`: the number of items and of clusters
    clusters: int
    message: str  # the reason why there are no estimates; empty if there are estimates

    @property
    def explained(self) -> float:
        """McFadden's pseudo-R2: 1 - loglik / loglik_null."""
        return 1 - self.loglik / self.loglik_null if self.loglik_null else math.nan


def fit(values: Numbers, predictors: Mapping[str, Numbers], clusters: Sequence[str] | None = None) -> Fit:
    """Fit the log odds of the value 1 as a linear function of the predictors.

    Arguments:
        values: the values, 0 or 1. Shape (items,).
        predictors: name -> numbers. Shape (items,).
        clusters: the cluster of each item, for example its suite.

    Raises:
        InputError: a value is not 0 or 1, a predictor is not finite, or predictors are linearly dependent.

    >>> model = fit(np.array([1.0, 1, 1, 0, 1, 0, 0, 0]), {"long": np.array([0.0, 0, 0, 0, 1, 1, 1, 1])})
    >>> [round(coefficient.estimate, 6) for coefficient in model.coefficients]  # odds 3 : 1 and 1 : 3: log 3, -2 log 3
    [1.098612, -2.197225]
    """
    design = np.column_stack([np.ones(len(values)), *predictors.values()])
    names = ("intercept", *predictors)
    _refuse(values, design, names)
    groups = np.unique(np.asarray(clusters if clusters is not None else [""] * len(values)), return_inverse=True)[1]
    share = float(values.mean())
    null = sum(count * math.log(p) for p in (share, 1 - share) if (count := p * len(values)))
    weights, message = _maximum(values, design)
    counted = int(groups.max()) + 1
    if weights is None:
        empty = tuple(Coefficient(name, *(math.nan,) * 5) for name in names)
        return Fit(empty, math.nan, null, len(values), counted, message)
    rows = zip(names, weights, *_errors(values, design, weights, groups), strict=True)
    coefficients = tuple(_coefficient(counted, name, *map(float, numbers)) for name, *numbers in rows)
    return Fit(coefficients, _loglik(values, design @ weights), null, len(values), counted, "")


def _maximum(values: Numbers, design: Numbers) -> tuple[Numbers | None, str]:
    if values.min() == values.max():
        return None, f"all values are {values[0]:g}"
    weights = np.zeros(design.shape[1])
    last = _loglik(values, design @ weights)
    for _ in range(_STEPS):
        fitted = _probability(design @ weights)
        information = design.T @ (design * (fitted * (1 - fitted))[:, None])
        if np.linalg.cond(information) > 1e14:
            break
        step = np.linalg.solve(information, design.T @ (values - fitted))
        # Newton's step may overshoot. The likelihood is concave, so halving the step increases it eventually.
        while (now := _loglik(values, design @ (weights + step))) < last - 1e-9 * abs(last) and np.abs(
            step
        ).max() > _CLOSE:
            step = step / 2
        weights, last = weights + step, now
        if np.abs(step).max() < _CLOSE:
            return weights, ""
        if np.abs(design @ weights).max() > _FAR and last > -1e-6 * len(values):
            break
    return None, "no maximum: a predictor parts what holds from what does not, wholly or in part"


def _errors(values: Numbers, design: Numbers, weights: Numbers, groups: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """Return the standard errors for independent items, and for independent clusters."""
    fitted = _probability(design @ weights)
    inverse = np.linalg.inv(design.T @ (design * (fitted * (1 - fitted))[:, None]))
    plain = np.sqrt(np.diag(inverse))
    counted = int(groups.max()) + 1
    if counted < 2:
        return plain, np.full(len(weights), np.nan)
    scores = np.zeros((counted, len(weights)))
    np.add.at(scores, groups, design * (values - fitted)[:, None])
    # By leaving out one cluster after another: with the information of the others only (Bell & McCaffrey 2002).
    information = design.T @ (design * (fitted * (1 - fitted))[:, None])
    moved = np.zeros_like(scores)
    for cluster in range(counted):
        inside = groups == cluster
        own = design[inside].T @ (design[inside] * (fitted * (1 - fitted))[inside, None])
        moved[cluster] = np.linalg.pinv(information - own) @ scores[cluster]
    return plain, np.sqrt((moved**2).sum(axis=0) * (counted - 1) / counted)


def _coefficient(clusters: int, name: str, estimate: float, se: float, clustered: float) -> Coefficient:
    spreads = [Spread(se**2, math.inf, (("items", 0),))]
    if clusters > 1:
        spreads.append(Spread(clustered**2, clusters - 1.0, (("clusters", clusters),)))
    p, reach = max(p_value(estimate, spread) for spread in spreads), max(spread.reach for spread in spreads)
    return Coefficient(name, estimate, se, clustered, p, reach)


def _refuse(values: Numbers, design: Numbers, names: Sequence[str]) -> None:
    if not len(values) or not np.isin(values, (0, 1)).all():
        raise InputError("logistic regression", "values other than 0 and 1, or no values", "only 0 and 1")
    for name, column in zip(names, design.T, strict=True):
        if not np.isfinite(column).all():
            raise InputError("logistic regression", f"{name} with a value that is not finite", "finite numbers")
    scaled = design / np.maximum(np.abs(design).max(0), 1e-300)
    if np.linalg.matrix_rank(scaled, tol=1e-9 * math.sqrt(len(values))) < len(names):
        found = "linearly dependent predictors: " + ", ".join(names)
        raise InputError("logistic regression", found, "linearly independent predictors", "Remove one of them.")


def _loglik(values: Numbers, odds: Numbers) -> float:
    return float((values * odds - np.logaddexp(0, odds)).sum())


def _probability(odds: Numbers) -> Numbers:
    from scipy.special import expit

    return np.asarray(expit(odds), np.float64)
