"""Trajectories: how a score goes along a series of checkpoints, where it reaches a level, and how far two series are apart.

A curve is straight between two checkpoints, by the logarithm of what is counted (steps, words, tokens, parameters) unless
`linear` says otherwise. Nothing is fitted or smoothed but the slope, which is `learning.line`'s. Intervals come from curves
that were drawn anew, items redrawn alike at all checkpoints; they are about items, not about other trainings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.errors import InputError

Curve = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where a curve reaches a level from below.

    Arguments:
        at: what is counted there; nan if the level or the curve is not defined, infinite if it is never reached. If the
            curve starts at the level or above it, its first place, and `before` says that it was reached before that.
        times: how often the curve reaches the level, counting that.
        kept: whether it stays at the level or above from there to the end.
    """

    at: float
    before: bool
    times: int
    kept: bool


def crossing(x: ArrayLike, y: ArrayLike, level: float, linear: bool = False) -> Crossing:
    """The first place where a curve reaches a level. Shapes (checkpoints,); x ascending, nan in y left out.

    >>> found = crossing([1, 4, 16], [0.2, 0.4, 0.8], 0.6)  # half way from 4 to 16 by logarithm
    >>> round(found.at, 6), found.before, found.times, found.kept
    (8.0, False, 1, True)
    >>> found = crossing([1, 2, 4, 8], [0.5, 0.9, 0.5, 0.9], 0.7)
    >>> found.times, found.kept
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
    part = (level - values[k]) / (values[k + 1] - values[k])
    at = _back(places[k] + part * (places[k + 1] - places[k]), linear)
    return Crossing(at, False, times, bool(reached[k + 1 :].all()))


def mean_height(x: ArrayLike, y: ArrayLike, linear: bool = False) -> float:
    """The mean of a curve over its span: the area under it divided by its width. nan with fewer than two places.

    >>> round(mean_height([1, 2, 8], [0.0, 0.6, 0.6]), 6)  # (1 doubling * 0.3 + 2 doublings * 0.6) / 3
    0.5
    """
    places, values = _curve(x, y, linear)
    if len(values) < 2:
        return nan
    return float(np.trapezoid(values, places) / (places[-1] - places[0]))


@dataclass(frozen=True, slots=True)
class Between:
    """How far two curves are apart over the span that both have.

    Arguments:
        area: the area between them, second less first, in score times doublings (times units if linear).
        mean: the area divided by the width: the mean difference.
        low, high: the ends of the span.
    """

    area: float
    mean: float
    low: float
    high: float


def between(first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike], linear: bool = False) -> Between:
    """The area between two curves, each (x, y); nan where they share no span.

    >>> found = between(([1, 4], [0.2, 0.6]), ([2, 4, 8], [0.6, 0.8, 0.9]))
    >>> # at 2: 0.6 - 0.4, at 4: 0.8 - 0.6; one doubling
    >>> round(found.area, 6), round(found.mean, 6), found.low, found.high
    (0.2, 0.2, 2.0, 4.0)
    """
    (a, ya), (b, yb) = _curve(*first, linear), _curve(*second, linear)
    if not len(a) or not len(b) or min(a[-1], b[-1]) <= max(a[0], b[0]):
        return Between(nan, nan, nan, nan)
    low, high = max(a[0], b[0]), min(a[-1], b[-1])
    grid = np.unique([low, high, *(place for place in (*a, *b) if low <= place <= high)])
    area = float(np.trapezoid(np.interp(grid, b, yb) - np.interp(grid, a, ya), grid))
    return Between(area, float(area / (high - low)), _back(low, linear), _back(high, linear))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 2.5th and 97.5th percentile of numbers some of which may be infinite; nan if one of them is nan, or there are none.

    >>> interval([4.0] * 60 + [inf] * 40)
    (4.0, inf)
    """
    array = np.asarray(values, np.float64)
    if not len(array) or np.isnan(array).any():
        return nan, nan
    # Percentiles between a number and infinity must not be interpolated.
    low, high = np.percentile(array, (2.5, 97.5), method="inverted_cdf")
    return float(low), float(high)


def _curve(x: ArrayLike, y: ArrayLike, linear: bool) -> tuple[Curve, Curve]:
    places, values = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if len(places) > 1 and not (np.diff(places) > 0).all():
        raise InputError("trajectory", f"places {places.tolist()}", "ascending places, each once")
    if not linear and len(places) and not places[0] > 0:
        raise InputError(
            "trajectory", f"the place {places[0]:g} on a logarithmic scale", "places above 0", "Use linear."
        )
    kept = np.isfinite(values)
    return (places if linear else np.log2(places))[kept], values[kept]


def _back(place: float, linear: bool) -> float:
    # Powers of two of the logarithms of whole numbers miss them by a few units in the last place.
    return float(place) if linear else float(f"{2.0**place:.12g}")
