"""Natural cubic splines with a penalty on their curvature (Wood 2017, section 5.3.1: cubic regression splines).

A spline is a line plus curved parts. Beyond the outer knots it is straight, so predictions for held-out rows stay sensible.
In the basis used here the penalty on the curved parts is the sum of their squared coefficients.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError

Numbers = NDArray[np.float64]
KNOTS = 10
_NULL = 1e-9


@dataclass(frozen=True, slots=True)
class Basis:
    """The curved parts of a natural cubic spline."""

    knots: Numbers  # the positions of the knots
    curvature: Numbers  # the second derivatives at the knots, from the values at them. Shape (knots, knots).
    parts: Numbers  # the values at the knots of each curved part. Shape (knots, knots - 2).

    def at(self, values: Numbers) -> Numbers:
        """Return the curved parts at some values. Shape (values, knots - 2)."""
        return _cardinal(self, values) @ self.parts


def basis(values: Numbers, name: str, count: int = KNOTS) -> Basis:
    """Make a basis with knots at quantiles of some values."""
    distinct = np.unique(values)
    if len(distinct) < 3:
        raise InputError(f"column {name}", f"{len(distinct)} distinct values", "at least 3 for a curve")
    knots = np.unique(np.quantile(distinct, np.linspace(0, 1, min(count, len(distinct)))))
    size = len(knots)
    gaps = np.diff(knots)
    differences, band = np.zeros((size - 2, size)), np.zeros((size - 2, size - 2))
    for row in range(size - 2):
        left, right = gaps[row], gaps[row + 1]
        differences[row, row : row + 3] = 1 / left, -1 / left - 1 / right, 1 / right
        band[row, row] = (left + right) / 3
        if row + 1 < size - 2:
            band[row, row + 1] = band[row + 1, row] = right / 6
    inner = np.linalg.solve(band, differences)
    penalty = differences.T @ inner
    sizes, vectors = np.linalg.eigh((penalty + penalty.T) / 2)
    curved = sizes > _NULL * sizes.max()
    curved[:2] = False
    parts = vectors[:, curved] / np.sqrt(sizes[curved])
    curvature = np.vstack([np.zeros(size), inner, np.zeros(size)])
    return Basis(knots, curvature, parts)


def _cardinal(spline: Basis, values: Numbers) -> Numbers:
    """Return the weights of the values at the knots in the value of the spline at each place. Shape (values, knots)."""
    knots = spline.knots
    size = len(knots)
    place = np.clip(np.searchsorted(knots, values, "right") - 1, 0, size - 2)
    gap = knots[place + 1] - knots[place]
    inside = np.clip(values, knots[0], knots[-1])
    left, right = (knots[place + 1] - inside) / gap, (inside - knots[place]) / gap
    rows = np.arange(len(values))
    weights = np.zeros((len(values), size))
    weights[rows, place] = left
    weights[rows, place + 1] += right
    bend_left, bend_right = (left**3 - left) * gap**2 / 6, (right**3 - right) * gap**2 / 6
    weights += bend_left[:, None] * spline.curvature[place] + bend_right[:, None] * spline.curvature[place + 1]
    for end, beyond in ((0, values < knots[0]), (size - 1, values > knots[-1])):
        if beyond.any():
            first = min(end, size - 2)
            width = knots[first + 1] - knots[first]
            slope = np.zeros(size)
            slope[first], slope[first + 1] = -1 / width, 1 / width
            # The slope of a cubic between two knots at its outer end, where the second derivative is 0.
            inner = spline.curvature[1] if end == 0 else spline.curvature[size - 2]
            slope = slope + (-1 if end == 0 else 1) * width / 6 * inner
            weights[beyond] += np.outer(values[beyond] - knots[end], slope)
    return weights
