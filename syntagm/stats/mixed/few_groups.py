"""Tests of mixed models that hold their level with few groups.

The likelihood-ratio test compares with a chi-squared distribution, which needs many groups: with ten training runs it
rejects in 9 of 100 cases at the level .05, with four in 21. A likelihood ratio compared with those of simulated
responses, and Kenward and Roger's F test (Halekoh & Højsgaard 2014), don't; nor do the tests of single coefficients,
`Fit.tests`.
"""

import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from syntagm.errors import InputError, SyntagmError, UsageError
from syntagm.stats import bootstrap
from syntagm.stats.mixed import linear, logistic, search
from syntagm.stats.mixed.columns import Numbers
from syntagm.stats.mixed.fit import Fit
from syntagm.stats.mixed.linear import FEW_GROUPS, LikelihoodRatio, fewest_groups

# Simulated responses of a likelihood-ratio test, so that p can be below .001 (in a logistic model, whose fits take
# longer, .005).
DRAWS, LOGISTIC_DRAWS = 1000, 200
# A bootstrap stops after one of this many ratios is larger.
_SHARE = 20


@dataclass(frozen=True, slots=True)
class F:
    """An F test.

    Arguments:
        value: the statistic, with Kenward and Roger's factor.
        df, denominator: the degrees of freedom.
        p: the probability of a value at least as large if the smaller model is true.
    """

    value: float
    df: int
    denominator: float
    p: float


def f_test(smaller: Fit, larger: Fit) -> F:
    """Compare two linear models that differ in fixed effects only, by Kenward and Roger's F test (1997).

    Arguments:
        smaller: of this model only the fixed effects are used.
        larger: a fit by restricted likelihood.

    Raises:
        UsageError: the models aren't nested, differ in random effects or data, or have no restricted likelihood.
        InputError: there are too many random effects, or too few groups for the approximation.

    >>> import polars as pl
    >>> table = pl.DataFrame({"y": [1.0, 2.0, 4.0, 5.0, 8.0, 9.5], "x": [0, 1] * 3, "g": list("aabbcc")})
    >>> fits = [linear.fit(f"y ~ {fixed} + (1 | g)", table, reml=True) for fixed in ("1", "x")]
    >>> test = f_test(*fits)
    >>> round(test.value, 2), test.df, round(test.denominator, 2), round(test.p, 4)
    (49.0, 1, 2.0, 0.0198)
    """
    from scipy.special import fdtrc

    linear.nested(smaller, larger)
    small, large = smaller.design, larger.design
    sides = [sorted(str(bar) for bar in design.model.bars) for design in (small, large)]
    if sides[0] != sides[1]:
        place = f"{smaller.formula} against {larger.formula}"
        raise UsageError(place, "different random effects", "models that differ in fixed effects only")
    # The smaller model is the larger one with X_large b restricted to the columns of X_small.
    inside = np.linalg.lstsq(large.fixed.values, small.fixed.values)[0]
    contrasts = np.linalg.svd(inside)[0][:, len(smaller.coefficients) :].T
    adjusted = larger.adjusted()
    factor, denominator = adjusted.test(contrasts)
    values = contrasts @ np.array([effect.estimate for effect in larger.coefficients])
    covariance = contrasts @ adjusted.covariance @ contrasts.T
    value = factor * float(values @ np.linalg.solve(covariance, values)) / len(contrasts)
    # The factor and the degrees of freedom are moments of an expansion, which few groups take out of its range.
    if not (denominator > 0 and value >= 0):
        place, found = f"{smaller.formula} against {larger.formula}", f"F = {value:.3f} with {denominator:.3f} denominator df"
        raise InputError(place, found, "more groups: Kenward and Roger's approximation fails with so few")
    return F(value, len(contrasts), denominator, float(fdtrc(len(contrasts), denominator, value)))


def compare(smaller: Fit, larger: Fit, draws: int | None = None) -> LikelihoodRatio:
    """Compare two nested models by a likelihood-ratio test, with a parametric bootstrap where groups are few.

    Responses are simulated from the smaller model, and both models are fitted to each. p is the share of likelihood
    ratios that are at least as large as the observed one, which is counted among them. As soon as it is clear that p is
    above .05, because a twentieth of all ratios are, the simulation stops, and p is the share until then (Besag &
    Clifford 1991). The seed is that of `bootstrap.current()`.

    Arguments:
        draws: the largest number of simulated responses; 0: the chi-squared distribution. By default that of
            `bootstrap.current()`, or if that has none, `DRAWS` if a group has fewer than 20 levels, otherwise 0. Fits of
            logistic models take seconds, so for these it is `LOGISTIC_DRAWS` where groups are few, otherwise 0, unless
            `bootstrap.current()` has 0.

    Raises:
        UsageError: the models aren't nested, weren't fitted to the same data in the same way, or by restricted
            likelihood, which simulated responses can't be compared by.
    """
    plain = linear.compare(smaller, larger)
    design = bootstrap.current()
    wanted, linear_model = design.simulated if draws is None else draws, bool(np.isfinite(larger.sigma))
    if wanted is None or (wanted and draws is None and not linear_model):
        few = fewest_groups(larger) < FEW_GROUPS
        wanted = (DRAWS if linear_model else LOGISTIC_DRAWS) if few else 0
    if not wanted:
        return plain
    if smaller.method == "REML":
        raise UsageError(larger.formula, "restricted likelihoods", "maximum likelihood", "Fit both with reml=False.")
    source = bootstrap.generator(f"{smaller.formula} | {larger.formula}", design.seed)
    deviance_of = linear.deviance_of if linear_model else logistic.deviance_of
    progress, start = bootstrap.progress(), time.monotonic()
    progress.began(f"Likelihood-ratio test: up to {wanted:,} simulated responses of {smaller.formula}")
    larger_ratios, fitted, enough = 0, 0, max(1, wanted // _SHARE)
    for number in range(1, wanted + 1):
        response = simulate(smaller, source)
        # A simulated response may have no variance; the number of these is said.
        with suppress(SyntagmError):
            ratio = deviance_of(smaller, response) - deviance_of(larger, response)
            fitted, larger_ratios = fitted + 1, larger_ratios + (ratio >= plain.chi2 - search.SAME)
        progress.simulated(number, wanted, time.monotonic() - start)
        if larger_ratios == enough:
            break
    stopped = larger_ratios == enough
    p = larger_ratios / fitted if stopped else (1 + larger_ratios) / (1 + fitted)
    drawn = f"{number} of {wanted}" if number < wanted else f"{wanted}"
    failed = f", {number - fitted} not fitted" if fitted < number else ""
    method = f"parametric bootstrap({drawn}, seed {design.seed}{failed})"
    return LikelihoodRatio(plain.chi2, plain.df, p, method, least=0.0 if stopped else 1 / (1 + fitted))


def simulate(fit: Fit, source: np.random.Generator) -> Numbers:
    """Draw a response from a fitted model."""
    design, linear_model = fit.design, bool(np.isfinite(fit.sigma))
    sigma = fit.sigma if linear_model else 1.0
    mean = design.fixed.values @ np.array([effect.estimate for effect in fit.coefficients])
    for grouping, lower in zip(design.groupings, search.triangles(fit.place, design.groupings), strict=True):
        effects = sigma * source.normal(size=(len(grouping.levels), len(grouping.effects))) @ lower.T
        mean = mean + (grouping.columns * effects[grouping.index]).sum(axis=1)
    if linear_model:
        return np.asarray(mean + sigma * source.normal(size=len(mean)), np.float64)
    from scipy.special import expit

    return source.binomial(design.trials.astype(int), expit(mean)).astype(np.float64)
