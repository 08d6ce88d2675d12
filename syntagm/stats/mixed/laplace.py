"""The Laplace approximation of the deviance of a logistic mixed-effects model, with its exact gradient.

For given covariance factors L and coefficients b, the mode of the spherical random effects u is found by Newton's
method (penalised iteratively reweighted least squares). With M as in `mixed.deviance`, weighted by the variances,

    deviance = -2 log p(y | u) + u'u + log |M|

(Bates et al. 2015b, "Computational methods", section 5; lme4's `nAGQ = 1`). The gradient accounts for the dependence of
u and of the weights on the parameters. With the leverages h' = diag(ZL M^-1 L'Z') dw/d(eta), v = M^-1 L'Z'h and a = h -
W ZL v, it is X'(a - 2e) for b, and d log |M| + (a - 2e)'Z dL u + e'Z dL v for L, where e is the response minus its
mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from syntagm.stats.mixed.design import Grouping, Numbers
from syntagm.stats.mixed.deviance import (
    Factor,
    Products,
    cholesky,
    cross_products,
    determinant_gradient,
    inverses,
    log_determinant,
    solve,
)

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


def problem(groupings: tuple[Grouping, ...], fixed: Numbers, successes: Numbers, trials: Numbers) -> Problem:
    """Prepare a model for optimisation. The binomial coefficients don't depend on parameters, so they are computed once."""
    from scipy.special import gammaln

    coefficients = gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
    start = [np.zeros((len(grouping.levels), len(grouping.effects))) for grouping in groupings]
    return Problem(groupings, fixed, successes, trials, float(-2 * coefficients.sum()), start)


def deviance(model: Problem, lower: Sequence[Numbers], weights: Numbers) -> tuple[float, list[Numbers], Numbers]:
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
