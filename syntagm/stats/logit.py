"""Logistic regression without random effects: which properties of items go with the odds that a prediction holds.

Maximum likelihood by Newton's method (iteratively reweighted least squares), without a penalty. Items of one suite are alike, so
beside the usual standard error there is one that takes suites for the units (the sandwich of Liang & Zeger 1986, with
G / (G - 1)); it needs many suites, and is too small with few. Where a predictor parts the items that hold from those that
don't, the likelihood has no maximum: that is said, and there are no estimates.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.errors import InputError

Numbers = NDArray[np.float64]
_STEPS, _CLOSE = 50, 1e-9
# Beyond these log odds a probability is 0 or 1 to the last digits of a million items.
_FAR = 25.0


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A change of the log odds for each unit of a predictor.

    Arguments:
        se: if items were independent.
        se_clustered: with clusters as the units; nan with fewer than two.
        p: two-sided, of the larger of the two errors.
    """

    name: str
    estimate: float
    se: float
    se_clustered: float
    p: float


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model.

    Arguments:
        coefficients: the intercept first; without estimates (nan) if `message` says why.
        loglik, loglik_null: of the model and of the intercept alone, natural logarithms.
        n, clusters: how many items, and groups of items.
        message: "" if all is well.
    """

    coefficients: tuple[Coefficient, ...]
    loglik: float
    loglik_null: float
    n: int
    clusters: int
    message: str

    @property
    def explained(self) -> float:
        """McFadden's share of the log-likelihood of the intercept that the predictors take away."""
        return 1 - self.loglik / self.loglik_null if self.loglik_null else math.nan


def fit(values: Numbers, predictors: Mapping[str, Numbers], clusters: Sequence[str] | None = None) -> Fit:
    """Fit the log odds of 1 as a sum of the predictors.

    Arguments:
        values: 0 or 1. Shape (items,).
        predictors: name -> numbers. Shape (items,).
        clusters: the group of each item, for instance its suite.

    Raises:
        InputError: a value is not 0 or 1, a predictor is not finite, or predictors say the same.

    >>> made = fit(np.array([1.0, 1, 1, 0, 1, 0, 0, 0]), {"long": np.array([0.0, 0, 0, 0, 1, 1, 1, 1])})
    >>> [round(one.estimate, 6) for one in made.coefficients]  # odds 3 : 1 and 1 : 3, log 3 and log 1/3 - log 3
    [1.098612, -2.197225]
    """
    design = np.column_stack([np.ones(len(values)), *predictors.values()])
    names = ("intercept", *predictors)
    _refuse(values, design, names)
    groups = np.unique(np.asarray(clusters if clusters is not None else [""] * len(values)), return_inverse=True)[1]
    share = float(values.mean())
    null = sum(count * math.log(one) for one in (share, 1 - share) if (count := one * len(values)))
    found, message = _maximum(values, design)
    counted = int(groups.max()) + 1
    if found is None:
        empty = tuple(Coefficient(name, *(math.nan,) * 4) for name in names)
        return Fit(empty, math.nan, null, len(values), counted, message)
    made = zip(names, found, *_errors(values, design, found, groups), strict=True)
    coefficients = tuple(_coefficient(name, *map(float, numbers)) for name, *numbers in made)
    return Fit(coefficients, _loglik(values, design @ found), null, len(values), counted, "")


def _maximum(values: Numbers, design: Numbers) -> tuple[Numbers | None, str]:
    if values.min() == values.max():
        return None, f"all values are {values[0]:g}"
    found = np.zeros(design.shape[1])
    last = _loglik(values, design @ found)
    for _ in range(_STEPS):
        fitted = _probability(design @ found)
        information = design.T @ (design * (fitted * (1 - fitted))[:, None])
        if np.linalg.cond(information) > 1e14:
            break
        step = np.linalg.solve(information, design.T @ (values - fitted))
        # Newton's step may overshoot; the likelihood has one maximum, so half the way is always better in the end.
        while (now := _loglik(values, design @ (found + step))) < last - 1e-9 * abs(last) and np.abs(
            step
        ).max() > _CLOSE:
            step = step / 2
        found, last = found + step, now
        if np.abs(step).max() < _CLOSE:
            return found, ""
        if np.abs(design @ found).max() > _FAR and last > -1e-6 * len(values):
            break
    return None, "no maximum: a predictor parts what holds from what does not, wholly or in part"


def _errors(values: Numbers, design: Numbers, found: Numbers, groups: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """Standard errors of independent items, and of independent groups."""
    fitted = _probability(design @ found)
    inverse = np.linalg.inv(design.T @ (design * (fitted * (1 - fitted))[:, None]))
    plain = np.sqrt(np.diag(inverse))
    counted = int(groups.max()) + 1
    if counted < 2:
        return plain, np.full(len(found), np.nan)
    scores = np.zeros((counted, len(found)))
    np.add.at(scores, groups, design * (values - fitted)[:, None])
    middle = scores.T @ scores * counted / (counted - 1)
    return plain, np.sqrt(np.diag(inverse @ middle @ inverse))


def _coefficient(name: str, estimate: float, se: float, clustered: float) -> Coefficient:
    z = abs(estimate) / max(se, 0.0 if math.isnan(clustered) else clustered)
    return Coefficient(name, estimate, se, clustered, math.erfc(z / math.sqrt(2)))


def _refuse(values: Numbers, design: Numbers, names: Sequence[str]) -> None:
    if not len(values) or not np.isin(values, (0, 1)).all():
        raise InputError("logistic regression", "values other than 0 and 1, or none", "only 0 and 1")
    for name, column in zip(names, design.T, strict=True):
        if not np.isfinite(column).all():
            raise InputError("logistic regression", f"{name} with a value that is not finite", "finite numbers")
    scaled = design / np.maximum(np.abs(design).max(0), 1e-300)
    if np.linalg.matrix_rank(scaled, tol=1e-9 * math.sqrt(len(values))) < len(names):
        found = "predictors of which one follows from the others: " + ", ".join(names)
        raise InputError("logistic regression", found, "predictors that don't", "Leave one of them out.")


def _loglik(values: Numbers, odds: Numbers) -> float:
    return float((values * odds - np.logaddexp(0, odds)).sum())


def _probability(odds: Numbers) -> Numbers:
    from scipy.special import expit

    return np.asarray(expit(odds), np.float64)
