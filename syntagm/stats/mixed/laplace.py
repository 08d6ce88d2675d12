"""The Laplace approximation to the deviance of a logistic mixed-effects model, and its exact gradient.

For given covariance factors L and coefficients b, the spherical random effects u that are most probable are found by Newton's
method (penalised iteratively reweighted least squares); with M as in `_lmm_factor`, weighted by the variances,

    deviance = -2 log p(y | u) + u'u + log |M|

(Bates et al. 2015b, "Computational methods", section 5; lme4's `nAGQ = 1`). The gradient takes into account that u and the
weights move with the parameters: with the leverages h' = diag(ZL M^-1 L'Z') dw/d(eta), v = M^-1 L'Z'h and a = h - W ZL v, it is
X'(a - 2e) for b, and d log |M| + (a - 2e)'Z dL u + e'Z dL v for L, where e is the response minus its mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from syntagm.stats.mixed import factor as _lmm_factor
from syntagm.stats.mixed.columns import Numbers
from syntagm.stats.mixed.design import Grouping
from syntagm.stats.mixed.factor import Factor, Products

_TINY = 1e-20
_STEPS = 100


@dataclass(slots=True)
class Problem:
    """A logistic model, prepared.

    Arguments:
        fixed: orthogonal columns with mean square 1. Shape (rows, fixed).
        successes, trials: shape (rows,).
        effects: the last u, where the next search for it begins.
    """

    groupings: tuple[Grouping, ...]
    fixed: Numbers
    successes: Numbers
    trials: Numbers
    constant: float
    effects: list[Numbers] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Mode:
    """Where the random effects are most probable.

    Arguments:
        effects: u of each grouping (levels, effects).
        cost: -2 log p(y | u) + u'u.
        gap: response minus mean, e. Shape (rows,).
        weights: the variances of the responses. Shape (rows,).
        probability: of a success. Shape (rows,).
    """

    effects: list[Numbers]
    cost: float
    gap: Numbers
    weights: Numbers
    probability: Numbers
    products: Products
    factor: Factor


def problem(groupings: tuple[Grouping, ...], fixed: Numbers, successes: Numbers, trials: Numbers) -> Problem:
    """Prepare the columns; the binomial coefficients, which nothing changes, are kept as a constant."""
    from scipy.special import gammaln

    chosen = gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
    start = [np.zeros((len(one.levels), len(one.effects))) for one in groupings]
    return Problem(groupings, fixed, successes, trials, float(-2 * chosen.sum()), start)


def deviance(given: Problem, lower: Sequence[Numbers], weights: Numbers) -> tuple[float, list[Numbers], Numbers]:
    """-2 log-likelihood, its derivatives by the covariance factors, and those by the coefficients `weights`."""
    found = mode(given, lower, weights)
    factor, size = found.factor, found.products.random
    value = found.cost + _lmm_factor.log_determinant(factor, size) + given.constant
    pull = _leverages(given, found, lower) * found.weights * (1 - 2 * found.probability)
    through = _lmm_factor.solve(factor, _turned(_gathered(given.groupings, pull), lower))
    pull = pull - found.weights * _spread(given.groupings, lower, through)
    slopes = _lmm_factor.determinant_gradient(found.products, factor, lower, size)
    ahead, gaps = (_gathered(given.groupings, row) for row in (pull - 2 * found.gap, found.gap))
    for slope, left, effect, gap, other in zip(slopes, ahead, found.effects, gaps, through, strict=True):
        slope += left.T @ effect + gap.T @ other
    return value, slopes, given.fixed.T @ (pull - 2 * found.gap)


def mode(given: Problem, lower: Sequence[Numbers], weights: Numbers) -> Mode:
    """The most probable random effects, by Newton's method with halved steps where a whole one leads uphill."""
    fixed = given.fixed @ weights
    effects, step = given.effects, 1.0
    here = _costs(given, fixed + _spread(given.groupings, lower, effects), effects)
    for _ in range(_STEPS):
        probability, cost = here
        gap, variance = given.successes - given.trials * probability, given.trials * probability * (1 - probability)
        made = _lmm_factor.products(given.groupings, np.empty((len(gap), 0)), variance)
        factor = _lmm_factor.factor(made, lower)
        turned = _turned(_gathered(given.groupings, gap), lower)
        down = [pull - effect for pull, effect in zip(turned, effects, strict=True)]
        moves = _lmm_factor.solve(factor, down)
        if sum(float((one * other).sum()) for one, other in zip(down, moves, strict=True)) < _TINY * (1 + abs(cost)):
            break
        step = min(1.0, 2 * step)
        while True:
            tried = [effect + step * move for effect, move in zip(effects, moves, strict=True)]
            here = _costs(given, fixed + _spread(given.groupings, lower, tried), tried)
            if here[1] <= cost + 1e-13 * abs(cost) or step < 1e-6:
                break
            step /= 2
        effects = tried
    given.effects = effects
    return Mode(effects, cost, gap, variance, probability, made, factor)


def _costs(given: Problem, eta: Numbers, effects: Sequence[Numbers]) -> tuple[Numbers, float]:
    """The probabilities of success, and -2 log p(y | u) + u'u without the binomial coefficients."""
    from scipy.special import expit

    loglik = given.successes * eta - given.trials * np.logaddexp(0.0, eta)
    return expit(eta), float(-2 * loglik.sum() + sum((one**2).sum() for one in effects))


def _spread(groupings: Sequence[Grouping], lower: Sequence[Numbers], effects: Sequence[Numbers]) -> Numbers:
    """ZLu. Shape (rows,)."""
    total = np.zeros(len(groupings[0].index))
    for one, factor, effect in zip(groupings, lower, effects, strict=True):
        if one.size:
            total += (one.columns * (effect @ factor.T)[one.index]).sum(axis=1)
    return total


def _gathered(groupings: Sequence[Grouping], rows: Numbers) -> list[Numbers]:
    """Z' times a vector: for each grouping (levels, effects)."""
    found: list[Numbers] = []
    for one in groupings:
        sums = [np.bincount(one.index, column * rows, len(one.levels)) for column in one.columns.T]
        found.append(np.asarray(np.column_stack(sums), np.float64) if sums else np.empty((0, 0)))
    return found


def _turned(parts: Sequence[Numbers], lower: Sequence[Numbers]) -> list[Numbers]:
    return [part @ factor for part, factor in zip(parts, lower, strict=True)]


def _leverages(given: Problem, found: Mode, lower: Sequence[Numbers]) -> Numbers:
    """The diagonal of ZL M^-1 L'Z'. Shape (rows,)."""
    blocks, crossed, rest = _lmm_factor.inverses(found.factor, found.products.random)
    first, others = given.groupings[0], given.groupings[1:]
    if not first.size:
        return np.zeros(len(first.index))
    turned = [one.columns @ factor for one, factor in zip(given.groupings, lower, strict=True)]
    total: Numbers = np.einsum("ni,nij,nj->n", turned[0], blocks[first.index], turned[0])
    offsets = np.cumsum([0, *(one.size for one in others)])
    places = [
        offset + one.index[:, None] * len(one.effects) + np.arange(len(one.effects))
        for one, offset in zip(others, offsets, strict=False)
    ]
    for number, (one, place) in enumerate(zip(turned[1:], places, strict=True)):
        between = crossed[first.index[:, None, None], np.arange(len(first.effects))[:, None], place[:, None, :]]
        total -= 2 * np.einsum("ni,nij,nj->n", turned[0], between, one)
        for other, elsewhere in zip(turned[1 : number + 2], places[: number + 1], strict=True):
            twice = 1 if elsewhere is place else 2
            total += twice * np.einsum("ni,nij,nj->n", one, rest[place[:, :, None], elsewhere[:, None, :]], other)
    return total
