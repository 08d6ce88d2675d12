"""Sparse Cholesky factor of mixed-effects models, with the gradient of its determinant.

Penalised least squares needs, for each covariance factor L (one lower triangle for each grouping, the same for all its
levels), the factor of

    M = [ L'Z'WZL + I   L'Z'WF ]
        [ F'WZL         F'WF   ]      Z: random effects, F: further columns, W: weights

(Bates et al. 2015, section 3). The part of M for the first grouping is block-diagonal, with a small block for each
level, so its effects are eliminated level by level. The rest is dense, with the size of the other groupings and F. The
products Z'WZ are computed once for each W, so that the cost of a factor doesn't depend on the number of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from syntagm.stats.mixed.design import Grouping, Numbers


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


def products(groupings: Sequence[Grouping], further: Numbers, weights: Numbers | None = None) -> Products:
    """Compute the weighted cross-products of all columns."""
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


def factor(product: Products, lower: Sequence[Numbers]) -> Factor:
    """Factor M for given covariance factors of the groupings."""
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
    """Compute the derivatives of `log_determinant` with respect to the entries of each covariance factor."""
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
