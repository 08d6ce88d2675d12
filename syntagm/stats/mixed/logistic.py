"""Logistic mixed-effects models of binary responses: `correct ~ log(size) + (1 | suite/item) + (1 | run)`.

Each item is one observation, whereas means of suites hide their number of items. The likelihood is approximated by
Laplace's method and maximised over covariances and coefficients together, as in lme4's `glmer`.
docs/reference/regression.md explains notation and method.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError
from syntagm.stats.interval import critical
from syntagm.stats.mixed import deviance
from syntagm.stats.mixed.design import Design, Grouping, Numbers, design_of, independent, nothing
from syntagm.stats.mixed.deviance import (
    Factor,
    Products,
    Progress,
    cholesky,
    cross_products,
    determinant_gradient,
    inverses,
    log_determinant,
    solve,
)
from syntagm.stats.mixed.fit import Fit, course, fixed_effects, group_effects, singularities
from syntagm.stats.mixed.formula import parse
from syntagm.stats.mixed.linear import FEW_GROUPS, fewest_groups

# For given covariance factors L and coefficients b, the mode of the spherical random effects u is found by Newton's
# method (penalised iteratively reweighted least squares). With M as in `mixed.deviance`, weighted by the variances,
#
#     deviance = -2 log p(y | u) + u'u + log |M|
#
# (Bates et al. 2015b, "Computational methods", section 5; lme4's `nAGQ = 1`). The gradient accounts for the dependence
# of u and of the weights on the parameters. With the leverages h' = diag(ZL M^-1 L'Z') dw/d(eta), v = M^-1 L'Z'h and a
# = h - W ZL v, it is X'(a - 2e) for b, and d log |M| + (a - 2e)'Z dL u + e'Z dL v for L, where e is the response minus
# its mean.

_TINY = 1e-20
_STEPS = 100


@dataclass(slots=True)
class Problem:
    """A logistic model, prepared for optimisation."""

    groupings: tuple[Grouping, ...]
    fixed: Numbers  # orthogonal columns of the fixed effects with mean square 1. Shape (rows, fixed).
    successes: Numbers  # `successes`, `trials`: the numbers of successes and of trials. Shapes (rows,).
    trials: Numbers
    constant: float  # the contribution of the binomial coefficients to the deviance
    effects: list[Numbers] = field(default_factory=list)  # the last mode of u, from which the next search starts


@dataclass(frozen=True, slots=True)
class Mode:
    """The mode of the random effects."""

    effects: list[Numbers]  # u of each grouping. Shapes (levels, effects).
    cost: float  # -2 log p(y | u) + u'u
    gap: Numbers  # e, response minus mean. Shape (rows,).
    weights: Numbers  # the variances of the responses. Shape (rows,).
    probability: Numbers  # the probability of a success. Shape (rows,).
    products: Products  # `products`, `factor`: M and its factor at the mode
    factor: Factor


def laplace_problem(groupings: tuple[Grouping, ...], fixed: Numbers, successes: Numbers, trials: Numbers) -> Problem:
    """Prepare a model for optimisation. The binomial coefficients don't depend on parameters, so they are computed once."""
    from scipy.special import gammaln

    coefficients = gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
    start = [np.zeros((len(grouping.levels), len(grouping.effects))) for grouping in groupings]
    return Problem(groupings, fixed, successes, trials, float(-2 * coefficients.sum()), start)


def laplace_deviance(
    model: Problem, lower: Sequence[Numbers], weights: Numbers
) -> tuple[float, list[Numbers], Numbers]:
    """Compute -2 log-likelihood and its derivatives with respect to the covariance factors and the coefficients."""
    at_mode = mode(model, lower, weights)
    factor, size = at_mode.factor, at_mode.products.random
    value = at_mode.cost + log_determinant(factor, size) + model.constant
    pull = _leverages(model, at_mode, lower) * at_mode.weights * (1 - 2 * at_mode.probability)
    through = solve(factor, _turned(_gathered(model.groupings, pull), lower))
    pull = pull - at_mode.weights * _spread(model.groupings, lower, through)
    slopes = determinant_gradient(at_mode.products, factor, lower, size)
    ahead, gaps = (_gathered(model.groupings, row) for row in (pull - 2 * at_mode.gap, at_mode.gap))
    for slope, left, effect, gap, other in zip(slopes, ahead, at_mode.effects, gaps, through, strict=True):
        slope += left.T @ effect + gap.T @ other
    return value, slopes, model.fixed.T @ (pull - 2 * at_mode.gap)


def mode(model: Problem, lower: Sequence[Numbers], weights: Numbers) -> Mode:
    """Find the mode of the random effects by Newton's method; a step that increases the cost is halved."""
    fixed = model.fixed @ weights
    effects, step = model.effects, 1.0
    current = _costs(model, fixed + _spread(model.groupings, lower, effects), effects)
    for _ in range(_STEPS):
        probability, cost = current
        gap, variance = model.successes - model.trials * probability, model.trials * probability * (1 - probability)
        products = cross_products(model.groupings, np.empty((len(gap), 0)), variance)
        factor = cholesky(products, lower)
        turned = _turned(_gathered(model.groupings, gap), lower)
        down = [pull - effect for pull, effect in zip(turned, effects, strict=True)]
        moves = solve(factor, down)
        decrement = sum(float((slope * move).sum()) for slope, move in zip(down, moves, strict=True))
        if decrement < _TINY * (1 + abs(cost)):
            break
        step = min(1.0, 2 * step)
        while True:
            tried = [effect + step * move for effect, move in zip(effects, moves, strict=True)]
            current = _costs(model, fixed + _spread(model.groupings, lower, tried), tried)
            if current[1] <= cost + 1e-13 * abs(cost) or step < 1e-6:
                break
            step /= 2
        effects = tried
    model.effects = effects
    return Mode(effects, cost, gap, variance, probability, products, factor)


def _costs(model: Problem, eta: Numbers, effects: Sequence[Numbers]) -> tuple[Numbers, float]:
    """Compute the probabilities of success, and -2 log p(y | u) + u'u without the binomial coefficients."""
    from scipy.special import expit

    loglik = model.successes * eta - model.trials * np.logaddexp(0.0, eta)
    return expit(eta), float(-2 * loglik.sum() + sum((u**2).sum() for u in effects))


def _spread(groupings: Sequence[Grouping], lower: Sequence[Numbers], effects: Sequence[Numbers]) -> Numbers:
    """Compute ZLu. Shape (rows,)."""
    total = np.zeros(len(groupings[0].index))
    for grouping, factor, effect in zip(groupings, lower, effects, strict=True):
        if grouping.size:
            total += (grouping.columns * (effect @ factor.T)[grouping.index]).sum(axis=1)
    return total


def _gathered(groupings: Sequence[Grouping], rows: Numbers) -> list[Numbers]:
    """Multiply Z' by a vector. Shape (levels, effects) for each grouping."""
    gathered: list[Numbers] = []
    for grouping in groupings:
        sums = [np.bincount(grouping.index, column * rows, len(grouping.levels)) for column in grouping.columns.T]
        gathered.append(np.asarray(np.column_stack(sums), np.float64) if sums else np.empty((0, 0)))
    return gathered


def _turned(parts: Sequence[Numbers], lower: Sequence[Numbers]) -> list[Numbers]:
    return [part @ factor for part, factor in zip(parts, lower, strict=True)]


def _leverages(model: Problem, at_mode: Mode, lower: Sequence[Numbers]) -> Numbers:
    """Compute the diagonal of ZL M^-1 L'Z'. Shape (rows,)."""
    blocks, crossed, rest = inverses(at_mode.factor, at_mode.products.random)
    first, others = model.groupings[0], model.groupings[1:]
    if not first.size:
        return np.zeros(len(first.index))
    turned = [grouping.columns @ factor for grouping, factor in zip(model.groupings, lower, strict=True)]
    total: Numbers = np.einsum("ni,nij,nj->n", turned[0], blocks[first.index], turned[0])
    offsets = np.cumsum([0, *(grouping.size for grouping in others)])
    places = [
        offset + grouping.index[:, None] * len(grouping.effects) + np.arange(len(grouping.effects))
        for grouping, offset in zip(others, offsets, strict=False)
    ]
    for number, (grouping, place) in enumerate(zip(turned[1:], places, strict=True)):
        between = crossed[first.index[:, None, None], np.arange(len(first.effects))[:, None], place[:, None, :]]
        total -= 2 * np.einsum("ni,nij,nj->n", turned[0], between, grouping)
        for other, elsewhere in zip(turned[1 : number + 2], places[: number + 1], strict=True):
            twice = 1 if elsewhere is place else 2
            total += twice * np.einsum("ni,nij,nj->n", grouping, rest[place[:, :, None], elsewhere[:, None, :]], other)
    return total


# Diagnostics of a fit; whether it converged and whether it is singular, `Fit` says.

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
    problem = laplace_problem((*groupings, fixed), none, design.response[kept], design.trials[kept])
    found = mode(problem, [*lower, _FREE * free], np.empty(0)).effects[-1][0]
    return np.asarray(np.linalg.solve(triangle, scale * _FREE * found), np.float64)


def _rows(grouping: Grouping, kept: NDArray[np.bool_]) -> Grouping:
    return replace(grouping, index=grouping.index[kept], columns=grouping.columns[kept])


def _grouping(fit: Fit, name: str) -> Grouping:
    fit.group(name)
    return next(grouping for grouping in fit.design.groupings if grouping.name == name)


def _refuse_linear(fit: Fit) -> None:
    if np.isfinite(fit.sigma):
        raise UsageError(fit.formula, "a linear model", "a logistic one")


_FAR = 12.0  # log odds that suggest that there is no finite estimate
_WIDE = 8.0  # standard deviation in log odds above which Laplace's approximation is poor


def fit(
    formula: str,
    table: pl.DataFrame,
    *,
    trials: str = "",
    reference: Mapping[str, str] | None = None,
    missing: str = "refuse",
    dependent: str = "refuse",
    starts: int = 2,
    seed: int = 1,
    progress: Progress | None = None,
) -> Fit:
    """Fit a logistic mixed-effects model; without random terms, a logistic regression.

    Arguments:
        formula: the model formula in lme4's notation; the response is 0 or 1, or true or false.
        table: a table with one row for each observation.
        trials: the column with the number of trials, if the response is the number of successes.
        reference, missing, dependent, starts, seed, progress: as in `linear.fit`.

    Raises:
        FormulaError: the formula can't be parsed; the message points to the place.
        InputError, UsageError: the data or the options don't allow a fit, for example because predictors separate
            successes from failures, so that no finite estimate exists.

    >>> table = pl.DataFrame({"correct": [1, 0, 1, 1, 0, 0, 0, 1], "kind": list("aaaabbbb")})
    >>> model = fit("correct ~ kind", table)
    >>> [round(coefficient.estimate, 4) for coefficient in model.coefficients]  # log(3/1), log(1/3) - log(3/1)
    [1.0986, -2.1972]
    """
    if starts < 1:
        raise UsageError("option starts", str(starts), "1 or more")
    design = designed(formula, table, trials=trials, reference=reference, missing=missing, dependent=dependent)
    found = fit_design(design, starts, seed, progress)
    if not found.groups or (fewest := fewest_groups(design)) >= FEW_GROUPS:
        return found
    # Of 12 groups, the test of a difference between them rejects in 9 of 100 cases (`benchmarks/coverage_models.py`).
    few = f"only {fewest} groups, so p may be too small and intervals too narrow"
    return replace(found, messages=(*found.messages, few))


def designed(
    formula: str,
    table: pl.DataFrame,
    *,
    trials: str = "",
    reference: Mapping[str, str] | None = None,
    missing: str = "refuse",
    dependent: str = "refuse",
) -> Design:
    """Apply a formula to a table, and check the response; for arguments and errors see `fit`."""
    model = parse(formula)
    design = design_of(
        model, table, reference=reference, missing=missing, dependent=dependent, trials=trials
    )  # fmt: skip
    _checked(design, trials)
    return design


def fit_design(design: Design, starts: int, seed: int, progress: Progress | None = None) -> Fit:
    """Fit a logistic model to a design that has been checked; the arguments are the same as for `fit`."""
    problem, objective, turn = _prepared(design)
    plain = _without_groups(design, problem.fixed)
    groupings, covariances = design.groupings, _covariances(design)

    def start(number: int) -> Numbers:
        return np.concatenate([deviance.starting_point(groupings, number, seed), plain])

    minimum = deviance.minimise(objective, start, starts if covariances else 1, progress)
    lower = deviance.triangles(minimum.place[:covariances], groupings)
    spherical = mode(problem, lower, minimum.place[covariances:]).effects
    modes = [effects @ factor.T for effects, factor in zip(spherical, lower, strict=True)]
    return _fit(design, minimum, lower, modes, turn)


def deviance_of(fit: Fit, response: Numbers) -> float:
    """Fit a model to another response of the same rows, from its own estimates, and return the deviance."""
    _, objective, _ = _prepared(replace(fit.design, response=response))
    return deviance.again(objective, fit.design.groupings, fit.place)


def _prepared(design: Design) -> tuple[Problem, deviance.Objective, Numbers]:
    """Return the problem, its deviance, and the matrix that turns orthogonal coefficients into those of the columns."""
    orthogonal, triangle = np.linalg.qr(design.fixed.values)
    root = np.sqrt(len(orthogonal))
    problem = laplace_problem(design.groupings, orthogonal * root, design.response, design.trials)
    groupings, covariances = design.groupings, _covariances(design)

    def objective(place: Numbers) -> tuple[float, Numbers]:
        lower = deviance.triangles(place[:covariances], groupings)
        value, slopes, others = laplace_deviance(problem, lower, place[covariances:])
        return value, np.concatenate([deviance.gathered(slopes, groupings), others])

    return problem, objective, np.linalg.inv(triangle) * root


def _covariances(design: Design) -> int:
    return sum(int(grouping.free.sum()) for grouping in design.groupings)


def _checked(design: Design, trials: str) -> None:
    place, response, counts = f"column {design.model.response.column}", design.response, design.trials
    _whole(f"column {trials}", counts, counts < 1, "whole numbers of trials, 1 or more")
    if trials:
        _whole(place, response, (response < 0) | (response > counts), f"whole numbers from 0 to {trials}")
    else:
        cure = 'For counts of successes, name the column of trials: trials="COLUMN".'
        _whole(place, response, (response < 0) | (response > 1), "0 or 1, or true and false", cure)
    if not response.any() or np.array_equal(response, counts):
        found = "every response is 0" if not response.any() else "every response is a success"
        raise InputError(place, found, "successes and failures")
    for grouping in design.groupings:
        if len(grouping.levels) == len(response) and not trials:
            raise InputError(
                design.model.text, f"one observation by {grouping.name}", "groups of several", "Remove the random term."
            )


def _whole(place: str, values: Numbers, outside: NDArray[np.bool_], expected: str, cure: str = "") -> None:
    wrong = outside | (values != np.round(values))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"{place}, row {row + 1}", f"{values[row]:g}", expected, cure)


def _without_groups(design: Design, fixed: Numbers) -> Numbers:
    """Fit the coefficients without random effects, as the starting point of the optimisation."""
    problem = laplace_problem((nothing(len(fixed)),), fixed, design.response, design.trials)
    lower = [np.empty((0, 0))]

    def objective(place: Numbers) -> tuple[float, Numbers]:
        value, _, slopes = laplace_deviance(problem, lower, place)
        return value, slopes

    minimum = deviance.minimise(objective, lambda number: np.zeros(fixed.shape[1]), 1, None)
    if fixed.shape[1] and np.abs(fixed @ minimum.place).max() > _FAR and (names := _separating(design)):
        raise InputError(
            design.model.text, f"successes and failures are separated by {', '.join(names)}", "overlapping values",
            "No finite estimate exists: remove such a term, or make it a random effect.",
        )  # fmt: skip
    return minimum.place


def _separating(design: Design) -> list[str]:
    """Find the fixed effects that have no finite estimate, by linear programming (Konis 2007)."""
    from scipy.optimize import linprog

    columns = design.fixed.values / np.abs(design.fixed.values).max(axis=0)
    any_success, any_failure = design.response > 0, design.response < design.trials
    rows = np.unique(np.concatenate([columns[any_success], -columns[any_failure]]), axis=0)
    solution = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1), method="highs")
    if solution.status != 0 or -solution.fun < 1e-7:
        return []
    names = [name for name, weight in zip(design.fixed.names, solution.x, strict=True) if abs(weight) > 1e-7]
    return [name for name in names if name != "(Intercept)"] or names


def _fit(design: Design, minimum: deviance.Minimum, lower: list[Numbers], modes: list[Numbers], turn: Numbers) -> Fit:
    fixed = len(design.fixed.names)
    start = len(minimum.place) - fixed
    inverse = np.linalg.pinv(minimum.hessian / 2, rcond=1e-10, hermitian=True)
    covariance = turn @ inverse[start:, start:] @ turn.T
    converged, messages = course(minimum, start)
    singular = singularities(design.groupings, lower)
    groups = tuple(
        group_effects(grouping, factor, mode, 1.0)
        for grouping, factor, mode in zip(design.groupings, lower, modes, strict=True)
        if grouping.size
    )
    wide = [
        f"{effect} varies by {grouping.name} with an SD of {sd:.0f} log odds: most levels have successes or failures only, "
        "where Laplace's approximation is poor, so the estimates are not reliable"
        for grouping, factor in zip(design.groupings, lower, strict=True)
        for effect, sd in zip(grouping.effects, np.linalg.norm(factor, axis=1), strict=True)
        if sd > _WIDE
    ]
    return Fit(
        formula=design.model.text,
        method="Laplace",
        coefficients=fixed_effects(design.fixed.names, turn @ minimum.place[start:], covariance),
        covariance=covariance,
        loglik=-minimum.value / 2,
        k=len(minimum.place),
        n=len(design.response),
        sigma=float("nan"),
        groups=groups,
        singular=bool(singular),
        converged=converged,
        gradient=minimum.slope,
        reached=minimum.reached,
        messages=(*design.remarks, *singular, *wide, *messages),
        design=design,
        place=minimum.place,
    )
