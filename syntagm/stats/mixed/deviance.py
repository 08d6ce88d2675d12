"""The profiled deviance of a linear mixed-effects model, exactly, and its gradient.

The deviance, -2 log-likelihood, is a function of the relative covariance factors alone; fixed effects, random effects and the
residual variance that go with them follow by penalised least squares (Bates et al. 2015, equations 34 and 41).
The factor of M (see `_lmm_factor`) with the fixed effects and the response as further columns gives everything at once: log |M|
of the random effects, that of the fixed effects (restricted likelihood), and as its last entry the root of the penalised
residual sum of squares. The gradient of the latter is -2 e'Z dL u, since coefficients and random effects minimise it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from syntagm.errors import InputError
from syntagm.stats.mixed import factor
from syntagm.stats.mixed.columns import Numbers
from syntagm.stats.mixed.design import Design, Grouping
from syntagm.stats.mixed.factor import Products


@dataclass(frozen=True, slots=True)
class Problem:
    """A linear model, prepared: fixed effects orthogonal, response the unit residual of ordinary least squares.

    Arguments:
        products: of random effects, orthogonal fixed effects and response.
        triangle: turns fixed effects into orthogonal ones. Shape (fixed, fixed).
        ordinary: the coefficients of ordinary least squares.
        length: of the residual, in units of the response.
        reml: is the likelihood restricted?
    """

    groupings: tuple[Grouping, ...]
    products: Products
    triangle: Numbers
    ordinary: Numbers
    length: float
    rows: int
    reml: bool

    @property
    def degrees(self) -> int:
        """What the residual sum of squares is divided by."""
        return self.rows - len(self.ordinary) * self.reml

    @property
    def size(self) -> int:
        """Up to which of the rest the determinant counts."""
        return self.products.random + len(self.ordinary) * self.reml


@dataclass(frozen=True, slots=True)
class Solution:
    """What goes with given covariance factors.

    Arguments:
        coefficients: of the fixed effects.
        covariance: of the coefficients.
        sigma: the residual standard deviation.
        modes: for each grouping the random effects of each level, in the unit of the scaled columns (levels, effects).
    """

    coefficients: Numbers
    covariance: Numbers
    sigma: float
    modes: tuple[Numbers, ...]


def problem(design: Design, reml: bool) -> Problem:
    """Prepare a design.

    Raises:
        InputError: the fixed effects leave nothing to explain.
    """
    orthogonal, triangle = np.linalg.qr(design.fixed.values)
    explained = orthogonal.T @ design.response
    residual = design.response - orthogonal @ explained
    residual -= orthogonal @ (orthogonal.T @ residual)
    length = float(np.linalg.norm(residual))
    if length <= 1e-9 * float(np.linalg.norm(design.response)) or not length:
        constant = float(np.ptp(design.response)) == 0
        found = "the response never varies" if constant else "the fixed effects give the response exactly"
        raise InputError(design.model.text, found, "a response with variance left to explain")
    further = np.column_stack([orthogonal, residual / length])
    made = factor.products(design.groupings, further)
    ordinary = np.linalg.solve(triangle, explained)
    return Problem(design.groupings, made, triangle, ordinary, length, len(residual), reml)


def deviance(given: Problem, lower: Sequence[Numbers]) -> tuple[float, list[Numbers]]:
    """-2 log-likelihood, and its derivatives by the entries of each covariance factor.

    Raises:
        InputError: nothing is left unexplained, to machine precision.
    """
    made, size = given.products, given.size
    found = _factored(given, lower)
    square = float(found.corner[-1, -1]) ** 2
    value = factor.log_determinant(found, size)
    value += given.degrees * (1 + float(np.log(2 * np.pi * square * given.length**2 / given.degrees)))
    if given.reml:
        value += 2 * float(np.log(np.abs(np.diagonal(given.triangle))).sum())
    gradient = factor.determinant_gradient(made, found, lower, size)
    _, effects, pulls = _least_squares(given, found, lower)
    for slope, effect, pull in zip(gradient, effects, pulls, strict=True):
        slope -= 2 * given.degrees / square * (pull.T @ effect)
    return value, gradient


def solution(given: Problem, lower: Sequence[Numbers]) -> Solution:
    """Coefficients, their covariance, sigma and random effects for given covariance factors."""
    found = _factored(given, lower)
    weights, effects, _ = _least_squares(given, found, lower)
    fixed, random = len(given.ordinary), given.products.random
    sigma = float(given.length * found.corner[-1, -1] / np.sqrt(given.degrees))
    root = np.linalg.inv(found.corner[random : random + fixed, random : random + fixed].T)
    root = np.linalg.solve(given.triangle, root)
    coefficients = given.ordinary + given.length * np.linalg.solve(given.triangle, weights[random:])
    modes = tuple(given.length * effect @ one.T for effect, one in zip(effects, lower, strict=True))
    return Solution(coefficients, sigma**2 * root @ root.T, sigma, modes)


def _factored(given: Problem, lower: Sequence[Numbers]) -> factor.Factor:
    try:
        return factor.factor(given.products, lower)
    except np.linalg.LinAlgError as error:
        raise InputError("regression", "the groups give the response exactly", "residual variance") from error


def _least_squares(
    given: Problem, found: factor.Factor, lower: Sequence[Numbers]
) -> tuple[Numbers, list[Numbers], list[Numbers]]:
    """The penalised least squares: weights of the rest, spherical random effects u, and Z'e, the last two by grouping."""
    made, random = given.products, given.products.random
    weights = np.asarray(np.linalg.solve(found.corner[:-1, :-1].T, found.corner[-1, :-1]), np.float64)
    gap = found.panel[:, :, -1] - found.panel[:, :, :-1] @ weights
    first = np.asarray(np.linalg.solve(np.swapaxes(found.blocks, 1, 2), gap[:, :, None])[:, :, 0], np.float64)
    shift = first @ lower[0].T
    pull = made.across[:, :, -1] - found.half[:, :, :-1] @ weights - np.einsum("lij,lj->li", made.within, shift)
    effects, pulls = [first], [pull]
    half = factor.scaled(made.rest[:random], made.shapes, lower)
    raw = made.across[:, :, :random].reshape(shift.size, random)
    below = half[:, -1] - half[:, :-1] @ weights - raw.T @ shift.ravel()
    start = 0
    for shape in made.shapes:
        end = start + shape[0] * shape[1]
        effects.append(weights[start:end].reshape(shape))
        pulls.append(below[start:end].reshape(shape))
        start = end
    return weights, effects, pulls
