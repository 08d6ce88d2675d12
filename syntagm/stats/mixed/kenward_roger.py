"""Kenward and Roger's tests of the fixed effects of linear mixed models that were fitted by restricted likelihood.

With few groups, the covariance Phi = (X'V^-1 X)^-1 of the coefficients is too small, because it takes the estimated
covariance V of the responses for the true one. Kenward & Roger (1997) add what is missing and give the F statistic
degrees of freedom; Halekoh & Højsgaard (2014) describe the computation of pbkrtest, which this module follows. V is
linear in its parameters, the covariances of the random effects and the residual variance: V = sum_i s_i G_i. With

    P_i = -X'V^-1 G_i V^-1 X,    Q_ij = X'V^-1 G_i V^-1 G_j V^-1 X,
    (I_E)_ij = tr(V^-1 G_i V^-1 G_j) - 2 tr(Phi Q_ij) + tr(Phi P_i Phi P_j),    W = 2 I_E^-1,

the covariance of the coefficients is Phi + 2 Phi (sum_ij W_ij (Q_ij - P_i Phi P_j)) Phi.

Nothing of the size rows x rows is computed: all G_i but the last are Z E_i Z', the last is the identity, and powers of
V^-1 follow from V^-1 = I - V^-1 Z S Z', where S is the covariance of the random effects. Units: the residual variance
is 1 until the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from syntagm.core import InputError
from syntagm.stats.mixed import deviance
from syntagm.stats.mixed.design import Design, Grouping, Numbers

# The products of all pairs of random effects have to fit into memory.
MAX_EFFECTS = 4000


@dataclass(frozen=True, slots=True)
class Adjusted:
    """The adjusted covariance of coefficients, and what their tests need."""

    covariance: Numbers  # of the coefficients, adjusted. Shape (fixed, fixed).
    plain: Numbers  # the same without adjustment, Phi
    slopes: Numbers  # P_i of each parameter of V. Shape (parameters, fixed, fixed).
    weights: Numbers  # W. Shape (parameters, parameters).

    def test(self, contrasts: Numbers) -> tuple[float, float]:
        """Return the factor of the F statistic and its denominator degrees of freedom (Kenward & Roger 1997, section 2)."""
        count = len(contrasts)
        theta = contrasts.T @ np.linalg.solve(contrasts @ self.plain @ contrasts.T, contrasts)
        turned = theta @ self.plain @ self.slopes @ self.plain
        traces = np.trace(turned, axis1=1, axis2=2)
        first = float(traces @ self.weights @ traces)
        second = float(np.einsum("ij,iab,jba->", self.weights, turned, turned, optimize=True))
        spread = (first + 6 * second) / (2 * count)
        bend = ((count + 1) * first - (count + 4) * second) / ((count + 2) * second)
        whole = 3 * count + 2 * (1 - bend)
        # Of single coefficients, both sides of the ratio can be 0; its limit is 1.
        top, bottom = 1 - second / count, 1 - (count - bend) / whole * spread
        ratio = 1.0 if abs(top) < 1e-10 > abs(bottom) else top / bottom
        rho = ratio**2 * (1 + bend / whole * spread) / (1 - (count + 2 - bend) / whole * spread) / count
        degrees = 4 + (count + 2) / (count * rho - 1)
        return (degrees * top / (degrees - 2) if abs(degrees - 2) > 1e-2 else 1.0), degrees


def adjusted(design: Design, place: Numbers, sigma: float) -> Adjusted:
    """Compute the adjusted covariance of the coefficients of a fit by restricted likelihood."""
    groupings = [grouping for grouping in design.groupings if grouping.size]
    random = sum(grouping.size for grouping in groupings)
    if random > MAX_EFFECTS:
        cure = 'Use Satterthwaite\'s degrees of freedom: by="satterthwaite".'
        raise InputError(
            design.model.text, f"{random} random effects", f"at most {MAX_EFFECTS} for Kenward-Roger", cure
        )
    lower = _block_diagonal(groupings, deviance.triangles(place, groupings))
    cross = _cross_products(design, groupings)
    half = lower.T @ cross[:random]
    half = np.linalg.solve(np.linalg.cholesky(half[:, :random] @ lower + np.eye(random)), half)
    # [Z X]'V^-k [Z X] for k = 1, 2 and 3, and the traces of V^-1 and V^-2.
    once = cross - half.T @ half
    through = once[:, :random] @ lower
    twice = once - through @ through.T
    thrice = twice - through @ (lower.T @ twice[:random])
    trace = len(design.response) - float(np.vdot(lower @ lower.T, once[:random, :random]))
    trace -= float(np.vdot(lower @ lower.T, twice[:random, :random]))

    plain = np.asarray(np.linalg.inv(once[random:, random:]), np.float64)
    parameters = _parameters(groupings)
    count, fixed = len(parameters) + 1, len(plain)
    moved = np.array([parameter.times(once[:random, random:]) for parameter in parameters])
    moved = moved.reshape(count - 1, random, fixed)
    slopes = np.empty((count, fixed, fixed))
    slopes[:-1] = -once[random:, :random] @ moved
    slopes[-1] = -twice[random:, random:]
    crossed = np.empty((count, count, fixed, fixed))
    crossed[:-1, :-1] = np.swapaxes(moved, 1, 2)[:, None] @ (once[:random, :random] @ moved)
    crossed[-1, :-1] = twice[random:, :random] @ moved
    crossed[:-1, -1] = np.swapaxes(crossed[-1, :-1], 1, 2)
    crossed[-1, -1] = thrice[random:, random:]
    turned = plain @ slopes
    information = _traces(parameters, groupings, once, twice, trace)
    information -= 2 * np.einsum("ab,ijba->ij", plain, crossed)
    information += np.einsum("iab,jba->ij", turned, turned, optimize=True)
    weights = 2 * np.asarray(np.linalg.pinv(information, rcond=1e-12, hermitian=True), np.float64)
    lacking = np.einsum("ij,ijab->ab", weights, crossed) - np.einsum(
        "ij,iab,jbc->ac", weights, slopes, turned, optimize=True
    )
    covariance = plain + plain @ (lacking + lacking.T) @ plain
    return Adjusted(sigma**2 * covariance, sigma**2 * plain, slopes / sigma**4, weights * sigma**4)


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A variance or covariance of random effects, and its matrix E."""

    grouping: int  # the number of its grouping, whose random effects begin at `start`
    start: int
    shape: tuple[int, int]  # (levels, effects) of the grouping
    entries: tuple[tuple[int, int], ...]

    def times(self, values: Numbers) -> Numbers:
        """Multiply E by a matrix. Shape (random, columns)."""
        span = slice(self.start, self.start + self.shape[0] * self.shape[1])
        result, part = np.zeros_like(values), values[span].reshape(*self.shape, values.shape[1])
        moved = np.zeros_like(part)
        for row, column in self.entries:
            moved[:, row] = part[:, column]
        result[span] = moved.reshape(values[span].shape)
        return result


def _parameters(groupings: Sequence[Grouping]) -> list[_Parameter]:
    found, start = [], 0
    for number, grouping in enumerate(groupings):
        for row, column in np.argwhere(grouping.free).tolist():
            entries = ((row, column),) if row == column else ((row, column), (column, row))
            found.append(_Parameter(number, start, (len(grouping.levels), len(grouping.effects)), entries))
        start += grouping.size
    return found


def _traces(
    parameters: Sequence[_Parameter], groupings: Sequence[Grouping], once: Numbers, twice: Numbers, trace: float
) -> Numbers:
    """Return tr(V^-1 G_i V^-1 G_j) of all parameters, of which the last is the residual variance."""
    pairs = {}
    starts = np.cumsum([0, *(grouping.size for grouping in groupings)]).tolist()
    for i, j in product(range(len(groupings)), repeat=2):
        left, right = groupings[i], groupings[j]
        block = once[starts[i] : starts[i + 1], starts[j] : starts[j + 1]]
        block = block.reshape(len(left.levels), len(left.effects), len(right.levels), len(right.effects))
        pairs[i, j] = np.einsum("lamc,lbmd->abcd", block, block, optimize=True)
    traces = np.empty((len(parameters) + 1, len(parameters) + 1))
    for i, first in enumerate(parameters):
        for j, second in enumerate(parameters):
            pair = pairs[first.grouping, second.grouping]
            both = product(first.entries, second.entries)
            traces[i, j] = sum(pair[row, column, end, begin] for (row, column), (begin, end) in both)
        span = slice(first.start, first.start + first.shape[0] * first.shape[1])
        own = np.diagonal(twice[span, span].reshape(*first.shape, *first.shape), axis1=0, axis2=2)
        traces[i, -1] = traces[-1, i] = sum(float(own[row, column].sum()) for row, column in first.entries)
    traces[-1, -1] = trace
    return traces


def _cross_products(design: Design, groupings: Sequence[Grouping]) -> Numbers:
    """Compute [Z X]'[Z X]. Shape (random + fixed, random + fixed)."""
    products = deviance.cross_products(design.groupings, design.fixed.values)
    within = _block_diagonal(groupings[:1], [products.within] if groupings else [])
    across = products.across.reshape(len(within), len(products.rest))
    return np.asarray(np.block([[within, across], [across.T, products.rest]]), np.float64)


def _block_diagonal(groupings: Sequence[Grouping], blocks: Sequence[Numbers]) -> Numbers:
    """Put blocks on the diagonal: one for each level of a grouping, or the same for all its levels."""
    total = sum(grouping.size for grouping in groupings)
    result, start = np.zeros((total, total)), 0
    for grouping, block in zip(groupings, blocks, strict=True):
        levels, effects = np.arange(len(grouping.levels)), len(grouping.effects)
        part = np.zeros((len(levels), effects, len(levels), effects))
        part[levels, :, levels] = block
        span = slice(start, start + grouping.size)
        result[span, span] = part.reshape(grouping.size, grouping.size)
        start += grouping.size
    return result
