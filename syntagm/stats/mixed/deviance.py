"""The exact profiled deviance of a linear mixed-effects model, and its exact gradient.

The deviance, -2 log-likelihood, is a function of the relative covariance factors only. The fixed effects, random
effects and residual variance for given factors follow by penalised least squares (Bates et al. 2015, equations 34 and
41). The factor of M (see `cholesky`), with the fixed effects and the response as further columns, contains
everything that is needed: log |M| of the random effects, log |M| of the fixed effects (for the restricted likelihood)
and, in its last entry, the square root of the penalised residual sum of squares. The gradient of the latter is -2 e'Z
dL u, because coefficients and random effects minimise it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from syntagm.core import InputError
from syntagm.stats.mixed.design import Design, Grouping, Numbers

# Penalised least squares needs, for each covariance factor L (one lower triangle for each grouping, the same for all
# its levels), the factor of
#
#     M = [ L'Z'WZL + I   L'Z'WF ]
#         [ F'WZL         F'WF   ]      Z: random effects, F: further columns, W: weights
#
# (Bates et al. 2015, section 3). The part of M for the first grouping is block-diagonal, with a small block for each
# level, so its effects are eliminated level by level. The rest is dense, with the size of the other groupings and F.
# The products Z'WZ are computed once for each W, so that the cost of a factor doesn't depend on the number of rows.


@dataclass(frozen=True, slots=True)
class Products:
    """The weighted products of all columns."""

    within: Numbers  # products of the first grouping with itself, level by level. Shape (levels, effects, effects).
    across: Numbers  # products of the first grouping with the rest. Shape (levels, effects, rest).
    rest: Numbers
    shapes: tuple[tuple[int, int], ...]  # (levels, effects) of each of the other groupings

    @property
    def random(self) -> int:
        """The number of random effects in the rest."""
        return sum(levels * effects for levels, effects in self.shapes)


@dataclass(frozen=True, slots=True)
class Factor:
    """The Cholesky factor of M."""

    blocks: Numbers  # lower triangles of the first grouping, one for each level. Shape (levels, effects, effects).
    panel: Numbers  # blocks^-1 L'Z'W [rest]. Shape (levels, effects, rest).
    corner: Numbers  # lower triangle of the rest. Shape (rest, rest).
    half: Numbers  # Z'W [ZL, F] of the first grouping with the rest. Shape (levels, effects, rest).


def cross_products(groupings: Sequence[Grouping], further: Numbers, weights: Numbers | None = None) -> Products:
    first, others = groupings[0], groupings[1:]
    weighted = further if weights is None else further * weights[:, None]
    within = np.empty((len(first.levels), len(first.effects), len(first.effects)))
    for i, left in enumerate(first.columns.T):
        left = left if weights is None else left * weights
        for j, right in enumerate(first.columns.T):
            within[:, i, j] = np.bincount(first.index, left * right, len(first.levels))
    bands = [_pair(first, other, weights) for other in others] + [_sums(first, weighted)]
    across = np.concatenate(bands, axis=1)
    across = across.reshape(len(first.levels), len(first.effects), across.shape[1])
    rows = [[_pair(grouping, other, weights) for other in others] + [_sums(grouping, weighted)] for grouping in others]
    below = np.concatenate([row[-1] for row in rows] + [np.empty((0, further.shape[1]))])
    rows.append([below.T, further.T @ weighted])
    rest = np.concatenate([np.concatenate(row, axis=1) for row in rows])
    return Products(within, across, rest, tuple((len(grouping.levels), len(grouping.effects)) for grouping in others))


def cholesky(product: Products, lower: Sequence[Numbers]) -> Factor:
    first = lower[0]
    half = scaled(product.across, product.shapes, lower)
    inner = first.T @ product.within @ first + np.eye(len(first))
    blocks = np.asarray(np.linalg.cholesky(inner), np.float64)
    panel = np.asarray(np.linalg.solve(blocks, first.T @ half), np.float64)
    flat = panel.reshape(panel.shape[0] * panel.shape[1], panel.shape[2])
    corner = scaled(scaled(product.rest, product.shapes, lower).T, product.shapes, lower) - flat.T @ flat
    corner[np.arange(product.random), np.arange(product.random)] += 1
    return Factor(blocks, panel, np.asarray(np.linalg.cholesky(corner), np.float64), half)


def scaled(values: Numbers, shapes: Sequence[tuple[int, int]], lower: Sequence[Numbers]) -> Numbers:
    """Multiply the columns of the other groupings by their covariance factors: Z becomes ZL. Columns are the last axis."""
    result = values.copy()
    start = 0
    for (levels, effects), covariance_factor in zip(shapes, lower[1:], strict=True):
        end = start + levels * effects
        block = values[..., start:end].reshape(*values.shape[:-1], levels, effects) @ covariance_factor
        result[..., start:end] = block.reshape(*values.shape[:-1], levels * effects)
        start = end
    return result


def log_determinant(factored: Factor, size: int) -> float:
    """Compute log |M| of the random effects of the first grouping and the first `size` columns of the rest."""
    inner = np.log(np.diagonal(factored.blocks, axis1=1, axis2=2)).sum()
    return 2 * float(inner + np.log(np.diagonal(factored.corner)[:size]).sum())


def inverses(factored: Factor, size: int) -> tuple[Numbers, Numbers, Numbers]:
    """Compute parts of M^-1, including the first `size` columns of the rest."""
    opposite = np.swapaxes(factored.blocks, 1, 2)
    across = np.asarray(np.linalg.solve(opposite, factored.panel[:, :, :size]), np.float64)
    corner = np.asarray(np.linalg.inv(factored.corner[:size, :size]), np.float64)
    rest = corner.T @ corner
    crossed = across @ rest
    own = np.asarray(np.linalg.inv(factored.blocks), np.float64)
    blocks = np.swapaxes(own, 1, 2) @ own + crossed @ np.swapaxes(across, 1, 2)
    return blocks, crossed, rest


def solve(factored: Factor, right: Sequence[Numbers]) -> list[Numbers]:
    """Multiply M^-1 by a vector if there are no further columns. Shape (levels, effects) for each grouping."""
    first = np.linalg.solve(factored.blocks, right[0][:, :, None])[:, :, 0]
    below = np.concatenate([np.empty(0), *(part.ravel() for part in right[1:])])
    corner = factored.corner
    rest = np.linalg.solve(corner, below - np.einsum("lir,li->r", factored.panel, first))
    rest = np.asarray(np.linalg.solve(corner.T, rest), np.float64)
    first = np.linalg.solve(np.swapaxes(factored.blocks, 1, 2), (first - factored.panel @ rest)[:, :, None])[:, :, 0]
    solved, start = [np.asarray(first, np.float64)], 0
    for part in right[1:]:
        solved.append(rest[start : start + part.size].reshape(part.shape))
        start += part.size
    return solved


def determinant_gradient(product: Products, factored: Factor, lower: Sequence[Numbers], size: int) -> list[Numbers]:
    # d log |M| = 2 tr(dL' [Z'WZL, Z'WF] M^-1); only the diagonal blocks of the product are needed.
    blocks, crossed, rest = inverses(factored, size)
    first = lower[0]
    own = (product.within @ first @ blocks - factored.half[:, :, :size] @ np.swapaxes(crossed, 1, 2)).sum(axis=0)
    gradients = [2 * own]
    raw = product.across.reshape(product.across.shape[0] * product.across.shape[1], product.across.shape[2])
    levels = (first @ crossed).reshape(len(raw), size)
    half = scaled(product.rest[: product.random], product.shapes, lower)[:, :size]
    start = 0
    for count, effects in product.shapes:
        end = start + count * effects
        full = half[start:end] @ rest[:, start:end] - raw[:, start:end].T @ levels[:, start:end]
        square = full.reshape(count, effects, count, effects)
        gradients.append(2 * np.einsum("iaib->ab", square))
        start = end
    return gradients


def _pair(first: Grouping, second: Grouping, weights: Numbers | None) -> Numbers:
    """Compute Z'WZ between two groupings. Shape (levels x effects, levels x effects)."""
    shape = (len(first.levels), len(first.effects), len(second.levels), len(second.effects))
    sums = np.empty(shape)
    cell = first.index * shape[2] + second.index
    for i, left in enumerate(first.columns.T):
        left = left if weights is None else left * weights
        for j, right in enumerate(second.columns.T):
            sums[:, i, :, j] = np.bincount(cell, left * right, shape[0] * shape[2]).reshape(shape[0], shape[2])
    return sums.reshape(first.size, second.size)


def _sums(grouping: Grouping, further: Numbers) -> Numbers:
    """Compute Z'F. Shape (levels x effects, columns)."""
    sums = np.empty((len(grouping.levels), len(grouping.effects), further.shape[1]))
    for i, left in enumerate(grouping.columns.T):
        for j, right in enumerate(further.T):
            sums[:, i, j] = np.bincount(grouping.index, left * right, len(grouping.levels))
    return sums.reshape(grouping.size, further.shape[1])


# A deviance with several covariances can have more than one minimum, so one start is not enough. If the best value is
# reached only once, there are further starts; the value at the end of each start is recorded. The covariance factors
# have no bound at 0. The deviance doesn't depend on the sign of a column of a factor, so it is smooth where a variance
# is 0, whereas a bound there would end the search at a saddle point, where all derivatives for that column vanish. The
# search recognises saddle points by their negative curvature, and leaves them.

SAME = 1e-3
LARGEST = 1e4
_STEPS = 3000
_NEWTON = 8
_SADDLES = 3
_ABOVE, _ROUGH = 0.1, 1e-9

Objective = Callable[[Numbers], tuple[float, Numbers]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Minimum:
    place: Numbers  # the parameters at the minimum
    value: float  # the smallest deviance
    slope: float  # the largest absolute derivative at the minimum
    reached: tuple[float, ...]  # the final deviance from each starting point, in order
    hessian: Numbers  # the second derivatives at the minimum. Shape (parameters, parameters).


def minimise(objective: Objective, starts: Callable[[int], Numbers], count: int, progress: Progress | None) -> Minimum:
    places, reached = [], list[float]()
    wanted = count if len(starts(0)) else 1
    while len(reached) < wanted:
        place, value = _settle(objective, starts(len(reached)))
        places.append(place)
        reached.append(value)
        times_reached = sum(value < min(reached) + SAME for value in reached)
        if len(reached) == wanted and times_reached == 1 and 1 < wanted < 2 * count:
            wanted += 1
        if progress:
            progress(len(reached), wanted)
    return _polish(objective, places[int(np.argmin(reached))], tuple(reached))


def again(objective: Objective, groupings: Sequence[Grouping], place: Numbers) -> float:
    """Minimise a deviance from the parameters that fit another response, and return its lowest value."""
    # Variances begin above 0, where all derivatives for them vanish.
    start = place.copy()
    diagonal = np.flatnonzero(gathered([np.eye(len(grouping.free)) for grouping in groupings], groupings))
    start[diagonal] = np.where(np.abs(start[diagonal]) < _ABOVE, _ABOVE, start[diagonal])
    return _descend(objective, start, _ROUGH)[1]


def _settle(objective: Objective, start: Numbers) -> tuple[Numbers, float]:
    """Minimise from one start; if the result is a saddle point, continue along its negative curvature."""
    place, value = _descend(objective, start)
    for _ in range(_SADDLES if len(start) else 0):
        values, vectors = np.linalg.eigh(_hessian(objective, place))
        if values[0] >= -1e-4 * max(1.0, values[-1]):
            break
        place, value = _descend(objective, place + 0.1 * vectors[:, 0])
    return place, value


def _descend(objective: Objective, start: Numbers, tolerance: float = 1e-12) -> tuple[Numbers, float]:
    from scipy.optimize import minimize

    if not len(start):
        return start, objective(start)[0]
    options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS, "maxcor": 30, "ftol": tolerance, "gtol": 1e-6}
    bounds = [(-LARGEST, LARGEST)] * len(start)
    result = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(result.x, np.float64), float(result.fun)


def _polish(objective: Objective, place: Numbers, reached: tuple[float, ...]) -> Minimum:
    """Refine a minimum by damped Newton steps, as long as they decrease the value."""
    value, gradient = objective(place)
    hessian, damping = _hessian(objective, place), 1e-8
    for _ in range(_NEWTON):
        values, vectors = np.linalg.eigh(hessian)
        step = -vectors @ ((vectors.T @ gradient) / (np.abs(values) + damping + 1e-9 * np.abs(values).max(initial=0.0)))
        lower, slope = objective(place + step)
        if lower > value:
            damping = max(100 * damping, 1e-6)
            continue
        place, value, gradient, damping = place + step, lower, slope, damping / 10
        hessian = _hessian(objective, place)
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return Minimum(place, value, float(np.abs(gradient).max(initial=0.0)), reached, hessian)


def _hessian(objective: Objective, place: Numbers) -> Numbers:
    """Compute the second derivatives by central differences of the gradient."""
    rows = []
    for number in range(len(place)):
        step = np.zeros(len(place))
        step[number] = 1e-5 * max(1.0, abs(place[number]))
        rows.append((objective(place + step)[1] - objective(place - step)[1]) / (2 * step[number]))
    hessian: Numbers = np.array(rows, np.float64).reshape(len(place), len(place))
    return np.asarray((hessian + hessian.T) / 2, np.float64)


def triangles(theta: Numbers, groupings: Sequence[Grouping]) -> list[Numbers]:
    """Build the covariance factors of the groupings from a vector of their free entries."""
    factors, start = [], 0
    for grouping in groupings:
        lower = np.zeros(grouping.free.shape)
        end = start + int(grouping.free.sum())
        lower[grouping.free] = theta[start:end]
        factors.append(lower)
        start = end
    return factors


def gathered(lower: Sequence[Numbers], groupings: Sequence[Grouping]) -> Numbers:
    """Collect the free entries of the covariance factors in a vector; the inverse of `triangles`."""
    return np.concatenate(
        [np.empty(0), *(values[grouping.free] for values, grouping in zip(lower, groupings, strict=True))]
    )


def starting_point(groupings: Sequence[Grouping], number: int, seed: int) -> Numbers:
    """Return a starting point: the identity for number 0, otherwise lower triangles with random sizes and correlations."""
    if number == 0:
        return gathered([np.eye(len(grouping.free)) for grouping in groupings], groupings)
    generator = np.random.Generator(np.random.PCG64([seed, number]))
    factors = []
    for grouping in groupings:
        size = np.exp(generator.uniform(-2.0, 1.0, len(grouping.free)))
        lower = generator.normal(0.0, 0.5, grouping.free.shape)
        np.fill_diagonal(lower, 1.0)
        factors.append(lower * size[:, None])
    return gathered(factors, groupings)


@dataclass(frozen=True, slots=True)
class Problem:
    """A linear model, prepared for optimisation."""

    # Fixed effects are orthogonalised. The response is the residual of ordinary least squares, scaled to length 1.

    groupings: tuple[Grouping, ...]
    products: Products  # the cross-products of random effects, orthogonal fixed effects and response
    triangle: Numbers  # the triangular factor that relates fixed effects to orthogonal ones. Shape (fixed, fixed).
    ordinary: Numbers  # the coefficients of ordinary least squares
    length: float  # the length of the residual, in units of the response
    rows: int  # the number of rows
    reml: bool  # whether to use the restricted likelihood

    @property
    def degrees(self) -> int:
        """The divisor of the residual sum of squares."""
        return self.rows - len(self.ordinary) * self.reml

    @property
    def size(self) -> int:
        """The number of columns of the rest that enter the determinant."""
        return self.products.random + len(self.ordinary) * self.reml


@dataclass(frozen=True, slots=True)
class Solution:
    """The estimates for given covariance factors."""

    coefficients: Numbers  # of the fixed effects
    covariance: Numbers  # the covariance of the coefficients
    sigma: float  # the residual standard deviation
    modes: tuple[Numbers, ...]


def problem(design: Design, reml: bool) -> Problem:
    orthogonal, triangle = np.linalg.qr(design.fixed.values)
    explained = orthogonal.T @ design.response
    residual = design.response - orthogonal @ explained
    residual -= orthogonal @ (orthogonal.T @ residual)
    length = float(np.linalg.norm(residual))
    if length <= 1e-9 * float(np.linalg.norm(design.response)) or not length:
        constant = float(np.ptp(design.response)) == 0
        found = "a constant response" if constant else "fixed effects that explain the response exactly"
        raise InputError(design.model.text, found, "a response with residual variance")
    further = np.column_stack([orthogonal, residual / length])
    products = cross_products(design.groupings, further)
    ordinary = np.linalg.solve(triangle, explained)
    return Problem(design.groupings, products, triangle, ordinary, length, len(residual), reml)


def deviance(model: Problem, lower: Sequence[Numbers]) -> tuple[float, list[Numbers]]:
    """Compute -2 log-likelihood and its derivatives with respect to the entries of each covariance factor."""
    products, size = model.products, model.size
    factored = _factored(model, lower)
    square = float(factored.corner[-1, -1]) ** 2
    value = log_determinant(factored, size)
    value += model.degrees * (1 + float(np.log(2 * np.pi * square * model.length**2 / model.degrees)))
    if model.reml:
        value += 2 * float(np.log(np.abs(np.diagonal(model.triangle))).sum())
    gradient = determinant_gradient(products, factored, lower, size)
    _, effects, pulls = _least_squares(model, factored, lower)
    for slope, effect, pull in zip(gradient, effects, pulls, strict=True):
        slope -= 2 * model.degrees / square * (pull.T @ effect)
    return value, gradient


def solution(model: Problem, lower: Sequence[Numbers]) -> Solution:
    factored = _factored(model, lower)
    weights, effects, _ = _least_squares(model, factored, lower)
    fixed, random = len(model.ordinary), model.products.random
    sigma = float(model.length * factored.corner[-1, -1] / np.sqrt(model.degrees))
    root = np.linalg.inv(factored.corner[random : random + fixed, random : random + fixed].T)
    root = np.linalg.solve(model.triangle, root)
    coefficients = model.ordinary + model.length * np.linalg.solve(model.triangle, weights[random:])
    modes = tuple(
        model.length * effect @ covariance_factor.T for effect, covariance_factor in zip(effects, lower, strict=True)
    )
    return Solution(coefficients, sigma**2 * root @ root.T, sigma, modes)


def _factored(model: Problem, lower: Sequence[Numbers]) -> Factor:
    try:
        return cholesky(model.products, lower)
    except np.linalg.LinAlgError as error:
        raise InputError("regression", "groups that explain the response exactly", "residual variance") from error


def _least_squares(
    model: Problem, factored: Factor, lower: Sequence[Numbers]
) -> tuple[Numbers, list[Numbers], list[Numbers]]:
    """Solve the penalised least squares; return the weights of the rest and, for each grouping, the random effects u and Z'e."""
    products, random = model.products, model.products.random
    weights = np.asarray(np.linalg.solve(factored.corner[:-1, :-1].T, factored.corner[-1, :-1]), np.float64)
    gap = factored.panel[:, :, -1] - factored.panel[:, :, :-1] @ weights
    first = np.asarray(np.linalg.solve(np.swapaxes(factored.blocks, 1, 2), gap[:, :, None])[:, :, 0], np.float64)
    shift = first @ lower[0].T
    pull = (
        products.across[:, :, -1] - factored.half[:, :, :-1] @ weights - np.einsum("lij,lj->li", products.within, shift)
    )
    effects, pulls = [first], [pull]
    half = scaled(products.rest[:random], products.shapes, lower)
    raw = products.across[:, :, :random].reshape(shift.size, random)
    below = half[:, -1] - half[:, :-1] @ weights - raw.T @ shift.ravel()
    start = 0
    for shape in products.shapes:
        end = start + shape[0] * shape[1]
        effects.append(weights[start:end].reshape(shape))
        pulls.append(below[start:end].reshape(shape))
        start = end
    return weights, effects, pulls
