"""The sparse Cholesky factor of mixed-effects models, and the gradient of its determinant.

Penalised least squares needs, for each covariance factor L (here one lower triangle a grouping, the same for all its levels),
the factor of

    M = [ L'Z'WZL + I   L'Z'WF ]
        [ F'WZL         F'WF   ]      Z: random effects, F: further columns, W: weights

(Bates et al. 2015, section 3). The effects of the first grouping make M block-diagonal, one small block a level, so they are
eliminated level by level; what remains is dense, as large as the other groupings and F. Nothing as long as the data is
touched: the products Z'WZ are made once for each W.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from syntagm.stats.mixed.columns import Numbers
from syntagm.stats.mixed.design import Grouping


@dataclass(frozen=True, slots=True)
class Products:
    """The weighted products of all columns.

    Arguments:
        within: of the first grouping with itself, level by level. Shape (levels, effects, effects).
        across: of the first grouping with the rest. Shape (levels, effects, rest).
        rest: of the other groupings' effects, level after level, and then the further columns. Shape (rest, rest).
        shapes: (levels, effects) of each of the other groupings.
    """

    within: Numbers
    across: Numbers
    rest: Numbers
    shapes: tuple[tuple[int, int], ...]

    @property
    def random(self) -> int:
        """How many of the rest are random effects."""
        return sum(levels * effects for levels, effects in self.shapes)


@dataclass(frozen=True, slots=True)
class Factor:
    """M, factored.

    Arguments:
        blocks: lower triangles of the first grouping, one a level. Shape (levels, effects, effects).
        panel: blocks^-1 L'Z'W [rest]. Shape (levels, effects, rest).
        corner: lower triangle of what remains. Shape (rest, rest).
        half: Z'W [ZL, F] of the first grouping with the rest. Shape (levels, effects, rest).
    """

    blocks: Numbers
    panel: Numbers
    corner: Numbers
    half: Numbers


def products(groupings: Sequence[Grouping], further: Numbers, weights: Numbers | None = None) -> Products:
    """Multiply all columns with all others; rows count by their weights."""
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
    rows = [[_pair(one, other, weights) for other in others] + [_sums(one, weighted)] for one in others]
    below = np.concatenate([row[-1] for row in rows] + [np.empty((0, further.shape[1]))])
    rows.append([below.T, further.T @ weighted])
    rest = np.concatenate([np.concatenate(row, axis=1) for row in rows])
    return Products(within, across, rest, tuple((len(one.levels), len(one.effects)) for one in others))


def factor(made: Products, lower: Sequence[Numbers]) -> Factor:
    """Factor M for the covariance factors of the groupings, in their order.

    Raises:
        numpy.linalg.LinAlgError: M isn't positive definite, to machine precision.
    """
    first = lower[0]
    half = scaled(made.across, made.shapes, lower)
    inner = first.T @ made.within @ first + np.eye(len(first))
    blocks = np.asarray(np.linalg.cholesky(inner), np.float64)
    panel = np.asarray(np.linalg.solve(blocks, first.T @ half), np.float64)
    flat = panel.reshape(panel.shape[0] * panel.shape[1], panel.shape[2])
    corner = scaled(scaled(made.rest, made.shapes, lower).T, made.shapes, lower) - flat.T @ flat
    corner[np.arange(made.random), np.arange(made.random)] += 1
    return Factor(blocks, panel, np.asarray(np.linalg.cholesky(corner), np.float64), half)


def scaled(values: Numbers, shapes: Sequence[tuple[int, int]], lower: Sequence[Numbers]) -> Numbers:
    """Columns of the other groupings times their covariance factors: Z to ZL. The last axis is that of the columns."""
    done = values.copy()
    start = 0
    for (levels, effects), one in zip(shapes, lower[1:], strict=True):
        end = start + levels * effects
        block = values[..., start:end].reshape(*values.shape[:-1], levels, effects) @ one
        done[..., start:end] = block.reshape(*values.shape[:-1], levels * effects)
        start = end
    return done


def log_determinant(found: Factor, size: int) -> float:
    """log |M| of the random effects and the columns up to `size` of the rest."""
    inner = np.log(np.diagonal(found.blocks, axis1=1, axis2=2)).sum()
    return 2 * float(inner + np.log(np.diagonal(found.corner)[:size]).sum())


def inverses(found: Factor, size: int) -> tuple[Numbers, Numbers, Numbers]:
    """Parts of M^-1, the rest cut at `size`.

    Returns:
        The block of each level of the first grouping (levels, effects, effects); minus its blocks with the rest (levels,
        effects, size); and the block of the rest (size, size).
    """
    opposite = np.swapaxes(found.blocks, 1, 2)
    across = np.asarray(np.linalg.solve(opposite, found.panel[:, :, :size]), np.float64)
    corner = np.asarray(np.linalg.inv(found.corner[:size, :size]), np.float64)
    rest = corner.T @ corner
    crossed = across @ rest
    own = np.asarray(np.linalg.inv(found.blocks), np.float64)
    blocks = np.swapaxes(own, 1, 2) @ own + crossed @ np.swapaxes(across, 1, 2)
    return blocks, crossed, rest


def solve(found: Factor, right: Sequence[Numbers]) -> list[Numbers]:
    """M^-1 times a vector, where there are no further columns: for each grouping (levels, effects)."""
    first = np.linalg.solve(found.blocks, right[0][:, :, None])[:, :, 0]
    below = np.concatenate([np.empty(0), *(part.ravel() for part in right[1:])])
    corner = found.corner
    rest = np.linalg.solve(corner, below - np.einsum("lir,li->r", found.panel, first))
    rest = np.asarray(np.linalg.solve(corner.T, rest), np.float64)
    first = np.linalg.solve(np.swapaxes(found.blocks, 1, 2), (first - found.panel @ rest)[:, :, None])[:, :, 0]
    solved, start = [np.asarray(first, np.float64)], 0
    for part in right[1:]:
        solved.append(rest[start : start + part.size].reshape(part.shape))
        start += part.size
    return solved


def determinant_gradient(made: Products, found: Factor, lower: Sequence[Numbers], size: int) -> list[Numbers]:
    """The derivatives of log |M| (as `log_determinant`) by the entries of each grouping's covariance factor.

    d log |M| = 2 tr(dL' [Z'WZL, Z'WF] M^-1), where of the product only the blocks on the diagonal are needed.
    """
    blocks, crossed, rest = inverses(found, size)
    first = lower[0]
    own = (made.within @ first @ blocks - found.half[:, :, :size] @ np.swapaxes(crossed, 1, 2)).sum(axis=0)
    gradients = [2 * own]
    raw = made.across.reshape(made.across.shape[0] * made.across.shape[1], made.across.shape[2])
    levels = (first @ crossed).reshape(len(raw), size)
    half = scaled(made.rest[: made.random], made.shapes, lower)[:, :size]
    start = 0
    for count, effects in made.shapes:
        end = start + count * effects
        full = half[start:end] @ rest[:, start:end] - raw[:, start:end].T @ levels[:, start:end]
        square = full.reshape(count, effects, count, effects)
        gradients.append(2 * np.einsum("iaib->ab", square))
        start = end
    return gradients


def _pair(one: Grouping, other: Grouping, weights: Numbers | None) -> Numbers:
    """Z'WZ between two groupings. Shape (levels x effects, levels x effects)."""
    shape = (len(one.levels), len(one.effects), len(other.levels), len(other.effects))
    found = np.empty(shape)
    cell = one.index * shape[2] + other.index
    for i, left in enumerate(one.columns.T):
        left = left if weights is None else left * weights
        for j, right in enumerate(other.columns.T):
            found[:, i, :, j] = np.bincount(cell, left * right, shape[0] * shape[2]).reshape(shape[0], shape[2])
    return found.reshape(one.size, other.size)


def _sums(one: Grouping, further: Numbers) -> Numbers:
    """Z'F. Shape (levels x effects, columns)."""
    found = np.empty((len(one.levels), len(one.effects), further.shape[1]))
    for i, left in enumerate(one.columns.T):
        for j, right in enumerate(further.T):
            found[:, i, j] = np.bincount(one.index, left * right, len(one.levels))
    return found.reshape(one.size, further.shape[1])
