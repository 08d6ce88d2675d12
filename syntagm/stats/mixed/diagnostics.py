"""Diagnostics of logistic mixed models: overdispersion, residuals against fitted values, and influence of single groups.

Convergence and singular fits are attributes of `Fit`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.stats.interval import critical
from syntagm.stats.mixed import deviance, laplace
from syntagm.stats.mixed.design import Grouping, Numbers, independent
from syntagm.stats.mixed.fit import Fit

BINS = 40
# Standard deviation of fixed effects that are treated as random ones: so wide that it has no effect.
_FREE = 1e3


@dataclass(frozen=True, slots=True)
class Dispersion:
    """Whether successes vary more than a binomial model with these random effects allows."""

    ratio: float  # Pearson's chi-squared divided by its degrees of freedom; about 1, or below, if they don't
    df: int  # cells minus parameters
    # The probability of a chi-squared at least as large. It is too large rather than too small, because random effects
    # have been fitted to the cells, too.
    p: float


def dispersion(fit: Fit, cells: Sequence[str] = ()) -> Dispersion:
    """Compare the successes of cells with those that are expected given the random effects (Pearson's chi-squared)."""
    # A single response of 0 or 1 can't be overdispersed, but the sum of several can: name the groups whose combinations
    # are cells.
    from scipy.special import chdtrc

    design, fitted = fit.design, probabilities(fit)
    keys = [_grouping(fit, name).index for name in cells] or [np.arange(fit.n)]
    code = np.unique(np.column_stack(keys), axis=0, return_inverse=True)[1].ravel()
    gaps = np.bincount(code, design.response - design.trials * fitted)
    variances = np.bincount(code, design.trials * fitted * (1 - fitted))
    chi2, df = float((gaps**2 / variances).sum()), len(gaps) - fit.k
    if df < 1:
        raise UsageError(fit.formula, f"{len(gaps)} cells for {fit.k} parameters", "more cells than parameters")
    return Dispersion(chi2 / df, df, float(chdtrc(df, chi2)))


def residuals(fit: Fit, bins: int = BINS) -> pl.DataFrame:
    """Average the residuals of rows with similar fitted probabilities (Gelman & Hill 2007, section 5.6)."""
    # In a good model, about 95 of 100 averages lie between `low` and `high`, without a trend.
    design, fitted = fit.design, probabilities(fit)
    rows = []
    for part in np.array_split(np.argsort(fitted, kind="stable"), min(bins, fit.n)):
        trials, chance = design.trials[part], fitted[part]
        total, expected = float(trials.sum()), float((trials * chance).sum())
        reach = critical(np.inf) * float(np.sqrt((trials * chance * (1 - chance)).sum())) / total
        observed = float(design.response[part].sum()) / total
        rows.append((expected / total, observed, observed - expected / total, -reach, reach, int(total)))
    return pl.DataFrame(rows, schema=["fitted", "observed", "residual", "low", "high", "n"], orient="row")


def influence(fit: Fit, group: str) -> pl.DataFrame:
    """Measure how much the coefficients change without each level of a group, such as each model."""
    # The covariances of the random effects are held at their estimates (Christensen, Pearson & Johnson 1992), and
    # coefficients and random effects are estimated together.
    grouping = _grouping(fit, group)
    _refuse_linear(fit)
    everything = _coefficients(fit, np.ones(fit.n, np.bool_))
    errors, inverse = np.sqrt(np.diagonal(fit.covariance)), np.linalg.inv(fit.covariance)
    names = [effect.name for effect in fit.coefficients]
    rows = []
    for number, level in enumerate(grouping.levels):
        change = _coefficients(fit, grouping.index != number) - everything
        distance = float(change @ inverse @ change) / len(change)
        rows.append((level, distance, *(change / errors).tolist()))
    return pl.DataFrame(rows, schema=["level", "distance", *names], orient="row").sort("distance", descending=True)


def probabilities(fit: Fit) -> Numbers:
    """Return the fitted probability of a success in each row, given the random effects. Shape (rows,)."""
    from scipy.special import expit

    _refuse_linear(fit)
    eta = fit.design.fixed.values @ np.array([effect.estimate for effect in fit.coefficients])
    for group in fit.groups:
        grouping = _grouping(fit, group.name)
        eta = eta + (grouping.columns * (group.modes * grouping.scale)[grouping.index]).sum(axis=1)
    return np.asarray(expit(eta), np.float64)


def _coefficients(fit: Fit, kept: NDArray[np.bool_]) -> Numbers:
    """Estimate coefficients and random effects of some rows together, with the covariances of a fit."""
    design = fit.design
    groupings = [_rows(grouping, kept) for grouping in design.groupings if grouping.size]
    lower = deviance.triangles(fit.place, groupings)
    columns = design.fixed.values[kept]
    if not independent(columns).all():
        return np.full(columns.shape[1], np.nan)
    orthogonal, triangle = np.linalg.qr(columns)
    scale = np.sqrt(len(columns))
    free = np.eye(columns.shape[1])
    everywhere = np.zeros(len(columns), np.int64)
    fixed = Grouping("", ("",), everywhere, design.fixed.names, orthogonal * scale, np.ones(len(free)), free > 0)
    none = np.empty((len(columns), 0))
    problem = laplace.problem((*groupings, fixed), none, design.response[kept], design.trials[kept])
    found = laplace.mode(problem, [*lower, _FREE * free], np.empty(0)).effects[-1][0]
    return np.asarray(np.linalg.solve(triangle, scale * _FREE * found), np.float64)


def _rows(grouping: Grouping, kept: NDArray[np.bool_]) -> Grouping:
    return replace(grouping, index=grouping.index[kept], columns=grouping.columns[kept])


def _grouping(fit: Fit, name: str) -> Grouping:
    fit.group(name)
    return next(grouping for grouping in fit.design.groupings if grouping.name == name)


def _refuse_linear(fit: Fit) -> None:
    if np.isfinite(fit.sigma):
        raise UsageError(fit.formula, "a linear model", "a logistic one")
