"""Linear mixed-effects models in lme4's notation: `score ~ log(size) + (log(size) | suite) + (1 | run)`.

Groups may be crossed or nested, and several correlated effects may vary in each. The likelihood is exact (Bates et al.
2015) and is maximised from several starts. A fit reports whether it converged and whether it is singular.
docs/reference/regression.md explains the notation and the method, and compares it with lme4.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from syntagm.core import InputError, UsageError
from syntagm.stats.mixed import deviance
from syntagm.stats.mixed.design import Design, Numbers, blocks, contains, design_of, within
from syntagm.stats.mixed.deviance import Problem, Progress
from syntagm.stats.mixed.fit import Fit, course, fixed_effects, group_effects, singularities
from syntagm.stats.mixed.formula import parse

# With fewer levels of a group, the chi-squared distribution of a likelihood ratio is a poor approximation.
FEW_GROUPS = 20
# Tolerance of numerical error in logarithms of determinants.
_UNIT = 1e-6


@dataclass(frozen=True, slots=True)
class LikelihoodRatio:
    chi2: float  # twice the difference of the log-likelihoods
    df: int  # the difference of the numbers of parameters
    p: float  # the probability of a chi2 at least as large if the smaller model is true
    method: str = "chi-squared"  # what the chi2 is compared with
    remark: str = ""  # the reason why p is inexact; empty if it is exact
    least: float = 0.0  # the smallest p that the method can give


def fit(
    formula: str,
    table: pl.DataFrame,
    *,
    reml: bool = False,
    reference: Mapping[str, str] | None = None,
    missing: str = "refuse",
    dependent: str = "refuse",
    starts: int = 3,
    seed: int = 1,
    progress: Progress | None = None,
) -> Fit:
    """Fit a linear mixed-effects model; without random terms, ordinary least squares.

    Arguments:
        formula: the model formula in lme4's notation; columns of strings, categories or truth values are factors.
        table: a table with one row for each observation.
        reml: whether to use restricted maximum likelihood (lme4's default) instead of maximum likelihood.
        reference: factor -> its reference level; by default the first level by code point.
        missing: "refuse" or "drop" rows with a missing value in a column of the formula.
        dependent: "refuse" or "drop" fixed effects that are linear combinations of others.
        starts: the minimum number of starts. The first has uncorrelated effects with the variance of the residuals.
        seed: the seed of the other starts.
        progress: called with the numbers of finished starts and of all starts.

    Raises:
        FormulaError: the formula can't be parsed; the message points to the place.
        InputError, UsageError: the data or the options don't allow a fit.

    >>> table = pl.DataFrame({"y": [1.0, 2.0, 4.0, 5.0, 8.0, 8.0], "g": list("aabbcc")})
    >>> model = fit("y ~ (1 | g)", table)
    >>> [round(x, 4) for x in (model.coefficients[0].estimate, model.groups[0].sd[0], model.sigma, model.loglik)]
    [4.6667, 2.6247, 0.5774, -10.8362]
    """
    if starts < 1:
        raise UsageError("option starts", str(starts), "1 or more")
    design = designed(formula, table, reference=reference, missing=missing, dependent=dependent)
    return fit_design(design, reml, starts, seed, progress)


def designed(
    formula: str,
    table: pl.DataFrame,
    *,
    reference: Mapping[str, str] | None = None,
    missing: str = "refuse",
    dependent: str = "refuse",
) -> Design:
    """Apply a formula to a table, and check that a linear model can be fitted; for arguments and errors see `fit`."""
    model = parse(formula)
    design = design_of(model, table, reference=reference, missing=missing, dependent=dependent)
    for grouping in design.groupings:
        if grouping.size >= len(design.response):
            raise InputError(
                design.model.text, f"{grouping.size} random effects by {grouping.name} for {len(design.response)} rows",
                "fewer effects than rows", "They can't be separated from the residuals: use fewer random effects.",
            )  # fmt: skip
    return design


def fit_design(design: Design, reml: bool, starts: int, seed: int, progress: Progress | None = None) -> Fit:
    """Fit a linear model to a design that has been checked; for arguments and errors see `fit`."""
    groupings = design.groupings
    problem = deviance.problem(design, reml)
    minimum = deviance.minimise(
        _objective(problem), lambda number: deviance.starting_point(groupings, number, seed), starts, progress
    )
    if np.abs(minimum.place).max(initial=0.0) > 0.99 * deviance.LARGEST:
        raise InputError(
            design.model.text, "groups that explain the response exactly", "residual variance", "Remove a random term."
        )
    return _fit(design, problem, minimum)


def deviance_of(fit: Fit, response: Numbers) -> float:
    """Fit a model to another response of the same rows, from its own estimates, and return the deviance."""
    problem = deviance.problem(replace(fit.design, response=response), fit.method == "REML")
    return deviance.again(_objective(problem), fit.design.groupings, fit.place)


def _objective(problem: Problem) -> deviance.Objective:
    def objective(theta: Numbers) -> tuple[float, Numbers]:
        value, slopes = deviance.deviance(problem, deviance.triangles(theta, problem.groupings))
        return value, deviance.gathered(slopes, problem.groupings)

    return objective


def compare(smaller: Fit, larger: Fit) -> LikelihoodRatio:
    """Compare two nested models, linear or logistic, by a likelihood-ratio test with the chi-squared distribution."""
    # With few groups this p is too small; `few_groups.compare` has one that isn't.
    from scipy.special import chdtrc

    _same_likelihood(smaller, larger)
    nested(smaller, larger)
    chi2, df = smaller.deviance - larger.deviance, larger.k - smaller.k
    if chi2 < -deviance.SAME:
        found = f"the larger model has the lower likelihood, by {-chi2 / 2:.3g}"
        raise UsageError(larger.formula, found, "a fit at the maximum of the likelihood", "Use more starts.")
    same = len(smaller.coefficients) + df == len(larger.coefficients)
    remarks = [] if same else ["variances are tested at their bound 0, so p is too large"]
    if (groups := fewest_groups(larger.design)) < FEW_GROUPS:
        remarks.append(f"only {groups} groups, so p may be too small")
    chi2 = max(0.0, chi2)
    return LikelihoodRatio(chi2, df, float(chdtrc(df, chi2)), remark="; ".join(remarks))


def fewest_groups(design: Design) -> int:
    """Return the number of levels of the group that has fewest; without groups, the number of rows."""
    levels = (len(grouping.levels) for grouping in design.groupings if grouping.size)
    return min(levels, default=len(design.response))


def _fit(design: Design, problem: Problem, minimum: deviance.Minimum) -> Fit:
    lower = deviance.triangles(minimum.place, design.groupings)
    solved = deviance.solution(problem, lower)
    converged, messages = course(minimum, len(minimum.place))
    singular = singularities(design.groupings, lower)
    return Fit(
        formula=design.model.text,
        method="REML" if problem.reml else "ML",
        coefficients=fixed_effects(design.fixed.names, solved.coefficients, solved.covariance),
        covariance=solved.covariance,
        loglik=-minimum.value / 2,
        k=len(solved.coefficients) + len(minimum.place) + 1,
        n=len(design.response),
        sigma=solved.sigma,
        groups=tuple(
            group_effects(grouping, factor, modes, solved.sigma)
            for grouping, factor, modes in zip(design.groupings, lower, solved.modes, strict=True)
            if grouping.size
        ),
        singular=bool(singular),
        converged=converged,
        gradient=minimum.slope,
        reached=minimum.reached,
        messages=(*design.remarks, *singular, *messages),
        design=design,
        place=minimum.place,
    )


def nested(smaller: Fit, larger: Fit) -> None:
    """Refuse two models that aren't nested, or weren't fitted to the same data."""
    place = f"{smaller.formula} against {larger.formula}"
    small, large = smaller.design, larger.design
    same = np.array_equal(small.response, large.response) and np.array_equal(small.trials, large.trials)
    if not same or small.model.response != large.model.response:
        raise UsageError(
            place, "different responses", "the same response variable, and the same rows in the same order"
        )
    if smaller.k >= larger.k:
        raise UsageError(place, f"{smaller.k} parameters against {larger.k}", "the smaller model first")
    if not within(small.fixed.values, large.fixed.values):
        raise UsageError(place, "fixed effects that the larger model can't express", "nested models")
    for block in blocks(small):
        if not any(contains(other, block) for other in blocks(large)):
            raise UsageError(place, f"random effects by {block.name} that the larger model lacks", "nested models")


def _same_likelihood(smaller: Fit, larger: Fit) -> None:
    place = f"{smaller.formula} against {larger.formula}"
    if smaller.method != larger.method:
        raise UsageError(place, f"{smaller.method} and {larger.method}", "two fits by the same method")
    if smaller.method != "REML":
        return
    small, large = smaller.design.fixed.values, larger.design.fixed.values
    if small.shape[1] != large.shape[1] or not within(small, large):
        cure = "Fit both with reml=False."
        raise UsageError(place, "restricted likelihoods of different fixed effects", "maximum likelihood", cure)
    if not _in_one_unit(small, large):
        cure = "Fit both with the same columns, or with reml=False."
        raise UsageError(place, "restricted likelihoods of fixed effects in different units", "the same units", cure)


def _in_one_unit(first: Numbers, second: Numbers) -> bool:
    """Return whether two bases of the same space have the same log |X'X|, on which the restricted likelihood depends."""
    logs = [float(np.linalg.slogdet(np.linalg.qr(columns, mode="r"))[1]) for columns in (first, second)]
    return abs(logs[0] - logs[1]) < _UNIT
