"""Trajectories of scores along series of checkpoints: positions where a level is reached, mean height, area between curves.

Curves are interpolated linearly between checkpoints, on the logarithm of the position (steps, words, tokens or
parameters) unless `linear` is set. They are not fitted or smoothed; only slopes are fitted, by
`views.learning_curve.line`. Intervals are from bootstrap curves with the same units resampled at all checkpoints
(`stats.bootstrap`).
"""

from dataclasses import dataclass
from math import inf, nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.core import InputError

Curve = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Crossing:
    """The position where a curve reaches a level from below."""

    # The position; nan if the level or the curve is undefined, infinite if the level is never reached. If the curve
    # starts at the level or above it, its first position.
    at: float
    before: bool  # whether the curve starts at the level or above it
    times: int  # the number of times that the curve reaches the level, including a start at or above it
    kept: bool  # whether the curve stays at or above the level from there to the end


def crossing(x: ArrayLike, y: ArrayLike, level: float, linear: bool = False) -> Crossing:
    """Find the first position where a curve reaches a level from below.

    Arguments:
        x: positions, ascending. Shape (checkpoints,).
        y: scores; nan is ignored. Shape (checkpoints,).
        linear: whether to interpolate on x itself instead of its logarithm.

    >>> reached = crossing([1, 4, 16], [0.2, 0.4, 0.8], 0.6)  # half way from 4 to 16 on the logarithm
    >>> round(reached.at, 6), reached.before, reached.times, reached.kept
    (8.0, False, 1, True)
    >>> reached = crossing([1, 2, 4, 8], [0.5, 0.9, 0.5, 0.9], 0.7)
    >>> reached.times, reached.kept
    (2, False)
    >>> crossing([1, 2], [0.5, 0.6], 0.7).at, crossing([1, 2], [0.8, 0.6], 0.7)
    (inf, Crossing(at=1.0, before=True, times=1, kept=False))
    """
    places, values = _curve(x, y, linear)
    if not len(values) or np.isnan(level):
        return Crossing(nan, False, 0, False)
    reached = values >= level
    rises = np.flatnonzero(~reached[:-1] & reached[1:])
    times = len(rises) + bool(reached[0])
    if reached[0]:
        return Crossing(_back(places[0], linear), True, times, bool(reached.all()))
    if not len(rises):
        return Crossing(inf, False, 0, False)
    k = rises[0]
    fraction = (level - values[k]) / (values[k + 1] - values[k])
    at = _back(places[k] + fraction * (places[k + 1] - places[k]), linear)
    return Crossing(at, False, times, bool(reached[k + 1 :].all()))


def mean_height(x: ArrayLike, y: ArrayLike, linear: bool = False) -> float:
    """Compute the mean height of a curve: the area under it divided by its width; nan with fewer than two positions.

    >>> round(mean_height([1, 2, 8], [0.0, 0.6, 0.6]), 6)  # (1 doubling * 0.3 + 2 doublings * 0.6) / 3
    0.5
    """
    places, values = _curve(x, y, linear)
    if len(values) < 2:
        return nan
    return float(np.trapezoid(values, places) / (places[-1] - places[0]))


@dataclass(frozen=True, slots=True)
class Between:
    """The difference of two curves over the range that both cover."""

    area: float  # the area between the curves, second minus first, in score times doublings (times units if linear)
    mean: float  # the mean difference: the area divided by the width of the range
    low: float  # `low`, `high`: the ends of the range
    high: float


def between(first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike], linear: bool = False) -> Between:
    """Compute the area between two curves, each given as (x, y); nan if their ranges don't overlap.

    >>> gap = between(([1, 4], [0.2, 0.6]), ([2, 4, 8], [0.6, 0.8, 0.9]))
    >>> # at 2: 0.6 - 0.4, at 4: 0.8 - 0.6; one doubling
    >>> round(gap.area, 6), round(gap.mean, 6), gap.low, gap.high
    (0.2, 0.2, 2.0, 4.0)
    """
    (a, ya), (b, yb) = _curve(*first, linear), _curve(*second, linear)
    if not len(a) or not len(b) or min(a[-1], b[-1]) <= max(a[0], b[0]):
        return Between(nan, nan, nan, nan)
    low, high = max(a[0], b[0]), min(a[-1], b[-1])
    grid = np.unique([low, high, *(place for place in (*a, *b) if low <= place <= high)])
    area = float(np.trapezoid(np.interp(grid, b, yb) - np.interp(grid, a, ya), grid))
    return Between(area, float(area / (high - low)), _back(low, linear), _back(high, linear))


def _curve(x: ArrayLike, y: ArrayLike, linear: bool) -> tuple[Curve, Curve]:
    places, values = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if len(places) > 1 and not (np.diff(places) > 0).all():
        raise InputError("trajectory", f"positions {places.tolist()}", "ascending positions, each once")
    if not linear and len(places) and not places[0] > 0:
        raise InputError(
            "trajectory", f"the position {places[0]:g} on a logarithmic scale", "positions above 0", "Use linear."
        )
    kept = np.isfinite(values)
    return (places if linear else np.log2(places))[kept], values[kept]


def _back(place: float, linear: bool) -> float:
    # Rounded, because 2 ** log2(x) differs from a whole number x in the last digits.
    return float(place) if linear else float(f"{2.0**place:.12g}")
