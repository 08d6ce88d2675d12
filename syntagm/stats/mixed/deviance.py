"""The exact profiled deviance of a linear mixed-effects model, and its exact gradient.

The deviance, -2 log-likelihood, is a function of the relative covariance factors only. The fixed effects, random
effects and residual variance for given factors follow by penalised least squares (Bates et al. 2015, equations 34 and
41). The factor of M (see `mixed.factor`), with the fixed effects and the response as further columns, contains
everything that is needed: log |M| of the random effects, log |M| of the fixed effects (for the restricted likelihood)
and, in its last entry, the square root of the penalised residual sum of squares. The gradient of the latter is -2 e'Z
dL u, because coefficients and random effects minimise it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from syntagm.core import InputError
from syntagm.stats.mixed import factor
from syntagm.stats.mixed.design import Design, Grouping, Numbers
from syntagm.stats.mixed.factor import Products


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
    """Prepare a design for optimisation."""
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
    products = factor.products(design.groupings, further)
    ordinary = np.linalg.solve(triangle, explained)
    return Problem(design.groupings, products, triangle, ordinary, length, len(residual), reml)


def deviance(model: Problem, lower: Sequence[Numbers]) -> tuple[float, list[Numbers]]:
    """Compute -2 log-likelihood and its derivatives with respect to the entries of each covariance factor."""
    products, size = model.products, model.size
    factored = _factored(model, lower)
    square = float(factored.corner[-1, -1]) ** 2
    value = factor.log_determinant(factored, size)
    value += model.degrees * (1 + float(np.log(2 * np.pi * square * model.length**2 / model.degrees)))
    if model.reml:
        value += 2 * float(np.log(np.abs(np.diagonal(model.triangle))).sum())
    gradient = factor.determinant_gradient(products, factored, lower, size)
    _, effects, pulls = _least_squares(model, factored, lower)
    for slope, effect, pull in zip(gradient, effects, pulls, strict=True):
        slope -= 2 * model.degrees / square * (pull.T @ effect)
    return value, gradient


def solution(model: Problem, lower: Sequence[Numbers]) -> Solution:
    """Compute coefficients, their covariance, sigma and random effects for given covariance factors."""
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


def _factored(model: Problem, lower: Sequence[Numbers]) -> factor.Factor:
    try:
        return factor.factor(model.products, lower)
    except np.linalg.LinAlgError as error:
        raise InputError("regression", "groups that explain the response exactly", "residual variance") from error


def _least_squares(
    model: Problem, factored: factor.Factor, lower: Sequence[Numbers]
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
    half = factor.scaled(products.rest[:random], products.shapes, lower)
    raw = products.across[:, :, :random].reshape(shift.size, random)
    below = half[:, -1] - half[:, :-1] @ weights - raw.T @ shift.ravel()
    start = 0
    for shape in products.shapes:
        end = start + shape[0] * shape[1]
        effects.append(weights[start:end].reshape(shape))
        pulls.append(below[start:end].reshape(shape))
        start = end
    return weights, effects, pulls
