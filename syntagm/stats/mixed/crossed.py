"""Shares of answers of crossed people and items, from one logistic mixed model of several suites.

The model has a random intercept of suites, of people and of items: `value ~ 1 + (1 | person) + (1 | suite) + (1 | item)`, of
one suite without the second. So all suites together say how much people and items vary, of which five pairs of a paradigm
say little; both standard deviations are kept from 0 by a penalty (Chung et al. 2013). With these standard deviations, each
suite has a likelihood of its own log odds (Laplace's approximation), whose profile gives the interval; it is finite on one
side where all answers are the same. Log odds become shares of the population by the mean of the logistic function over other
people and items.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, inf, log, nan, sqrt

import numpy as np
import polars as pl

from syntagm.core import InputError
from syntagm.stats.interval import Interval, critical
from syntagm.stats.mixed import logistic
from syntagm.stats.mixed.design import Numbers, design_of
from syntagm.stats.mixed.deviance import log_determinant
from syntagm.stats.mixed.formula import parse

_FARTHEST = 15.0
_SMALLEST, _LARGEST = 0.05, 8.0
# By how much log odds are likely to move, at most, when a standard deviation changes.
_NEAR = 0.5
_MODEL = "value ~ 1 + (1 | person) + (1 | item)"


@dataclass(frozen=True, slots=True)
class Share:
    """The share of answers as predicted in the population of people and items."""

    value: float  # the share
    interval: Interval  # its 95% interval, for other people and other items
    people: float  # `people`, `items`: the standard deviations of people and of items, in log odds
    items: float


def shares(table: pl.DataFrame, suites: Sequence[str]) -> list[Share]:
    codes = table.with_columns(item=pl.concat_str("suite", "item", separator="/"))
    formula = f"{_MODEL} + (1 | suite)" if codes["suite"].n_unique() > 1 else _MODEL
    if codes["person"].n_unique() < 2 or codes["item"].n_unique() < 2:
        raise InputError("logistic model", "fewer than two people or items", "at least two of both")
    fit = logistic.fit(formula, codes, starts=1)
    sd = {group.name: float(group.sd[0]) for group in fit.groups}
    counts = {name: codes[name].n_unique() for name in ("person", "item", "suite")}
    freedoms = counts["person"] - 1.0, max(1.0, counts["item"] - counts["suite"])
    parts = {suite: codes.filter(suite=suite) for suite in suites}
    profiles = [_Profile(rows, sd) for rows in parts.values() if len(rows)]
    for name in ("item", "person"):
        sd[name] = _kept_from_zero(profiles, name, sd[name])
    return [_of_suite(rows, sd["person"], sd["item"], freedoms) for rows in parts.values()]


def _kept_from_zero(profiles: Sequence["_Profile"], name: str, estimate: float) -> float:
    """Return the standard deviation of people or of items that maximises the likelihood times itself; at least its estimate."""
    # This is the penalty of Chung, Rabe-Hesketh, Dorie, Gelman & Liu 2013 (a gamma density with shape 2 and rate 0),
    # with the log odds of each suite at their estimates, and the other standard deviation as the profiles have it.
    # Without it, a third of the studies of 20 people and 60 items that vary little has an estimate near 0, and
    # intervals that are too narrow (`benchmarks/people_coverage.py`).

    def criterion(power: float) -> float:
        total = 0.0
        for profile in profiles:
            profile.let(name, exp(power))
            total += profile.lowest() / 2
        return total - power

    power, _ = _minimum(criterion, (log(_SMALLEST), log(_LARGEST)), 1e-2)
    sd = max(estimate, exp(power))
    for profile in profiles:
        profile.let(name, sd)
    return sd


def _of_suite(rows: pl.DataFrame, people: float, items: float, freedoms: tuple[float, float]) -> Share:
    if not len(rows):
        return Share(nan, Interval(nan, nan, "no answers"), people, items)
    profile = _Profile(rows, {"person": people, "item": items})
    best = profile.best()
    # The degrees of freedom of Satterthwaite (1946): those of the standard deviations, as far as the variance rests on them.
    parts = [people**2 / rows["person"].n_unique(), items**2 / rows["item"].n_unique()]
    uncertain = sum(part**2 / each for part, each in zip(parts, freedoms, strict=True))
    variance = max(profile.variance(best), sum(parts))
    freedom = max(min(freedoms), variance**2 / uncertain) if uncertain > 0 else inf
    height = profile.deviance(best) + critical(freedom) ** 2
    low, high = profile.limit(best, -_FARTHEST, height), profile.limit(best, _FARTHEST, height)
    spread = sqrt(people**2 + items**2)
    value, below, above = (_mean_share(odds, spread) for odds in (best, low, high))
    kind = "profile of a crossed logistic model" + ("" if freedom == inf else f" with t({freedom:.3g})")
    return Share(value, Interval(below, above, f"{kind}; random: people, items"), people, items)


class _Profile:
    """The deviance of the log odds of a suite, with known standard deviations."""

    def __init__(self, rows: pl.DataFrame, sd: dict[str, float]) -> None:
        design = design_of(parse(_MODEL), rows)
        ones = np.ones((len(rows), 1))
        self._problem = logistic.laplace_problem(design.groupings, ones, design.response, design.trials)
        self._names = [grouping.name for grouping in design.groupings]
        self._lower: list[Numbers] = [np.array([[sd[name]]]) for name in self._names]
        self._last: float | None = None

    def let(self, name: str, sd: float) -> None:
        self._lower[self._names.index(name)] = np.array([[sd]])

    def deviance(self, odds: float) -> float:
        """Return -2 log-likelihood; beyond 15, log odds count as 15."""
        # The last mode may be far from that of other log odds.
        self._problem.effects = [np.zeros_like(effects) for effects in self._problem.effects]
        return self._deviance(odds)

    def _deviance(self, odds: float) -> float:
        mode = logistic.mode(self._problem, self._lower, np.array([np.clip(odds, -_FARTHEST, _FARTHEST)]))
        return float(mode.cost + log_determinant(mode.factor, mode.products.random) + self._problem.constant)

    def variance(self, odds: float) -> float:
        """Return the variance of the log odds by the curvature of the deviance; 0 where they are infinite."""
        if abs(odds) == inf:
            return 0.0
        around = [self.deviance(odds + step) for step in (-0.1, 0.0, 0.1)]
        curvature = (around[0] - 2 * around[1] + around[2]) / 0.01
        return 2 / curvature if curvature > 0 else 0.0

    def lowest(self) -> float:
        """Return the smallest deviance; close to the last log odds that had it, if these are still near."""
        last, best, lowest = self._last, inf, inf
        if last is not None:
            best, lowest = _minimum(self._deviance, (last - _NEAR, last + _NEAR), 0.02)
        if last is None or abs(best - last) > 0.9 * _NEAR:
            best, lowest = _minimum(self.deviance, (-_FARTHEST, _FARTHEST), 0.02)
        self._last = best
        return lowest

    def best(self) -> float:
        """Return the log odds with the smallest deviance; infinite if all answers are the same."""
        best, _ = _minimum(self.deviance, (-_FARTHEST, _FARTHEST), 1e-6)
        return best if abs(best) < _FARTHEST - 0.01 else inf if best > 0 else -inf

    def limit(self, best: float, end: float, height: float) -> float:
        """Return where the deviance reaches a height, between the best log odds and an end; infinite if nowhere."""
        from scipy.optimize import brentq

        start = float(np.clip(best, -_FARTHEST, _FARTHEST))
        if self.deviance(end) <= height:
            return inf if end > 0 else -inf
        return float(brentq(lambda odds: self.deviance(odds) - height, start, end, xtol=1e-6))


def _minimum(function: Callable[[float], float], bounds: tuple[float, float], precision: float) -> tuple[float, float]:
    """Return where a function of one number is smallest within bounds, and how small."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(function, bounds=bounds, method="bounded", options={"xatol": precision})
    return float(found.x), float(found.fun)


def _mean_share(odds: float, spread: float) -> float:
    """Return the mean of the logistic function of normal log odds, by Gauss and Hermite.

    >>> _mean_share(inf, 1.0), _mean_share(0.0, 2.0), round(_mean_share(2.0, 1.0), 3)
    (1.0, 0.5, 0.845)
    """
    from scipy.special import expit

    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    values = expit(odds + spread * nodes)
    return float(np.round((weights * values).sum() / weights.sum(), 12))
